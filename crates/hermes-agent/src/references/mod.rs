//! `@` references in what the user writes: `@file:path[:a[-b]]`, `@folder:path`, `@diff`, `@staged`, `@git:n`.
//!
//! The message stays as it was written; what it refers to is attached behind it. The files are the user's own, on this
//! machine, inside the working directory. What cannot be attached is said and never silently left out.

mod files;
mod folder;
mod git;
mod parse;

use std::path::Path;
use std::time::Duration;

use hermes_guard::{Policy, Redactor};

use crate::compaction::Estimator;
use crate::compaction::when::ASSUMED_WINDOW;
pub use parse::{Lines, Reference, Target, parse};

/// Shares of the window, in percent: from the first on the user is warned, beyond the second the message is not sent.
const WARN: u64 = 25;
const REFUSE: u64 = 50;
/// How long git may take.
const GIT_DEADLINE: Duration = Duration::from_secs(30);

/// Where references are looked up.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The working directory. Nothing outside it is attached.
    pub cwd: &'a Path,
    /// The size of the window, when it is known.
    pub window: Option<u64>,
    /// Counts tokens.
    pub estimator: Estimator,
    /// Masks secrets in what is attached.
    pub redactor: &'a Redactor,
}

/// A message with what it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// What is sent.
    pub text: String,
    /// Tokens of what was attached.
    pub tokens: u64,
    /// Sentences for the user: what could not be attached, and what takes much room.
    pub notices: Vec<String>,
}

/// Why a message is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "what the message refers to takes about {tokens} tokens, more than half of the window of {window}: attach less, for example a range of lines (@file:PATH:10-60)"
)]
pub struct TooMuch {
    /// Tokens of what would be attached.
    pub tokens: u64,
    /// The window.
    pub window: u64,
}

/// Why one reference is not attached.
#[derive(Debug, thiserror::Error)]
enum ReferenceError {
    #[error("there is no file '{0}'")]
    NoFile(String),
    #[error("there is no folder '{0}'")]
    NoFolder(String),
    #[error("'{0}' lies outside the working directory")]
    Outside(String),
    #[error("'{0}' holds keys or logins")]
    Secret(String),
    #[error("'{0}' is not text; its path is enough for a tool to open it")]
    Binary(String),
    #[error("'{path}' is larger than {limit} bytes; name a range of lines, or let a tool read it")]
    TooLarge { path: String, limit: u64 },
    #[error("'{path}' has {has} lines")]
    NoSuchLines { path: String, has: usize },
    #[error("cannot read '{path}': {source}")]
    Io { path: String, source: std::io::Error },
    #[error("cannot run git: {0}")]
    NoGit(std::io::Error),
    #[error("git failed: {0}")]
    Git(String),
    #[error("git took longer than {} seconds", .0.as_secs())]
    GitTooSlow(Duration),
    #[error("web pages cannot be attached yet; paste the text, or ask the agent to fetch it")]
    Url,
}

/// Attaches what a message refers to.
pub fn expand(message: &str, surroundings: &Surroundings<'_>) -> Result<Expanded, TooMuch> {
    let references = parse(message);
    let mut blocks = Vec::new();
    let mut notices = Vec::new();
    let mut done: Vec<&Target> = Vec::new();
    for Reference { target, raw } in &references {
        if done.contains(&target) {
            continue;
        }
        done.push(target);
        match attach(target, surroundings.cwd) {
            Ok(attached) => blocks.push(attached.block(surroundings.redactor)),
            Err(problem) => notices.push(format!("{raw} is not attached: {problem}")),
        }
    }
    if blocks.is_empty() {
        return Ok(Expanded { text: message.to_owned(), tokens: 0, notices });
    }
    let attached = blocks.join("\n\n");
    let tokens = surroundings.estimator.tokens(attached.len() as u64);
    let window = surroundings.window.filter(|window| *window > 0).unwrap_or(ASSUMED_WINDOW);
    if tokens > window * REFUSE / 100 {
        return Err(TooMuch { tokens, window });
    }
    if tokens > window * WARN / 100 {
        notices.push(format!(
            "what is attached takes about {tokens} tokens, {}% of the window",
            tokens * 100 / window
        ));
    }
    Ok(Expanded { text: format!("{message}\n\n[Attached by the user]\n\n{attached}"), tokens, notices })
}

/// Something to attach.
struct Attached {
    title: String,
    text: String,
    /// The word behind the fence.
    language: String,
}

impl Attached {
    fn block(&self, redactor: &Redactor) -> String {
        let text = redactor.redact(&self.text, Policy::File);
        let fence = "`".repeat(longest_run(&text).max(2) + 1);
        let Self { title, language, .. } = self;
        format!("{title}\n{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
    }
}

/// The longest run of backticks: the fence around a text must be longer.
fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn attach(target: &Target, cwd: &Path) -> Result<Attached, ReferenceError> {
    match target {
        Target::File { path, lines } => files::attach(cwd, path, *lines),
        Target::Folder(path) => folder::attach(cwd, path),
        Target::Diff => git::attach(cwd, "Changes that are not staged (git diff)", &["diff"], GIT_DEADLINE),
        Target::Staged => {
            git::attach(cwd, "Staged changes (git diff --staged)", &["diff", "--staged"], GIT_DEADLINE)
        }
        Target::Commits(count) => {
            let title = format!("The last {count} commits (git log -p)");
            git::attach(cwd, &title, &["log", &format!("-{count}"), "-p"], GIT_DEADLINE)
        }
        Target::Url(_) => Err(ReferenceError::Url),
    }
}

#[cfg(test)]
mod tests;
