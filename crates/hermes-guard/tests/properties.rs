//! What holds for every text: no panic, nothing lost around a secret, masking twice is masking once, linear work.
#![allow(clippy::unwrap_used, reason = "a test")]

use hermes_guard::{Policy, Redactor, complete_prefix};
use proptest::prelude::*;

const POLICIES: [Policy; 5] = [Policy::Log, Policy::EnvDump, Policy::Code, Policy::File, Policy::EnvFile];
const SECRETS: [&str; 6] = [
    "ghp_FAKEfake0000FAKEfake1111FAKEfake2222",
    "sk-fake0000fake1111fake2222",
    "eyJGQUtFIjoiSFMyNTYifQ.eyJzdWIiOiJmYWtlLWZha2UifQ.FAKEfake0000FAKE",
    "000000000:AAFAKEfakeFAKEfakeFAKEfakeFAKEfake000",
    "-----BEGIN PRIVATE KEY-----\nRkFLRWZha2VGQUtFZmFrZUZBS0VmYWtl\n-----END PRIVATE KEY-----",
    "known-value-0000",
];

/// Text made of the pieces the scanners react to, so that random combinations reach deep into them.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "token",
        "password",
        "API_KEY",
        "key",
        "secret",
        "auth",
        "Authorization",
        "Bearer ",
        "Basic ",
        "x-api-key",
        "=",
        ":",
        " ",
        "  ",
        "\n",
        "\t",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\\",
        "://",
        "http",
        "postgres",
        "@",
        "/",
        "?",
        "&",
        "-----BEGIN ",
        "-----END ",
        "PRIVATE KEY-----",
        "eyJ",
        ".",
        ",",
        ";",
        "Some(",
        ")",
        "<",
        ">",
        "--",
        "é",
        "«",
        "»",
        "***",
        "...",
        "sk-",
        "ghp_",
        "SG.",
        "gAAAA",
        ":AA",
        "12345678",
        "a1b2c3d4e5f6g7h8i9",
        "FAKEfake0000FAKEfake1111",
        "hunter2",
        "$X",
        "{",
        "}",
        "\u{1b}[32m",
        "%3D",
        "_",
        "-",
        "export ",
        "Digest ",
        "curl ",
        "-u ",
        "sshpass -p ",
        "machine x login y password ",
        "hooks.slack.com/services/",
        "RkFLRWZha2VGQUtFZmFrZUZBS0VmYWtl",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_never_panics(text in "\\PC*") {
        for policy in POLICIES {
            Redactor::new([]).redact(&text, policy);
        }
        let cut = complete_prefix(&text);
        prop_assert!(text.is_char_boundary(cut));
    }

    #[test]
    fn masking_twice_is_masking_once(text in pieces()) {
        let redactor = Redactor::new(["a1b2c3d4e5f6g7h8i9".to_owned()]);
        for policy in POLICIES {
            let once = redactor.redact(&text, policy).into_owned();
            prop_assert_eq!(redactor.redact(&once, policy), once.as_str(), "{:?}", policy);
        }
        prop_assert!(text.is_char_boundary(complete_prefix(&text)));
    }

    #[test]
    fn a_secret_among_words_is_always_masked(before in "[a-z ,.()\\n]{0,60}", after in "[a-z ,.()\\n]{0,60}", which in 0..SECRETS.len()) {
        let secret = SECRETS[which];
        let redactor = Redactor::new(["known-value-0000".to_owned()]);
        let text = format!("{before} {secret} {after}");
        for policy in POLICIES {
            let masked = redactor.redact(&text, policy);
            prop_assert!(!masked.contains(secret), "{:?}: {}", policy, masked);
            let untouched = format!("{before} ");
            prop_assert!(masked.starts_with(&untouched));
        }
    }

    #[test]
    fn a_text_passed_on_in_pieces_leaks_nothing(chunk in 1usize..40, which in 0..SECRETS.len()) {
        let secret = SECRETS[which];
        let redactor = Redactor::new(["known-value-0000".to_owned()]);
        let text = format!("first line\nhere: {secret}\nlast line\n");
        let (mut held, mut passed) = (String::new(), String::new());
        for piece in text.as_bytes().chunks(chunk) {
            held.push_str(std::str::from_utf8(piece).unwrap());
            let cut = complete_prefix(&held);
            passed.push_str(&redactor.redact(&held[..cut], Policy::Log));
            held.drain(..cut);
        }
        passed.push_str(&redactor.redact(&held, Policy::Log));
        prop_assert_eq!(passed, redactor.redact(&text, Policy::Log));
    }
}

