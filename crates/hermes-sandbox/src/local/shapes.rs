//! Names of variables that look like secrets, as patterns: one list for us and for the shell that reads login files.

use std::fmt::Write;

/// Names like these hold secrets. `*` stands for any text, also none; case does not matter.
const SECRET: &[&str] = &[
    "*KEY",
    "*KEYS",
    "*API_KEY*",
    "*APIKEY*",
    "*ACCESS_KEY*",
    "*PRIVATE_KEY*",
    "*KEY_BASE",
    "*TOKEN",
    "*_TOKEN_*",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*PASSCODE",
    "*_PASS",
    "*_PWD",
    "*_PAT",
    "*CREDENTIAL",
    "*CREDENTIALS",
    "*_CREDS",
    "*_AUTH",
    "*_COOKIE",
    "*_JWT",
    "*_BEARER",
];

/// Names like these only speak of one.
const ABOUT: &[&str] = &[
    "*PUBLIC_KEY",
    "*_FILE",
    "*_PATH",
    "*_DIR",
    "*_SOCK",
    "*_HOST",
    "*_PORT",
    "*_MODE",
    "*_TYPE",
    "*_TTL",
    "*_LIMIT",
    "*_TIMEOUT",
    "*_COUNT",
    "*_ENABLED",
    "*_EXPIRES",
    "*_HELPER",
];

/// Whether a variable of this name is kept from commands unless it is let through.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let fits = |patterns: &[&str]| patterns.iter().any(|pattern| fits(&name, pattern));
    fits(SECRET) && !fits(ABOUT)
}

/// The patterns have a `*` at their beginning, and some at their end.
fn fits(name: &str, pattern: &str) -> bool {
    let middle = pattern.trim_matches('*');
    if pattern.ends_with('*') { name.contains(middle) } else { name.ends_with(middle) }
}

/// A text for a shell that has read its login files: it forgets what these exported and commands may not see.
pub fn forgetting(passthrough: &[String]) -> String {
    let mut text = "for __hermes_name in $({ compgen -e || env | sed -n 's/=.*//p'; } 2>/dev/null); do\n\
                    case $__hermes_name in\n''|[0-9]*|*[!A-Za-z0-9_]*) continue;;\n"
        .to_owned();
    let named: Vec<&str> =
        passthrough.iter().map(String::as_str).filter(|name| is_variable_name(name)).collect();
    if !named.is_empty() {
        let _ = writeln!(text, "{}) continue;;", named.join("|"));
    }
    for (patterns, what) in [(ABOUT, "continue"), (SECRET, "unset \"$__hermes_name\" 2>/dev/null")] {
        let lower = patterns.iter().map(|pattern| pattern.to_ascii_lowercase());
        let both: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).chain(lower).collect();
        let _ = writeln!(text, "{}) {what};;", both.join("|"));
    }
    text.push_str("esac\ndone\nunset __hermes_name\n");
    text
}

/// Nothing else may get into the text.
fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: &[&str] = &[
        "MY_API_KEY",
        "SOME_KEY",
        "GITHUB_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "PGPASSWORD",
        "SMTP_PASS",
        "MYSQL_PWD",
        "SECRET_KEY_BASE",
        "API_KEY_2",
        "BOT_TOKEN_1",
        "GITHUB_PAT",
        "NPM_CONFIG__AUTH",
        "npm_token",
    ];
    const PLAIN: &[&str] = &[
        "PATH",
        "PWD",
        "SSH_AUTH_SOCK",
        "SSH_ASKPASS",
        "KEYBOARD",
        "MAX_TOKENS",
        "AUTH_MODE",
        "TOKENIZERS_PARALLELISM",
        "SSL_CERT_FILE",
        "PASSWORD_STORE_DIR",
        "SIGNING_PUBLIC_KEY",
        "XAUTHORITY",
    ];

    #[test]
    fn names_are_told_apart() {
        for name in SECRETS {
            assert!(is_secret(name), "{name}");
        }
        for name in PLAIN.iter().chain(&["OLDPWD"]) {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn shells_forget_the_same_names() {
        let text = forgetting(&["NPM_CONFIG__AUTH".to_owned(), "x) rm -rf /;; y".to_owned()]);
        for shell in ["bash", "sh"] {
            let mut command = std::process::Command::new(shell);
            command.args(["-c", &format!("{text}env")]).env_clear().env("PATH", "/usr/bin:/bin");
            command.envs(SECRETS.iter().map(|name| (name, "made-up")));
            let others = PLAIN.iter().filter(|name| !["PATH", "PWD"].contains(name));
            command.envs(others.map(|name| (name, "x\nTOKEN")));
            let done = command.output().unwrap();
            let output = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success() && done.stderr.is_empty(), "{shell}: {done:?}");
            let left: Vec<&str> = output.lines().filter(|line| line.contains("made-up")).collect();
            assert_eq!(left, ["NPM_CONFIG__AUTH=made-up"], "{shell}");
            for name in PLAIN {
                assert!(output.contains(&format!("{name}=")), "{shell}: {name}");
            }
        }
    }
}
