//! A file that an earlier build accepted loads with the same meaning. `every_key.json` uses every key there was then, and
//! `every_key.shown.json` is what `config show` of that build printed for it. Neither changes when a key is added.

use insta::assert_snapshot;
use serde_json::Value;

use super::{environment, lines};
use crate::parse;

const FILE: &str = include_str!("compatible/every_key.json");
const SHOWN: &str = include_str!("compatible/every_key.shown.json");

/// Fails where `now` has not what `then` has. More members are no difference.
fn compare(pointer: &str, then: &Value, now: &Value) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (key, value) in then {
                let pointer = format!("{pointer}/{key}");
                compare(&pointer, value, now.get(key).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            for (index, (then, now)) in then.iter().zip(now).enumerate() {
                compare(&format!("{pointer}/{index}"), then, now);
            }
        }
        _ => assert_eq!(then, now, "{pointer}"),
    }
}

#[test]
fn a_file_of_an_earlier_build_means_what_it_meant() {
    let (config, warnings) = match parse(FILE, &environment()) {
        Ok(read) => read,
        Err(error) => panic!("refused:\n{}", lines(error.problems())),
    };
    assert_snapshot!(lines(&warnings), @r#"
    96:5: /mcpServers/2: "My_Files" does not fit into tool names, so this server is called "my-files"
    hint: to choose another name, write 1 to 20 characters of a-z, 0-9 and -
    "#);
    let [then, now] = [SHOWN, &config.show()].map(|text| serde_json::from_str(text).expect("JSON"));
    compare("", &then, &now);
}
