use std::sync::atomic::Ordering;

use countersign_config::{Environment, parse};

use super::counter::SECOND;
use super::*;

fn config(limits: &str) -> Arc<Config> {
    let file = format!(r#"{{"limits": [{limits}]}}"#);
    let (config, _) = parse(&file, &Environment::empty()).expect("a configuration");
    Arc::new(config)
}

fn caller(name: &str) -> Caller {
    Caller {
        name: name.into(),
        ..Caller::anonymous()
    }
}

/// Makes a call that ends at once.
fn call(callers: &mut Callers, config: &Arc<Config>, name: &str, now: u64) -> bool {
    let counters = callers.counters(config, &caller(name), now);
    let entered = enter(&counters, now).is_ok();
    if entered {
        leave(&counters);
    }
    entered
}

#[test]
fn a_rate_allows_a_burst_and_then_its_pace() {
    let config = config(r#"{"callers": ["key:*"], "calls": "60/m", "burst": 3}"#);
    let mut callers = Callers::default();
    let mut at = |now: u64| call(&mut callers, &config, "key:ci", now * SECOND);
    assert_eq!([0, 0, 0, 0].map(&mut at), [true, true, true, false]);
    assert_eq!([1, 1, 2].map(&mut at), [true, false, true]);
    assert_eq!([60, 60, 60, 60].map(&mut at), [true, true, true, false]);
    // Each caller by itself, and no caller that the limit is not for.
    assert!(call(&mut callers, &config, "key:cd", 60 * SECOND));
    assert!((0..100).all(|_| call(&mut callers, &config, "corp:1", 0)));
    assert_eq!(callers.known.len(), 2);
}

#[test]
fn a_refused_call_takes_nothing_from_other_limits() {
    let config = config(
        r#"{"callers": ["*"], "calls": "1/h"}, {"callers": ["*"], "calls": "10/s", "burst": 1, "concurrent": 2}"#,
    );
    let mut callers = Callers::default();
    let counters = callers.counters(&config, &caller("key:ci"), 0);
    counters[1].taken_until.store(SECOND, Ordering::Relaxed);
    assert_eq!(enter(&counters, 0), Err(Refusal::OverRate { after_s: 1 }));
    assert_eq!(counters[0].taken_until.load(Ordering::Relaxed), 0);
    assert_eq!(enter(&counters, 2 * SECOND), Ok(()));
    let used = Err(Refusal::OverRate { after_s: 3_599 });
    assert_eq!(enter(&counters, 3 * SECOND), used);
    assert_eq!(counters[1].under_way.load(Ordering::Relaxed), 1);
    leave(&counters);
    counters
        .iter()
        .for_each(|counter| assert!(counter.enter() && counter.enter()));
    assert_eq!(enter(&counters, 9_000 * SECOND), Err(Refusal::TooManyCalls));
}

#[test]
fn no_caller_is_forgotten_while_its_counters_say_something() {
    let config = config(r#"{"callers": ["*"], "calls": "1/m", "concurrent": 4}"#);
    let mut callers = Callers::default();
    for number in 0..MAX_CALLERS {
        assert!(call(&mut callers, &config, &format!("corp:{number}"), 0));
    }
    // There is no room: the next two share one set of counters.
    assert!(call(&mut callers, &config, "corp:new", 0));
    assert!(!call(&mut callers, &config, "corp:other", 0));
    assert!(!call(&mut callers, &config, "corp:0", 0));
    assert_eq!(callers.known.len(), MAX_CALLERS);
    // After their minute they are as if they had never called, but one that has a call under way is not.
    let busy = callers.counters(&config, &caller("corp:7"), 0);
    assert!(busy[0].enter());
    assert!(call(&mut callers, &config, "corp:new", 61 * SECOND));
    assert_eq!(callers.known.len(), 2);
    assert!(!call(&mut callers, &config, "corp:new", 61 * SECOND));
}

#[test]
fn a_reload_keeps_what_was_used_of_a_limit_that_stays() {
    let one = r#"{"callers": ["*"], "calls": "1/m"}"#;
    let before = config(one);
    let mut callers = Callers::default();
    assert!(call(&mut callers, &before, "key:ci", 0));
    let after = config(&format!(
        r#"{{"callers": ["key:*"], "calls": "5/m"}}, {one}"#
    ));
    assert!(!call(&mut callers, &after, "key:ci", 0));
    let other = config(r#"{"callers": ["*"], "calls": "2/m"}"#);
    assert!(call(&mut callers, &other, "key:ci", 0));
}