/// A scanner that looks at the rest of the text again at every trigger would need hours for these.
#[test]
fn hostile_texts_take_linear_work() {
    let size = 50_000;
    let units = [
        "sk-",
        "token=",
        "password:",
        "authorization: ",
        "Authorization:Digest ",
        "://",
        "a://u:",
        "postgres://a:/",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nabcd",
        "eyJabcdefghijk.",
        "eyJ.",
        ":AA",
        "12345678:AA",
        "bearer ",
        "&token=",
        "key\"",
        "token\\\\\\\"",
        "api_key: 'x",
        "TOKEN=a;",
        "--token ",
        "token: a ",
        "<key>",
        "hooks.slack.com/services/",
        "AUTH_TOKEN_",
        "gAAAA",
        "SG.",
        "x-api-key:",
        "password=\\",
        "token: Option<",
        "curl ",
        "curl -u a:b ",
        "curl '",
        "sshpass -p ",
        "\"password: \"",
        "machine login password ",
        "sntrys_+",
    ];
    let redactor = Redactor::new(["known-value-0000".to_owned()]);
    for unit in units {
        let text = unit.repeat(size / unit.len());
        for policy in [Policy::Log, Policy::EnvDump, Policy::Code] {
            redactor.redact(&text, policy);
        }
    }
}

#[test]
fn the_mask_shows_both_ends_and_the_sentinel_none() {
    let redactor = Redactor::new(["known-value-0000-fake".to_owned()]);
    let cases = [
        (Policy::Log, "OPENAI_API_KEY=sk-fake0000fake1111fake2222", "OPENAI_API_KEY=sk-fak...2222"),
        (Policy::File, "# sk-fake0000fake1111fake2222", "# «redacted:sk-…»"),
        (Policy::Code, "x known-value-0000-fake y", "x known-...fake y"),
        (Policy::File, "x known-value-0000-fake y", "x «redacted:known value» y"),
        (Policy::EnvFile, "DB_PASSWORD=one two\nPORT=1", "DB_PASSWORD=«redacted:password»\nPORT=1"),
        // A password is never shown in part, however long.
        (Policy::Log, "DB_PASSWORD=correct-horse-battery-staple", "DB_PASSWORD=***"),
        (Policy::Log, "postgres://u:correct-horse-battery-staple@h/d", "postgres://u:***@h/d"),
    ];
    for (policy, text, expected) in cases {
        assert_eq!(redactor.redact(text, policy), expected, "{policy:?}");
    }
}

#[test]
fn text_without_secrets_is_not_copied() {
    let redactor = Redactor::new([]);
    let text = "cargo build finished in 3.2s";
    assert!(matches!(redactor.redact(text, Policy::Log), std::borrow::Cow::Borrowed(_)));
    let secret = "ghp_FAKEfake0000FAKEfake1111FAKEfake2222";
    assert_eq!(Redactor::disabled().redact(secret, Policy::Log), secret);
}

#[test]
fn variables_with_secret_names_are_known_everywhere() {
    let variables =
        [("APP_TOKEN", "fake-value-one"), ("APP_MODE", "fake-value-two"), ("MY_PASSWORD", "true")];
    let redactor = Redactor::from_variables(variables);
    assert_eq!(
        redactor.redact("fake-value-one fake-value-two true", Policy::Code),
        "*** fake-value-two true"
    );
}
