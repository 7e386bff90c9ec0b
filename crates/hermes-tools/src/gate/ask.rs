//! The gate that asks a person: on their own machine every command needs a yes, in a sandbox none does.

mod glob;
mod grants;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::{SettingError, table::safety};

use super::{Action, Answerer, Gate, Question, Reach, Reply, Verdict, Waiting};
use crate::line;
use crate::workplace::lock;
use grants::{Grant, Grants};

/// Whether everything that is not forbidden runs without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Yolo {
    /// It does.
    On,
    /// It does not.
    #[default]
    Off,
}

impl From<bool> for Yolo {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

/// How it is decided before anybody is asked.
#[derive(Debug, Clone, Default)]
pub struct Mode {
    /// Whether anybody is asked at all.
    pub yolo: Yolo,
    /// Patterns of commands that are always refused.
    pub deny: Vec<String>,
    /// Patterns of commands that never need a question.
    pub allow: Vec<String>,
    /// How long a question waits; `None` is for ever.
    pub patience: Option<Duration>,
}

impl Mode {
    /// As the settings say; `yolo` switches questions off whatever they say.
    pub fn from_settings(settings: &Settings, yolo: impl Into<Yolo>) -> Result<Self, SettingError> {
        let off = settings.get(&safety::APPROVALS_MODE)? == "off" || settings.get(&safety::YOLO_MODE)?;
        let seconds = u64::try_from(settings.get(&safety::APPROVALS_TIMEOUT)?).unwrap_or(0);
        Ok(Self {
            yolo: if off { Yolo::On } else { yolo.into() },
            deny: settings.get(&safety::APPROVALS_DENY)?,
            allow: settings.get(&safety::COMMAND_ALLOWLIST)?,
            patience: (seconds > 0).then(|| Duration::from_secs(seconds)),
        })
    }
}

/// See the module. One for each conversation: what was granted counts for it alone.
pub struct AskGate {
    yolo: AtomicBool,
    mode: Mode,
    answerer: Option<Arc<dyn Answerer>>,
    grants: Mutex<Grants>,
}

/// What is decided without asking.
#[derive(Debug, PartialEq, Eq)]
enum Decision {
    Allow,
    Refuse(String),
    Ask,
}

impl AskGate {
    /// A gate in this mode; without an answerer there is nobody to ask.
    pub fn new(mode: Mode, answerer: Option<Arc<dyn Answerer>>) -> Self {
        Self { yolo: AtomicBool::new(mode.yolo == Yolo::On), mode, answerer, grants: Mutex::default() }
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

    fn decide_alone(&self, action: &Action<'_>) -> Decision {
        let (text, reach) = match action {
            Action::Command { line: text, reach, .. }
            | Action::Input { text, reach, .. }
            | Action::Script { code: text, reach } => (Some(*text), reach),
            Action::Write { reach, .. } => (None, reach),
        };
        if let Some(pattern) = text.and_then(|text| denied_by(&self.mode.deny, text)) {
            return Decision::Refuse(format!(
                "the user's setting approvals.deny forbids it (\"{pattern}\"): do not try it in another way"
            ));
        }
        if self.yolo() == Yolo::On || *reach == Reach::Contained {
            return Decision::Allow;
        }
        match action {
            Action::Command { line, .. } if allowed_by(&self.mode.allow, line) => Decision::Allow,
            Action::Command { line, .. } if lock(&self.grants).covers(line) => Decision::Allow,
            // What may be written where is settled by the tools that write.
            Action::Write { .. } => Decision::Allow,
            Action::Command { .. } | Action::Input { .. } | Action::Script { .. } => Decision::Ask,
        }
    }

    async fn judge(&self, action: &Action<'_>, helper: Option<&str>) -> Verdict {
        match self.decide_alone(action) {
            Decision::Allow => Verdict::Allowed,
            Decision::Refuse(reason) => refused(reason),
            Decision::Ask => self.ask(action, helper).await,
        }
    }

    async fn ask(&self, action: &Action<'_>, helper: Option<&str>) -> Verdict {
        let Some(answerer) = &self.answerer else { return nobody() };
        let (mut question, grants) = question(action);
        if let Some(helper) = helper {
            question.text = format!("The helper \"{helper}\" wants this. {}", question.text);
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
            Reply::Choice(choice) => match grants.into_iter().nth(choice) {
                Some(Choice::Once) => Verdict::Allowed,
                Some(Choice::Session(grant)) => {
                    lock(&self.grants).add(grant);
                    Verdict::Allowed
                }
                Some(Choice::No) | None => refused("the user said no: do not try it in another way"),
            },
            Reply::Text(words) if !words.trim().is_empty() => {
                refused(format!("the user said: {}", words.trim()))
            }
            Reply::Text(_) => refused("the user did not agree"),
            Reply::Nobody => nobody(),
        }
    }
}

impl Gate for AskGate {
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(self.judge(action, None))
    }

