//! Drawings: lines and bars over time, shares of outcomes, percentiles on a logarithmic scale.

use std::fmt::Write as _;

use super::super::time;
use super::escaped;
use crate::report::{Run, TimelinePoint, Times, millis, number};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 240.0;
/// Room for labels, left and below.
const LEFT: f64 = 70.0;
const BELOW: f64 = 24.0;
const INSIDE: (f64, f64) = (WIDTH - LEFT - 10.0, HEIGHT - BELOW - 10.0);

/// A place in the drawing for shares of its width and height.
fn place(across: f64, up: f64) -> (f64, f64) {
    let x = LEFT + across.clamp(0.0, 1.0) * INSIDE.0;
    let y = 10.0 + (1.0 - up.clamp(0.0, 1.0)) * INSIDE.1;
    (x, y)
}

fn open(out: &mut String, id: &str, name: &str) -> std::fmt::Result {
    writeln!(
        out,
        "<svg id=\"{id}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{name}\">"
    )
}

/// Lines across, each with what it stands for.
fn grid(out: &mut String, marks: &[(f64, String)]) -> std::fmt::Result {
    for (up, text) in marks {
        let (x, y) = place(0.0, *up);
        writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - 10.0,
            x - 6.0,
            y + 4.0,
            escaped(text)
        )?;
    }
    Ok(())
}

fn write_axis_labels(out: &mut String, marks: &[(f64, String)]) -> std::fmt::Result {
    for (across, text) in marks {
        let (x, _) = place(*across, 0.0);
        let y = HEIGHT - 6.0;
        // The last one must not leave the drawing.
        let anchor = if *across > 0.99 { "end" } else { "middle" };
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(text)
        )?;
    }
    Ok(())
}

fn path(out: &mut String, colour: &str, places: &[(f64, f64)]) -> std::fmt::Result {
    let places = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
    let places: Vec<String> = places.collect();
    writeln!(
        out,
        "<polyline fill=\"none\" stroke=\"var(--{colour})\" stroke-width=\"1.6\" points=\"{}\"/>",
        places.join(" ")
    )
}

/// How long the timeline is, in seconds.
fn length(points: &[TimelinePoint]) -> f64 {
    let last = points.last().map_or(0.0, |point| point.at_s);
    let step = points.get(1).map_or(1.0, |point| point.at_s);
    (last + step).max(1.0)
}

fn seconds(points: &[TimelinePoint]) -> Vec<(f64, String)> {
    let length = length(points);
    let places = usize::from(length < 20.0);
    [0.0, 0.25, 0.5, 0.75, 1.0]
        .map(|share| (share, format!("{:.places$} s", share * length)))
        .to_vec()
}

/// Where a time stands on a logarithmic scale from `low` to `high`.
fn scaled(ms: f64, low: f64, high: f64) -> f64 {
    (ms.max(low) / low).ln() / (high / low).max(1.0001).ln()
}

/// The powers of ten between two times, the ends included.
fn decades(smallest: f64, largest: f64) -> (f64, f64, Vec<(f64, String)>) {
    let low = 10_f64.powf(smallest.max(1e-3).log10().floor());
    let high = 10_f64.powf(largest.max(low * 10.0).log10().ceil());
    let mut marks = Vec::new();
    let mut at = low;
    while at <= high * 1.0001 {
        marks.push((scaled(at, low, high), time(at)));
        at *= 10.0;
    }
    (low, high, marks)
}

/// Response times over time.
pub(super) fn lines(run: &Run, out: &mut String) -> std::fmt::Result {
    let points = &run.timeline;
    open(out, "latency", "Response time over time")?;
    let busy = || points.iter().filter(|point| point.done > 0);
    let smallest = busy().map(|point| point.p50_ms).fold(f64::MAX, f64::min);
    let largest = busy().map(|point| point.max_ms).fold(0.0, f64::max);
    let (low, high, marks) = decades(smallest.min(largest), largest);
    grid(out, &marks)?;
    write_axis_labels(out, &seconds(points))?;
    let length = length(points);
    for (colour, of) in [
        ("c", (|point| point.max_ms) as fn(&TimelinePoint) -> f64),
        ("b", |point| point.p99_ms),
        ("a", |point| point.p50_ms),
    ] {
        let places = busy().map(|point| place(point.at_s / length, scaled(of(point), low, high)));
        let places: Vec<(f64, f64)> = places.collect();
        path(out, colour, &places)?;
    }
    writeln!(out, "</svg>")
}

