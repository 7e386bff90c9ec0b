//! Files with keys and logins. Whoever can read them can use them; showing them to the agent means giving them to the model
//! and whoever runs it.

use super::code::{awk, sed, vim};
use super::{Rule, dangerous, harmless, without_globals};
use crate::command::Context;
use crate::command::call::{Call, Via};
use crate::command::options::Options;
use crate::command::path::{Kept, Last, Route, holds_home, is_system_secret, kept};
use crate::command::word::Word;
use crate::protected::Own;

pub(super) const RULES: &[Rule] = &[
    dangerous("read-secret", "it reads a file that holds logins or keys", reads),
    dangerous("send-secret", "it sends a file that holds logins or keys to another machine", sends).beyond(),
];

/// Whether a word leads to keys or logins.
pub(super) fn is_secret(word: &Word, call: &Call, sight: &Context<'_>) -> bool {
    match kept(word, call.cwd.as_deref(), sight, Last::Followed) {
        Some(Kept::Secret) => return !is_public(word),
        // Our settings may be read, our keys not.
        Some(Kept::Ours(Own::Login | Own::Home)) => return true,
        _ => {}
    }
    let Some(route) = Route::of(word, call.cwd.as_deref()) else { return false };
    let shown = route.shown();
    is_system_secret(&route) || shown.starts_with("/proc/") && shown.ends_with("/environ")
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
    match name.as_str() {
        "find" | "gfind" | "fd" | "fdfind" => return found_and_shown(call, sight),
        "openssl" => return shown_by_openssl(call, sight),
        "git" => return shown_by_git(call, sight),
        "xargs" if call.value_of(&["-a", "--arg-file"]).is_some_and(|word| is_secret(&word, call, sight)) => {
            return true;
        }
        "ps" if shows_environment(call) => return true,
        "getent" => return call.has_any(&["shadow", "gshadow"]),
        "docker" | "podman" | "kubectl" if call.has("cp") => {
            return call.operands().iter().any(|word| is_secret(word, call, sight));
        }
        "ssh-keygen" => {
            return call.short('p')
                && call.value_of(&["-f"]).is_some_and(|word| is_secret(&word, call, sight));
        }
        _ => {}
    }
    if packs_home(call, sight)
        || !harmless::with_secrets(&name) && lists_secrets(call, sight)
        || encodes_environment(call)
    {
        return true;
    }
    !harmless::with_secrets(&name) && given(call).iter().any(|word| is_secret(word, call, sight))
}

/// Programs whose first word is a pattern or a program, not a file.
const PATTERN_FIRST: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "sed", "gsed", "awk", "gawk", "mawk",
    "nawk", "jq", "yq", "perl", "ruby",
];

/// The words of a call that may be files it reads.
fn given(call: &Call) -> Vec<Word> {
    let name = call.name().unwrap_or_default();
    let name = name.as_str();
    let args = call.args();
    let mut words = Vec::new();
    let mut pattern_due =
        PATTERN_FIRST.contains(&name) && !call.flags().any(|flag| brings_pattern(&flag, name));
    let mut place = 0;
    while let Some(word) = args.get(place) {
        place += 1;
        let text = word.beginning();
        if text.len() > 1 && text.starts_with('-') {
            if let Some((option, _)) = text.split_once('=') {
                words.extend(word.without_prefix(&format!("{option}=")).filter(|_| !uses_key(option)));
            } else if uses_key(&text) || is_pattern_flag(&text, name) {
                // What follows is a key to be used, or a pattern.
                place += 1;
            }
            continue;
        }
        if std::mem::take(&mut pattern_due) {
            continue;
        }
        // `-e 'ssh -i key'`: a command, not a file.
        if text.contains(" -") {
            continue;
        }
        words.push(word.clone());
        words.extend(word.text().iter().flat_map(|text| parts(text, name)));
    }
    if matches!(name, "cp" | "mv" | "install" | "ln") && words.len() > 1 {
        let options = Options::of(call);
        words = options.operands;
        if !call.has_any(&["-t"]) && !call.long("target-directory", 2) {
            words.pop();
        }
    }
    let read = match name {
        "sed" | "gsed" => sed::orders(call).reads,
        "awk" | "gawk" | "mawk" | "nawk" => awk::orders(call).reads,
        "vim" | "vi" | "nvim" | "ex" | "view" => vim::orders(call).reads,
        _ => Vec::new(),
    };
    words.extend(read.into_iter().map(Word::known));
    words
}

