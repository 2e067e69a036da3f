//! The published dialects of JSON Schema. A schema chooses one by `$schema`.

use crate::uri;

/// A published JSON Schema dialect. The older is the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Dialect {
    /// Draft-04, which Swagger-era tooling still declares.
    Draft4,
    /// Draft-06.
    Draft6,
    /// Draft-07, which most servers built on older SDKs declare.
    Draft7,
    /// 2019-09.
    Draft201909,
    /// 2020-12, the dialect of a schema that names none.
    Draft202012,
}

impl Dialect {
    /// The dialect a `$schema` URI names. `http` and `https` are the same, and so is an empty fragment.
    pub(crate) fn from_uri(uri: &str) -> Option<Self> {
        let path = uri::normalise(uri);
        let path = path
            .strip_prefix("https://")
            .or_else(|| path.strip_prefix("http://"))?;
        match path {
            "json-schema.org/draft/2020-12/schema" => Some(Self::Draft202012),
            "json-schema.org/draft/2019-09/schema" => Some(Self::Draft201909),
            "json-schema.org/draft-07/schema" => Some(Self::Draft7),
            "json-schema.org/draft-06/schema" => Some(Self::Draft6),
            "json-schema.org/draft-04/schema" => Some(Self::Draft4),
            _ => None,
        }
    }

    /// The dialect's usual short name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft4 => "draft-04",
            Self::Draft6 => "draft-06",
            Self::Draft7 => "draft-07",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        }
    }

    /// Whether `$ref` hides every keyword beside it: true up to draft-07.
    pub fn reference_masks_siblings(self) -> bool {
        self <= Self::Draft7
    }

    /// The keyword that gives a schema its URI.
    pub fn id_keyword(self) -> &'static str {
        match self {
            Self::Draft4 => "id",
            _ => "$id",
        }
    }

    /// Whether the dialect defines a format of this name. A dialect may be used with formats of later ones; the drafts
    /// before 7 are held to their own, since a schema written for them may use another name as it likes.
    pub fn defines_format(self, name: &str) -> bool {
        const DRAFT_4: [&str; 6] = ["date-time", "email", "hostname", "ipv4", "ipv6", "uri"];
        const DRAFT_6: [&str; 3] = ["json-pointer", "uri-reference", "uri-template"];
        match self {
            Self::Draft4 => DRAFT_4.contains(&name),
            Self::Draft6 => DRAFT_4.contains(&name) || DRAFT_6.contains(&name),
            _ => true,
        }
    }
}
