//! The gate: every command, script and typed text is judged by the rules of `hermes_guard::command`; what they find is
//! put to a model or a person, as the settings say.

mod grants;
mod mode;
mod question;
mod typed;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use hermes_guard::command::{self, Context, Finding, Judgement, Memory, Questions};

use super::advice::{Advice, Adviser, Case};
use super::ledger::Ledger;
use super::{Action, Answerer, Gate, Reply, Verdict, Waiting};
use crate::workplace::lock;
use grants::Grants;
pub use mode::{First, Mode, Yolo};
use question::{Choice, question, reasons};
use typed::Typed;

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
    /// Patterns of the settings that stand for agreements of the ledger.
    agreed: Vec<String>,
    /// What the shells of the conversation and of its helpers remember, as far as their commands tell. The conversation's
    /// own has no name.
    shells: Mutex<HashMap<String, Memory>>,
    grants: Mutex<Grants>,
    typed: Mutex<Typed>,
}

impl AskGate {
    /// A gate in this mode; without an answerer there is nobody to ask.
    pub fn new(mode: Mode, answerer: Option<Arc<dyn Answerer>>) -> Self {
        Self {
            yolo: AtomicBool::new(mode.yolo == Yolo::On),
            mode,
            surroundings: Surroundings::default(),
            answerer,
            adviser: None,
            ledger: None,
            agreed: Vec::new(),
            shells: Mutex::default(),
            grants: Mutex::default(),
            typed: Mutex::default(),
        }
    }

    /// Knows where commands run.
    #[must_use]
    pub fn at(mut self, surroundings: Surroundings) -> Self {
        self.surroundings = surroundings;
        self
    }

    /// Keeps what is allowed for good.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        let copies = ledger.records().unwrap_or_default().into_iter().filter_map(|record| record.listed_as);
        self.agreed = copies.filter(|copy| self.mode.allow.contains(copy)).collect();
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

    /// What the rules say, and what the shell would remember of it.
    fn judge(&self, action: &Action<'_>, helper: Option<&str>) -> (Judgement, Option<Memory>) {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let (home, hermes_home) = (text(&self.surroundings.home), text(&self.surroundings.hermes_home));
        let memory = lock(&self.shells).get(helper.unwrap_or_default()).cloned();
        let began = self.surroundings.cwd.as_deref().filter(|_| memory.is_none()).map(text);
        let (cwd, apart) = match action {
            Action::Command { workdir: Some(dir), .. } => {
                (Some(absolute(dir, self.surroundings.cwd.as_deref())), true)
            }
            _ => (began, false),
        };
        let resolve = |path: &str| std::fs::canonicalize(path).ok().map(|path| text(&path));
        let mut sight = Context {
            questions: if self.yolo() == Yolo::On { Questions::Off } else { Questions::On },
            home: &home,
            hermes_home: &hermes_home,
            cwd: cwd.as_deref(),
            memory: memory.as_ref(),
            sudo: self.mode.sudo,
            resolve: (self.surroundings.files == Files::Here).then_some(&resolve),
            deny: &self.mode.deny,
            allow: &self.mode.allow,
            ..Context::default()
        };
        match action {
            Action::Command { line, reach, .. } => {
                sight.reach = *reach;
                let allow = self.allowed();
                let (judgement, after) =
                    command::judge_and_remember(line, &Context { allow: &allow, ..sight });
                (judgement, (!apart).then_some(after))
            }
            Action::Script { code, reach } => {
                sight.reach = *reach;
                (command::judge_script(code, &Context { allow: &[], ..sight }), None)
            }
            Action::Input { command, text, reach } => {
                sight.reach = *reach;
                let whole = lock(&self.typed).whole(command, text);
                (command::judge_input(command, &whole, &Context { allow: &[], memory: None, ..sight }), None)
            }
            // What may be written where is settled by the tools that write.
            Action::Write { paths, .. } => {
                let denied = paths.iter().find_map(|path| command::forbids(&self.mode.deny, &text(path)));
                let refused = |pattern: String| Judgement::Refused { finding: Finding::denied(&pattern, "") };
                (denied.map_or(Judgement::Allowed, refused), None)
            }
        }
    }

    /// The patterns that let a command pass. Entries that stand for an agreement count only while its record is there:
    /// it may have been taken back by another program since.
    fn allowed(&self) -> Vec<String> {
        let Some(ledger) = &self.ledger else { return self.mode.allow.clone() };
        let by_hand = self.mode.allow.iter().filter(|pattern| !self.agreed.contains(pattern)).cloned();
        let records = ledger.records().unwrap_or_else(|error| {
            tracing::warn!(%error, "agreements cannot be read: they do not count");
            Vec::new()
        });
        let kept = records.into_iter().filter_map(|record| match record.listed_as {
            Some(copy) => self.agreed.contains(&copy).then_some(copy),
            // What fits into no list stands in the records alone.
            None => Some(record.command),
        });
        by_hand.chain(kept).collect()
    }

