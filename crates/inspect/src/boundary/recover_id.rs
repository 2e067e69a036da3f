//! The id of a message that cannot be read: too large, not UTF-8, not JSON. It is looked for in what precedes the defect,
//! so that the request is answered with a refusal and its client does not wait for ever.

/// The token of the top-level member `id`, if it stands in the readable beginning of a message.
pub(super) fn recover_id(message: &[u8]) -> Option<&[u8]> {
    let mut rest = message.trim_ascii_start().strip_prefix(b"{")?;
    loop {
        let key = rest.trim_ascii_start().strip_prefix(b"\"")?;
        let end = end_of_string(key)?;
        let (key, after) = key.split_at(end);
        let value = after.strip_prefix(b"\"")?.trim_ascii_start();
        let value = value.strip_prefix(b":")?.trim_ascii_start();
        let length = length_of_value(value)?;
        let (value, after) = value.split_at(length);
        if key == b"id" {
            let value = value.trim_ascii_end();
            let is_token = value.iter().all(u8::is_ascii_digit) || value.starts_with(b"\"");
            return (is_token && !value.is_empty()).then_some(value);
        }
        rest = after.strip_prefix(b",")?;
    }
}

/// Where the closing quote stands, given what follows the opening one.
fn end_of_string(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    })
}

/// How many bytes precede the comma or brace behind a value.
fn length_of_value(text: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        match text.get(at)? {
            b'"' => at += 1 + end_of_string(text.get(at + 1..)?)?,
            b'{' | b'[' => depth += 1,
            b',' | b'}' if depth == 0 => return Some(at),
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_before_the_defect_is_found() {
        let found = |text: &'static [u8]| recover_id(text);
        assert_eq!(
            found(b"{\"jsonrpc\":\"2.0\",\"id\": 7 ,\"result\":{\"a\":\"\xff"),
            Some(&b"7"[..])
        );
        assert_eq!(
            found(br#" {"a":{"id":1,"b":"\"}"},"id":"x,y","result"#),
            Some(&b"\"x,y\""[..])
        );
        assert_eq!(found(br#"{"result":{"id":1"#), None);
        assert_eq!(found(br#"{"id":7"#), None);
        assert_eq!(found(br#"{"id":[7],"#), None);
        assert_eq!(found(br#"{"id":,"#), None);
        assert_eq!(found(b"Server started on {\"id\":1}"), None);
        assert_eq!(found(b""), None);
    }
}
