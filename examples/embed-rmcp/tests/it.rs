//! Runs the example as a reader would, and checks what the client got.

use std::process::Command;

fn line<'a>(output: &'a str, tool: &str) -> &'a str {
    let mut lines = output.lines();
    lines
        .find(|line| line.split_whitespace().next() == Some(tool))
        .unwrap_or_else(|| panic!("{tool}: {output}"))
}

#[test]
fn only_inspected_results_reach_an_rmcp_client() {
    let ran = Command::new(env!("CARGO_BIN_EXE_embed-rmcp"))
        .output()
        .expect("it runs");
    let output = String::from_utf8(ran.stdout).expect("UTF-8");
    assert!(
        ran.status.success(),
        "{output}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(line(&output, "conforming").contains("structured"));
    assert!(line(&output, "bad_output").contains("error"));
    assert!(line(&output, "bad_output").contains("output schema validation failed: "));
    assert!(line(&output, "too_big").contains("exceeds max_bytes"));
    assert!(line(&output, "too_deep").contains("exceeds max_depth"));
    // A legacy client would reject an array; it gets the same bytes as text.
    assert!(line(&output, "array").contains("text only"));
    assert!(line(&output, "text_only").contains("text only"));
}
