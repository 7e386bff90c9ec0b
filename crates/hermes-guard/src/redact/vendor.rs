//! Keys whose prefix names the vendor. Each has a shape of its own, so that words which merely start alike stay.

use super::chars::{is_base64url, run_end, starts_word};
use super::scan::Scan;
use super::value::{has_mixed_run, is_empty_talk, is_scrambled};
use crate::mask::Kind;

/// One vendor's key: what follows the prefix, how long it is, and what tells it from a word.
pub(super) struct Vendor {
    pub prefix: &'static str,
    alphabet: Alphabet,
    shortest: usize,
    longest: usize,
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Alphabet {
    Alnum,
    Hex,
    Upper,
    /// Letters, digits, `-` and `_`.
    Url,
    /// As `Url`, in parts joined by dots.
    Dotted,
    /// Base64 of either alphabet.
    Base64,
}

#[derive(Clone, Copy)]
enum Shape {
    /// Prefix, alphabet and length say enough.
    Any,
    /// At least one digit: tells a key from `xoxb-your-token-here`.
    Digit,
    /// An unbroken run of at least this many letters and digits, of both kinds.
    Run(usize),
    /// Letters and digits mixed as in no word: tells a key from `sk-ecdsa-sha2-nistp256`.
    Scrambled,
    /// Capitals, small letters and digits; as one key in thirty has no digit, enough of both cases will do. For keys
    /// whose alphabet has joints, so that long runs cannot be counted on: tells one from `glpat-your-token-goes-here`.
    Varied,
    /// Anything but the keys of a vendor's own documentation, which end in this word.
    Except(&'static str),
    /// Base64 that starts with zero bytes, and not in the middle of more base64, where zeros are common.
    Encrypted,
}

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};
use Shape::{Any, Digit, Encrypted, Except, Run, Scrambled, Varied};

const fn open(prefix: &'static str, alphabet: Alphabet, shortest: usize, shape: Shape) -> Vendor {
    Vendor { prefix, alphabet, shortest, longest: usize::MAX, shape }
}

const fn exact(prefix: &'static str, alphabet: Alphabet, length: usize, shape: Shape) -> Vendor {
    Vendor { prefix, alphabet, shortest: length, longest: length, shape }
}

/// The minimum lengths are well under the real ones: vendors change them, and the shape does most of the telling.
pub(super) const VENDORS: &[Vendor] = &[
    // Language models and their tools.
    open("sk-", Url, 12, Scrambled),
    open("sk-ant-", Url, 12, Digit),
    open("xai-", Alnum, 20, Run(16)),
    open("pplx-", Alnum, 20, Run(16)),
    open("gsk_", Alnum, 20, Run(16)),
    open("csk-", Alnum, 20, Run(16)),
    open("nvapi-", Url, 20, Varied),
    open("hf_", Alnum, 20, Run(16)),
    open("r8_", Alnum, 20, Run(16)),
    open("rpa_", Alnum, 20, Run(16)),
    open("fw_", Alnum, 20, Run(16)),
    open("fw-", Alnum, 20, Run(16)),
    open("fpk_", Alnum, 20, Run(16)),
    open("fal_", Alnum, 20, Run(16)),
    open("sk_", Alnum, 24, Run(20)),
    open("tvly-", Url, 16, Varied),
    open("exa_", Alnum, 20, Run(16)),
    open("fc-", Alnum, 20, Run(20)),
    open("bb_live_", Url, 16, Varied),
    open("am_", Url, 20, Run(20)),
    open("retaindb_", Alnum, 16, Run(12)),
    open("hsk-", Alnum, 16, Run(16)),
    open("mem0_", Alnum, 16, Run(12)),
    open("brv_", Alnum, 16, Run(16)),
    open("api_org_", Alnum, 30, Run(24)),
    open("tgp_v1_", Url, 32, Varied),
    open("pcsk_", Url, 40, Varied),
    open("lsv2_pt_", Url, 32, Digit),
    open("lsv2_sk_", Url, 32, Digit),
    open("jina_", Alnum, 40, Run(24)),
    open("e2b_", Hex, 40, Any),
    open("sgp_", Hex, 40, Any),
    open("ABSK", Base64, 100, Digit),
    // Code hosting and package registries.
    open("ghp_", Alnum, 16, Run(16)),
    open("gho_", Alnum, 16, Run(16)),
    open("ghu_", Alnum, 16, Run(16)),
    open("ghs_", Dotted, 16, Run(16)),
    open("ghr_", Alnum, 16, Run(16)),
    open("github_pat_", Url, 22, Run(12)),
    open("glpat-", Url, 16, Varied),
    open("glptt-", Url, 16, Run(8)),
    open("gldt-", Url, 16, Varied),
    open("glrt-", Url, 16, Varied),
    open("glcbt-", Url, 16, Varied),
    open("glsoat-", Url, 16, Varied),
    open("glft-", Url, 16, Varied),
    open("glagent-", Url, 32, Varied),
    open("npm_", Alnum, 24, Run(20)),
    open("pypi-AgE", Url, 32, Any),
    open("dckr_pat_", Url, 20, Varied),
    open("rubygems_", Hex, 40, Any),
    open("ATATT3x", Url, 60, Digit),
    open("ATCTT3x", Url, 60, Digit),
    open("ATBB", Alnum, 24, Varied),
    open("sqp_", Hex, 40, Any),
    open("squ_", Hex, 40, Any),
    open("sqa_", Hex, 40, Any),
    // Clouds and hosting.
    exact("AKIA", Upper, 16, Except("EXAMPLE")),
    exact("ASIA", Upper, 16, Except("EXAMPLE")),
    open("LTAI", Alnum, 12, Varied),
    exact("AIza", Url, 35, Any),
    open("ya29.", Url, 20, Digit),
    open("GOCSPX-", Url, 20, Any),
    open("dop_v1_", Hex, 32, Any),
    open("doo_v1_", Hex, 32, Any),
    open("dor_v1_", Hex, 32, Any),
    open("dapi", Hex, 32, Run(32)),
    open("hvs.", Url, 20, Varied),
    open("hvb.", Url, 60, Varied),
    open("hvr.", Url, 60, Varied),
    open("sbp_", Hex, 32, Any),
    open("sb_secret_", Url, 16, Varied),
    open("tskey-auth-", Url, 16, Digit),
    open("tskey-api-", Url, 16, Digit),
    open("tskey-client-", Url, 16, Digit),
    open("HRKU-", Url, 36, Digit),
    open("nfp_", Alnum, 32, Run(24)),
    open("vercel_blob_rw_", Url, 32, Varied),
    open("fm2_", Base64, 80, Varied),
    open("fo1_", Url, 32, Varied),
    open("rnd_", Alnum, 24, Run(24)),
    open("pul-", Hex, 40, Any),
    open("pscale_tkn_", Url, 32, Varied),
    open("pscale_pw_", Url, 32, Varied),
    open("pscale_oauth_", Url, 32, Varied),
    open("napi_", Alnum, 48, Run(40)),
    open("dp.pt.", Alnum, 40, Run(24)),
    open("dp.st.", Dotted, 40, Run(24)),
    open("dt0c01.", Dotted, 60, Digit),
    open("glc_eyJ", Base64, 24, Any),
    open("glsa_", Url, 32, Varied),
    open("NRAK-", Upper, 20, Digit),
    open("phx_", Alnum, 32, Run(24)),
    open("CFPAT-", Url, 40, Varied),
    open("AGE-SECRET-KEY-1", Upper, 40, Any),
    // Chat, mail, payment, work.
    open("xoxb-", Url, 16, Digit),
    open("xoxa-", Url, 16, Digit),
    open("xoxp-", Url, 16, Digit),
    open("xoxr-", Url, 16, Digit),
    open("xoxs-", Url, 16, Digit),
    open("xoxc-", Url, 16, Digit),
    open("xoxd-", Url, 16, Digit),
    open("xoxe-", Url, 16, Digit),
    open("xapp-", Url, 16, Digit),
    open("syt_", Url, 24, Varied),
    open("SG.", Dotted, 40, Digit),
    open("sk_live_", Alnum, 16, Varied),
    open("sk_test_", Alnum, 16, Varied),
    open("rk_live_", Alnum, 16, Varied),
    open("rk_test_", Alnum, 16, Varied),
    open("whsec_", Alnum, 24, Run(16)),
    open("ntn_", Alnum, 24, Run(16)),
    open("secret_", Alnum, 32, Run(24)),
    open("lin_api_", Alnum, 24, Run(16)),
    open("lin_oauth_", Alnum, 24, Run(16)),
    open("figd_", Url, 24, Varied),
    open("shpat_", Hex, 24, Any),
    open("shpss_", Hex, 24, Any),
    open("shpca_", Hex, 24, Any),
    open("shppa_", Hex, 24, Any),
    open("sq0atp-", Url, 20, Varied),
    open("sq0csp-", Url, 40, Varied),
    open("xkeysib-", Url, 64, Digit),
    open("PMAK-", Url, 32, Digit),
    open("sntrys_", Base64, 32, Digit),
    open("sntryu_", Hex, 64, Any),
    open("EZAK", Alnum, 40, Varied),
    open("ops_eyJ", Url, 100, Any),
    open("tfp_", Url, 40, Varied),
    open("aio_", Alnum, 28, Run(24)),
    open("rdme_", Alnum, 60, Run(40)),
    // Fernet, which several programs keep their secrets in.
    open("gAAAA", Url, 70, Encrypted),
];

/// Looks at a key's prefix at `at`.
pub(super) fn at(scan: &mut Scan<'_>, at: usize, rule: &'static Vendor) {
    let bytes = scan.bytes();
    // The automaton ignores case, keys do not.
    if !bytes[at..].starts_with(rule.prefix.as_bytes()) || !starts_word(bytes, at) {
        return;
    }
    // In these alphabets the next prefix may start a word inside the run.
    let dotted = matches!(rule.alphabet, Dotted | Base64);
    if dotted && at < scan.dotted_end {
        return;
    }
    let body = at + rule.prefix.len();
    let end = run_end(bytes, body, |byte| rule.alphabet.holds(byte));
    let key_end = trim_dots(bytes, body, end);
    let is_key = fits(&scan.text[body..key_end], rule) && !is_in_other_data(&scan.text[..at], rule);
    if dotted {
        scan.dotted_end = end;
    }
    if is_key {
        scan.found(at..key_end, Kind::Vendor(rule.prefix));
    }
}

fn fits(body: &str, rule: &Vendor) -> bool {
    (rule.shortest..=rule.longest).contains(&body.len())
        && match rule.shape {
            Any => true,
            Digit => body.bytes().any(|byte| byte.is_ascii_digit()),
            Run(length) => has_mixed_run(body.as_bytes(), length) || has_long_run(body),
            Scrambled => is_scrambled(body) || has_long_run(body),
            Varied => is_varied(body) && !is_empty_talk(body),
            Except(word) => !body.ends_with(word),
            Encrypted => has_mixed_run(body.as_bytes(), 12),
        }
}

/// Keys of letters alone, or with a digit or two: no name has that many characters without a joint, and one in five of
/// each case.
fn has_long_run(body: &str) -> bool {
    const LONG: usize = 24;
    body.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()).filter(|run| run.len() >= LONG).any(|run| {
        let count = |test: fn(&u8) -> bool| run.iter().filter(|byte| test(byte)).count();
        count(u8::is_ascii_uppercase).min(count(u8::is_ascii_lowercase)) * 5 >= run.len()
    })
}

