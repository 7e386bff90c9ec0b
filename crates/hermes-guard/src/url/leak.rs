//! Secrets on their way out in an address: as they are, percent-encoded, in base64 or in hexadecimal digits.

use ::url::Url;

use crate::{Policy, Redactor};

/// Shortest run of letters that is taken for an encoded text.
const SHORTEST_RUN: usize = 12;
/// How often an address may be percent-encoded over itself.
const ROUNDS: usize = 3;

/// Whether the address holds a secret that the redactor knows by its value or its shape.
pub(super) fn holds_secret(url: &Url, secrets: &Redactor) -> bool {
    // The key id of a signed link is public; the link works only with the signature made for it.
    let parts = [url.host_str().unwrap_or_default().to_owned(), url.path().to_owned()];
    let signed = |name: &str| name.eq_ignore_ascii_case("x-amz-credential") || name == "AWSAccessKeyId";
    let pairs = url.query_pairs().filter(|(name, _)| !signed(name));
    let query = pairs.flat_map(|(name, value)| [name.into_owned(), value.into_owned()]);
    let raw = url.query().filter(|query| !query.contains("X-Amz-Credential=")).map(str::to_owned);
    let fragment = url.fragment().map(str::to_owned);
    parts.into_iter().chain(query).chain(raw).chain(fragment).any(|part| is_secret(&part, secrets))
}

/// Whether a text is or holds a secret, however it is encoded.
pub(super) fn is_secret(part: &str, secrets: &Redactor) -> bool {
    let mut text = part.to_owned();
    for _ in 0..ROUNDS {
        if is_masked(&text, secrets) || encoded_in(&text).any(|inner| is_masked(&inner, secrets)) {
            return true;
        }
        let decoded = percent_decoded(&text);
        if decoded == text {
            return false;
        }
        text = decoded;
    }
    false
}

fn is_masked(text: &str, secrets: &Redactor) -> bool {
    secrets.redact(text, Policy::Code) != text
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = digits.and_then(|pair| Some(hex(pair[0])? << 4 | hex(pair[1])?));
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// What runs of letters and digits say when they are taken for base64 or hexadecimal.
fn encoded_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let is_run = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
    let runs = text.split(move |c: char| !is_run(c)).filter(|run| run.len() >= SHORTEST_RUN);
    // A slash may belong to the base64 or to the path.
    let pieces = runs.flat_map(|run| {
        std::iter::once(run).chain(run.split('/').filter(move |part| part.len() < run.len()))
    });
    pieces.flat_map(|run| [from_base64(run), from_hex(run)]).flatten()
}

fn from_base64(run: &str) -> Option<String> {
    let mut out = Vec::with_capacity(run.len());
    let (mut bits, mut count) = (0_u32, 0);
    for byte in run.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    String::from_utf8(out).ok()
}

fn from_hex(run: &str) -> Option<String> {
    let pairs = run.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs.map(|pair| Some(hex(pair[0])? << 4 | hex(*pair.get(1)?)?)).collect();
    String::from_utf8(bytes?).ok()
}
