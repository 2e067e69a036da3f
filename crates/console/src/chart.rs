//! Counts over time as columns of an SVG. The drawing has no script and no style of its own: its colours are classes of the
//! style sheet.

use std::fmt;

use crate::text::Text;

const WIDTH: u64 = 240;
const HEIGHT: u64 = 48;
/// Between two columns.
const GAP: u64 = 1;

/// One interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// How many.
    pub count: u64,
    /// Which interval, in words.
    pub label: String,
    /// The list behind the number.
    pub href: String,
}

/// Counts of one thing, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// What is counted.
    pub title: &'static str,
    /// The class of its columns: a decision, or nothing.
    pub class: &'static str,
    /// The intervals.
    pub bars: Vec<Bar>,
}

impl Chart {
    fn largest(&self) -> u64 {
        self.bars.iter().map(|bar| bar.count).max().unwrap_or(0)
    }

    /// A column's height: what is there is seen, however small.
    fn height(count: u64, largest: u64) -> u64 {
        let scaled = u128::from(count) * u128::from(HEIGHT) / u128::from(largest.max(1));
        let scaled = u64::try_from(scaled).unwrap_or(HEIGHT);
        scaled.max(u64::from(count > 0) * 2)
    }
}

/// What it displays is HTML already.
impl askama::filters::HtmlSafe for Chart {}

impl fmt::Display for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (largest, title) = (self.largest(), self.title);
        write!(
            f,
            "<svg class=\"chart {}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"group\" aria-label=\"{title} over time, at most {largest} in one interval\">",
            self.class,
        )?;
        let step = WIDTH
            / u64::try_from(self.bars.len().max(1))
                .unwrap_or(WIDTH)
                .max(1);
        let mut x = 0;
        for bar in &self.bars {
            let height = Self::height(bar.count, largest);
            let (y, width) = (HEIGHT - height, step.saturating_sub(GAP).max(1));
            let label = format!("{} {title}, {}", bar.count, bar.label);
            let (label, href) = (Text::new(label), Text::new(bar.href.as_str()));
            write!(
                f,
                "<a href=\"{href}\" tabindex=\"-1\" aria-label=\"{label}\"><title>{label}</title>"
            )?;
            write!(
                f,
                "<rect class=\"back\" x=\"{x}\" y=\"0\" width=\"{width}\" height=\"{HEIGHT}\"/>"
            )?;
            write!(
                f,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/></a>"
            )?;
            x += step;
        }
        f.write_str("</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(counts: &[u64]) -> Chart {
        let bar = |count: &u64| Bar {
            count: *count,
            label: "12:00".to_owned(),
            href: "/console/activity?since=1h&until=2h".to_owned(),
        };
        Chart {
            title: "blocked",
            class: "blocked",
            bars: counts.iter().map(bar).collect(),
        }
    }

    #[test]
    fn the_largest_count_fills_the_height_and_the_smallest_is_seen() {
        let drawn = chart(&[0, 1, 1000]).to_string();
        for column in ["height=\"0\"", "height=\"2\"", "height=\"48\""] {
            assert!(drawn.contains(column), "{column} in {drawn}");
        }
        assert!(drawn.contains("at most 1000 in one interval"));
        assert!(drawn.contains("<title>1000 blocked, 12:00</title>"));
        assert!(drawn.contains("since=1h&amp;until=2h"));
    }

    #[test]
    fn a_chart_of_nothing_is_drawn() {
        assert!(chart(&[]).to_string().ends_with("</svg>"));
        assert!(chart(&[0, 0]).to_string().contains("at most 0"));
        assert!(chart(&[u64::MAX, 1]).to_string().contains("height=\"48\""));
        assert_eq!(chart(&[3; 400]).to_string().matches("<a ").count(), 400);
    }

    /// The content security policy forbids styles in attributes.
    #[test]
    fn a_chart_has_no_style_of_its_own() {
        assert!(!chart(&[1, 2]).to_string().contains("style"));
    }
}
