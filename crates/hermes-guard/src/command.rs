//! Whether a shell command may run: read as the shell reads it, then judged by rules.
//!
//! ```
//! use hermes_guard::command::{Context, Judgement, judge};
//!
//! let sight = Context { home: "/home/ada", ..Context::default() };
//! assert!(matches!(judge("cargo test", &sight), Judgement::Allowed));
//! assert!(matches!(judge("git push --force", &sight), Judgement::Ask { .. }));
//! assert!(matches!(judge("cd / && r\"\"m -rf *", &sight), Judgement::Refused { .. }));
//! assert!(matches!(judge("echo 'rm -rf /'", &sight), Judgement::Allowed));
//! ```
//!
//! The order of a decision: what nobody can allow, what the user forbids, what a container keeps in, whether questions
//! are off, what the user always allows, and then the rules.

pub mod call;
pub mod glob;
mod input;
mod normal;
mod options;
mod other;
mod path;
mod plain;
mod python;
pub mod rules;
mod script;
mod walk;
pub mod word;

use call::{Call, Via};
use rules::{Harm, Offer, Rule, Severity};

pub use input::judge_input;
pub use normal::normal;
pub use plain::is_plain;
pub use walk::{Look, Memory, Trouble};

/// Follows the links in a path: a path in, the real one out.
pub type Follow<'a> = dyn Fn(&str) -> Option<String> + Sync + 'a;

/// What is known around a command.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What it can harm.
    pub reach: Reach,
    /// Whether questions are asked.
    pub questions: Questions,
    /// The user's home directory.
    pub home: &'a str,
    /// This program's home.
    pub hermes_home: &'a str,
    /// The directory it runs in, if known; it counts before the one the shell remembers.
    pub cwd: Option<&'a str>,
    /// What the shell remembers of earlier lines.
    pub memory: Option<&'a Memory>,
    /// Whether sudo has a password of the user's.
    pub sudo: Sudo,
    /// Follows links; none where files cannot be seen.
    pub resolve: Option<&'a Follow<'a>>,
    /// The text of a script that the agent wrote itself, by its whole path; none where files cannot be seen.
    pub script: Option<&'a Follow<'a>>,
    /// Patterns of commands that are always refused.
    pub deny: &'a [String],
    /// Patterns of commands that are never asked about.
    pub allow: &'a [String],
}

impl Default for Context<'_> {
    fn default() -> Self {
        Self {
            reach: Reach::Host,
            questions: Questions::On,
            home: "",
            hermes_home: "",
            cwd: None,
            memory: None,
            sudo: Sudo::NoPassword,
            resolve: None,
            script: None,
            deny: &[],
            allow: &[],
        }
    }
}

impl Context<'_> {
    /// The home directory with links followed.
    fn real_home(&self) -> String {
        self.resolve.and_then(|resolve| resolve(self.home)).unwrap_or_else(|| self.home.to_owned())
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { reach, questions, home, cwd, .. } = self;
        write!(f, "Context({reach:?}, {questions:?}, home {home:?}, in {cwd:?})")
    }
}

/// What a command can harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The user's own machine, or another one where it acts as the user.
    Host,
    /// A sandbox that keeps the harm inside.
    Contained,
}

/// Whether anybody wants to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// Dangerous commands are asked about.
    On,
    /// Everything that is not forbidden runs.
    Off,
}

/// Whether the user gave a password for sudo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sudo {
    /// They did.
    HasPassword,
    /// They did not: one that the model types is a guess.
    NoPassword,
}

/// The decision about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It runs.
    Allowed,
    /// A person has to agree.
    Ask {
        /// To what; at least one.
        findings: Vec<Finding>,
    },
    /// It does not run, whoever agrees.
    Refused {
        /// Because of this.
        finding: Finding,
    },
}

/// Something a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// Why, as the rest of a sentence that begins with "it".
    pub reason: String,
    /// The part of the line it is about.
    pub part: String,
    /// The words a wider agreement would be about, where one makes sense: `git push`.
    pub prefix: Option<Vec<String>>,
    /// Where the harm would be.
    pub harm: Harm,
}

impl Finding {
    /// What the user's own pattern forbids.
    pub fn denied(pattern: &str, part: &str) -> Self {
        Self {
            rule: "user-deny".to_owned(),
            severity: Severity::Hardline,
            reason: format!("the user's setting approvals.deny forbids it (\"{pattern}\")"),
            part: part.to_owned(),
            prefix: None,
            harm: Harm::Beyond,
        }
    }
}

