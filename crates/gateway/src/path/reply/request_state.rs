//! The `requestState` in the result of a server that waits for answers. Everything else in the reply keeps its bytes.

use countersign_tape::{members, quote};

use super::Reply;

/// The name of the member in results and in the `params` of requests.
pub(crate) const REQUEST_STATE: &str = "requestState";

/// The reply with the states that `bound` gives. Every member of the name: readers differ in which of two they take.
pub(crate) fn replace_request_state(reply: Reply, bound: impl Fn(&str) -> String) -> Reply {
    if !reply.body.may_have_member(b"requestState\"") {
        return reply;
    }
    reply.edit_result(|message, result, edits| {
        for (key, value) in members(message, result) {
            let is_state = key.is_text(message, REQUEST_STATE);
            if let Some(state) = value.string(message).filter(|_| is_state) {
                edits.replace(value, quote(&bound(&state)));
            }
        }
    })
}
