//! `JUnit` XML: a suite per tool, a case per check, in the dialect that CI systems read. Nothing a
//! server wrote can end an attribute or an element: every text is escaped, and characters XML
//! does not have are replaced.

use std::fmt::Write as _;

/// One group of checks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// Its name: a tool, as a rule.
    pub name: String,
    /// Its checks.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// How it ended.
    pub status: Status,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
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
pub fn render(name: &str, suites: &[Suite]) -> String {
    let count = |suite: &Suite, which: fn(&Status) -> bool| {
        suite
            .checks
            .iter()
            .filter(|check| which(&check.status))
            .count()
    };
    let failed: fn(&Status) -> bool = |status| matches!(status, Status::Failed { .. });
    let skipped: fn(&Status) -> bool = |status| matches!(status, Status::Skipped(_));
    let total: usize = suites.iter().map(|suite| suite.checks.len()).sum();
    let failures: usize = suites.iter().map(|suite| count(suite, failed)).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut put = |text: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let written = out.write_fmt(text);
        debug_assert!(written.is_ok());
    };
    put(format_args!(
        "<testsuites name=\"{}\" tests=\"{total}\" failures=\"{failures}\" errors=\"0\">\n",
        escape(name)
    ));
    for suite in suites {
        let (tests, failures, skipped) = (
            suite.checks.len(),
            count(suite, failed),
            count(suite, skipped),
        );
        let name = escape(&suite.name);
        put(format_args!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n"
        ));
        for check in &suite.checks {
            put(format_args!(
                "    <testcase classname=\"{name}\" name=\"{}\"",
                escape(&check.name)
            ));
            match &check.status {
                Status::Passed => put(format_args!("/>\n")),
                Status::Warned(text) => put(format_args!(
                    ">\n      <system-out>{}</system-out>\n    </testcase>\n",
                    escape(text)
                )),
                Status::Failed { message, text } => put(format_args!(
                    ">\n      <failure message=\"{}\" type=\"contract\">{}</failure>\n    </testcase>\n",
                    escape(message),
                    escape(text)
                )),
                Status::Skipped(why) => put(format_args!(
                    ">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                    escape(why)
                )),
            }
        }
        put(format_args!("  </testsuite>\n"));
    }
    out.push_str("</testsuites>\n");
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(letter),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            other => out.push(other),
        }
    }
    out
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
      <skipped message=\"why\"/>
    </testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(xml, expected);
    }
}
