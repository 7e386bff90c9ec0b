//! Logins and keys: reading them is giving them to the model and whoever runs it.

use super::{Rule, dangerous, without_globals};
use crate::command::Context;
use crate::command::call::{Call, Via};
use crate::command::path::{Kept, Last, Route, is_home, kept};
use crate::command::word::Word;
use crate::protected::Own;

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
    matches!(kept(word, call.cwd.as_deref(), sight, Last::Followed), Some(Kept::Ours(Own::Login | Own::Home)))
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
    if name == "git" {
        return shown_by_git(call, sight);
    }
    if name == "xargs"
        && call.value_of(&["-a", "--arg-file"]).is_some_and(|word| is_secret(&word, call, sight))
    {
        return true;
    }
    // `ps auxe` shows the variables of every process.
    if name == "ps" && call.texts().first().is_some_and(|text| is_ps_with_environment(text)) {
        return true;
    }
    let packs = ["tar", "zip", "7z", "cp", "rsync", "scp"].contains(&name.as_str());
    if packs && packs_home(call, sight) {
        return true;
    }
    if !READERS.contains(&name.as_str()) {
        return false;
    }
    if lists_secrets(call) {
        return true;
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

fn is_ps_with_environment(text: &str) -> bool {
    text.contains('e') && text.len() <= 6 && text.chars().all(|c| "auxewfgjlsv".contains(c))
}

/// Whether a whole home, keys included, is put into an archive or copied.
fn packs_home(call: &Call, sight: &Context<'_>) -> bool {
    let operands = call.operands();
    let sources = match call.name().as_deref() {
        Some("cp" | "rsync" | "scp") => operands.split_last().map_or(&[][..], |(_, sources)| sources),
        _ if call.value_of(&["-C"]).is_some() || call.short('x') => &[],
        // `tar xf`, written without a dash.
        _ if call.texts().first().is_some_and(|text| text.contains('x') && text.len() < 6) => &[],
        _ => operands.as_slice(),
    };
    sources.iter().any(|word| is_home(word, call.cwd.as_deref(), sight))
}

/// `cat $(find . -name .env)`, `find . -name '*.pem' | xargs cat`: the list was made by such a name.
fn lists_secrets(call: &Call) -> bool {
    let lists = if call.via == Via::Many { call.input.upstream.as_slice() } else { &[] };
    lists.iter().chain(&call.origins).any(|words| {
        let lister = Call { words: words.to_vec(), ..Call::default() };
        lister.is(&["find", "fd", "fdfind", "locate", "ls", "git"])
            && lister.texts().iter().any(|text| {
                let name = text.rsplit('/').next().unwrap_or(text).trim_matches('*');
                !name.is_empty() && crate::is_secret_file_name(name)
            })
    })
}

/// `git show HEAD:.env`, `git diff .env`
fn shown_by_git(call: &Call, sight: &Context<'_>) -> bool {
    let Some(git) = without_globals(call) else { return false };
    let shows = git
        .path()
        .get(1)
        .is_some_and(|verb| matches!(verb.as_str(), "show" | "diff" | "log" | "cat-file" | "blame" | "grep"));
    shows
        && git.args().iter().skip(1).any(|word| {
            let path = word.text().and_then(|text| text.split_once(':').map(|(_, path)| Word::known(path)));
            is_secret(&path.unwrap_or_else(|| word.clone()), call, sight)
        })
}

fn sends(call: &Call, sight: &Context<'_>) -> bool {
    match call.name().as_deref() {
        Some("curl" | "wget" | "http" | "https" | "xh") => {
            call.args().iter().any(|word| {
                let text = word.shown();
                let file = text
                    .split_once('@')
                    .or_else(|| text.split_once("=<"))
                    .or_else(|| text.split_once("--post-file="));
                let file = file.map(|(_, file)| file);
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
        Some("aws") if begins(&["secretsmanager", "get-secret-value"]) => true,
        Some("aws") => begins(&["configure", "get"]) || begins(&["configure", "export-credentials"]),
        Some("gcloud") => call
            .operands()
            .iter()
            .any(|word| word.beginning().starts_with("print-") && word.beginning().ends_with("-token")),
        Some("az") => call.has("get-access-token"),
        Some("kubectl") => {
            begins(&["config", "view"]) && call.has("--raw")
                || (begins(&["get", "secret"]) || begins(&["get", "secrets"]))
                    && call.value_of(&["-o", "--output"]).is_some()
        }
        Some("heroku") => begins(&["config"]) || call.path().get(1).is_some_and(|verb| verb == "config:get"),
        Some("op") => begins(&["read"]),
        Some("vault") => begins(&["read"]) || begins(&["kv", "get"]),
        Some(name) if name.starts_with("docker-credential-") => call.has("get"),
        _ => false,
    }
}
