//! The gate: every command, script and typed text is judged by the rules of `hermes_guard::command`; what they find is
//! put to a model or a person, as the settings say.

mod files;
mod grants;
mod mode;
mod place;
mod question;
mod typed;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use hermes_guard::command::{self, Context, Finding, Judgement, Memory, Questions};

use super::advice::{Advice, Adviser, Case};
use super::asking::is_plain_no;
use super::ledger::{Ledger, by_hand};
use super::{Action, Answerer, Gate, Reach, Reply, Verdict, Waiting};
use crate::workplace::lock;
use grants::{Grant, Grants};
pub use mode::{First, Mode, Yolo};
use place::{absolute, directory_of, stands_alone, started_in};
use question::{Choice, question, reasons};
use typed::Typed;

/// Largest file that is read before it is run.
const LARGEST_SCRIPT: u64 = 64 * 1024;
/// How many written files are remembered.
const MOST_WRITTEN: usize = 10_000;

/// Tells the patterns of the settings as they are by now; nothing when that cannot be known.
pub type ByNow = dyn Fn() -> Option<Patterns> + Send + Sync;

/// Patterns of the settings, as they are at some time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patterns {
    /// What is always refused.
    pub deny: Vec<String>,
    /// What never needs a question.
    pub allow: Vec<String>,
}

/// Where commands run, as far as the rules want to know.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The user's home directory there; empty when it is not known.
    pub home: PathBuf,
    /// This program's home.
    pub hermes_home: PathBuf,
    /// The directory commands begin in, if it is known.
    pub cwd: Option<PathBuf>,
    /// Whether the files there are those of this machine.
    pub files: Files,
}

/// Whether the files commands see are those of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Files {
    /// They are: links can be followed.
    Here,
    /// They are not.
    #[default]
    Elsewhere,
}

/// See the module. One for each conversation: what was granted counts for it alone.
pub struct AskGate {
    yolo: AtomicBool,
    mode: Mode,
    surroundings: Surroundings,
    answerer: Option<Arc<dyn Answerer>>,
    adviser: Option<Arc<dyn Adviser>>,
    ledger: Option<Ledger>,
    /// Patterns the user wrote into the settings, as they were when the conversation began.
    by_hand: Vec<String>,
    /// What the shells of the conversation and of its helpers remember, as far as their commands tell. The conversation's
    /// own has no name.
    shells: Mutex<HashMap<String, Memory>>,
    grants: Mutex<Grants>,
    typed: Mutex<Typed>,
    /// What the settings say by now, where somebody can tell.
    by_now: Option<Arc<ByNow>>,
    /// Files that tools wrote in this conversation.
    wrote: Mutex<BTreeSet<PathBuf>>,
}

impl AskGate {
    /// A gate in this mode; without an answerer there is nobody to ask.
    pub fn new(mode: Mode, answerer: Option<Arc<dyn Answerer>>) -> Self {
        Self {
            yolo: AtomicBool::new(mode.yolo == Yolo::On),
            by_hand: mode.allow.clone(),
            mode,
            surroundings: Surroundings::default(),
            answerer,
            adviser: None,
            ledger: None,
            shells: Mutex::default(),
            grants: Mutex::default(),
            typed: Mutex::default(),
            by_now: None,
            wrote: Mutex::default(),
        }
    }

    /// Knows where commands run.
    #[must_use]
    pub fn at(mut self, surroundings: Surroundings) -> Self {
        self.surroundings = surroundings;
        self
    }

    /// Asks for the patterns of the settings before each decision: they may change while the conversation goes on. What is
    /// forbidden meanwhile counts, and what is no longer allowed; what is allowed by a new pattern waits for the next
    /// conversation. Where nothing is said the patterns of the beginning count.
    #[must_use]
    pub fn obeying(mut self, by_now: Arc<ByNow>) -> Self {
        self.by_now = Some(by_now);
        self
    }