/// Whether a flag is followed by a pattern or code, so that the first word is a file.
fn is_pattern_flag(flag: &str, program: &str) -> bool {
    PATTERN_FIRST.contains(&program)
        && (flag.starts_with("--regexp")
            || flag.starts_with("--expression")
            || flag.starts_with("--file")
            || !flag.starts_with("--")
                && flag.ends_with(['e', 'E', 'f'])
                && flag[1..].chars().all(|c| c.is_ascii_alphanumeric()))
}

/// Whether a flag brings the pattern or code, in its own word or in the next.
fn brings_pattern(flag: &str, program: &str) -> bool {
    let glued = matches!(program, "perl" | "ruby" | "sed" | "grep")
        && !flag.starts_with("--")
        && flag[1..].contains(['e', 'E']);
    is_pattern_flag(flag, program) || glued
}

/// Options that make use of a key or of settings without showing them.
fn uses_key(option: &str) -> bool {
    let option = option.trim_start_matches('-').to_lowercase();
    ["key", "cert", "identity", "env", "kubeconfig", "tls", "ssl", "credential", "pem"]
        .iter()
        .any(|word| option.contains(word))
        || option.starts_with("ca-")
        || option == "cacert"
        || option == "i"
}

/// A word that names files among other things: `if=x`, `FILE:x`, `put x`, `f=@x`.
fn parts(text: &str, program: &str) -> Vec<Word> {
    let cut: &[char] = match program {
        "smbclient" | "lftp" | "ftp" | "sftp" | "tftp" | "sqlite3" => &[' ', ';', '\'', '"', '(', ')'],
        "socat" => &[':', ',', '!'],
        "dd" | "dcfldd" | "dc3dd" => {
            return text.strip_prefix("if=").map(Word::known).into_iter().collect();
        }
        "http" | "https" | "xh" => &['@', '='],
        _ => &[],
    };
    if cut.is_empty() {
        return Vec::new();
    }
    text.split(cut).filter(|part| !part.is_empty()).map(Word::known).collect()
}

/// `ps auxe` shows the variables of every process.
fn shows_environment(call: &Call) -> bool {
    let texts = call.texts();
    let is_kind = |text: &str| {
        text.contains('e') && text.len() <= 7 && text.chars().all(|c| "auxewfgjlsvoATr".contains(c))
    };
    texts.iter().enumerate().any(|(at, text)| {
        let after_option = at > 0
            && texts[at - 1].starts_with('-')
            && texts[at - 1].ends_with(['o', 'C', 'u', 'U', 't', 'O']);
        is_kind(text) && !after_option
    })
}

/// Whether a whole home, keys included, is put into an archive or copied.
fn packs_home(call: &Call, sight: &Context<'_>) -> bool {
    let operands = call.operands();
    let sources = match call.name().as_deref() {
        Some("cp" | "rsync" | "scp") => operands.split_last().map_or(&[][..], |(_, sources)| sources),
        Some("tar" | "zip" | "7z" | "mksquashfs") => {
            let unpacks = call.value_of(&["-C"]).is_some()
                || call.short('x')
                // `tar xf`, written without a dash.
                || call.texts().first().is_some_and(|text| text.contains(['x', 't']) && text.len() < 6);
            if unpacks { &[] } else { operands.as_slice() }
        }
        _ => &[],
    };
    sources.iter().any(|word| holds_home(word, call.cwd.as_deref(), sight))
}

/// Names of files with keys that a search may be for.
const SOUGHT: &[&str] = &[
    ".env",
    ".env.local",
    "prod.env",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".git-credentials",
    "id_rsa",
    "id_ed25519",
    "auth.json",
    "credentials.json",
    "server.key",
    "server.pem",
];