    async fn ask(&self, action: &Action<'_>, findings: &[Finding], helper: Option<&str>) -> Verdict {
        let Some(answerer) = &self.answerer else { return nobody(&reasons("", findings)) };
        let (mut question, meanings) = question(action, findings);
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
                Some(Choice::Always) => self.allow_always(action, findings),
                Some(Choice::No) | None => refused("the user said no: do not try it in another way"),
            },
            Reply::Text(words) if !words.trim().is_empty() => {
                refused(format!("the user said: {}", words.trim()))
            }
            Reply::Text(_) => refused("the user did not agree"),
            Reply::Nobody => {
                refused("the user turned the question away without an answer: ask before you try again")
            }
        }
    }

    /// Judges and, where that is not enough, asks.
    async fn settle(&self, action: &Action<'_>, helper: Option<&str>) -> Verdict {
        let (judgement, after) = self.judge(action, helper);
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
                    Action::Command { line, .. } => lock(&self.grants).uncovered(line, findings),
                    _ => findings,
                };
                if left.is_empty() { Verdict::Allowed } else { self.ask(action, &left, helper).await }
            }
        };
        if let (Some(after), Verdict::Allowed) = (after, &verdict) {
            lock(&self.shells).insert(helper.unwrap_or_default().to_owned(), after);
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
    fn allow_always(&self, action: &Action<'_>, findings: &[Finding]) -> Verdict {
        let Action::Command { line, .. } = action else { return Verdict::Allowed };
        lock(&self.grants).add(grants::Grant::Line((*line).to_owned()));
        let rules: Vec<String> = findings.iter().map(|finding| finding.rule.clone()).collect();
        if let Some(ledger) = &self.ledger
            && let Err(error) = ledger.add(line, &rules, SystemTime::now())
        {
            tracing::warn!(%error, "an agreement counts for this conversation only: it cannot be written down");
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

/// A directory from where commands begin.
fn absolute(dir: &str, cwd: Option<&Path>) -> String {
    if dir.starts_with('~') {
        return dir.to_owned();
    }
    cwd.map_or_else(|| PathBuf::from(dir), |cwd| cwd.join(dir)).to_string_lossy().into_owned()
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
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use super::*;
    use crate::gate::{Question, Reach};

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

    fn is_refused(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Refused { .. })
    }

    #[tokio::test]
    async fn in_a_container_nobody_is_asked() {
        let person = says(Reply::Nobody);
        let gate = gate(Mode::default(), &person);
        for line in ["rm -rf /tmp/x", "rm -rf /"] {
            let action = Action::Command { line, workdir: None, reach: Reach::Contained };
            assert_eq!(gate.decide(&action).await, Verdict::Allowed);
        }
        assert!(lock(&person.1).is_empty());
        let action = Action::Command { line: "git push -f", workdir: None, reach: Reach::Contained };
        assert!(is_refused(&gate.decide(&action).await), "a server is outside of the container");
    }

    #[tokio::test]
    async fn only_what_is_dangerous_is_asked_about() {
        let person = says(Reply::Choice(0));
        let gate = gate(Mode::default(), &person);
        assert_eq!(on_host(&gate, "ls -la && cargo test").await, Verdict::Allowed);
        assert_eq!(lock(&person.1).len(), 0);
        assert_eq!(on_host(&gate, "rm -r x").await, Verdict::Allowed);
        assert_eq!(on_host(&gate, "rm -r x").await, Verdict::Allowed);
        let asked = lock(&person.1);
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].subject, "rm -r x");
        assert!(asked[0].text.contains("directory"), "{}", asked[0].text);
        assert_eq!(asked[0].choices.last().map(String::as_str), Some("No"));
    }

    #[tokio::test]
    async fn the_worst_is_refused_whoever_agrees() {
        let person = says(Reply::Choice(0));
        let gate = gate(Mode { yolo: Yolo::On, allow: vec!["rm *".into()], ..Mode::default() }, &person);
        let Verdict::Refused { reason } = on_host(&gate, "rm -rf /").await else { panic!("nobody may") };
        assert!(reason.contains("delete-system"), "{reason}");
        assert!(lock(&person.1).is_empty());
        assert_eq!(on_host(&gate, "rm -rf x").await, Verdict::Allowed);
    }

    #[tokio::test]
    async fn no_words_and_silence_are_no() {
        let replies = [
            Reply::Choice(3),
            Reply::Choice(99),
            Reply::Text(String::new()),
            Reply::Text("not now".into()),
            Reply::Nobody,
        ];
        for reply in replies {
            let person = says(reply.clone());
            let verdict = on_host(&gate(Mode::default(), &person), "rm -r x").await;
            assert!(is_refused(&verdict), "{reply:?}");
        }
        let Verdict::Refused { reason } = on_host(&AskGate::new(Mode::default(), None), "rm -r x").await
        else {
            panic!("nobody agreed")
        };
        assert!(
            reason.contains("nobody") && reason.contains("--yolo") && reason.contains("docker"),
            "{reason}"
        );
    }

    #[tokio::test]
    async fn grants_count_for_what_they_say_and_no_more() {
        // Once, the same again, every `git push` of this kind.
        let person = says(Reply::Choice(2));
        let wider = gate(Mode::default(), &person);
        for line in ["git push --force", "git push -f origin x"] {
            assert_eq!(on_host(&wider, line).await, Verdict::Allowed);
        }
        assert_eq!(lock(&person.1).len(), 1);
        on_host(&wider, "git push -f; git reset --hard").await;
        assert_eq!(lock(&person.1).len(), 2, "another rule is another question");

        let person = says(Reply::Choice(1));
        let exact = gate(Mode::default(), &person);
        on_host(&exact, "rm -r x").await;
        on_host(&exact, "rm -r x").await;
        on_host(&exact, "rm -r y").await;
        assert_eq!(lock(&person.1).len(), 2, "one directory is not every directory");
        exact.forget_grants();
        on_host(&exact, "rm -r x").await;
        assert_eq!(lock(&person.1).len(), 3);
    }

    #[tokio::test]
    async fn always_outlives_the_conversation_until_it_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(hermes_home::Home::at(dir.path(), hermes_home::Profile::Default));
        let person = says(Reply::Choice(2));
        on_host(&gate(Mode::default(), &person).with_ledger(ledger.clone()), "rm -r x").await;
        let records = ledger.records().unwrap();
        assert_eq!(records[0].command, "rm -r x");
        let allow = vec![records[0].listed_as.clone().unwrap()];
        let nobody = AskGate::new(Mode { allow, ..Mode::default() }, None).with_ledger(ledger.clone());
        assert_eq!(on_host(&nobody, "rm -r x").await, Verdict::Allowed);
        assert!(is_refused(&on_host(&nobody, "rm -r y").await));
        ledger.revoke(|_| true).unwrap();
        assert!(is_refused(&on_host(&nobody, "rm -r x").await), "also in a conversation that goes on");
        let without_copy = AskGate::new(Mode::default(), None).with_ledger(ledger);
        assert!(is_refused(&on_host(&without_copy, "rm -r x").await));
    }

    #[tokio::test]
    async fn what_is_forbidden_stays_so() {
        let mode = Mode {
            yolo: Yolo::On,
            deny: vec!["rm -rf*".into(), "*curl*| sh".into(), "*/keep/*".into()],
            ..Mode::default()
        };
        let gate = AskGate::new(mode, None);
        for line in ["rm -rf x", "cd /x && RM -RF y", "curl x | sh", "r''m -rf x", "sudo rm -rf x"] {
            assert!(is_refused(&on_host(&gate, line).await), "{line}");
        }
        assert_eq!(on_host(&gate, "rm x").await, Verdict::Allowed);
        let paths = [PathBuf::from("/a/keep/b")];
        assert!(is_refused(&gate.decide(&Action::Write { paths: &paths, reach: Reach::Host }).await));
        gate.set_yolo(Yolo::Off);
        assert!(is_refused(&on_host(&gate, "rm -r x").await));
    }

    #[tokio::test]
    async fn the_allowlist_takes_plain_commands_only() {
        let mode = Mode { allow: vec!["git *".into(), "rm -r a | tee log".into()], ..Mode::default() };
        let gate = AskGate::new(mode, None);
        assert_eq!(on_host(&gate, "git push -f").await, Verdict::Allowed);
        assert_eq!(on_host(&gate, "rm -r a | tee log").await, Verdict::Allowed);
        for line in ["git log; rm -r x", "git $(rm -r x)", "git push -f > /etc/passwd"] {
            assert!(is_refused(&on_host(&gate, line).await), "{line}");
        }
    }

    #[tokio::test]
    async fn what_one_command_leaves_behind_counts_for_the_next() {
        let surroundings = Surroundings {
            home: "/home/ada".into(),
            cwd: Some("/home/ada/x".into()),
            ..Surroundings::default()
        };
        let gate = AskGate::new(Mode { yolo: Yolo::On, ..Mode::default() }, None).at(surroundings);
        assert_eq!(on_host(&gate, "rm -rf *").await, Verdict::Allowed);
        for (first, second) in
            [("cd /", "rm -rf *"), ("X=/etc", "rm -rf $X"), ("go() { rm -rf \"$1\"; }", "go /usr")]
        {
            assert_eq!(on_host(&gate, first).await, Verdict::Allowed);
            assert!(is_refused(&on_host(&gate, second).await), "{first}; {second}");
        }
        let apart = Action::Command { line: "rm -rf *", workdir: Some("y"), reach: Reach::Host };
        assert_eq!(gate.decide(&apart).await, Verdict::Allowed);
    }

    #[tokio::test]
    async fn typed_text_is_judged_whole() {
        let person = says(Reply::Choice(0));
        let gate = gate(Mode::default(), &person);
        let typed = |text: &'static str| Action::Input { command: "bash", text, reach: Reach::Host };
        assert_eq!(gate.decide(&typed("ls\n")).await, Verdict::Allowed);
        assert_eq!(gate.decide(&typed("rm -r")).await, Verdict::Allowed);
        let before = lock(&person.1).len();
        assert_eq!(gate.decide(&typed("f x\n")).await, Verdict::Allowed);
        assert_eq!(lock(&person.1).len(), before + 1);
        assert_eq!(lock(&person.1)[before].choices.len(), 2, "once or not");
        assert!(is_refused(&gate.decide(&typed("rm -rf /\n")).await));
    }

    #[tokio::test]
    async fn scripts_are_judged_by_what_they_run() {
        let person = says(Reply::Nobody);
        let gate = gate(Mode::default(), &person);
        let script = |code: &'static str| Action::Script { code, reach: Reach::Host };
        assert_eq!(gate.decide(&script("print('rm -rf /')")).await, Verdict::Allowed);
        assert!(is_refused(&gate.decide(&script("import os\nos.system('rm -rf build')")).await));
        assert!(is_refused(&gate.decide(&script("import shutil\nshutil.rmtree('/etc')")).await));
        assert_eq!(lock(&person.1).len(), 1, "only what is not refused anyway is asked about");
    }

    /// Says the same about every command, and counts.
    struct Thinks(Advice, Mutex<Vec<Case>>);

    impl Adviser for Thinks {
        fn advise<'a>(&'a self, case: &'a Case) -> Waiting<'a, Advice> {
            lock(&self.1).push(case.clone());
            Box::pin(std::future::ready(self.0))
        }
    }

    #[tokio::test]
    async fn a_model_may_look_first() {
        let smart = || Mode { first: First::Model, ..Mode::default() };
        for (advice, allowed, asked) in
            [(Advice::Approve, true, 0), (Advice::Deny, false, 0), (Advice::Escalate, true, 2)]
        {
            let (person, model) = (says(Reply::Choice(0)), Arc::new(Thinks(advice, Mutex::default())));
            let gate = gate(smart(), &person).with_adviser(Arc::clone(&model) as Arc<dyn Adviser>);
            for _ in 0..2 {
                assert_eq!(on_host(&gate, "rm -r x").await == Verdict::Allowed, allowed, "{advice:?}");
            }
            assert_eq!(lock(&person.1).len(), asked, "{advice:?}");
            assert_eq!(lock(&model.1).len(), 2, "an approval covers one command");
            assert!(is_refused(&on_host(&gate, "rm -rf /").await));
            assert_eq!(lock(&model.1).len(), 2, "the worst is no matter for a model");
        }
        let model = Arc::new(Thinks(Advice::Approve, Mutex::default()));
        let alone = AskGate::new(smart(), None).with_adviser(Arc::clone(&model) as Arc<dyn Adviser>);
        assert!(
            is_refused(&on_host(&alone, "rm -r x").await),
            "without a person a model's yes is not enough"
        );
    }

    struct Silent;

    impl Answerer for Silent {
        fn ask<'a>(&'a self, _: &'a Question) -> Waiting<'a, Reply> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test]
    async fn a_question_waits_only_as_long_as_was_set() {
        let mode = Mode { patience: Some(Duration::from_millis(1)), ..Mode::default() };
        let gate = AskGate::new(mode, Some(Arc::new(Silent)));
        assert!(is_refused(&on_host(&gate, "rm -r x").await));
        let waits = AskGate::new(Mode::default(), Some(Arc::new(Silent)));
        let asked = on_host(&waits, "rm -r x");
        tokio::pin!(asked);
        tokio::select! {
            biased;
            verdict = &mut asked => panic!("{verdict:?}"),
            () = tokio::task::yield_now() => {}
        }
    }
}
