//! `JUnit` XML: a suite per tool, a case per check, in the dialect that CI systems read. Written by hand
//! because the crate for it brings chrono, uuid and an XML library with it. Nothing a server wrote can
//! end an attribute or an element: every text is escaped, and characters XML does not have are
//! replaced.

use std::fmt::Write as _;

use super::write_string;

/// One group of checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Suite {
    /// Its name: a tool, as a rule.
    pub(crate) name: String,
    /// Its checks.
    pub(crate) checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    /// What was checked.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) status: Status,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Status {
    /// Nothing to say.
    Passed,
    /// Nothing that gates, but something to read.
    Warned(String),
    /// It gates.
    Failed {
        /// In a line.
        message: String,
        /// In full.
        text: String,
    },
    /// It was not done, and why.
    Skipped(String),
}

/// Renders suites.
pub(crate) fn render(name: &str, suites: &[Suite]) -> String {
    write_string(|out| write(name, suites, out))
}

fn write(name: &str, suites: &[Suite], out: &mut String) -> std::fmt::Result {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let total: usize = suites.iter().map(|suite| suite.checks.len()).sum();
    let failures: usize = suites.iter().map(|suite| suite.count(is_failed)).sum();
    writeln!(
        out,
        "<testsuites name=\"{}\" tests=\"{total}\" failures=\"{failures}\" errors=\"0\">",
        escape(name)
    )?;
    for suite in suites {
        let name = escape(&suite.name);
        writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">",
            suite.checks.len(),
            suite.count(is_failed),
            suite.count(|status| matches!(status, Status::Skipped(_)))
        )?;
        for check in &suite.checks {
            write_check(&name, check, out)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn write_check(suite: &str, check: &Check, out: &mut String) -> std::fmt::Result {
    let name = escape(&check.name);
    write!(out, "    <testcase classname=\"{suite}\" name=\"{name}\"")?;
    let inside = match &check.status {
        Status::Passed => return writeln!(out, "/>"),
        Status::Warned(text) => format!("<system-out>{}</system-out>", escape(text)),
        Status::Failed { message, text } => format!(
            "<failure message=\"{}\" type=\"contract\">{}</failure>",
            escape(message),
            escape(text)
        ),
        // The reason is text: the common schema has no attribute for it.
        Status::Skipped(why) => format!("<skipped>{}</skipped>", escape(why)),
    };
    writeln!(out, ">\n      {inside}\n    </testcase>")
}

impl Check {
    /// A check and how it ended.
    pub(crate) fn new(name: impl Into<String>, status: Status) -> Self {
        let name = name.into();
        Self { name, status }
    }

    /// A check that holds, or fails with this message.
    pub(crate) fn from_problem(name: impl Into<String>, problem: Option<String>) -> Self {
        Self::new(name, problem.map_or(Status::Passed, Status::failed))
    }
}

impl Status {
    /// A failure that one line says all about.
    pub(crate) fn failed(message: String) -> Self {
        let text = String::new();
        Self::Failed { message, text }
    }
}

impl Suite {
    fn count(&self, which: fn(&Status) -> bool) -> usize {
        let checks = self.checks.iter();
        checks.filter(|check| which(&check.status)).count()
    }
}

fn is_failed(status: &Status) -> bool {
    matches!(status, Status::Failed { .. })
}

/// Text for an attribute or an element. Characters that XML does not have are replaced.
fn escape(text: &str) -> String {
    let is_foreign = |letter| match letter {
        '\t' | '\n' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    };
    escape_markup(&text.replace(is_foreign, "\u{fffd}"))
}

/// Text in which nothing is markup.
pub(crate) fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_inside_its_place() {
        let check = |name: &str, status| Check {
            name: name.to_owned(),
            status,
        };
        let suites = [Suite {
            name: "a\"<b>".to_owned(),
            checks: vec![
                check("passes", Status::Passed),
                check("warns", Status::Warned("]]> & \u{1b}[31m".to_owned())),
                check(
                    "fails",
                    Status::Failed {
                        message: "m\"".to_owned(),
                        text: "<script>".to_owned(),
                    },
                ),
                check("skips", Status::Skipped("why".to_owned())),
            ],
        }];
        let xml = render("server", &suites);
        let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"server\" tests=\"4\" failures=\"1\" errors=\"0\">
  <testsuite name=\"a&quot;&lt;b&gt;\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\">
    <testcase classname=\"a&quot;&lt;b&gt;\" name=\"passes\"/>
    <testcase classname=\"a&quot;&lt;b&gt;\" name=\"warns\">
      <system-out>]]&gt; &amp; \u{fffd}[31m</system-out>
    </testcase>
    <testcase classname=\"a&quot;&lt;b&gt;\" name=\"fails\">
      <failure message=\"m&quot;\" type=\"contract\">&lt;script&gt;</failure>
    </testcase>
    <testcase classname=\"a&quot;&lt;b&gt;\" name=\"skips\">
      <skipped>why</skipped>
    </testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(xml, expected);
    }
}
