//! `Leader`: which part of a filter an index finds; the other parts are conditions on what it finds.

use crate::query::Filter;

/// Statements of more branches than this are not made.
const MAX_BRANCHES: usize = 64;

/// The part of a filter that leads, the rarest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    Request,
    Parent,
    Rule,
    StatusServerTool,
    StatusServer,
    StatusTool,
    Status,
    Decision,
    Stage,
    ServerTool,
    Tool,
    Caller,
    Server,
    Kind,
    Nothing,
}

impl Leader {
    pub(super) fn of(filter: &Filter) -> Self {
        if filter.request_id.is_some() {
            Self::Request
        } else if filter.parent_id.is_some() {
            Self::Parent
        } else if !filter.rules.is_empty() {
            Self::Rule
        } else if is_rare(filter.statuses.iter().map(|status| status.code())) {
            Self::by_status(filter)
        } else if !filter.decisions.is_empty() {
            Self::Decision
        } else if !filter.stages.is_empty() {
            Self::Stage
        } else if fits(&[filter.servers.len(), filter.tools.len()]) {
            Self::ServerTool
        } else if !filter.tools.is_empty() {
            Self::Tool
        } else if !filter.callers.is_empty() {
            Self::Caller
        } else if !filter.servers.is_empty() {
            Self::Server
        } else if is_rare(filter.types.iter().map(|kind| kind.code())) {
            Self::Kind
        } else {
            Self::Nothing
        }
    }

    /// A status other than success, with as many names as there is an index for.
    fn by_status(filter: &Filter) -> Self {
        let (statuses, servers, tools) = (
            filter.statuses.len(),
            filter.servers.len(),
            filter.tools.len(),
        );
        if fits(&[statuses, servers, tools]) {
            Self::StatusServerTool
        } else if fits(&[statuses, tools]) {
            Self::StatusTool
        } else if fits(&[statuses, servers]) {
            Self::StatusServer
        } else {
            Self::Status
        }
    }

    pub(super) const fn has_status(self) -> bool {
        matches!(
            self,
            Self::StatusServerTool | Self::StatusServer | Self::StatusTool | Self::Status
        )
    }

    pub(super) const fn has_server(self) -> bool {
        matches!(
            self,
            Self::StatusServerTool | Self::StatusServer | Self::ServerTool | Self::Server
        )
    }

    pub(super) const fn has_tool(self) -> bool {
        matches!(
            self,
            Self::StatusServerTool | Self::StatusTool | Self::ServerTool | Self::Tool
        )
    }
}

/// Whether each part has a value, and the combinations are not too many for one statement.
fn fits(values: &[usize]) -> bool {
    let combinations: usize = values.iter().product();
    (1..=MAX_BRANCHES).contains(&combinations)
}

/// Whether there are codes, and the one that most records have is not among them.
fn is_rare(codes: impl Iterator<Item = i64>) -> bool {
    let codes: Vec<i64> = codes.collect();
    !codes.is_empty() && !codes.contains(&0)
}