    fn decide_for<'a>(&'a self, helper: &'a str, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(self.judge(action, Some(helper)))
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

/// What an answer means.
enum Choice {
    Once,
    Session(Grant),
    No,
}

/// The question, and what each of its choices means.
fn question(action: &Action<'_>) -> (Question, Vec<Choice>) {
    let once = ("Yes, this once".to_owned(), Choice::Once);
    let no = ("No".to_owned(), Choice::No);
    let (subject, text, offers) = match action {
        Action::Command { line, .. } => {
            let mut offers = vec![once];
            let exact = Grant::Line((*line).to_owned());
            offers.push((
                "Yes, and this same command again in this conversation".to_owned(),
                Choice::Session(exact),
            ));
            if let Some(program) = grants::program_to_grant(line) {
                let text = format!("Yes, and every plain `{program}` command in this conversation");
                offers.push((text, Choice::Session(Grant::Program(program.to_owned()))));
            }
            (*line, "Run this command on your machine?".to_owned(), offers)
        }
        Action::Write { .. } => ("", "Write these files?".to_owned(), vec![once]),
        Action::Script { code, .. } => (*code, "Run this program on your machine?".to_owned(), vec![once]),
        Action::Input { command, text, .. } => {
            (*text, format!("Type this into `{}`?", command.lines().next().unwrap_or_default()), vec![once])
        }
    };
    let (choices, meanings) = offers.into_iter().chain([no]).unzip();
    (Question { subject: subject.to_owned(), text, choices }, meanings)
}

fn refused(reason: impl Into<String>) -> Verdict {
    Verdict::Refused { reason: reason.into() }
}

fn nobody() -> Verdict {
    refused(
        "commands on the user's machine need their consent, and nobody can be asked here; the user can start with \
         --yolo, set command_allowlist, or let commands run in a container (terminal.backend: docker)",
    )
}

/// The pattern that forbids a command: the whole line, or one of the commands in it.
fn denied_by<'p>(patterns: &'p [String], text: &str) -> Option<&'p str> {
    let parts = line::segments(text);
    let hit = |pattern: &&String| {
        glob::matches(pattern, text.trim()) || parts.iter().any(|part| glob::matches(pattern, part))
    };
    patterns.iter().find(hit).map(String::as_str)
}

