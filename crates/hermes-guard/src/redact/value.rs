//! What a value looks like: a secret, a word, a reference to something else.

use super::names::is_listed;
use crate::mask::is_masked;

/// An unbroken run of at least `length` letters and digits with both kinds in it; or, as one key in thirty has no
/// digit, a longer one of upper and lower case in a measure that no name has.
pub(super) fn has_mixed_run(bytes: &[u8], length: usize) -> bool {
    bytes.split(|byte| !byte.is_ascii_alphanumeric()).filter(|run| run.len() >= length).any(|run| {
        let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
        let mixed = digits > 0 && digits < run.len();
        mixed || (run.len() >= 16 && is_mixed_case(run))
    })
}

/// Every third letter is a capital and every third is not. `camelCase` has one in five.
fn is_mixed_case(run: &[u8]) -> bool {
    let count = |test: fn(&u8) -> bool| run.iter().filter(|byte| test(byte)).count();
    count(u8::is_ascii_uppercase) * 3 >= run.len() && count(u8::is_ascii_lowercase) * 3 >= run.len()
}

/// How often a letter stands next to a digit.
fn switches(value: &str) -> usize {
    let switch = |pair: &&[u8]| {
        pair.iter().all(u8::is_ascii_alphanumeric) && pair[0].is_ascii_digit() != pair[1].is_ascii_digit()
    };
    value.as_bytes().windows(2).filter(switch).count()
}

/// Letters and digits that alternate as no word does: `a1b2`, `9f86d081`, but not `sha256` or `oauth2-v1`.
pub(super) fn is_scrambled(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    switches(value) >= 3 || (digits != 1 && digits != 2 && has_mixed_run(value.as_bytes(), 12))
}

/// As [`is_scrambled`], where names such as `X25519PublicKey` are to be expected.
pub(super) fn is_very_scrambled(value: &str) -> bool {
    switches(value) >= 4
        || value
            .as_bytes()
            .split(|b| !b.is_ascii_alphanumeric())
            .any(|run| run.len() >= 16 && is_mixed_case(run))
}

/// Letters with at most the joints of an identifier or a slug, and no digit.
pub(super) fn is_wordy(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-./: ".contains(&byte))
        && !value
            .as_bytes()
            .split(|byte| !byte.is_ascii_alphabetic())
            .any(|run| run.len() >= 8 && is_mixed_case(run))
}

/// One word of a language, an option's name, a region, a model: nothing a generator of secrets makes.
pub(super) fn is_plain_word(value: &str) -> bool {
    value.len() < 20 && is_wordy(value) && !value.contains(' ')
}

/// A number, a version, a date.
pub(super) fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || b".,:_-+eE%".contains(&byte)) && value.len() < 20
}

/// A path, unless it looks more like base64 that starts with a slash.
pub(super) fn is_path(value: &str) -> bool {
    let rooted = ["/", "./", "../", "~/", "~\\", "\\\\"].iter().any(|start| value.starts_with(start));
    let registry = value.matches('\\').count() > 1;
    let drive = value.as_bytes().get(1..3).is_some_and(|pair| pair == b":\\" || pair == b":/");
    (rooted || registry || drive)
        && !(has_mixed_run(value.as_bytes(), 16) && !value.contains('.') || value.ends_with('='))
}

/// An address. Credentials in one are the URL scanner's business.
pub(super) fn is_url(value: &str) -> bool {
    value.contains("://")
}

/// An address without credentials.
pub(super) fn is_plain_url(value: &str) -> bool {
    is_url(value) && !value.contains('@')
}

/// Already masked, or one character over and over.
pub(super) fn is_masked_or_repeated(value: &str) -> bool {
    let mut characters = value.chars();
    let first = characters.next();
    is_masked(value) || characters.all(|character| Some(character) == first)
}

/// Words that stand where a value is missing, typed, described or refused.
const CONSTANTS: &str = "true false yes no on off null none nil undefined void any str string bytes int integer bool boolean \
    object text required optional missing invalid incorrect wrong expired empty unset set hidden \
    redacted default unknown failed password passwd pass pwd secret token key apikey bearer basic \
    credentials authentication authorization changeme-please self this env plain user username";

/// Starts of the names people put where the reader should put a value of their own.
const PLACEHOLDERS: &[&str] = &[
    "your",
    "my-",
    "my_",
    "insert",
    "replace",
    "enter",
    "put-",
    "put_",
    "todo",
    "xxx",
    "example",
    "placeholder",
];

