//! A server that is typed into a form, as the configuration file writes it. Whether it can be used, and whether a program may be
//! added at all, is decided where every change of the configuration is.

use countersign_console::NewServer;
use serde_json::{Map, Value, json};

/// The server as `POST /api/v1/servers` takes it.
pub(super) fn definition(typed: &NewServer) -> Result<String, &'static str> {
    let mut server = match typed.more.as_str() {
        "" => Map::new(),
        more => match serde_json::from_str(more) {
            Ok(Value::Object(members)) => members,
            _ => return Err("its other keys are not a JSON object"),
        },
    };
    let args: Vec<&str> = typed.args.lines().filter(|line| !line.is_empty()).collect();
    for (key, value) in [
        ("name", json!(typed.name)),
        ("url", json!(typed.url)),
        ("command", json!(typed.command)),
        ("args", json!(args)),
    ] {
        let is_given = value != json!("") && value != json!([]);
        if is_given && server.insert(key.to_owned(), value).is_some() {
            return Err("a key is given twice: in its field and among the other keys");
        }
    }
    Ok(Value::Object(server).to_string())
}

/// The patch of the configuration file that adds it.
pub(super) fn patch(name: &str, definition: &str) -> String {
    let mut server: Map<String, Value> = serde_json::from_str(definition).unwrap_or_default();
    server.remove("name");
    let servers = [(name.to_owned(), Value::Object(server))];
    let servers: Map<String, Value> = servers.into_iter().collect();
    json!({ "mcpServers": servers }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_written_as_in_the_file() {
        let typed = NewServer {
            name: "files".to_owned(),
            command: "npx".to_owned(),
            args: "-y\r\nserver files\n\n".to_owned(),
            more: r#"{"disabled": true}"#.to_owned(),
            ..NewServer::default()
        };
        let written = definition(&typed).expect("a server");
        let expected = json!({"name": "files", "command": "npx", "args": ["-y", "server files"], "disabled": true});
        assert_eq!(
            serde_json::from_str::<Value>(&written).expect("JSON"),
            expected
        );
        assert!(patch("files", &written).starts_with(r#"{"mcpServers":{"files":{"#));
        for more in ["[]", "{", r#"{"name": "other"}"#] {
            let typed = NewServer {
                more: more.to_owned(),
                ..typed.clone()
            };
            assert!(definition(&typed).is_err(), "{more}");
        }
    }
}