/// Calls over time, those that came to something else than expected on top.
pub(super) fn bars(run: &Run, out: &mut String) -> std::fmt::Result {
    let points = &run.timeline;
    open(out, "calls", "Calls over time")?;
    let most = points.iter().map(|point| point.done).max();
    let most = most.unwrap_or(1).max(1);
    let marks = [0.0, 0.5, 1.0].map(|share| (share, format!("{:.0}", share * number(most))));
    grid(out, &marks)?;
    write_axis_labels(out, &seconds(points))?;
    let length = length(points);
    let width = INSIDE.0 / number(points.len().max(1) as u64);
    for point in points {
        let good = point.done.saturating_sub(point.unexpected);
        let (x, top) = place(point.at_s / length, number(point.done) / number(most));
        let (_, middle) = place(0.0, number(good) / number(most));
        let (_, bottom) = place(0.0, 0.0);
        for (colour, from, to) in [("good", middle, bottom), ("bad", top, middle)] {
            let (height, width) = (to - from, (width - 0.5).max(0.5));
            if height > 0.0 {
                writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{from:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"var(--{colour})\"/>"
                )?;
            }
        }
    }
    writeln!(out, "</svg>")
}

/// How many calls ended in which way.
pub(super) fn shares(run: &Run, out: &mut String) -> std::fmt::Result {
    let outcomes = &run.all.outcomes;
    let rows = number(outcomes.len().max(1) as u64);
    let height = rows * 26.0 + 6.0;
    writeln!(
        out,
        "<svg id=\"outcomes\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Outcomes\">"
    )?;
    let total = number(outcomes.values().sum::<u64>().max(1));
    for (row, (name, count)) in outcomes.iter().enumerate() {
        let y = number(row as u64) * 26.0 + 4.0;
        let width = (number(*count) / total * 560.0).max(1.0);
        let colour = if name == "ok" { "good" } else { "bad" };
        writeln!(
            out,
            "<text x=\"270\" y=\"{:.1}\" text-anchor=\"end\">{}</text><rect x=\"280\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"18\" fill=\"var(--{colour})\"/><text x=\"{:.1}\" y=\"{:.1}\">{count}</text>",
            y + 13.0,
            escaped(name),
            286.0 + width,
            y + 13.0
        )?;
    }
    writeln!(out, "</svg>")
}

/// Times by percentile: each step to the right leaves a tenth of the calls.
pub(super) fn percentiles(run: &Run, out: &mut String) -> std::fmt::Result {
    const NINES: f64 = 4.0;
    open(out, "percentiles", "Times by percentile")?;
    let (response, service) = (&run.all.figures.response, &run.all.figures.service);
    let (low, high, marks) = decades(service.min_ms.min(response.min_ms), response.max_ms);
    grid(out, &marks)?;
    let names = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"];
    let names = names.iter().zip(0_u32..);
    let names = names.map(|(name, step)| (f64::from(step) / NINES, (*name).to_owned()));
    write_axis_labels(out, &names.collect::<Vec<_>>())?;
    for (colour, times) in [("b", service), ("a", response)] {
        path(out, colour, &curve(times, NINES, low, high))?;
    }
    writeln!(out, "</svg>")
}

fn curve(times: &Times, nines: f64, low: f64, high: f64) -> Vec<(f64, f64)> {
    let Some(histogram) = times.histogram() else {
        return Vec::new();
    };
    let steps = 0..=80_u32;
    let places = steps.map(|step| {
        let across = f64::from(step) / 80.0;
        let quantile = 1.0 - 10_f64.powf(-across * nines);
        let ms = millis(histogram.value_at_quantile(quantile));
        place(across, scaled(ms, low, high))
    });
    places.collect()
}
