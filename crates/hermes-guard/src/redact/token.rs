//! Tokens known by their build: signed web tokens, chat bot tokens, bearer credentials without a header.

use super::chars::{is_base64url, run_end, starts_word};
use super::scan::Scan;
use super::value::{has_mixed_run, is_empty_talk, is_scrambled};
use crate::mask::Kind;

/// Shortest part of a web token: `{"a":"b"}` in base64.
const JWT_PART: usize = 10;
/// Signed tokens have three parts, encrypted ones five.
const JWT_PARTS: usize = 5;

/// A web token: base64 parts joined by dots, the first of which is a JSON object.
pub(super) fn jwt(scan: &mut Scan<'_>, at: usize) {
    let bytes = scan.bytes();
    if !bytes[at..].starts_with(b"eyJ") || !starts_word(bytes, at) {
        return;
    }
    let head = run_end(bytes, at, is_base64url);
    if head - at < JWT_PART || bytes.get(head) != Some(&b'.') {
        return;
    }
    let payload = run_end(bytes, head + 1, is_base64url);
    let payload_bytes = &bytes[head + 1..payload];
    if payload_bytes.len() < JWT_PART
        || !(payload_bytes.starts_with(b"eyJ") || has_mixed_run(payload_bytes, JWT_PART))
    {
        return;
    }
    let mut end = payload;
    for _ in 2..JWT_PARTS {
        let part = end + 1;
        if bytes.get(end) != Some(&b'.') || !bytes.get(part).copied().is_some_and(is_base64url) {
            break;
        }
        end = run_end(bytes, part, is_base64url);
    }
    scan.found(at..end, Kind::Jwt);
}

/// A Telegram bot token: the bot's number, a colon, 35 letters of which the first two are always `AA`.
pub(super) fn bot(scan: &mut Scan<'_>, colon: usize) {
    let bytes = scan.bytes();
    let digits = bytes[..colon].iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let start = colon - digits;
    let clear = starts_word(bytes, start) || bytes[..start].ends_with(b"bot");
    let end = run_end(bytes, colon + 1, is_base64url);
    if (8..=11).contains(&digits)
        && clear
        && (30..=45).contains(&(end - colon - 1))
        && bytes[colon..].starts_with(b":AA")
    {
        scan.found(start..end, Kind::Bot);
    }
}

/// `Bearer` and something that looks generated, wherever it stands.
pub(super) fn bearer(scan: &mut Scan<'_>, at: usize) {
    let bytes = scan.bytes();
    let start = at + "bearer ".len();
    let end = run_end(bytes, start, |byte| is_base64url(byte) || b".~+/=".contains(&byte));
    let credential = scan.text[start..end].trim_end_matches('.');
    if credential.len() >= 16 && is_scrambled(credential) && !is_empty_talk(credential) {
        let end = start + credential.len();
        scan.found(start..end, Kind::Header);
    }
}