/// Decides about a command line.
pub fn judge(line: &str, sight: &Context<'_>) -> Judgement {
    judge_look(line, &look(line, sight), sight)
}

/// Decides about a command line, and says what the shell would remember of it.
pub fn judge_and_remember(line: &str, sight: &Context<'_>) -> (Judgement, Memory) {
    let look = look(line, sight);
    (judge_look(line, &look, sight), look.memory)
}

/// Decides about a script of another language, as far as it can be read.
pub fn judge_script(code: &str, sight: &Context<'_>) -> Judgement {
    judge_look(code, &walk::look_at_script(code, sight), sight)
}

/// Whether the user's patterns forbid something that is no command, such as a path.
pub fn forbids(patterns: &[String], text: &str) -> Option<String> {
    patterns.iter().find(|pattern| !pattern.trim().is_empty() && glob::matches(pattern, text)).cloned()
}

/// What a command line would run, without a decision.
///
/// The shell reads the line as it stands. A person may read it otherwise, where characters look like others, and so may a
/// program that cleans it up on the way: what either of them would see counts.
pub fn look(line: &str, sight: &Context<'_>) -> Look {
    let mut look = walk::look(line, sight);
    let seen = normal(line);
    if seen != line {
        let Look { calls, troubles, .. } = walk::look(&seen, sight);
        look.calls.extend(calls);
        look.troubles
            .extend(troubles.into_iter().filter(|trouble| !matches!(trouble, Trouble::Unreadable { .. })));
    }
    if let Some(name) = normal::misleads(line) {
        look.troubles.push(Trouble::Misleads { part: line.trim().to_owned(), name });
    }
    look
}

fn judge_look(line: &str, look: &Look, sight: &Context<'_>) -> Judgement {
    let mut findings = findings(look, sight);
    let contained = sight.reach == Reach::Contained;
    // What a container keeps in is its own affair, the worst included.
    findings.retain(|finding| !contained || finding.harm == Harm::Beyond);
    if let Some(at) = findings.iter().position(|finding| finding.severity == Severity::Hardline) {
        return Judgement::Refused { finding: findings.swap_remove(at) };
    }
    if let Some(finding) = denied(line, look, sight.deny) {
        return Judgement::Refused { finding };
    }
    if sight.questions == Questions::Off || findings.is_empty() || plain::allowed_by(sight.allow, line) {
        return Judgement::Allowed;
    }
    Judgement::Ask { findings }
}

/// How many findings are listed.
const MOST_FINDINGS: usize = 200;

/// Everything the rules find, the worst first, each thing once.
fn findings(look: &Look, sight: &Context<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let mut add = |finding: Finding| {
        let same = |other: &Finding| {
            other.rule == finding.rule && other.part == finding.part && other.reason == finding.reason
        };
        // The worst is always kept; of the rest nobody reads so many.
        let room = findings.len() < MOST_FINDINGS || finding.severity == Severity::Hardline;
        if room && !findings.iter().any(same) {
            findings.push(finding);
        }
    };
    for trouble in &look.troubles {
        add(trouble.finding());
    }
    for rule in rules::all() {
        for call in look.calls.iter().filter(|call| (rule.hits)(call, sight)) {
            add(finding(rule, call));
        }
    }
    findings
}

fn finding(rule: &Rule, call: &Call) -> Finding {
    let prefix = match rule.offer {
        Offer::ExactOnly => None,
        Offer::Words(count) => call.path().get(..count).map(<[String]>::to_vec),
    };
    Finding {
        rule: rule.id.to_owned(),
        severity: rule.severity,
        reason: rule.reason.to_owned(),
        part: if call.part.is_empty() { call.shown() } else { call.part.clone() },
        prefix: prefix.filter(|_| call.via == Via::Line),
        harm: if call.via == Via::Remote { Harm::Beyond } else { rule.harm },
    }
}

/// What the user forbids: a pattern that fits the line, or one of the commands in it however it is spelled.
fn denied(line: &str, look: &Look, patterns: &[String]) -> Option<Finding> {
    let fits = |pattern: &&String| {
        let fits = |text: &str| glob::matches(pattern, text.trim());
        fits(line) || look.calls.iter().any(|call| fits(&call.part) || fits(&call.shown()))
    };
    let pattern = patterns.iter().filter(|pattern| !pattern.trim().is_empty()).find(fits)?;
    Some(Finding::denied(pattern, line.trim()))
}
