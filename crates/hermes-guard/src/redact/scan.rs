//! One walk over the text: each trigger goes to the scanner of its family, in order.

use std::ops::Range;

use super::triggers::{self, CURL, Family, SSHPASS};
use super::{Names, Policy, assign, block, command, token, url, vendor};
use crate::mask::Kind;

/// A secret found in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub range: Range<usize>,
    pub kind: Kind,
}

/// What the scanners share. The ends remember what was already looked at, which keeps the walk linear.
pub(super) struct Scan<'t> {
    pub text: &'t str,
    pub policy: Policy,
    pub spans: Vec<Span>,
    /// End of the last name looked at: one name may hold several triggers (`AUTH_TOKEN`).
    pub name_end: usize,
    /// End of the last key in parts: the dots or signs in it would otherwise let the next one start inside it.
    pub dotted_end: usize,
    /// End of the last web address, whose query is left alone.
    pub web_end: usize,
    /// End of the last URL of any kind.
    pub url_end: usize,
    /// End of the last private key block.
    pub block_end: usize,
    /// End of the last command line looked at.
    pub command_end: usize,
}

impl Scan<'_> {
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    pub fn found(&mut self, range: Range<usize>, kind: Kind) {
        self.spans.push(Span { range, kind });
    }

    /// Whether names announce values at all under this policy.
    pub fn names(&self) -> Names {
        self.policy.names()
    }
}

/// Every secret the rules find, in no particular order and possibly overlapping.
pub(super) fn find(text: &str, policy: Policy) -> Vec<Span> {
    let mut scan = Scan {
        text,
        policy,
        spans: Vec::new(),
        name_end: 0,
        dotted_end: 0,
        web_end: 0,
        url_end: 0,
        block_end: 0,
        command_end: 0,
    };
    for (at, family) in triggers::hits(text) {
        match family {
            Family::Vendor(rule) => vendor::at(&mut scan, at, rule),
            Family::Name => assign::at(&mut scan, at),
            Family::Scheme => url::at(&mut scan, at),
            Family::Hook(path) => url::hook(&mut scan, at + path.len()),
            Family::KeyBlock => block::at(&mut scan, at),
            Family::Jwt => token::jwt(&mut scan, at),
            Family::Bot => token::bot(&mut scan, at),
            Family::Bearer => token::bearer(&mut scan, at),
            Family::Curl => command::curl(&mut scan, at + CURL.len()),
            Family::Sshpass => command::sshpass(&mut scan, at + SSHPASS.len()),
        }
    }
    scan.spans
}