/// Whether a search is for files with keys: by a place, by a name, by a pattern that says enough.
fn seeks(words: &[Word], call: &Call, sight: &Context<'_>) -> bool {
    words.iter().any(|word| {
        let text = word.shown();
        if text.starts_with('-') || text.is_empty() {
            return false;
        }
        let name = text.rsplit('/').next().unwrap_or(&text);
        let said = name.chars().filter(|c| !matches!(c, '*' | '?' | '[' | ']')).count();
        let by_pattern =
            said > 1 && SOUGHT.iter().any(|sought| crate::command::glob::matches_exactly(name, sought));
        let by_place = [".ssh", ".aws", ".gnupg"].iter().any(|dir| text.contains(dir) && text.contains('*'));
        by_pattern
            || by_place
            || is_secret(word, call, sight)
            || crate::is_secret_file_name(name.trim_matches('*'))
    })
}

/// `cat $(find . -name .env)`, `find . -name '*.pem' | xargs cat`: the list was made by such a name.
fn lists_secrets(call: &Call, sight: &Context<'_>) -> bool {
    let lists = if call.via == Via::Many { call.input.upstream.as_slice() } else { &[] };
    lists.iter().chain(&call.origins).any(|words| {
        let lister = Call { words: words.to_vec(), cwd: call.cwd.clone(), ..Call::default() };
        let lists = lister.is(&["find", "fd", "fdfind", "locate", "ls", "git"])
            || lister.is(&["rg", "grep"]) && lister.short('l');
        lists && seeks(lister.args(), &lister, sight)
    })
}

/// `find … -exec cat {} +`, for files with keys.
fn found_and_shown(call: &Call, sight: &Context<'_>) -> bool {
    let args = call.args();
    let Some(at) = args.iter().position(|word| {
        matches!(
            word.text().as_deref(),
            Some("-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch")
        )
    }) else {
        return false;
    };
    let run = Call { words: args[at + 1..].to_vec(), ..Call::default() };
    let looks = run
        .name()
        .is_some_and(|name| harmless::with_secrets(&name) && !run.is(&["bash", "sh", "dash", "zsh"]));
    !looks && seeks(&args[..at], call, sight)
}

/// Programs that print everything in the environment when they are given nothing else.
fn prints_environment(words: &[Word]) -> bool {
    let call = Call { words: words.to_vec(), ..Call::default() };
    match call.name().as_deref() {
        Some("env" | "printenv" | "export" | "declare" | "typeset") => call.operands().is_empty(),
        Some("set") => call.args().is_empty(),
        _ => false,
    }
}

fn is_given_environment(call: &Call) -> bool {
    call.input.upstream.iter().chain(&call.origins).any(|words| prints_environment(words))
}

/// In an encoding nothing masks what the environment holds.
fn encodes_environment(call: &Call) -> bool {
    const ENCODERS: &[&str] = &[
        "base64", "base32", "basenc", "gbase64", "xxd", "od", "hexdump", "rev", "openssl", "gzip", "bzip2",
        "xz", "zstd", "uuencode", "gpg", "split", "fold",
    ];
    call.is(ENCODERS) && is_given_environment(call)
}

/// `openssl rsa -in key`: shows it, or makes something of it that can be read again.
fn shown_by_openssl(call: &Call, sight: &Context<'_>) -> bool {
    const LOOKS: &[&str] = &[
        "x509", "req", "verify", "s_client", "s_server", "ca", "crl", "version", "ciphers", "ocsp", "ts",
        "dhparam",
    ];
    let looks = call.path().get(1).is_some_and(|verb| LOOKS.contains(&verb.as_str()));
    let only_public = call.has_any(&["-pubout", "-noout"]) && !call.has("-text");
    !looks
        && !only_public
        && call.value_of(&["-in", "-sign", "-inkey"]).is_some_and(|word| is_secret(&word, call, sight))
}

