//! The activity log: a page of records with its filters, and one record in full.

use askama::Template;

use super::{Fact, Frame};
use crate::moment::Moment;
use crate::text::Text;

/// A filter that is one of a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The parameter.
    pub name: &'static str,
    /// Every word, and whether it is chosen.
    pub words: Vec<(&'static str, bool)>,
}

/// The filters in force, as the form shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Those with a list of words.
    pub choices: Vec<Choice>,
    /// Those that are typed: the parameter, what is typed, an example.
    pub fields: Vec<(&'static str, String, &'static str)>,
    /// Those with a list of words that are needed less often.
    pub more_choices: Vec<Choice>,
    /// Those that are typed and needed less often.
    pub more_fields: Vec<(&'static str, String, &'static str)>,
    /// Shortcuts: the word, the address, and whether it is in force.
    pub shortcuts: Vec<(&'static str, String, bool)>,
}

impl Filters {
    /// Whether one of those is in force that are needed less often.
    fn has_more(&self) -> bool {
        let mut words = self.more_choices.iter().flat_map(|choice| &choice.words);
        let mut fields = self.more_fields.iter();
        words.any(|(_, is_chosen)| *is_chosen) || fields.any(|(_, typed, _)| !typed.is_empty())
    }
}

/// A record in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its page.
    pub href: String,
    /// When.
    pub when: Moment,
    /// How it ended: the word and the class of its colour.
    pub status: &'static str,
    /// What it is.
    pub kind: &'static str,
    /// The server and its tool, as far as it is about one.
    pub subject: Text,
    /// Why, in one sentence.
    pub sentence: Text,
    /// How long it took.
    pub duration: String,
}

/// A page of records.
#[derive(Clone, Debug, Template)]
#[template(path = "activity.html")]
pub struct Activity {
    /// What is around it.
    pub frame: Frame,
    /// The filters.
    pub filters: Filters,
    /// What is wrong with the filters, if something is.
    pub refusal: Option<Text>,
    /// The records, newest first.
    pub rows: Vec<Row>,
    /// The next page, if there is one.
    pub next: Option<String>,
    /// The newest records, if this is a later page.
    pub newest: Option<String>,
    /// Stored records that cannot be read.
    pub unreadable: u64,
}

/// Something that a stage noticed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Which stage.
    pub stage: &'static str,
    /// The rule.
    pub rule: Text,
    /// Other records with it.
    pub href: String,
    /// How bad it is.
    pub severity: &'static str,
    /// Where in the result, and where in the schema.
    pub pointers: [Option<Text>; 2],
    /// What was expected and what was there.
    pub expected: Option<Text>,
    /// What was there instead.
    pub actual: Option<Text>,
    /// One sentence more.
    pub detail: Option<Text>,
}

/// The schema that a result or the arguments of a call were held to, with the places that findings point at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedSchema {
    /// Which schema.
    pub title: String,
    /// Its lines, or those around the marked ones.
    pub lines: Vec<SchemaLine>,
}

/// A line of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaLine {
    /// The line; nothing where lines are left out.
    pub text: Text,
    /// The numbers of the findings that point at it, from 1.
    pub findings: Vec<usize>,
}

/// What sanitising did in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    /// The part of the result.
    pub place: Text,
    /// What was there.
    pub what: Text,
    /// How often.
    pub count: u64,
    /// What was done about it.
    pub action: &'static str,
    /// Where the first ones began, in bytes of the decoded text.
    pub offsets: String,
}

/// One record.
#[derive(Clone, Debug, Template)]
#[template(path = "record.html")]
pub struct RecordPage {
    /// What is around it.
    pub frame: Frame,
    /// Its id.
    pub id: String,
    /// How it ended.
    pub status: &'static str,
    /// Why, in one sentence.
    pub sentence: Text,
    /// When.
    pub when: Moment,
    /// What is known of it.
    pub facts: Vec<Fact>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// How many findings were left out.
    pub left_out: u64,
    /// The schemas with what the findings point at.
    pub schemas: Vec<MarkedSchema>,
    /// What sanitising changed or reported.
    pub changes: Vec<TextChange>,
    /// The call it is about, or the decisions about it.
    pub related: Vec<Row>,
    /// Request and response, where payloads are kept.
    pub payloads: Vec<(&'static str, Text)>,
    /// Its place in the chain.
    pub chain: Vec<Fact>,
    /// Records like this one.
    pub similar: String,
    /// Where its proof is.
    pub receipt: String,
}

#[cfg(test)]
mod tests {
    use super::super::{HOSTILE, Nav, Role, assert_inert, frame};
    use super::*;

