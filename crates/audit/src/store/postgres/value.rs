//! Values on their way into and out of columns.

use std::borrow::Cow;
use std::error::Error;

use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::digest::Digest;
use crate::id::Ulid;

/// An id in a `uuid` column: the same 16 bytes, in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Uuid(pub(super) Ulid);

impl ToSql for Uuid {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0.to_bytes());
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Uuid {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Ulid::from_bytes(raw.try_into()?)))
    }

    accepts!(UUID);
}

/// The text as a column has it. PostgreSQL refuses NUL, and clients choose request ids: one of them must not fail a batch.
/// The body keeps the text as it was, and has the last word.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether the column of a text may be that of another one as well.
pub(super) fn is_ambiguous(text: &str) -> bool {
    text.contains(['\0', '\u{FFFD}'])
}

pub(super) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}

pub(super) fn small(code: i64) -> i16 {
    i16::try_from(code).unwrap_or(i16::MAX)
}

/// A hash of a row; `None` if it has another length.
pub(super) fn digest(row: &Row, column: usize) -> Option<Digest> {
    Digest::from_slice(row.get(column))
}
