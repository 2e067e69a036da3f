//! Which file holds, and what wins over it.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use tempfile::TempDir;

use super::lines;
use crate::{
    ConfigError, Environment, Listen, LocationSource, Overrides, Secret, load, locate, open,
};

fn home(files: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().expect("a temporary directory can be made");
    for (name, text) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file can be written");
    }
    home
}

fn environment<'a>(home: &Path, variables: &'a [(&str, &str)]) -> Environment<'a> {
    let lookup = move |name: &str| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Environment::new(lookup, Some(home.to_owned()))
}

const OURS: &str = ".countersign/mcp_config.json";
const THEIRS: &str = ".mcpproxy/mcp_config.json";

#[test]
fn the_first_that_is_given_or_exists_holds() {
    let both = home(&[(OURS, "{}"), (THEIRS, "{}")]);
    let theirs = home(&[(THEIRS, "{}")]);
    let none = home(&[]);
    let set = [("COUNTERSIGN_CONFIG", "~/mine.json")];
    let empty = [("COUNTERSIGN_CONFIG", "")];

    let by_flag = locate(Some("given.json".into()), &environment(both.path(), &set));
    assert_eq!(by_flag.source, LocationSource::Flag);
    assert_eq!(by_flag.file(), Some(Path::new("given.json")));

    let by_variable = locate(None, &environment(both.path(), &set));
    assert_eq!(by_variable.source, LocationSource::Environment);
    assert_eq!(by_variable.file(), Some(&*both.path().join("mine.json")));

    let ours = locate(None, &environment(both.path(), &empty));
    assert_eq!(
        (ours.source, ours.file()),
        (LocationSource::Home, Some(&*both.path().join(OURS)))
    );

    let fallback = locate(None, &environment(theirs.path(), &[]));
    assert_eq!(fallback.source, LocationSource::Mcpproxy);
    let said = fallback.to_string();
    assert!(
        said.ends_with("mcp_config.json, mcpproxy's file, since there is none of our own"),
        "{said}"
    );

    let nowhere = locate(None, &environment(none.path(), &[]));
    assert_eq!(
        (nowhere.source, nowhere.file()),
        (LocationSource::Nowhere, None)
    );
    assert_eq!(nowhere.path, Some(none.path().join(OURS)));
    assert_eq!(locate(None, &Environment::empty()).path, None);
}

#[test]
fn environment_beats_file_and_flags_beat_both() {
    let home = home(&[(
        OURS,
        r#"{"listen": "127.0.0.1:1", "data_dir": "/file", "api_key": "from-the-file-itself"}"#,
    )]);
    let variables = [
        ("COUNTERSIGN_LISTEN", "127.0.0.1:2"),
        ("COUNTERSIGN_DATA_DIR", "~/env"),
        ("COUNTERSIGN_API_KEY", "from-the-environment"),
        ("COUNTERSIGN_STORAGE_URL", "sqlite:/env.db"),
    ];
    let environment = environment(home.path(), &variables);
    let located = locate(None, &environment);
    let flags = Overrides {
        listen: Some(Listen::parse_list("127.0.0.1:3").expect("an address")),
        ..Overrides::default()
    };
    let (config, _) = open(&located, &environment, &flags).expect("it is accepted");
    assert_eq!(config.listen.to_string(), "127.0.0.1:3");
    assert_eq!(config.data_dir, home.path().join("env"));
    assert_eq!(
        config.api_key.as_ref().map(Secret::expose),
        Some("from-the-environment")
    );
    assert_eq!(config.storage.url.expose(), "sqlite:/env.db");

    let (config, _) = open(&located, &environment, &Overrides::default()).expect("it is accepted");
    assert_eq!(config.listen.to_string(), "127.0.0.1:2");
}

#[test]
fn without_a_file_the_defaults_hold_and_the_environment_wins() {
    let home = home(&[]);
    let environment = environment(home.path(), &[("COUNTERSIGN_LISTEN", "[::1]:9")]);
    let (config, warnings) = open(
        &locate(None, &environment),
        &environment,
        &Overrides::default(),
    )
    .expect("defaults are fine");
    assert!(warnings.is_empty());
    assert_eq!(config.listen.to_string(), "[::1]:9");
    assert_eq!(config.data_dir, home.path().join(".countersign"));
}

