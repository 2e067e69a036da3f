//! The demo in the README, run as written: what a newcomer reads is what the binary prints.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Folder, finish};

#[test]
fn the_demo_prints_what_the_readme_shows() {
    let demo = demo();
    let (commands, shown): (Vec<_>, Vec<_>) = demo.lines().partition(|line| line.starts_with("$ "));
    let script: Vec<_> = commands.iter().map(|line| &line[2..]).collect();

    let folder = Folder::with(&[]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &script.join("\n")])
        .current_dir(folder.path());
    shell.env("PATH", path_with_the_binary());
    let ran = finish(shell.stdout(Stdio::piped()).stderr(Stdio::piped()), b"");

    assert_eq!(ran.stderr, "");
    assert_eq!(ran.stdout.lines().collect::<Vec<_>>(), shown);
}

fn demo() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README is there");
    let (_, rest) = readme
        .split_once("```console\n")
        .expect("the README has a demo");
    let (demo, _) = rest.split_once("```").expect("the demo ends");
    demo.to_owned()
}

fn path_with_the_binary() -> std::ffi::OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = binary.parent().map(Path::to_owned).into_iter();
    let folders = folders.chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).expect("no folder has a separator in its name")
}
