//! Runs a directory in the format of the official JSON Schema test suite.
//!
//! Shared by the `suite` example and the integration tests. Schemas and data are cut out of the files as text, so big
//! numbers and escapes reach the engine as written. Nothing is fetched: the suite's remotes are handed in.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_schema::{Compiler, Dialect, Fuel, Outcome, Schema, Verdict};
use countersign_tape::{Kind, Limits, Tape};

/// The drafts run, with the dialect of a schema that names none.
const DRAFTS: [(&str, Dialect); 3] = [
    ("draft2020-12", Dialect::Draft202012),
    ("draft2019-09", Dialect::Draft201909),
    ("draft7", Dialect::Draft7),
];

/// Where the suite says its remotes are served.
const REMOTES: &str = "http://localhost:1234/";

/// Tests passed and failed.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// A test whose verdict was not the suite's.
#[derive(Debug)]
pub(crate) struct Failure {
    /// `draft/file/group/test`.
    pub(crate) name: String,
    pub(crate) reason: String,
    /// Two faces of the engine gave different answers: never to be excused.
    pub(crate) disagreement: bool,
}

/// What one draft came to.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) draft: &'static str,
    pub(crate) required: Tally,
    pub(crate) optional: Tally,
    pub(crate) failures: Vec<Failure>,
}

/// Failures that no list excuses, and excuses that are not needed any more.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) unexpected: Vec<String>,
    pub(crate) stale: Vec<String>,
}

impl Judgement {
    pub(crate) fn is_clean(&self) -> bool {
        self.unexpected.is_empty() && self.stale.is_empty()
    }
}

/// Runs every draft found under `root/tests`.
pub(crate) fn run(root: &Path) -> Result<Vec<Report>, String> {
    let remotes = remotes(root)?;
    let mut reports = Vec::new();
    for (draft, dialect) in DRAFTS {
        let folder = root.join("tests").join(draft);
        if folder.is_dir() {
            reports.push(run_draft(draft, dialect, &folder, &remotes)?);
        }
    }
    if reports.is_empty() {
        return Err(format!("no draft under {}", root.join("tests").display()));
    }
    Ok(reports)
}

/// Compares the failures with a list of expected ones: a line each, `#` for reasons.
pub(crate) fn judge(reports: &[Report], expected: &str) -> Judgement {
    let mut excused: BTreeSet<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let mut unexpected = Vec::new();
    for failure in reports.iter().flat_map(|report| &report.failures) {
        if !excused.remove(failure.name.as_str()) || failure.disagreement {
            unexpected.push(format!("{}: {}", failure.name, failure.reason));
        }
    }
    Judgement {
        unexpected,
        stale: excused.into_iter().map(str::to_owned).collect(),
    }
}

fn run_draft(
    draft: &'static str,
    dialect: Dialect,
    folder: &Path,
    remotes: &[(String, Vec<u8>)],
) -> Result<Report, String> {
    let mut report = Report {
        draft,
        required: Tally::default(),
        optional: Tally::default(),
        failures: Vec::new(),
    };
    let compilers = [false, true].map(|formats| {
        let compiler = Compiler::new()
            .default_dialect(dialect)
            .assert_formats(formats);
        remotes.iter().fold(compiler, |compiler, (uri, bytes)| {
            compiler.document(uri.as_str(), bytes.as_slice())
        })
    });
    for path in json_files(folder)? {
        let file = relative(folder, &path);
        let file = file.trim_end_matches(".json");
        let compiler = &compilers[usize::from(file.starts_with("optional/format/"))];
        let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        run_file(&mut report, file, compiler, &text)?;
    }
    Ok(report)
}

fn run_file(
    report: &mut Report,
    file: &str,
    compiler: &Compiler,
    text: &[u8],
) -> Result<(), String> {
    let tape = Tape::parse(text, &Limits::default()).map_err(|error| format!("{file}: {error}"))?;
    for group in tape.children(0) {
        let schema = compiler.compile(member(&tape, group, "schema")?.as_bytes());
        let tests = tape
            .get(group, "tests")
            .ok_or_else(|| format!("{file}: group without tests"))?;
        for test in tape.children(tests) {
            let data = member(&tape, test, "data")?;
            let valid = member(&tape, test, "valid")? == "true";
            let outcome = match &schema {
                Ok(schema) => check(schema, data.as_bytes(), valid),
                Err(reason) => Err((format!("unenforceable: {reason}"), false)),
            };
            let tally = if file.starts_with("optional/") {
                &mut report.optional
            } else {
                &mut report.required
            };
            match outcome {
                Ok(()) => tally.passed += 1,
                Err((reason, disagreement)) => {
                    tally.failed += 1;
                    report.failures.push(Failure {
                        name: format!(
                            "{}/{file}/{}/{}",
                            report.draft,
                            description(&tape, group),
                            description(&tape, test)
                        ),
                        reason,
                        disagreement,
                    });
                }
            }
        }
    }
    Ok(())
}

/// Both faces of the engine on one case; the reason why not, and whether they disagreed.
fn check(schema: &Schema, data: &[u8], valid: bool) -> Result<(), (String, bool)> {
    let tape =
        Tape::parse(data, &Limits::default()).map_err(|error| (format!("data: {error}"), false))?;
    let quick = schema.is_valid(&tape, &mut Fuel::for_instance(&tape, 1.0));
    let explained = schema.validate(&tape, &mut Fuel::for_instance(&tape, 1.0));
    let agree = match &explained {
        Outcome::Valid => quick == Verdict::Valid,
        Outcome::Invalid(violations) => quick == Verdict::Invalid && violations.len() >= 1,
        Outcome::Exhausted => quick == Verdict::Exhausted,
    };
    if !agree {
        return Err((
            format!("is_valid says {quick:?}, validate says {explained:?}"),
            true,
        ));
    }
    let expected = if valid {
        Verdict::Valid
    } else {
        Verdict::Invalid
    };
    if quick == expected {
        Ok(())
    } else {
        Err((format!("{quick:?}, not {expected:?}"), false))
    }
}

fn member<'a>(tape: &Tape<'a>, object: u32, name: &str) -> Result<&'a str, String> {
    tape.get(object, name)
        .map(|value| tape.raw(value))
        .ok_or_else(|| format!("no {name:?} at {}", tape.pointer(object)))
}

fn description(tape: &Tape<'_>, object: u32) -> String {
    tape.get(object, "description")
        .filter(|value| tape.node(*value).kind() == Kind::String)
        .map_or_else(String::new, |value| tape.string(value).into_owned())
}

fn remotes(root: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let folder = root.join("remotes");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    json_files(&folder)?
        .into_iter()
        .map(|path| {
            let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok((format!("{REMOTES}{}", relative(&folder, &path)), bytes))
        })
        .collect()
}

/// Every `.json` file below a folder, in order.
pub(crate) fn json_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn relative(folder: &Path, path: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    let parts: Vec<_> = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    parts.join("/")
}
