//! How a secret is written once it is masked.

/// Shorter secrets are hidden whole: showing ten characters of them would show most of them.
const SHOW_ENDS_FROM: usize = 18;
const HEAD: usize = 6;
const TAIL: usize = 4;

/// What stands where a whole secret stood.
const HIDDEN: &str = "***";
const PRIVATE_KEY: &str = "[REDACTED PRIVATE KEY]";
/// Opens every sentinel. Not ASCII on purpose: no key, password or configuration value starts with it.
const SENTINEL_OPEN: &str = "«redacted:";

/// Masks one value: `***`, or for 18 characters and more the first 6, `...` and the last 4.
///
/// ```
/// assert_eq!(hermes_guard::mask("hunter2"), "***");
/// assert_eq!(hermes_guard::mask("fake-0123456789-abcdef"), "fake-0...cdef");
/// ```
pub fn mask(value: &str) -> String {
    let length = value.chars().count();
    if length < SHOW_ENDS_FROM {
        return HIDDEN.to_owned();
    }
    let head = value.chars().take(HEAD);
    let tail = value.chars().skip(length - TAIL);
    head.chain("...".chars()).chain(tail).collect()
}

/// What kind of secret was found. Decides how it is masked and what the sentinel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A key with a prefix that names its vendor.
    Vendor(&'static str),
    /// One of the values the caller knows to be secret.
    Known,
    /// A password: never shown in part, people choose them with meaning in every letter.
    Password,
    /// A token, key or secret announced by its name.
    Named,
    /// A credential in a request header.
    Header,
    /// A signed web token.
    Jwt,
    /// A chat bot's token.
    Bot,
    /// A token in a URL.
    Url,
    /// A private key block.
    PrivateKey,
}

/// The two ways to write a masked secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Enough of both ends to recognise which key it is.
    Ends,
    /// Something that can never be taken for the value itself. Text that may be edited and written back uses this:
    /// a head-and-tail mask saved into a configuration file destroys the key without anybody noticing.
    Sentinel,
}

/// The text to put in place of a secret.
pub(crate) fn replacement(kind: Kind, secret: &str, mark: Mark) -> String {
    match (mark, kind) {
        (Mark::Ends, Kind::PrivateKey) => PRIVATE_KEY.to_owned(),
        (Mark::Ends, Kind::Password) => HIDDEN.to_owned(),
        (Mark::Ends, _) => mask(secret),
        (Mark::Sentinel, kind) => format!("{SENTINEL_OPEN}{}»", label(kind)),
    }
}

/// How many masks of the kind that cannot be taken for values a text holds. Text that was read with such masks must not be written
/// back: the value behind them would be lost.
///
/// ```
/// assert_eq!(hermes_guard::sentinels("key = «redacted:ghp_…»"), 1);
/// ```
pub fn sentinels(text: &str) -> usize {
    memchr::memmem::find_iter(text.as_bytes(), SENTINEL_OPEN).count()
}

fn label(kind: Kind) -> String {
    match kind {
        Kind::Vendor(prefix) => format!("{prefix}…"),
        Kind::Known => "known value".to_owned(),
        Kind::Password => "password".to_owned(),
        Kind::Named => "named value".to_owned(),
        Kind::Header => "header".to_owned(),
        Kind::Jwt => "jwt".to_owned(),
        Kind::Bot => "bot token".to_owned(),
        Kind::Url => "url token".to_owned(),
        Kind::PrivateKey => "private key".to_owned(),
    }
}

/// Whether a value is already one of our masks, so that redacting twice changes nothing.
pub(crate) fn is_masked(value: &str) -> bool {
    let stars = !value.is_empty() && value.bytes().all(|byte| byte == b'*');
    if stars || value.starts_with(SENTINEL_OPEN) || value.starts_with("[REDACTED") {
        return true;
    }
    let dots = value.char_indices().nth(HEAD).map(|(at, _)| at);
    dots.is_some_and(|at| value[at..].starts_with("...") && value.chars().count() <= HEAD + 3 + TAIL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(mask(&"é".repeat(17)), "***");
        assert_eq!(mask(&"é".repeat(18)), "éééééé...éééé");
        assert_eq!(mask(""), "***");
    }

    #[test]
    fn every_mask_is_recognised_as_one() {
        let secret = "fake-0123456789-abcdef";
        let kinds = [Kind::Vendor("ghp_"), Kind::Known, Kind::Password, Kind::PrivateKey, Kind::Jwt];
        for kind in kinds {
            for mark in [Mark::Ends, Mark::Sentinel] {
                let masked = replacement(kind, secret, mark);
                assert!(is_masked(&masked), "{masked}");
                assert!(!masked.contains(secret));
            }
        }
        assert!(!is_masked(secret));
        assert!(!is_masked("hunter2"));
        assert!(!is_masked("abc...def"));
    }
}
