//! Credentials in URLs: before the `@`, and in the path of webhook addresses.
//!
//! The query of a web address is left alone: signed links and sign-in redirects are useless without it.

use super::chars::{is_base64url, run_end};
use super::scan::Scan;
use super::value::{has_mixed_run, is_empty_talk, is_masked_or_repeated, is_reference};
use crate::mask::Kind;

const LONGEST_SCHEME: usize = 24;
/// How far a password that holds a slash is followed.
const LONGEST_LOOSE: usize = 256;

/// Looks at the `://` at `at`.
pub(super) fn at(scan: &mut Scan<'_>, at: usize) {
    let bytes = scan.bytes();
    let scheme_start =
        at - bytes[..at].iter().rev().take(LONGEST_SCHEME).take_while(|b| is_scheme(**b)).count();
    let scheme = scan.text[scheme_start..at].to_ascii_lowercase();
    let start = at + "://".len();
    if at >= scan.url_end {
        let end = run_end(bytes, start, is_url);
        scan.url_end = end;
        if ["http", "https", "ws", "wss", "ftp"].iter().any(|web| scheme.ends_with(web)) {
            scan.web_end = end;
        }
    }
    let Some(end) = userinfo_end(scan.bytes(), start, &scheme) else { return };
    userinfo(scan, start, end);
}

/// The position of the `@`. Databases' addresses are often put together from parts without encoding, so there a slash
/// or a hash may be part of the password.
fn userinfo_end(bytes: &[u8], start: usize, scheme: &str) -> Option<usize> {
    let strict = run_end(bytes, start, |byte| is_url(byte) && !b"/?#".contains(&byte));
    let last_at = |end: usize| bytes[start..end].iter().rposition(|byte| *byte == b'@').map(|at| start + at);
    if let Some(end) = last_at(strict) {
        return Some(end);
    }
    let loose_end = (start + LONGEST_LOOSE).min(bytes.len());
    let loose = start + run_end(&bytes[start..loose_end], 0, |byte| is_url(byte) && byte != b'?');
    let end = last_at(loose).filter(|_| is_database(scheme))?;
    let colon = bytes[start..end].iter().position(|byte| *byte == b':')?;
    // `localhost:5432/db` is a port, not a password.
    let port = run_end(bytes, start + colon + 1, |byte| byte.is_ascii_digit());
    (bytes[port] != b'/').then_some(end)
}

fn is_database(scheme: &str) -> bool {
    [
        "postgres",
        "mysql",
        "mariadb",
        "mongodb",
        "redis",
        "rediss",
        "valkey",
        "amqp",
        "mssql",
        "sqlserver",
        "clickhouse",
    ]
    .iter()
    .any(|name| scheme.contains(name))
}

fn userinfo(scan: &mut Scan<'_>, start: usize, end: usize) {
    let info = &scan.text[start..end];
    let (user, password) = match info.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (info, None),
    };
    let user_end = start + user.len();
    let user_is_token = user.len() >= 16 && has_mixed_run(user.as_bytes(), 12) && !is_empty_talk(user);
    let password =
        password.filter(|text| !is_empty_talk(text) && !is_reference(text) && *text != "x-oauth-basic");
    if user_is_token {
        scan.found(start..user_end, Kind::Url);
    }
    if password.is_some() {
        scan.found(user_end + 1..end, Kind::Password);
    }
}

/// Webhook addresses: whoever knows the last part of the path may post. `path` is where the parts begin.
pub(super) fn hook(scan: &mut Scan<'_>, path: usize) {
    let end = run_end(scan.bytes(), path, |byte| is_base64url(byte) || byte == b'/');
    let parts = &scan.text[path..end].trim_end_matches('/');
    let Some(slash) = parts.rfind('/') else { return };
    let secret = &parts[slash + 1..];
    if secret.len() >= 16 && !is_masked_or_repeated(secret) {
        let start = path + slash + 1;
        let end = start + secret.len();
        scan.found(start..end, Kind::Url);
    }
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+.-".contains(&byte)
}

fn is_url(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !b"\"'`<>\\".contains(&byte)
}