/// `git show HEAD:.env`, `git diff .env`
fn shown_by_git(call: &Call, sight: &Context<'_>) -> bool {
    let Some(git) = without_globals(call) else { return false };
    let shows = git.path().get(1).is_some_and(|verb| {
        matches!(verb.as_str(), "show" | "diff" | "log" | "cat-file" | "blame" | "grep" | "hash-object" | "archive")
            // Without force git leaves out what the project keeps to itself.
            || verb == "add" && (git.short('f') || git.long("force", 1))
    });
    shows
        && git.args().iter().skip(1).any(|word| {
            let path = word.text().and_then(|text| text.split_once(':').map(|(_, path)| Word::known(path)));
            is_secret(&path.unwrap_or_else(|| word.clone()), call, sight)
        })
}

/// Programs that give files to other machines.
const SENDERS: &[&str] = &[
    "scp",
    "rsync",
    "sftp",
    "nc",
    "ncat",
    "netcat",
    "ftp",
    "lftp",
    "tftp",
    "smbclient",
    "socat",
    "aws",
    "gsutil",
    "gcloud",
    "az",
    "rclone",
    "gh",
    "glab",
    "wormhole",
    "croc",
    "pastebinit",
    "mail",
    "mailx",
    "mutt",
    "sendmail",
    "telnet",
    "s3cmd",
    "mc",
    "b2",
    "ipfs",
    "http",
    "https",
    "xh",
    "magic-wormhole",
    "transfer",
    "ffsend",
    "termbin",
];

fn sends(call: &Call, sight: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    let curl = matches!(name.as_str(), "curl" | "wget");
    let sender = SENDERS.contains(&name.as_str());
    if (curl || sender || name == "ssh") && is_given_environment(call) {
        return true;
    }
    if curl {
        return sent_by_curl(call).iter().any(|word| is_secret(word, call, sight));
    }
    if matches!(name.as_str(), "python" | "python3") && call.has("http.server") {
        let given = call.value_of(&["-d", "--directory"]).unwrap_or_else(|| Word::known("."));
        return holds_home(&given, call.cwd.as_deref(), sight);
    }
    let copies = matches!(name.as_str(), "docker" | "podman" | "kubectl" | "oc") && call.has("cp");
    name == "ssh-copy-id" && !call.only_asks_for_help()
        || (sender || copies) && given(call).iter().any(|word| is_secret(word, call, sight))
}

/// The files `curl` and `wget` read to send them.
fn sent_by_curl(call: &Call) -> Vec<Word> {
    const SENT: &[&str] = &[
        "-d",
        "--data",
        "--data-ascii",
        "--data-binary",
        "--data-raw",
        "--data-urlencode",
        "--json",
        "-F",
        "--form",
        "-T",
        "--upload-file",
        "-K",
        "--config",
        "-b",
        "--cookie",
        "--post-file",
        "--body-file",
        "-i",
        "--input-file",
        "-H",
        "--header",
    ];
    let options = Options::of(call);
    let mut words = Vec::new();
    let whole = [
        "-T",
        "--upload-file",
        "-K",
        "--config",
        "-b",
        "--cookie",
        "--post-file",
        "--body-file",
        "-i",
        "--input-file",
    ];
    for given in options.given.iter().filter(|given| SENT.contains(&given.name.as_str())) {
        let Some(value) = &given.value else { continue };
        if whole.contains(&given.name.as_str()) {
            words.push(value.clone());
        }
        let text = value.shown();
        // A file begins behind `@` or `<`; several are listed in one value.
        let listed = whole.contains(&given.name.as_str()) || text.contains(['@', '<']);
        let parts = text.split(['@', '<', ',', ';', '{', '}', '"', '=']).filter(|part| !part.is_empty());
        words.extend(parts.filter(|_| listed).map(Word::known));
    }
    for word in call.args() {
        let text = word.shown();
        if text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://")) {
            words.push(Word::known(&text[7..]));
        }
        // `-d@x` and what other programs of the kind take.
        words.extend(text.split_once('@').map(|(_, file)| Word::known(file)));
    }
    words
}
