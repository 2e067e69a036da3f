//! The pages of `/connect`, in our own words. What others wrote is shown by `Text`, which escapes it.

use countersign_console::{Text, stylesheet};

use crate::services::LoginPreview;

pub(super) const NO_ISSUER: &str = "There is no issuer of this name to sign in at.";
pub(super) const NO_SERVER: &str =
    "There is no server of this name that you can connect an account to.";
pub(super) const FOR_ANOTHER: &str = "This link was made for another user. Nothing was connected. Open only links that your own client shows you.";
pub(super) const SIGN_IN_AGAIN: &str = "This page has expired, or belongs to another browser. Nothing was connected. Begin again, or open the link that your client shows you.";
pub(super) const TRY_AGAIN: &str = "This did not work. Nothing was connected. Try again.";

/// What will be asked for, and the button.
pub(super) fn confirm(server: &str, caller: &str, preview: &LoginPreview, csrf: &str) -> String {
    let scope = preview.scope.as_deref().unwrap_or_default();
    let asked = scope.split(' ').filter(|scope| !scope.is_empty());
    let items: Vec<String> = asked
        .map(|scope| format!("<li><code>{}</code></li>", Text::new(scope)))
        .collect();
    let scopes = if items.is_empty() {
        "<p>The server names no scopes: it decides itself what the access covers.</p>".to_owned()
    } else {
        let items = items.join("\n");
        format!("<p>It will be asked for these scopes:</p>\n<ul>\n{items}\n</ul>")
    };
    let (server, caller) = (Text::new(server), Text::new(caller));
    let issuer = Text::new(preview.issuer.as_str());
    frame(&format!(
        "<p>Your account at the server <b>{server}</b> will be connected to <b>{caller}</b>, the user you have signed in as. \
         Calls that your clients make to this server will then act in the name of that account.</p>\n\
         <p>The next page is one of <b>{issuer}</b>, where you log in.</p>\n{scopes}\n\
         <form method=\"post\"><input type=\"hidden\" name=\"csrf\" value=\"{csrf}\"><button>Connect</button></form>\n\
         <p class=\"quiet\">If you did not ask for this, close the page.</p>"
    ))
}

/// Sends the browser on. A redirect of a form's response would be held against `form-action`.
pub(super) fn go_on(url: &str) -> String {
    let url = attribute(url);
    let body = format!("<p><a href=\"{url}\">Go on to the login</a></p>");
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"0;url={url}\">\n");
    document(&refresh, &body)
}

pub(super) fn connected(server: &str) -> String {
    let server = Text::new(server);
    frame(&format!(
        "<p>Your account at the server <b>{server}</b> is connected. You can close this page and go back to your client.</p>"
    ))
}

/// A page with one sentence.
pub(super) fn message(sentence: &str) -> String {
    frame(&format!("<p>{}</p>", Text::new(sentence)))
}

/// A page with one sentence and a link to the page where the login begins.
pub(super) fn begin_again(sentence: &str, address: &str) -> String {
    let (sentence, address) = (Text::new(sentence), attribute(address));
    frame(&format!(
        "<p>{sentence}</p>\n<p><a href=\"{address}\">Begin again</a></p>"
    ))
}

fn frame(body: &str) -> String {
    document("", body)
}

fn document(head: &str, body: &str) -> String {
    let stylesheet = stylesheet();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{head}\
         <title>Connect an account · Countersign</title>\n<link rel=\"stylesheet\" href=\"{stylesheet}\">\n</head>\n\
         <body>\n<main class=\"sign-in\">\n<h1>Countersign</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )
}

/// Text within an attribute in double quotes.
fn attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_escaped() {
        let hostile = "<img src=x onerror=alert(1)>\"'";
        let preview = LoginPreview {
            issuer: format!("https://{hostile}"),
            scope: Some(format!("read {}", hostile.replace(' ', "/"))),
        };
        for page in [
            confirm(hostile, hostile, &preview, "0f"),
            connected(hostile),
            message(hostile),
            begin_again(hostile, hostile),
            go_on("https://a.example/?x=\"><script>alert(1)</script>"),
        ] {
            assert!(
                !page.contains("<img") && !page.contains("<script"),
                "{page}"
            );
            assert!(page.contains("&lt;"), "{page}");
        }
    }
}
