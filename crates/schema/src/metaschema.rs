//! The metaschemas of the supported dialects, bundled because nothing is ever fetched.
//!
//! They are the documents the JSON Schema organisation publishes, unchanged; those of drafts 04 and 06 are copies of the
//! ones in the `referencing` crate. They are parsed only when a schema refers to one of them.

/// The text of a published metaschema, by its URI without an empty fragment.
pub(crate) fn find(uri: &str) -> Option<&'static str> {
    let path = uri
        .strip_prefix("https://json-schema.org/")
        .or_else(|| uri.strip_prefix("http://json-schema.org/"))?;
    BUNDLED
        .iter()
        .find(|(known, _)| *known == path)
        .map(|(_, text)| *text)
}

macro_rules! bundle {
    ($($path:literal => $file:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../metaschemas/", $file)))),*]
    };
}

const BUNDLED: &[(&str, &str)] = bundle! {
    "draft/2020-12/schema" => "draft2020-12/schema.json",
    "draft/2020-12/meta/core" => "draft2020-12/core.json",
    "draft/2020-12/meta/applicator" => "draft2020-12/applicator.json",
    "draft/2020-12/meta/unevaluated" => "draft2020-12/unevaluated.json",
    "draft/2020-12/meta/validation" => "draft2020-12/validation.json",
    "draft/2020-12/meta/meta-data" => "draft2020-12/meta-data.json",
    "draft/2020-12/meta/format-annotation" => "draft2020-12/format-annotation.json",
    "draft/2020-12/meta/format-assertion" => "draft2020-12/format-assertion.json",
    "draft/2020-12/meta/content" => "draft2020-12/content.json",
    "draft/2019-09/schema" => "draft2019-09/schema.json",
    "draft/2019-09/meta/core" => "draft2019-09/core.json",
    "draft/2019-09/meta/applicator" => "draft2019-09/applicator.json",
    "draft/2019-09/meta/validation" => "draft2019-09/validation.json",
    "draft/2019-09/meta/meta-data" => "draft2019-09/meta-data.json",
    "draft/2019-09/meta/format" => "draft2019-09/format.json",
    "draft/2019-09/meta/content" => "draft2019-09/content.json",
    "draft-07/schema" => "draft-07.json",
    "draft-06/schema" => "draft-06.json",
    "draft-04/schema" => "draft-04.json",
};