/// Whether a pattern lets a command pass. One with operators could hide anything behind an innocent beginning.
fn allowed_by(patterns: &[String], text: &str) -> bool {
    let text = text.trim();
    patterns
        .iter()
        .any(|pattern| pattern.trim() == text || (line::is_plain(text) && glob::matches(pattern, text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers the same to every question, and remembers them.
    struct Says(Reply, Mutex<Vec<Question>>);

    impl Answerer for Says {
        fn ask<'a>(&'a self, question: &'a Question) -> Waiting<'a, Reply> {
            lock(&self.1).push(question.clone());
            Box::pin(std::future::ready(self.0.clone()))
        }
    }

    fn says(reply: Reply) -> Arc<Says> {
        Arc::new(Says(reply, Mutex::default()))
    }

    fn gate(mode: Mode, answerer: &Arc<Says>) -> AskGate {
        AskGate::new(mode, Some(Arc::clone(answerer) as Arc<dyn Answerer>))
    }

    async fn on_host(gate: &AskGate, line: &str) -> Verdict {
        gate.decide(&Action::Command { line, workdir: None, reach: Reach::Host }).await
    }

    #[tokio::test]
    async fn in_a_container_nobody_is_asked() {
        let person = says(Reply::Nobody);
        let gate = gate(Mode::default(), &person);
        let action = Action::Command { line: "rm -rf /tmp/x", workdir: None, reach: Reach::Contained };
        assert_eq!(gate.decide(&action).await, Verdict::Allowed);
        assert!(lock(&person.1).is_empty());
    }

    #[tokio::test]
    async fn on_the_host_every_command_is_asked_about() {
        let person = says(Reply::Choice(0));
        let gate = gate(Mode::default(), &person);
        assert_eq!(on_host(&gate, "ls").await, Verdict::Allowed);
        assert_eq!(on_host(&gate, "ls").await, Verdict::Allowed);
        let asked = lock(&person.1);
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].subject, "ls");
        assert_eq!(asked[0].choices.last().map(String::as_str), Some("No"));
    }

    #[tokio::test]
    async fn no_words_and_silence_are_no() {
        for reply in
            [Reply::Choice(3), Reply::Choice(99), Reply::Text(String::new()), Reply::Text("not now".into())]
        {
            let person = says(reply.clone());
            let verdict = on_host(&gate(Mode::default(), &person), "ls").await;
            assert!(matches!(verdict, Verdict::Refused { .. }), "{reply:?}");
        }
        let Verdict::Refused { reason } = on_host(&AskGate::new(Mode::default(), None), "ls").await else {
            panic!("nobody agreed")
        };
        assert!(reason.contains("--yolo") && reason.contains("docker"), "{reason}");
    }

    #[tokio::test]
    async fn grants_count_for_what_they_say_and_no_more() {
        let person = says(Reply::Choice(2));
        let by_program = gate(Mode::default(), &person);
        assert_eq!(on_host(&by_program, "git status").await, Verdict::Allowed);
        assert_eq!(on_host(&by_program, "git log -3").await, Verdict::Allowed);
        assert_eq!(lock(&person.1).len(), 1);
        on_host(&by_program, "git log; rm x").await;
        assert_eq!(lock(&person.1).len(), 2, "operators are asked about again");

        let person = says(Reply::Choice(1));
        let exact = gate(Mode::default(), &person);
        on_host(&exact, "make && ls").await;
        on_host(&exact, "make && ls").await;
        on_host(&exact, "make && rm x").await;
        assert_eq!(lock(&person.1).len(), 2);
        exact.forget_grants();
        on_host(&exact, "make && ls").await;
        assert_eq!(lock(&person.1).len(), 3);
    }

    #[tokio::test]
    async fn what_is_forbidden_stays_so() {
        let mode =
            Mode { yolo: Yolo::On, deny: vec!["rm -rf*".into(), "*curl*| sh".into()], ..Mode::default() };
        let gate = AskGate::new(mode, None);
        for line in ["rm -rf x", "cd /x && RM -RF y", "curl x | sh"] {
            assert!(matches!(on_host(&gate, line).await, Verdict::Refused { .. }), "{line}");
        }
        assert_eq!(on_host(&gate, "rm x").await, Verdict::Allowed);
        gate.set_yolo(Yolo::Off);
        assert!(matches!(on_host(&gate, "rm x").await, Verdict::Refused { .. }));
    }

    #[tokio::test]
    async fn the_allowlist_takes_plain_commands_only() {
        let mode = Mode { allow: vec!["git *".into(), "make | tee log".into()], ..Mode::default() };
        let gate = AskGate::new(mode, None);
        assert_eq!(on_host(&gate, "git push").await, Verdict::Allowed);
        assert_eq!(on_host(&gate, "make | tee log").await, Verdict::Allowed);
        for line in ["git log; rm x", "git $(rm x)", "git log > /etc/passwd", "gitx"] {
            assert!(matches!(on_host(&gate, line).await, Verdict::Refused { .. }), "{line}");
        }
    }

    #[tokio::test]
    async fn typed_text_is_asked_about_once_at_a_time() {
        let person = says(Reply::Choice(0));
        let gate = gate(Mode::default(), &person);
        let action = Action::Input { command: "bash", text: "rm x\n", reach: Reach::Host };
        assert_eq!(gate.decide(&action).await, Verdict::Allowed);
        assert_eq!(lock(&person.1)[0].choices.len(), 2);
    }

    #[tokio::test]
    async fn a_question_does_not_wait_for_ever() {
        struct Silent;
        impl Answerer for Silent {
            fn ask<'a>(&'a self, _: &'a Question) -> Waiting<'a, Reply> {
                Box::pin(std::future::pending())
            }
        }
        let mode = Mode { patience: Some(Duration::from_millis(1)), ..Mode::default() };
        let gate = AskGate::new(mode, Some(Arc::new(Silent)));
        assert!(matches!(on_host(&gate, "ls").await, Verdict::Refused { .. }));
    }
}
