//! The reply to a call that needs a login of its caller: a question in the result, an error that names the page, or words.

use countersign_inspect::ClientEra;
use countersign_tape::quote;
use countersign_wire::Method;
use countersign_wire::error_code::URL_ELICITATION_REQUIRED;
use hyper::StatusCode;

use super::{Reply, envelope, error};
use crate::path::call::Call;
use crate::path::needed_login::{Asks, LOGIN_QUESTION, NeededLogin};

/// The stable word for it in the `data.kind` of an error.
const KIND: &str = "needs_login";

pub(super) fn needs_login(login: &NeededLogin, call: &Call) -> Reply {
    let id = &call.id;
    match (login.asks, &login.url) {
        (Asks::InResult, Some(url)) => {
            let params = elicitation(login, url);
            let result = format!(
                r#"{{"resultType":"input_required","inputRequests":{{"{LOGIN_QUESTION}":{{"method":"elicitation/create","params":{params}}}}}}}"#
            );
            Reply::result(id, result.as_bytes())
        }
        (Asks::ByError, Some(url)) => {
            let (message, params) = (json(&login.question()), elicitation(login, url));
            let error = format!(
                r#"{{"code":{URL_ELICITATION_REQUIRED},"message":{message},"data":{{"elicitations":[{params}]}}}}"#
            );
            Reply::text(StatusCode::OK, envelope(id, "error", error.as_bytes()))
        }
        _ if call.method == Method::CallTool => {
            let kind = match call.client.era {
                ClientEra::Modern => r#""resultType":"complete","#,
                ClientEra::Legacy | ClientEra::Unnegotiated => "",
            };
            let text = json(&login.text());
            let result =
                format!(r#"{{{kind}"content":[{{"type":"text","text":{text}}}],"isError":true}}"#);
            Reply::result(id, result.as_bytes())
        }
        // Only a tool has results that say what went wrong.
        _ => error(id, &json(&login.text()), KIND),
    }
}

fn elicitation(login: &NeededLogin, url: &str) -> String {
    let [url, message, id] = [url, &login.question(), &login.id].map(json);
    format!(r#"{{"mode":"url","elicitationId":{id},"url":{url},"message":{message}}}"#)
}

fn json(text: &str) -> String {
    String::from_utf8_lossy(&quote(text)).into_owned()
}