fn is_varied(body: &str) -> bool {
    const WITHOUT_DIGITS: usize = 4;
    let count = |test: fn(&u8) -> bool| body.as_bytes().iter().filter(|byte| test(byte)).count();
    let cases = count(u8::is_ascii_uppercase).min(count(u8::is_ascii_lowercase));
    cases >= WITHOUT_DIGITS
        || (cases > 0 && count(u8::is_ascii_digit) > 0)
        || has_mixed_run(body.as_bytes(), 12)
}

/// Checksums in base64 start with any three letters, and zero bytes look alike everywhere.
fn is_in_other_data(before: &str, rule: &Vendor) -> bool {
    let checksum =
        ["sha256=", "sha256-", "sha512=", "sha512-", "sha384-"].iter().any(|name| before.ends_with(name));
    checksum || (matches!(rule.shape, Encrypted) && before.ends_with(['/', '+']))
}

/// A full stop after a key ends the sentence, not the key.
fn trim_dots(bytes: &[u8], body: usize, end: usize) -> usize {
    let dots = bytes[body..end].iter().rev().take_while(|byte| **byte == b'.').count();
    end - dots
}

impl Alphabet {
    fn holds(self, byte: u8) -> bool {
        match self {
            Alnum => byte.is_ascii_alphanumeric(),
            Hex => byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase(),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Url => is_base64url(byte),
            Dotted => is_base64url(byte) || byte == b'.',
            Base64 => is_base64url(byte) || b"+/=".contains(&byte),
        }
    }
}
