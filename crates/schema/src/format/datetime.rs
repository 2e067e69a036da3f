//! `date`, `time` and `date-time` (RFC 3339, section 5.6). A leap second is accepted where one
//! could be: at 23:59:60 UTC, on any day. No calendar of past leap seconds is consulted.

/// `full-date`.
pub(super) fn is_date(text: &str) -> bool {
    is_date_bytes(text.as_bytes())
}

/// `full-time`.
pub(super) fn is_time(text: &str) -> bool {
    is_time_bytes(text.as_bytes())
}

/// `date-time`; the `T` may be lower case.
pub(super) fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.as_bytes().split_at_checked(10) else {
        return false;
    };
    match rest {
        [b'T' | b't', time @ ..] => is_date_bytes(date) && is_time_bytes(time),
        _ => false,
    }
}

fn is_date_bytes(date: &[u8]) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = date else {
        return false;
    };
    let (Some(century), Some(year), Some(month), Some(day)) = (
        two_digits(y1, y2),
        two_digits(y3, y4),
        two_digits(m1, m2),
        two_digits(d1, d2),
    ) else {
        return false;
    };
    let leap = year % 4 == 0 && (year != 0 || century % 4 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=last).contains(&day)
}

fn is_time_bytes(time: &[u8]) -> bool {
    let &[h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = time else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) =
        (two_digits(h1, h2), two_digits(m1, m2), two_digits(s1, s2))
    else {
        return false;
    };
    let Some(offset) = skip_fraction(rest).and_then(offset_minutes) else {
        return false;
    };
    if hour > 23 || minute > 59 || second > 60 {
        return false;
    }
    let utc = i32::from(hour) * 60 + i32::from(minute) - offset;
    second < 60 || utc.rem_euclid(24 * 60) == 24 * 60 - 1
}

/// What follows `time-secfrac`, which may be absent but not without digits.
fn skip_fraction(rest: &[u8]) -> Option<&[u8]> {
    let [b'.', fraction @ ..] = rest else {
        return Some(rest);
    };
    let digits = fraction
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    (digits > 0).then(|| &fraction[digits..])
}

/// `time-offset` in minutes east of UTC.
fn offset_minutes(offset: &[u8]) -> Option<i32> {
    match *offset {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hour, minute) = (two_digits(h1, h2)?, two_digits(m1, m2)?);
            let minutes = i32::from(hour) * 60 + i32::from(minute);
            let signed = if sign == b'-' { -minutes } else { minutes };
            (hour < 24 && minute < 60).then_some(signed)
        }
        _ => None,
    }
}

fn two_digits(tens: u8, units: u8) -> Option<u8> {
    (tens.is_ascii_digit() && units.is_ascii_digit()).then(|| (tens - b'0') * 10 + (units - b'0'))
}
