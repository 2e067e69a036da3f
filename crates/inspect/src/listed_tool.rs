//! A declared tool as clients see it in a list: the declaration with as few bytes changed as possible. Its texts are
//! cleaned, and schemas that would make a client reject the whole list are withheld. The gateway and
//! [`Boundary`](crate::Boundary) both list tools with it. See `docs/decisions/advertised-schemas.md`.

use bytes::Bytes;
use countersign_tape::{Edits, Kind, MemberPosition, ScanLimits, Span, members, quote, scan};

use crate::clean::listing::Listing;
use crate::config::Advertise;
use crate::era::ClientEra;
use crate::judge::contract::Contract;
use crate::policy::Policy;

/// Replaces an `inputSchema` that clients would reject.
const OBJECT: &[u8] = br#"{"type":"object"}"#;
/// How deep a tool stands in the message that lists it.
const AROUND: u32 = 3;

/// What decides how one client sees a tool.
#[derive(Clone, Copy, Debug)]
pub struct ListView<'a> {
    /// Shown in the place of the tool's own name.
    pub name: Option<&'a str>,
    /// The client's era.
    pub client: ClientEra,
    /// The operator's setting.
    pub advertise: Advertise,
    /// Whether a result of the tool has broken the contract.
    pub has_violated: bool,
}

/// A tool that may be shown, and where its name and its schemas stand.
#[derive(Debug)]
pub struct ListedTool {
    listing: Listing,
    name: Option<Span>,
    /// Value of `inputSchema`.
    input: Option<Span>,
    /// Key of `outputSchema`.
    output: Option<Span>,
}

impl ListedTool {
    /// Cleans a declaration, a JSON object. One that would make the list too deep for its readers is shown with its
    /// name and an `inputSchema` that takes everything.
    pub fn new(raw: &Bytes, name: &str, policy: &Policy) -> Self {
        let hard = ScanLimits {
            max_bytes: usize::MAX,
            max_depth: policy.max_message_depth.saturating_sub(AROUND),
        };
        let mut listing = if scan(raw, &hard).is_ok() {
            Listing::tool(raw.clone(), &policy.sanitisation)
        } else {
            let name = quote(name);
            let bare = [b"{\"name\":", &name[..], b",\"inputSchema\":", OBJECT, b"}"].concat();
            Listing::too_deep(bare, &policy.sanitisation)
        };
        // Not expected: what cannot be read is not shown.
        if Span::whole(listing.bytes()).kind(listing.bytes()) != Some(Kind::Object) {
            listing = Listing::admit(&br#"{"name":""}"#[..]);
        }
        let (mut name, mut input, mut output) = (None, None, None);
        let tool = listing.bytes();
        for (key, value) in members(tool, Span::whole(tool)) {
            match key.string(tool).as_deref() {
                Some("name") => name = Some(value),
                Some("inputSchema") => input = Some(value),
                Some("outputSchema") => output = Some(key),
                _ => {}
            }
        }
        Self {
            listing,
            name,
            input,
            output,
        }
    }

    /// The cleaned declaration, with what was found in it.
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// The tool as one client sees it.
    pub fn entry(&self, contract: &Contract, view: ListView<'_>) -> Vec<u8> {
        let tool = self.listing.bytes();
        let whole = Span::whole(tool);
        let mut edits = Edits::new(tool);
        if let (Some(span), Some(name)) = (self.name, view.name) {
            edits.replace(span, quote(name));
        }
        if let Some(key) = self.output
            && !contract.advertises_output(view.client, view.advertise, view.has_violated)
        {
            edits.remove_member(whole, key);
        }
        match self.input {
            None => edits.insert_member(whole, MemberPosition::Last, "inputSchema", OBJECT),
            Some(value) if !contract.advertises_input() => edits.replace(value, OBJECT),
            Some(_) => {}
        }
        // The spans are of distinct members, so the edits cannot collide.
        edits
            .apply()
            .map_or_else(|_| tool.to_vec(), |edited| edited.to_vec())
    }
}