/// A value that is no value: empty, masked, a constant, or text to be replaced by the reader.
pub(super) fn is_empty_talk(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.is_empty()
        || is_masked_or_repeated(value)
        || is_listed(&lower, CONSTANTS)
        || (is_wordy(value) && PLACEHOLDERS.iter().any(|start| lower.starts_with(start)))
        || lower.starts_with("your_")
        || lower.starts_with("your-")
        || ["***", "xxxx", "XXXX"].iter().any(|filler| value.contains(filler))
        || ["...", "…"].iter().any(|dots| value.starts_with(dots) || value.ends_with(dots))
}

/// Something that names the value instead of being it: `$TOKEN`, `${{ secrets.X }}`, `<token>`, `{key}`, `%s`.
pub(super) fn is_reference(value: &str) -> bool {
    match value.as_bytes() {
        [b'$', next, ..] => next.is_ascii_alphabetic() || b"{(_".contains(next),
        [b'<', rest @ ..] => rest.contains(&b'>') || rest.first().is_some_and(u8::is_ascii_alphabetic),
        [b'{', next, ..] => next.is_ascii_alphabetic() || b"_{ }$\"'".contains(next),
        [b'[', b'[', ..] | [b'#' | b'@', b'{', ..] => true,
        [b'%', next, rest @ ..] => {
            b"({".contains(next) || (next.is_ascii_alphabetic() && (rest.is_empty() || rest.ends_with(b"%")))
        }
        _ => {
            let bracketed = value.find('<').is_some_and(|at| value[at..].contains('>'));
            bracketed || ["${", "{{", "#{", "&lt;"].iter().any(|mark| value.contains(mark))
        }
    }
}

/// Code that computes the value: `get_token()`, `os.environ["X"]`, `self.token`, `&key`.
pub(super) fn is_expression(value: &str) -> bool {
    let plain = value.trim_start_matches(['&', '*', '!', '-', '_']);
    // `*mut c_char`, `__u32`: types.
    if plain.len() < value.len()
        && plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !is_scrambled(plain)
    {
        return true;
    }
    let value = plain;
    // More signs than any expression has, as generators of passwords put in.
    if value.bytes().filter(|byte| b"@#^~$%!".contains(byte)).count() >= 3 {
        return false;
    }
    if value.starts_with('(') {
        return true;
    }
    let name =
        value.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:?!".contains(byte)).count();
    let starts_as_name = value.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let called = value.as_bytes().get(name).is_some_and(|byte| b"([{<".contains(byte));
    let path = name == value.len() && value.contains(['.', ':']) && !is_scrambled(value);
    starts_as_name && (called || path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambled_is_what_no_word_is() {
        for value in ["a1b2c3", "9f86d081884c7d65", "abc123def456", "0123456789abcdef"] {
            assert!(is_scrambled(value), "{value}");
        }
        for value in
            ["sha256", "Utf8SuffixKey", "oauth2-v1", "next_token", "2024-01-01", "utf8", "hunter2", ""]
        {
            assert!(!is_scrambled(value), "{value}");
        }
    }

    #[test]
    fn references_and_expressions_are_not_values() {
        for value in
            ["$TOKEN", "${TOKEN}", "$(cat x)", "<token>", "{key}", "{{ key }}", "%s", "%TOKEN%", "a${B}"]
        {
            assert!(is_reference(value), "{value}");
        }
        for value in
            ["get_token()", "os.environ[", "self.token", "&config.key", "Token::new(", "Option<String>"]
        {
            assert!(is_expression(value), "{value}");
        }
        for value in
            ["$2b$12$fakefakefake", "pa$$word", "Pa<ss9", "{9pass", "%41b", "a.1b2c3d4e5f", "hunter2", "p(ss"]
        {
            assert!(!is_reference(value), "{value}");
        }
        for value in ["hunter2", "abc123def456", "9a.8b.7c"] {
            assert!(!is_expression(value), "{value}");
        }
    }

    #[test]
    fn a_key_may_have_no_digit_but_a_word_is_no_key() {
        assert!(has_mixed_run(b"FakEfAkeFaKefaKeFAkefAke", 16));
        assert!(!has_mixed_run(b"internationalization", 16));
        assert!(!has_mixed_run(b"getUserAccountTokenFromStore", 16));
        assert!(!has_mixed_run(b"wrapRangeInTextNode", 16));
        assert!(!has_mixed_run(b"20240101120000", 12));
    }
}
