//! The prefilter: the letters that start or announce a secret, in one automaton.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::vendor::{VENDORS, Vendor};

/// Which scanner a trigger calls.
#[derive(Clone, Copy)]
pub(super) enum Family {
    /// A vendor's key prefix.
    Vendor(&'static Vendor),
    /// A word found in names of secrets.
    Name,
    /// The `://` of a URL.
    Scheme,
    /// A web address whose path holds a secret.
    Hook(&'static str),
    /// The first line of a PEM or PGP block.
    KeyBlock,
    /// The first letters of a base64 JSON object.
    Jwt,
    /// The middle of a Telegram bot token.
    Bot,
    /// A bearer credential without its header.
    Bearer,
    /// A call of `curl`, which takes a password without a name.
    Curl,
    /// A call of `sshpass` with the password in it.
    Sshpass,
}

pub(super) const CURL: &str = "curl ";
pub(super) const SSHPASS: &str = "sshpass -p";

const OTHERS: &[(&str, Family)] = &[
    ("key", Family::Name),
    ("token", Family::Name),
    ("secret", Family::Name),
    ("passw", Family::Name),
    ("passphrase", Family::Name),
    ("passcode", Family::Name),
    ("pwd", Family::Name),
    ("credential", Family::Name),
    ("auth", Family::Name),
    ("://", Family::Scheme),
    ("hooks.slack.com/services/", Family::Hook("hooks.slack.com/services/")),
    ("discord.com/api/webhooks/", Family::Hook("discord.com/api/webhooks/")),
    ("discordapp.com/api/webhooks/", Family::Hook("discordapp.com/api/webhooks/")),
    (super::block::OPEN, Family::KeyBlock),
    ("eyJ", Family::Jwt),
    (":AA", Family::Bot),
    ("bearer ", Family::Bearer),
    (CURL, Family::Curl),
    (SSHPASS, Family::Sshpass),
];

struct Triggers {
    automaton: AhoCorasick,
    families: Vec<Family>,
}

static TRIGGERS: LazyLock<Triggers> = LazyLock::new(|| {
    let vendors = VENDORS.iter().map(|rule| (rule.prefix, Family::Vendor(rule)));
    let (patterns, families): (Vec<&str>, Vec<Family>) = vendors.chain(OTHERS.iter().copied()).unzip();
    #[expect(clippy::expect_used, reason = "the patterns are constants; every test builds this automaton")]
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(patterns)
        .expect("two hundred short patterns fit an automaton");
    Triggers { automaton, families }
});

/// Where a scanner has to look, in order. Overlapping hits are all reported: `sk_` must not hide `sk_live_`.
pub(super) fn hits(text: &str) -> impl Iterator<Item = (usize, Family)> {
    let triggers = &*TRIGGERS;
    let found = triggers.automaton.find_overlapping_iter(text);
    found.map(|hit| (hit.start(), triggers.families[hit.pattern().as_usize()]))
}
