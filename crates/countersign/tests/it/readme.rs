//! The demos in the README, run as written: what a newcomer reads is what the binary prints. The gateway's own is
//! checked where the gateway runs.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Folder, finish};

#[test]
fn the_demo_prints_what_the_readme_shows() {
    let demo = console("schema validate");
    let (commands, shown): (Vec<_>, Vec<_>) = demo.lines().partition(|line| line.starts_with("$ "));
    // In a clone, this runs the program that was just built.
    let typed = |line: &&str| line[2..].replace("cargo run --release --quiet --", "countersign");
    let script: Vec<_> = commands.iter().map(typed).collect();

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

/// The console session of the README in which this is typed.
pub(crate) fn console(typed: &str) -> String {
    block("console", typed)
}

/// The README's block of this language in which this stands.
pub(crate) fn block(language: &str, part: &str) -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README is there");
    let fence = format!("```{language}\n");
    let blocks = readme.split(&fence).skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split_once("```"));
    let (block, _) = blocks
        .find(|(block, _)| block.contains(part))
        .expect("the README shows it");
    block.to_owned()
}

fn path_with_the_binary() -> std::ffi::OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_countersign"));
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = binary.parent().map(Path::to_owned).into_iter();
    let folders = folders.chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).expect("no folder has a separator in its name")
}