#[test]
fn a_flag_cannot_open_what_the_file_keeps_closed() {
    let home = home(&[(OURS, r#"{"require_mcp_auth": false}"#)]);
    let environment = environment(home.path(), &[]);
    let flags = Overrides {
        listen: Some(Listen::parse_list("0.0.0.0:8080").expect("an address")),
        ..Overrides::default()
    };
    let refused = open(&locate(None, &environment), &environment, &flags);
    let error = refused.expect_err("open to anyone");
    assert_snapshot!(lines(error.problems()), @r#"
    0.0.0.0:8080 would be open to anyone without a key
    hint: set "require_mcp_auth": true, or listen on 127.0.0.1
    "#);
}

#[test]
fn mistakes_in_the_environment_name_the_variable() {
    let home = home(&[]);
    let variables = [
        ("COUNTERSIGN_LISTEN", "8080"),
        ("COUNTERSIGN_DATA_DIR", "~ada"),
        ("COUNTERSIGN_API_KEY", "a b"),
        ("COUNTERSIGN_STORAGE_URL", "oracle:"),
    ];
    let environment = environment(home.path(), &variables);
    let refused = Overrides::from_environment(&environment);
    assert_snapshot!(lines(refused.expect_err("all wrong").problems()), @r#"
    COUNTERSIGN_LISTEN: not an address and port
    hint: write "127.0.0.1:8080" for this machine only, or "0.0.0.0:8080" for every interface
    COUNTERSIGN_DATA_DIR: '~' with a user's name is not understood
    hint: write '~/…' for your own home, or the whole path
    COUNTERSIGN_API_KEY: the key has characters that cannot be sent in a header
    hint: use letters, digits and punctuation without spaces
    COUNTERSIGN_STORAGE_URL: not a storage URL
    hint: write "sqlite:", "sqlite:PATH" or "postgres://user:password@host:5432/database"
    "#);
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let error = load(Path::new("/nowhere/mcp_config.json"), &Environment::empty());
    let error = error.expect_err("there is none");
    assert!(matches!(error, ConfigError::Read { .. }));
    assert_eq!(
        error.to_string(),
        "cannot read the configuration file /nowhere/mcp_config.json"
    );
}

#[cfg(unix)]
#[test]
fn a_key_others_can_read_is_warned_about() {
    use std::os::unix::fs::PermissionsExt;
    let home = home(&[(OURS, r#"{"api_key": "0123456789abcdef"}"#)]);
    let path = home.path().join(OURS);
    let mut said = Vec::new();
    for mode in [0o600, 0o644] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("our own file");
        let (_, warnings) = load(&path, &Environment::empty()).expect("it is accepted");
        said.push(lines(&warnings));
    }
    assert_eq!(said[0], "");
    assert!(said[1].contains("chmod 600"), "{}", said[1]);
}

const REFERS: &str = r#"{"mcpServers": {"a": {"command": "x", "env": {"T": "${env:A_T}"}}}}"#;

fn token(home: &Path, variables: &[(&str, &str)], flags: &Overrides) -> Result<String, String> {
    let environment = environment(home, variables);
    let located = locate(None, &environment);
    let (config, warnings) =
        open(&located, &environment, flags).map_err(|error| error.to_string())?;
    let crate::Transport::Stdio { env, .. } = &config.servers[0].transport else {
        unreachable!("it is a command");
    };
    let warned = warnings.iter().map(ToString::to_string);
    Ok(std::iter::once(env["T"].expose().to_owned())
        .chain(warned)
        .collect::<Vec<_>>()
        .join("; "))
}

fn private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("ours");
}

#[test]
fn references_find_the_env_file() {
    let home = home(&[
        (OURS, REFERS),
        (
            ".countersign/env",
            "A_T='from the file'\nCOUNTERSIGN_LISTEN=nonsense\n",
        ),
        ("other/env", "A_T=other"),
        ("mine", "export A_T=mine"),
    ]);
    let at = home.path();
    for file in [".countersign/env", "other/env", "mine"] {
        private(&at.join(file));
    }
    let none = Overrides::default();
    let plain = token(at, &[], &none);
    assert_eq!(plain.as_deref(), Ok("from the file"));
    let set = token(at, &[("A_T", "set")], &none);
    assert_eq!(set.as_deref(), Ok("set"));
    let elsewhere = token(at, &[("COUNTERSIGN_DATA_DIR", "~/other")], &none);
    assert_eq!(elsewhere.as_deref(), Ok("other"));
    let named = token(at, &[("COUNTERSIGN_ENV_FILE", "~/mine")], &none);
    assert_eq!(named.as_deref(), Ok("mine"));
    let flags = Overrides {
        env_file: Some(at.join("mine")),
        data_dir: Some(at.join("other")),
        ..Overrides::default()
    };
    assert_eq!(token(at, &[], &flags).as_deref(), Ok("mine"));
    let flags = Overrides {
        env_file: Some(at.join("missing")),
        ..Overrides::default()
    };
    let missing = token(at, &[], &flags).expect_err("it was named");
    assert!(missing.starts_with("cannot read"), "{missing}");
    let moved = REFERS.replacen('{', r#"{"data_dir": "~/other", "#, 1);
    fs::write(at.join(OURS), moved).expect("written");
    assert_eq!(token(at, &[], &none).as_deref(), Ok("other"));
}

#[test]
fn an_env_file_that_cannot_be_read_right_is_refused_and_an_open_one_told_of() {
    use std::os::unix::fs::PermissionsExt;
    let home = home(&[(OURS, REFERS), (".countersign/env", "A_T=s3cret word")]);
    let file = home.path().join(".countersign/env");
    private(&file);
    let refused = token(home.path(), &[], &Overrides::default()).expect_err("two words");
    assert!(
        refused.ends_with("env:1:1: a value with a space in it"),
        "{refused}"
    );
    assert!(!refused.contains("s3cret"), "{refused}");
    fs::write(&file, "A_T=x").expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("ours");
    let warned = token(home.path(), &[], &Overrides::default()).expect("usable");
    assert!(
        warned.starts_with("x; others may read the env file"),
        "{warned}"
    );
}
