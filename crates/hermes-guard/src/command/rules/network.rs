//! Code of strangers: downloaded, decoded, made executable and run at once, or a shell for somebody outside.

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::{Call, Mark};

pub(super) const RULES: &[Rule] = &[
    dangerous("run-download", "it runs what a server sends, unseen", |call, _| {
        call.marks.contains(&Mark::FromDownload) || runs_address(call)
    }),
    dangerous("run-decoded", "it runs code that is hidden in an encoding", |call, _| {
        call.marks.contains(&Mark::FromDecoder)
    }),
    dangerous("run-new-file", "it runs a file that was fetched or made executable just before", |call, _| {
        call.marks.contains(&Mark::JustMadeExecutable)
    }),
    dangerous("remote-shell", "it opens a shell to another machine", opens_shell).beyond(),
];

/// Programs that fetch.
pub(in crate::command) const FETCHERS: &[&str] = &[
    "curl",
    "wget",
    "fetch",
    "aria2c",
    "lynx",
    "links",
    "w3m",
    "http",
    "https",
    "xh",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "ftp",
    "lftp",
    "scp",
    "sftp",
    "aws",
    "gsutil",
    "dig",
    "nslookup",
    "host",
    "iwr",
    "invoke-webrequest",
];

/// Programs that turn something unreadable into something readable, and the flags that make them do it.
pub(in crate::command) fn decodes(call: &Call) -> bool {
    match call.name().as_deref() {
        Some("base64" | "base32" | "basenc" | "gbase64") => {
            call.short('d') || call.short('D') || call.long("decode", 1)
        }
        Some("xxd") => call.short('r') || call.long("revert", 1),
        Some("openssl") => call.has_any(&["-d", "-decrypt"]),
        Some("gpg" | "gpg2") => call.has_any(&["-d", "--decrypt"]),
        Some(
            "uudecode" | "rev" | "tr" | "gunzip" | "zcat" | "bunzip2" | "bzcat" | "xzcat" | "unxz"
            | "zstdcat" | "gzip" | "printf" | "rot13",
        ) => true,
        _ => false,
    }
}

/// `deno run https://…`: the code is fetched and run in one step; from its input it is not known.
fn runs_address(call: &Call) -> bool {
    let verbs = call.operands();
    let text = |at: usize| verbs.get(at).and_then(|word| word.text()).unwrap_or_default();
    let fed = || text(1) == "-" && (call.input.text.is_some() || call.input.unknown);
    let runs = call.is(&["deno", "bun"]) && matches!(text(0).as_str(), "run" | "install" | "x" | "serve");
    runs && (verbs.iter().any(|word| word.beginning().starts_with("http")) || fed())
        || call.is(&["ansible-pull"]) && !call.only_asks_for_help()
}

fn opens_shell(call: &Call, _: &Context<'_>) -> bool {
    let network = |text: &str| text.contains("/dev/tcp/") || text.contains("/dev/udp/");
    let by_flag = call.is(&["nc", "ncat", "netcat"])
        && (call.short('e') || call.short('c') || call.long("exec", 1) || call.long("sh-exec", 2));
    let by_socat = call.is(&["socat"])
        && call.texts().iter().any(|text| {
            let text = text.to_lowercase();
            text.contains("exec:") || text.contains("system:")
        });
    let by_service = call.is(&["ttyd", "tmate", "gs-netcat", "gotty", "wetty"]) && !call.only_asks_for_help()
        || call.is(&["ngrok"]) && call.has("tcp")
        || call.is(&["ncat"]) && call.long("lua-exec", 3);
    by_flag || by_socat || by_service || call.writes.iter().any(|word| network(&word.shown()))
}
