//! Credentials in request headers: `Authorization` with any scheme, `x-api-key` and its kin.

use std::ops::Range;

use super::names::is_listed;
use super::value::{is_empty_talk, is_expression, is_path, is_reference, is_scrambled, is_url, is_wordy};
use super::{Names, Policy};

/// Schemes that are followed by a credential. After any other word only what looks generated is taken for one.
const SCHEMES: &str = "bearer basic token digest negotiate ntlm apikey api-key key bot oauth hawk splunk ssws geniekey \
    aws4-hmac-sha256 signature dpop mac klaviyo-api-key zoho-oauthtoken jwt";

/// The credential in the value of an `Authorization` header.
pub(super) fn credential(value: &str, policy: Policy) -> Option<Range<usize>> {
    let first = word(value, 0);
    let second = word(value, first.end);
    let scheme = value[first.clone()].to_ascii_lowercase();
    let known = is_listed(&scheme, SCHEMES);
    if second.is_empty() {
        let first = trim(value, first);
        return (!known && is_credential(&value[first.clone()], Certainty::Guess, policy)).then_some(first);
    }
    let listed = value[second.clone()].ends_with(',') && value[second.clone()].contains('=');
    let text = &value[trim(value, second.clone())];
    // `Bearer tokens are …` is a sentence.
    let sentence = is_wordy(text) && !word(value, second.end).is_empty();
    let certainty = if known && !sentence { Certainty::Announced } else { Certainty::Guess };
    if !is_credential(text, certainty, policy) {
        return None;
    }
    // `name="value", name="value"`: the whole list is the credential.
    let whole = listed || text.contains("=\"");
    Some(trim(value, if whole { second.start..value.trim_end().len() } else { second }))
}

/// The credential in the value of a header such as `x-api-key`.
pub(super) fn key(value: &str, policy: Policy) -> Option<Range<usize>> {
    let first = word(value, 0);
    let sentence = !word(value, first.end).is_empty();
    let certainty = if sentence { Certainty::Guess } else { Certainty::Announced };
    let first = trim(value, first);
    is_credential(&value[first.clone()], certainty, policy).then_some(first)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Announced,
    Guess,
}

fn is_credential(text: &str, certainty: Certainty, policy: Policy) -> bool {
    if text.len() < 6
        || is_empty_talk(text)
        || is_reference(text)
        || is_expression(text)
        || is_url(text)
        || is_path(text)
    {
        return false;
    }
    match (certainty, policy.names()) {
        (Certainty::Guess, _) => text.len() >= 8 && is_scrambled(text),
        // Code and documentation are full of headers with words in place of the credential.
        (Certainty::Announced, Names::Ignored) => !is_wordy(text),
        // A variable's name, in code that is being logged.
        (Certainty::Announced, _) => !(is_wordy(text) && text.contains('_')),
    }
}

/// The next word at or after `from`; empty at the end.
fn word(value: &str, from: usize) -> Range<usize> {
    let rest = &value[from..];
    let start = from + (rest.len() - rest.trim_start().len());
    let length = value[start..].find(char::is_whitespace).unwrap_or(value.len() - start);
    start..start + length
}

/// Without the punctuation of the sentence or list around it.
fn trim(value: &str, range: Range<usize>) -> Range<usize> {
    let text = value[range.clone()].trim_end_matches([',', ';', ')', ']', '}']);
    range.start..range.start + text.len()
}
