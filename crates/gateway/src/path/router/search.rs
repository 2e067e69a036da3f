//! Tools by what they are about: BM25 over the words of their names, descriptions and parameters,
//! across all servers. A word that no tool has counts for the words that start with it, so half a word
//! finds something too. The same question gets the same answer: ties go by the order of the lists.

use std::cmp::Ordering;

use crate::state::{CallerView, Posting, Server, VisibleTool, words};

/// So many words of a question count.
const QUESTION: usize = 32;
/// Shorter words do not stand for longer ones.
const PREFIX: usize = 3;

/// How soon more of the same word stops to count.
const K: f64 = 1.2;
/// How much long texts are marked down.
const B: f64 = 0.75;

/// A tool that was found.
pub(crate) struct Hit<'a> {
    pub(crate) tool: VisibleTool<'a>,
}

/// Which tools the caller sees, by the places of servers and tools; nothing if it sees all of them.
struct Seen(Option<Vec<Vec<bool>>>);

impl Seen {
    fn by(view: CallerView<'_>) -> Self {
        if view.is_open() {
            return Self(None);
        }
        let servers = view.snapshot().servers().iter();
        let seen = servers.map(|server| {
            let tools = server.tools.all().iter();
            tools.map(|tool| view.see(server, tool).is_ok()).collect()
        });
        Self(Some(seen.collect()))
    }

    fn has(&self, server: usize, tool: usize) -> bool {
        let Some(seen) = &self.0 else {
            return true;
        };
        let tools = seen.get(server);
        tools.and_then(|tools| tools.get(tool)) == Some(&true)
    }
}

/// The best tools for a question, and how many there are in all. Tools that the caller does not see take no part: the answer
/// is the one that it would get if they were not there.
pub(crate) fn search<'a>(
    view: CallerView<'a>,
    question: &str,
    limit: usize,
) -> (Vec<Hit<'a>>, usize) {
    let servers = view.snapshot().servers();
    let seen = Seen::by(view);
    let mut scores: Vec<Vec<f64>> = Vec::with_capacity(servers.len());
    let (mut tools, mut length) = (0_u32, 0.0);
    for (place, server) in servers.iter().enumerate() {
        let lengths = server.tools.index().lengths();
        scores.push(vec![0.0; lengths.len()]);
        let counted = lengths.iter().enumerate();
        for (_, own) in counted.filter(|(tool, _)| seen.has(place, *tool)) {
            tools = tools.saturating_add(1);
            length += f64::from(*own);
        }
    }
    let (tools, average) = (f64::from(tools), length / f64::from(tools.max(1)));
    for word in distinct(question) {
        let found = look_up(servers, &seen, &word);
        let holders = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let rarity = (1.0 + (tools - f64::from(holders) + 0.5) / (f64::from(holders) + 0.5)).ln();
        for (server, posting) in found {
            add(&mut scores, servers, server, posting, rarity, average);
        }
    }
    best(view, &scores, limit)
}

fn distinct(question: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words(question) {
        if all.len() < QUESTION && !all.contains(&word) {
            all.push(word);
        }
    }
    all
}

/// Where a word occurs, by the server's place.
fn look_up(servers: &[Server], seen: &Seen, word: &str) -> Vec<(usize, Posting)> {
    let mut found = Vec::new();
    let is_seen = |place, posting: Posting| seen.has(place, posting.tool as usize);
    for (place, server) in servers.iter().enumerate() {
        let postings = server.tools.index().exact_matches(word).iter().copied();
        let postings = postings.filter(|posting| is_seen(place, *posting));
        found.extend(postings.map(|posting| (place, posting)));
    }
    if found.is_empty() && word.len() >= PREFIX {
        for (place, server) in servers.iter().enumerate() {
            let postings = server.tools.index().starting(word);
            let postings = postings.filter(|posting| is_seen(place, *posting));
            found.extend(postings.map(|posting| (place, posting)));
        }
    }
    found
}

fn add(
    scores: &mut [Vec<f64>],
    servers: &[Server],
    server: usize,
    posting: Posting,
    rarity: f64,
    average: f64,
) {
    let place = posting.tool as usize;
    let lengths = servers
        .get(server)
        .map(|server| server.tools.index().lengths());
    let length = lengths.and_then(|lengths| lengths.get(place)).copied();
    let weight = f64::from(posting.weight);
    let share = f64::from(length.unwrap_or_default()) / average.max(1.0);
    let score = rarity * weight * (K + 1.0) / (weight + K * (1.0 - B + B * share));
    if let Some(sum) = scores
        .get_mut(server)
        .and_then(|scores| scores.get_mut(place))
    {
        *sum += score;
    }
}

fn best<'a>(view: CallerView<'a>, scores: &[Vec<f64>], limit: usize) -> (Vec<Hit<'a>>, usize) {
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for (server, scores) in scores.iter().enumerate() {
        let scores = scores.iter().enumerate();
        let hits = scores.filter(|(_, score)| **score > 0.0);
        found.extend(hits.map(|(tool, score)| (*score, server, tool)));
    }
    let count = found.len();
    let order = |a: &(f64, usize, usize), b: &(f64, usize, usize)| -> Ordering {
        b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2)))
    };
    if count > limit && limit > 0 {
        found.select_nth_unstable_by(limit - 1, order);
    }
    found.truncate(limit);
    found.sort_unstable_by(order);
    let hit = |(_, server, tool): &(f64, usize, usize)| {
        let server = view.snapshot().servers().get(*server)?;
        let tool = server.tools.all().get(*tool)?;
        let tool = view.see(server, tool).ok()?;
        Some(Hit { tool })
    };
    (found.iter().filter_map(hit).collect(), count)
}
