//! The pages of the web console: plain structs in, HTML out. No HTTP, no store, no clock.
//!
//! What servers, tools and clients wrote is a [`Text`]. A template can show it in one way only: escaped, with everything
//! that a reader could not see drawn as a labelled mark.
//!
//! ```
//! use countersign_console::Text;
//!
//! let name = Text::new("<b>pay\u{202e}</b>");
//! let html = name.to_string();
//! assert!(html.starts_with("&lt;b&gt;pay<span class=\"mark\""));
//! ```

#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod assets;
mod chart;
mod link;
mod moment;
mod page;
mod schema_lines;
mod text;

pub use assets::{Asset, asset, stylesheet};
pub use chart::{Bar, Chart};
pub use link::{href, query};
pub use moment::Moment;
pub use page::{
    Activity, Attempt, Choice, Entrance, Fact, Filters, Finding, Frame, MarkedSchema, Message, Nav,
    NewServer, Next, Notice, Overview, Panel, PolicyPage, Preview, PreviewRow, RecordPage, Role,
    Row, SchemaLine, Scope, ServerPage, ServerRate, ServerRow, Servers, SignIn, StageVerdict,
    StagedChange, TextChange, ToolPage, ToolRow, Tools, Verdict,
};
pub use text::Text;
