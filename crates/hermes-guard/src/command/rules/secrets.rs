//! Logins and keys: reading them is giving them to the model and whoever runs it.

use super::{Rule, dangerous, without_globals};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::path::{Kept, Last, Route, kept};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    dangerous("read-secret", "it reads a file that holds logins or keys", reads),
    dangerous("send-secret", "it sends a file that holds logins or keys to another machine", sends).beyond(),
    dangerous("export-keys", "it prints keys or passwords out of a store", exports),
];

/// Programs that show or copy what is in the files they are given.
const READERS: &[&str] = &[
    "cat", "tac", "nl", "less", "more", "head", "tail", "bat", "grep", "egrep", "fgrep", "rg", "ag", "sed",
    "awk", "gawk", "cut", "sort", "uniq", "strings", "xxd", "hexdump", "od", "base64", "base32", "cp", "mv",
    "dd", "paste", "rev", "tr", "diff", "cmp", "vim", "vi", "nano", "emacs", "view", "jq", "yq", "tar",
    "zip", "gzip", "install", "column", "split", "csplit", "comm", "join", "expand", "fmt", "pr", "look",
    "ln", "xz", "bzip2", "zstd", "uuencode", "fold", "batcat", "iconv", "m4", "xclip", "cpio", "7z", "most",
    "unexpand", "basenc", "gbase64",
];

fn is_secret(word: &Word, call: &Call, sight: &Context<'_>) -> bool {
    if matches!(kept(word, call.cwd.as_deref(), sight, Last::Followed), Some(Kept::Secret)) {
        return !is_public(word);
    }
    // Our settings may be read, our keys not.
    kept(word, call.cwd.as_deref(), sight, Last::Followed) == Some(Kept::Ours)
        && word.split_slashes().last().and_then(Word::text).is_some_and(|name| {
            !matches!(name.as_str(), "config.yaml" | "SOUL.md" | "approvals.json" | "active_profile")
        })
        || word
            .text()
            .is_some_and(|text| matches!(text.as_str(), "/etc/shadow" | "/etc/gshadow" | "/etc/sudoers"))
        || Route::of(word, call.cwd.as_deref())
            .is_some_and(|route| route.shown().starts_with("/proc/") && route.shown().ends_with("/environ"))
}

/// What lies beside keys and is made to be shown.
fn is_public(word: &Word) -> bool {
    let name = word.split_slashes().last().and_then(Word::text).unwrap_or_default();
    name.rsplit('.').next() == Some("pub")
        || matches!(name.as_str(), "known_hosts" | "authorized_keys" | "cacert.pem" | "ca-certificates.crt")
        || (name == "config" && word.shown().contains(".ssh/"))
}

fn reads(call: &Call, sight: &Context<'_>) -> bool {
    if call.input.files.iter().any(|word| is_secret(word, call, sight)) {
        return true;
    }
    let Some(name) = call.name() else { return false };
    if name == "find" && call.has_any(&["-exec", "-execdir", "-ok"]) {
        return call.operands().iter().any(|word| is_secret(word, call, sight));
    }
    if name == "openssl" {
        const SHOWS: &[&str] = &["base64", "enc", "rsa", "ec", "pkey", "pkcs8", "pkcs12", "asn1parse"];
        let shows = call.path().get(1).is_some_and(|verb| SHOWS.contains(&verb.as_str()));
        return shows && call.value_of(&["-in"]).is_some_and(|word| is_secret(&word, call, sight));
    }
    if !READERS.contains(&name.as_str()) {
        return false;
    }
    let mut operands = call.operands();
    if matches!(
        name.as_str(),
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "sed" | "awk" | "gawk" | "jq" | "yq"
    ) && !operands.is_empty()
        && !call.has_any(&["-e", "-f"])
    {
        // The first is what is looked for.
        operands.remove(0);
    }
    if matches!(name.as_str(), "cp" | "mv" | "install" | "ln") && operands.len() > 1 {
        operands.pop();
    }
    if name == "dd" {
        return call.value_of(&["if="]).is_some_and(|word| is_secret(&word, call, sight));
    }
    operands.iter().any(|word| is_secret(word, call, sight))
}

fn sends(call: &Call, sight: &Context<'_>) -> bool {
    match call.name().as_deref() {
        Some("curl" | "wget" | "http" | "https" | "xh") => {
            call.args().iter().any(|word| {
                let text = word.shown();
                let file =
                    text.split_once('@').or_else(|| text.split_once("--post-file=")).map(|(_, file)| file);
                let at = file.map(Word::known);
                at.is_some_and(|word| is_secret(&word, call, sight))
                    || text.starts_with("file://")
                        && is_secret(&Word::known(text.trim_start_matches("file://")), call, sight)
            }) || call
                .value_of(&["-T", "--upload-file", "--post-file"])
                .is_some_and(|word| is_secret(&word, call, sight))
        }
        Some("scp" | "rsync" | "sftp" | "nc" | "ncat" | "ftp") => {
            call.operands().iter().any(|word| is_secret(word, call, sight))
        }
        _ => false,
    }
}

fn exports(call: &Call, _: &Context<'_>) -> bool {
    let path = call.path();
    let begins = |verbs: &[&str]| path.get(1..=verbs.len()).is_some_and(|given| given == verbs);
    match call.name().as_deref() {
        Some("gpg" | "gpg2") => call.flags().any(|flag| flag.starts_with("--export-secret")),
        Some("security") => {
            call.path().get(1).is_some_and(|verb| verb.starts_with("find-") || verb == "dump-keychain")
        }
        Some("secret-tool") => call.path().get(1).is_some_and(|verb| verb == "lookup" || verb == "search"),
        Some("pass") => call
            .path()
            .get(1)
            .is_some_and(|verb| !matches!(verb.as_str(), "ls" | "list" | "find" | "help" | "version")),
        Some("gh") => {
            begins(&["auth", "token"])
                || call.has_any(&["--show-token"])
                || begins(&["auth", "status"]) && call.has("-t")
        }
        Some("git") => without_globals(call).is_some_and(|git| {
            git.path().get(1..3).is_some_and(|verbs| verbs == ["credential", "fill"])
                || git.path().get(1).is_some_and(|verb| verb.starts_with("credential-")) && git.has("get")
        }),
        Some("aws") => begins(&["configure", "get"]) || begins(&["configure", "export-credentials"]),
        Some("gcloud") => call
            .operands()
            .iter()
            .any(|word| word.beginning().starts_with("print-") && word.beginning().ends_with("-token")),
        Some("az") => call.has("get-access-token"),
        Some("kubectl") => begins(&["config", "view"]) && call.has("--raw"),
        Some("op") => begins(&["read"]),
        Some("vault") => begins(&["read"]) || begins(&["kv", "get"]),
        Some(name) if name.starts_with("docker-credential-") => call.has("get"),
        _ => false,
    }
}