    /// Keeps what is allowed for good.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.by_hand = match ledger.records() {
            Ok(records) => by_hand(&self.mode.allow, &records),
            Err(error) => {
                // Nobody knows which of the patterns count only in the directory they were agreed to in.
                tracing::warn!(%error, "agreements cannot be read: nothing of command_allowlist counts");
                Vec::new()
            }
        };
        self.ledger = Some(ledger);
        self
    }

    /// Has a model to ask first.
    #[must_use]
    pub fn with_adviser(mut self, adviser: Arc<dyn Adviser>) -> Self {
        self.adviser = Some(adviser);
        self
    }

    /// Who looks at a dangerous command first.
    pub fn first(&self) -> First {
        self.mode.first
    }

    /// Whether questions are switched off.
    pub fn yolo(&self) -> Yolo {
        self.yolo.load(Ordering::SeqCst).into()
    }

    /// Switches questions off or on, for the rest of the conversation.
    pub fn set_yolo(&self, yolo: Yolo) {
        self.yolo.store(yolo == Yolo::On, Ordering::SeqCst);
    }

    /// Takes back what was granted for the conversation.
    pub fn forget_grants(&self) {
        *lock(&self.grants) = Grants::default();
    }

    /// What the rules say, what the shell would remember of it, and where it would run.
    fn judge(&self, action: &Action<'_>, helper: Option<&str>) -> Judged {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (home, hermes_home) = (text(&self.surroundings.home), text(&self.surroundings.hermes_home));
        let memory = lock(&self.shells).get(helper.unwrap_or_default()).cloned();
        let began = self.surroundings.cwd.as_deref().filter(|_| memory.is_none()).map(text);
        let (cwd, apart) = match action {
            Action::Command { workdir: Some(dir), .. } => {
                let shell = Context { cwd: began.as_deref(), memory: memory.as_ref(), ..Context::default() };
                (absolute(dir, started_in(&shell).as_deref()), true)
            }
            _ => (began, false),
        };
        let resolve = |path: &str| std::fs::canonicalize(path).ok().map(|path| text(&path));
        let now = self.by_now.as_ref().and_then(|by_now| by_now());
        let deny = now.as_ref().map_or(&self.mode.deny, |now| &now.deny);
        let script = |path: &str| self.own_script(Path::new(path));
        let here = self.surroundings.files == Files::Here;
        let mut sight = Context {
            questions: if self.yolo() == Yolo::On { Questions::Off } else { Questions::On },
            home: &home,
            hermes_home: &hermes_home,
            cwd: cwd.as_deref(),
            memory: memory.as_ref(),
            sudo: self.mode.sudo,
            resolve: here.then_some(&resolve),
            script: here.then_some(&script),
            deny,
            ..Context::default()
        };
        match action {
            Action::Command { line, reach, .. } => {
                sight.reach = *reach;
                let still = |pattern: &&String| now.as_ref().is_none_or(|now| now.allow.contains(pattern));
                let allow: Vec<String> = self.by_hand.iter().filter(still).cloned().collect();
                let (judgement, after) =
                    command::judge_and_remember(line, &Context { allow: &allow, ..sight });
                let asks = matches!(judgement, Judgement::Ask { .. });
                let directory = asks.then(|| directory_of(&sight)).flatten();
                let directory = directory.filter(|directory| stands_alone(line, directory, &sight));
                Judged { judgement, after: (!apart).then_some(after), directory }
            }
            Action::Script { code, reach } => {
                sight.reach = *reach;
                Judged::of(command::judge_script(code, &sight))
            }
            Action::Input { command, text, reach } => {
                sight.reach = *reach;
                let whole = lock(&self.typed).whole(command, text);
                Judged::of(command::judge_input(command, &whole, &Context { memory: None, ..sight }))
            }
            // What may be written where is settled by the tools that write.
            Action::Write { paths, reach } => {
                let denied = paths.iter().find_map(|path| command::forbids(deny, &text(path)));
                Judged::of(match denied {
                    Some(pattern) => Judgement::Refused { finding: Finding::denied(&pattern, "") },
                    None if self.yolo() == Yolo::On || *reach == Reach::Contained => Judgement::Allowed,
                    None => files::judge(paths, &sight),
                })
            }
        }
    }

    /// Whether the user agreed to this line in this directory for good. Read anew each time: it may have been taken back by
    /// another program since.
    fn is_agreed(&self, line: &str, directory: Option<&str>) -> bool {
        let Some(ledger) = &self.ledger else { return false };
        match ledger.standing() {
            Ok(records) => records.iter().any(|record| record.covers(line, directory)),
            Err(error) => {
                tracing::warn!(%error, "agreements cannot be read: they do not count");
                false
            }
        }
    }

    /// The text of a file that a tool wrote in this conversation, as it is now.
    fn own_script(&self, path: &Path) -> Option<String> {
        let real = std::fs::canonicalize(path).ok()?;
        let ours = lock(&self.wrote).contains(&real);
        if !ours || std::fs::metadata(&real).ok()?.len() > LARGEST_SCRIPT {
            return None;
        }
        std::fs::read_to_string(&real).ok()
    }

    async fn ask(
        &self,
        action: &Action<'_>,
        findings: &[Finding],
        directory: Option<&str>,
        helper: Option<&str>,
    ) -> Verdict {
        let Some(answerer) = &self.answerer else { return nobody(&reasons("", findings)) };
        let (mut question, meanings) = question(action, findings, directory);
        if let Some(helper) = helper {
            question.text = format!("The helper \"{helper}\" wants this. {}", question.text);
        }
        if let Some(verdict) = self.advised(&question.subject, findings).await {
            return verdict;
        }
        let reply = answerer.ask(&question);
        let reply = match self.mode.patience {
            None => reply.await,
            Some(patience) => match tokio::time::timeout(patience, reply).await {
                Ok(reply) => reply,
                Err(_) => return refused(format!("nobody answered within {} s", patience.as_secs())),
            },
        };
        match reply {
            Reply::Choice(choice) => match meanings.into_iter().nth(choice) {
                Some(Choice::Once) => Verdict::Allowed,
                Some(Choice::Session(grant)) => {
                    lock(&self.grants).add(grant);
                    Verdict::Allowed
                }
                Some(Choice::Always) => self.allow_always(action, findings, directory),
                Some(Choice::No) | None => refused(SAID_NO),
            },
            Reply::Text(words) if is_plain_no(&words) => refused(SAID_NO),
            Reply::Text(words) if !words.trim().is_empty() => {
                refused(format!("the user refused it and said: {}", words.trim()))
            }
            Reply::Text(_) => refused("the user did not agree"),
            Reply::Nobody => {
                refused("the user turned the question away without an answer: ask before you try again")
            }
        }
    }

    /// Judges and, where that is not enough, asks.
    async fn settle(&self, action: &Action<'_>, helper: Option<&str>) -> Verdict {
        let Judged { judgement, after, directory } = self.judge(action, helper);
        let directory = directory.as_deref();
        let verdict = match judgement {
            Judgement::Allowed => Verdict::Allowed,
            Judgement::Refused { finding } => refused(format!(
                "{}{} (rule {}): nobody can allow it, and trying it in another way is not wanted",
                finding.reason,
                if finding.part.is_empty() { String::new() } else { format!(": {}", finding.part) },
                finding.rule
            )),
            Judgement::Ask { findings } => {
                let left = match action {
                    Action::Command { line, .. } if self.is_agreed(line, directory) => Vec::new(),
                    Action::Command { line, .. } => lock(&self.grants).uncovered(line, directory, findings),
                    _ => findings,
                };
                if left.is_empty() {
                    Verdict::Allowed
                } else {
                    self.ask(action, &left, directory, helper).await
                }
            }
        };
        if let (Some(after), Verdict::Allowed) = (after, &verdict) {
            lock(&self.shells).insert(helper.unwrap_or_default().to_owned(), after);
        }
        if let (Action::Write { paths, .. }, Verdict::Allowed) = (action, &verdict) {
            let mut wrote = lock(&self.wrote);
            if wrote.len() < MOST_WRITTEN {
                wrote.extend(paths.iter().cloned());
            }
        }
        if let (Action::Input { command, text, .. }, Verdict::Allowed) = (action, &verdict) {
            let mut typed = lock(&self.typed);
            let whole = typed.whole(command, text);
            typed.keep(command, &whole);
        }
        verdict
    }

    /// What a model says about it, where one is to be asked first. Its yes counts for this one time.
    async fn advised(&self, subject: &str, findings: &[Finding]) -> Option<Verdict> {
        let adviser = self.adviser.as_ref().filter(|_| self.mode.first == First::Model)?;
        let case = Case { subject: subject.to_owned(), reasons: reasons(subject, findings) };
        match adviser.advise(&case).await {
            Advice::Approve => Some(Verdict::Allowed),
            Advice::Deny => Some(refused(
                "the model that looks at dangerous commands refused it: say what you want to reach and ask the user",
            )),
            Advice::Escalate => None,
        }
    }

    /// Writes an agreement down. One that cannot be written still counts for this conversation.
    fn allow_always(&self, action: &Action<'_>, findings: &[Finding], directory: Option<&str>) -> Verdict {
        let (Action::Command { line, .. }, Some(directory)) = (action, directory) else {
            return Verdict::Allowed;
        };
        let rules: Vec<String> = findings.iter().map(|finding| finding.rule.clone()).collect();
        let written = match &self.ledger {
            None => false,
            Some(ledger) => match ledger.add(line, directory, &rules, SystemTime::now()) {
                Ok(_) => true,
                Err(error) => {
                    tracing::warn!(%error, "an agreement counts for this conversation only: it cannot be written down");
                    false
                }
            },
        };
        if !written {
            let (line, directory) = ((*line).to_owned(), directory.to_owned());
            lock(&self.grants).add(Grant::Line { line, directory });
        }
        Verdict::Allowed
    }
}

impl Gate for AskGate {
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(self.settle(action, None))
    }

    fn decide_for<'a>(&'a self, helper: &'a str, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(self.settle(action, Some(helper)))
    }
}

impl std::fmt::Debug for AskGate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskGate")
            .field("yolo", &self.yolo())
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// Told to the model after a no without words.
const SAID_NO: &str = "the user said no: do not try it in another way";

/// What came of looking at an action.
struct Judged {
    judgement: Judgement,
    /// What the shell would remember.
    after: Option<Memory>,
    /// Where a command that is asked about would run, if that is known and says what the command is about.
    directory: Option<String>,
}

impl Judged {
    fn of(judgement: Judgement) -> Self {
        Self { judgement, after: None, directory: None }
    }
}

fn refused(reason: impl Into<String>) -> Verdict {
    Verdict::Refused { reason: reason.into() }
}

fn nobody(reasons: &[String]) -> Verdict {
    refused(format!(
        "it needs the user's consent and nobody can be asked here ({}); the user can start with --yolo, name it in \
         command_allowlist, or let commands run in a container (terminal.backend: docker)",
        reasons.join("; ")
    ))
}

#[cfg(test)]
mod tests;
