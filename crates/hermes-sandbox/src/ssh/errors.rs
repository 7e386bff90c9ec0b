//! What the system's ssh can answer instead of connecting. The only place that reads its words.

use std::time::Duration;

use crate::host::call::CallError;

/// Why another machine could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// No host is configured.
    #[error("the ssh backend needs a host: set terminal.ssh_host")]
    NoHost,
    /// There is no ssh.
    #[error("\"{0}\" was not found: install an ssh client")]
    NotInstalled(String),
    /// The name means nothing.
    #[error(
        "the host \"{host}\" is not known: check terminal.ssh_host and your ssh configuration ({detail})"
    )]
    UnknownHost {
        /// The host.
        host: String,
        /// What ssh said.
        detail: String,
    },
    /// It does not answer.
    #[error("the host \"{host}\" cannot be reached: {detail}")]
    Unreachable {
        /// The host.
        host: String,
        /// What ssh said.
        detail: String,
    },
    /// Its key is not the one we know.
    #[error(
        "the host key of \"{host}\" is not the one that is known for it: if that is expected, remove the old one \
         with `ssh-keygen -R {host}`; if not, somebody may be listening in ({detail})"
    )]
    HostKey {
        /// The host.
        host: String,
        /// What ssh said.
        detail: String,
    },
    /// It does not let us in.
    #[error(
        "\"{host}\" does not let us in: check terminal.ssh_user and terminal.ssh_key, and that \
         `ssh -o BatchMode=yes {host} true` works without a password ({detail})"
    )]
    Auth {
        /// The host.
        host: String,
        /// What ssh said.
        detail: String,
    },
    /// It did not answer in time.
    #[error("\"{host}\" did not answer within {} s while {doing}", .after.as_secs())]
    TimedOut {
        /// The host.
        host: String,
        /// What we were doing.
        doing: &'static str,
        /// The time it was given.
        after: Duration,
    },
    /// The box program does not run there.
    #[error("\"{host}\" is a {system} machine: the box program of this build runs on {ours} only")]
    WrongMachine {
        /// The host.
        host: String,
        /// What it is.
        system: String,
        /// What we are.
        ours: String,
    },
    /// The program could not be put there.
    #[error("the box program could not be put on \"{host}\": {detail}")]
    Install {
        /// The host.
        host: String,
        /// What went wrong.
        detail: String,
    },
    /// The connection broke.
    #[error("the connection to \"{host}\" broke while {doing}: {detail}")]
    Dropped {
        /// The host.
        host: String,
        /// What we were doing.
        doing: &'static str,
        /// What ssh said.
        detail: String,
    },
    /// A command on the other side failed.
    #[error("{doing} on \"{host}\" failed with exit code {code}: {detail}")]
    Failed {
        /// The host.
        host: String,
        /// What we were doing.
        doing: &'static str,
        /// The exit code.
        code: i32,
        /// What was said.
        detail: String,
    },
    /// The ssh command itself could not be run.
    #[error("{0}")]
    Call(#[from] CallError),
}

/// Ssh's own exit code for anything that went wrong with the connection.
const OWN_FAILURE: i32 = 255;

/// Turns a failed answer into a variant.
pub fn classify(host: &str, doing: &'static str, code: i32, stderr: &str) -> SshError {
    let detail = summary(stderr);
    let host = host.to_owned();
    if code != OWN_FAILURE {
        return SshError::Failed { host, doing, code, detail };
    }
    let said = stderr.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if has(&[
        "host key verification failed",
        "remote host identification has changed",
        "host key is known for",
    ]) {
        SshError::HostKey { host, detail }
    } else if has(&["permission denied", "too many authentication failures", "no supported authentication"]) {
        SshError::Auth { host, detail }
    } else if has(&["could not resolve hostname", "name or service not known"]) {
        SshError::UnknownHost { host, detail }
    } else if has(&[
        "connection refused",
        "connection timed out",
        "operation timed out",
        "no route to host",
        "network is unreachable",
        "connect to host",
    ]) {
        SshError::Unreachable { host, detail }
    } else {
        SshError::Dropped { host, doing, detail }
    }
}

/// The last lines say what went wrong; banners come before.
fn summary(stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .map(|line| line.trim().trim_matches('@').trim())
        .filter(|line| !line.is_empty())
        .collect();
    let text = lines[lines.len().saturating_sub(3)..].join("; ");
    if text.is_empty() { "it gave no reason".to_owned() } else { text.chars().take(400).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says() {
        type Row = (&'static str, fn(&SshError) -> bool);
        let table: &[Row] = &[
            (
                "No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.",
                |e| matches!(e, SshError::HostKey { .. }),
            ),
            (
                "@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@\nHost key verification failed.",
                |e| matches!(e, SshError::HostKey { .. }),
            ),
            ("u@h: Permission denied (publickey,password).", |e| matches!(e, SshError::Auth { .. })),
            ("ssh: Could not resolve hostname nowhere: Name or service not known", |e| {
                matches!(e, SshError::UnknownHost { .. })
            }),
            ("ssh: connect to host h port 22: Connection refused", |e| {
                matches!(e, SshError::Unreachable { .. })
            }),
            ("ssh: connect to host h port 22: Connection timed out", |e| {
                matches!(e, SshError::Unreachable { .. })
            }),
            ("client_loop: send disconnect: Broken pipe", |e| matches!(e, SshError::Dropped { .. })),
            ("", |e| matches!(e, SshError::Dropped { .. })),
        ];
        for (stderr, expected) in table {
            let error = classify("h", "connecting", 255, stderr);
            assert!(expected(&error), "{stderr}\n  became {error:?}");
        }
        let remote = classify("h", "looking around", 127, "sh: not found");
        assert!(matches!(remote, SshError::Failed { code: 127, .. }));
    }

    #[test]
    fn the_message_says_what_to_do() {
        let error = classify("h", "connecting", 255, "u@h: Permission denied (publickey).").to_string();
        assert!(error.contains("terminal.ssh_key") && error.contains("BatchMode"), "{error}");
    }
}
