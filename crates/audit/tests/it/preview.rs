//! The preview of the newest calls: its numbers are those of the whole log where the log is shorter, and those of exactly
//! the newest calls where it is longer.

use countersign_audit::{
    Decision, Filter, Kind, Mode, Outcome, Preview, Reader, Record, Stage, Store,
};
use countersign_inspect::Overrides;
use countersign_inspect::config::OutputValidation;

use crate::support::{DataDir, blocked, call, finding, wait_for_index};

/// The configuration says nothing but the mode.
fn overrides(_server: &str, _tool: &str) -> Overrides {
    Overrides::from(&OutputValidation::default())
}

fn last(reader: &Reader, filter: &Filter, calls: usize) -> Preview {
    let preview = reader.preview_last(filter, calls, &overrides);
    preview.expect("the store answers")
}

fn whole(reader: &Reader, filter: &Filter) -> Preview {
    reader
        .preview(filter, &overrides)
        .expect("the store answers")
}

/// A call in `warn` whose result breaks its contract.
fn flagged(store: &Store, tool: &str) -> Vec<Record> {
    let [mut call, mut decision] = blocked(store, "files", tool);
    call.mode = Some(Mode::Warn);
    let findings = std::mem::take(&mut decision.findings);
    decision = Record::decided(decision.id(), Decision::Flagged);
    decision.server.clone_from(&call.server);
    decision.tool.clone_from(&call.tool);
    decision.parent_id = Some(call.id());
    decision.mode = Some(Mode::Warn);
    decision.findings = findings;
    vec![call, decision]
}

/// A call whose arguments were refused: the decision is what counts.
fn refused(store: &Store, tool: &str) -> Vec<Record> {
    let mut call = Record::new(store.next_id(), Kind::ToolCall, Outcome::Rejected);
    call.server = Some("files".to_owned());
    call.tool = Some(tool.to_owned());
    let mut decision = Record::decided(store.next_id(), Decision::Blocked);
    decision.server.clone_from(&call.server);
    decision.tool.clone_from(&call.tool);
    decision.parent_id = Some(call.id());
    decision.findings = vec![finding(Stage::Input, "input.schema.type")];
    vec![call, decision]
}

fn commit(store: &Store, records: Vec<Record>) {
    let evidence = store.commit_blocking((), records).evidence();
    assert_eq!(evidence, countersign_audit::Evidence::Committed);
}

#[test]
fn the_newest_calls_are_counted_and_no_others() {
    let dir = DataDir::new();
    let store = dir.open();
    for round in 0..300 {
        commit(&store, flagged(&store, "a"));
        commit(&store, vec![call(&store, "files", "a")]);
        commit(&store, refused(&store, "a"));
        if round == 150 {
            // Some of them are in the index, some are not.
            wait_for_index(&store);
        }
    }
    let reader = dir.reader();
    let all = Filter::default();
    let everything = whole(&reader, &all);
    assert_eq!(
        (everything.total.calls, everything.total.would_be_blocked),
        (900, 600)
    );
    let more = last(&reader, &all, 901);
    assert_eq!(
        (more.total, &more.rows, more.last),
        (everything.total, &everything.rows, Some(901))
    );
    // Newest first: a refused call, a conforming one, one that breaks its contract.
    for (calls, would_be_blocked) in [(1, 1), (2, 1), (3, 2), (4, 3), (300, 200), (899, 599)] {
        let preview = last(&reader, &all, calls);
        assert_eq!(
            preview.total.calls,
            u64::try_from(calls).expect("small"),
            "{calls}"
        );
        assert_eq!(preview.total.would_be_blocked, would_be_blocked, "{calls}");
    }
    let tool = Filter {
        tools: vec!["b".to_owned()],
        ..Filter::default()
    };
    assert_eq!(last(&reader, &tool, 10).total.calls, 0);
    commit(&store, flagged(&store, "b"));
    assert_eq!(last(&reader, &tool, 10).total, whole(&reader, &tool).total);
}

/// Calls that end at the same time write their records between each other's.
#[test]
fn a_decision_about_an_older_call_is_left_out() {
    let dir = DataDir::new();
    let store = dir.open();
    let [old, new] = [flagged(&store, "old"), flagged(&store, "new")];
    let [old_call, old_decision] = <[Record; 2]>::try_from(old).expect("two");
    let [new_call, new_decision] = <[Record; 2]>::try_from(new).expect("two");
    commit(&store, vec![old_call, new_call, old_decision, new_decision]);
    let preview = last(&dir.reader(), &Filter::default(), 1);
    assert_eq!(
        (preview.total.calls, preview.total.would_be_blocked),
        (1, 1)
    );
    assert_eq!(preview.rows.len(), 1);
    assert_eq!(preview.rows[0].tool.as_deref(), Some("new"));
}