    fn row() -> Row {
        Row {
            href: "/console/activity/01".to_owned(),
            when: Moment::new("2026-01-01T00:00:00.000Z".to_owned(), 0, 90_000),
            status: "blocked",
            kind: "policy_decision",
            subject: Text::new(HOSTILE),
            sentence: Text::new(HOSTILE),
            duration: "3 ms".to_owned(),
        }
    }

    fn activity(rows: Vec<Row>) -> Activity {
        Activity {
            frame: frame(Nav::Activity, Role::Viewer),
            filters: Filters {
                choices: vec![Choice {
                    name: "status",
                    words: vec![("blocked", true), ("flagged", false)],
                }],
                fields: vec![("tool", HOSTILE.to_owned(), "search")],
                more_choices: Vec::new(),
                more_fields: vec![("rule", HOSTILE.to_owned(), "schema.type")],
                shortcuts: vec![(
                    "blocked",
                    "/console/activity?status=blocked".to_owned(),
                    true,
                )],
            },
            refusal: Some(Text::new(HOSTILE)),
            rows,
            next: Some("/console/activity?cursor=s1-2".to_owned()),
            newest: None,
            unreadable: 0,
        }
    }

    #[test]
    fn a_page_of_records_keeps_its_filters() {
        let html = activity(vec![row()]).html();
        // The field holds the text itself, escaped: what is sent back must be what was typed.
        assert_inert(&html.replace('\u{202e}', ""));
        assert!(
            html.contains("<option value=\"blocked\" selected>"),
            "{html}"
        );
        assert!(
            html.contains("title=\"2026-01-01T00:00:00.000Z\">1 min ago"),
            "{html}"
        );
        assert!(html.contains("class=\"status blocked\""));
        assert!(html.contains("<details class=\"more\" open>"), "{html}");
        assert!(html.contains("data-events=\"/console/events\""));
    }

    #[test]
    fn an_empty_page_says_what_to_do() {
        assert!(activity(Vec::new()).html().contains("No records match"));
    }

    #[test]
    fn a_record_begins_with_its_sentence() {
        let page = RecordPage {
            frame: frame(Nav::Activity, Role::Viewer),
            id: "01ARZ3NDEK0000000000000000".to_owned(),
            status: "blocked",
            sentence: Text::new(HOSTILE),
            when: Moment::default(),
            facts: vec![Fact::new("tool", HOSTILE).linked("/console/tools/x".to_owned())],
            findings: vec![Finding {
                stage: "contract",
                rule: Text::new("schema.type"),
                pointers: [
                    Some(Text::new("/id")),
                    Some(Text::new("/properties/id/type")),
                ],
                expected: Some(Text::new("integer")),
                actual: Some(Text::new("string")),
                ..Finding::default()
            }],
            left_out: 2,
            schemas: vec![MarkedSchema {
                title: "output schema".to_owned(),
                lines: vec![
                    SchemaLine {
                        text: Text::new(HOSTILE),
                        findings: vec![1],
                    },
                    SchemaLine::default(),
                ],
            }],
            changes: vec![TextChange {
                place: Text::new("text block 0"),
                what: Text::new(HOSTILE),
                count: 3,
                action: "replaced",
                offsets: "4, 9".to_owned(),
            }],
            related: vec![row()],
            payloads: vec![("response", Text::new(HOSTILE))],
            chain: vec![Fact::new("number", "7")],
            similar: "/console/activity?rule=schema.type".to_owned(),
            receipt: "/console/activity/01/receipt".to_owned(),
        };
        let html = page.html();
        assert_inert(&html);
        let sentence = html.find("<h1").expect("a heading");
        assert!(sentence < html.find("schema.type").expect("a finding"));
        assert!(html.contains("/properties/id/type") && html.contains("2 more"));
        assert!(html.contains("<mark>") && html.contains("href=\"#finding-1\""));
        assert!(
            html.contains("id=\"finding-1\"") && html.contains("4, 9"),
            "{html}"
        );
    }
}
