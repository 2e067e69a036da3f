//! The pages before a session: the form to sign in with, and what comes of signing in at an issuer.

use askama::Template;

use crate::assets;
use crate::text::Text;

/// The form that asks for a key, with the issuers at which users can sign in instead.
#[derive(Clone, Debug, Template)]
#[template(path = "sign_in.html")]
pub struct SignIn {
    /// Why the last try failed, if there was one.
    pub refusal: Option<&'static str>,
    /// The names of the issuers. The configuration allows a-z, 0-9, _ and - in them.
    pub issuers: Vec<String>,
}

impl SignIn {
    fn assets() -> [String; 3] {
        assets::paths()
    }
}

/// What a browser was told at the entrance.
#[derive(Clone, Debug, Template)]
#[template(path = "entrance.html")]
pub struct Entrance {
    /// The heading.
    pub title: &'static str,
    /// What there is to say.
    pub text: Text,
    /// Where it goes on.
    pub next: Next,
}

/// Where it goes on from a page at the entrance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nowhere.
    Nothing,
    /// By a link to the form.
    SignIn,
    /// To the console, without a click.
    Console,
}

impl Entrance {
    fn assets() -> [String; 3] {
        assets::paths()
    }

    fn goes_on(&self) -> bool {
        self.next == Next::Console
    }

    /// The address and the words of the link.
    fn link(&self) -> Option<(&'static str, &'static str)> {
        match self.next {
            Next::Nothing => None,
            Next::SignIn => Some(("/console/sign-in", "Back to the sign-in page")),
            Next::Console => Some(("/console", "Go on to the console")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{HOSTILE, assert_inert};

    #[test]
    fn the_sign_in_form_says_why_a_key_was_refused() {
        let html = SignIn {
            refusal: Some("wrong key"),
            issuers: Vec::new(),
        }
        .html();
        assert_inert(&html);
        assert!(html.contains("wrong key") && html.contains("method=\"post\""));
        assert!(html.contains("type=\"password\""));
        assert!(!html.contains("Sign in at"));
    }

    #[test]
    fn the_sign_in_form_names_each_issuer() {
        let html = SignIn {
            refusal: None,
            issuers: vec!["corp".to_owned(), "partner-2".to_owned()],
        }
        .html();
        assert_inert(&html);
        for name in ["corp", "partner-2"] {
            let link = format!("href=\"/console/sign-in/{name}\">Sign in at {name}</a>");
            assert!(html.contains(&link), "{html}");
        }
    }

    #[test]
    fn only_a_browser_that_has_a_session_goes_on_without_a_click() {
        for (next, goes_on, link) in [
            (Next::Nothing, false, None),
            (Next::SignIn, false, Some("href=\"/console/sign-in\"")),
            (Next::Console, true, Some("href=\"/console\"")),
        ] {
            let html = Entrance {
                title: "Title",
                text: Text::new(HOSTILE),
                next,
            }
            .html();
            assert_inert(&html);
            assert!(html.contains("&lt;script&gt;"), "{html}");
            let refresh = "<meta http-equiv=\"refresh\" content=\"0;url=/console\">";
            assert_eq!(html.contains(refresh), goes_on, "{html}");
            assert_eq!(html.contains("<a href="), link.is_some(), "{html}");
            assert!(link.is_none_or(|link| html.contains(link)), "{html}");
        }
    }
}
