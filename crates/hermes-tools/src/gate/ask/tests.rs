//! The gate with people and models that answer as they are told.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use super::*;
use crate::gate::{NO, Question};

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
    let surroundings = Surroundings { cwd: Some("/work".into()), ..Surroundings::default() };
    AskGate::new(mode, Some(Arc::clone(answerer) as Arc<dyn Answerer>)).at(surroundings)
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
    assert_eq!(asked[0].choices.last().map(|offer| offer.key), Some(NO));
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
    let Verdict::Refused { reason } = on_host(&AskGate::new(Mode::default(), None), "rm -r x").await else {
        panic!("nobody agreed")
    };
    assert!(reason.contains("nobody") && reason.contains("--yolo") && reason.contains("docker"), "{reason}");
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
    let in_directory = |dir: &str| {
        let surroundings = Surroundings { cwd: Some(dir.into()), ..Surroundings::default() };
        let mode = Mode { allow: allow.clone(), ..Mode::default() };
        AskGate::new(mode, None).at(surroundings).with_ledger(ledger.clone())
    };
    let nobody = in_directory("/work");
    assert_eq!(on_host(&nobody, "rm -r x").await, Verdict::Allowed);
    assert!(is_refused(&on_host(&nobody, "rm -r y").await));
    assert!(
        is_refused(&on_host(&in_directory("/other"), "rm -r x").await),
        "it was given in another directory"
    );
    on_host(&nobody, "cd /other").await;
    assert!(is_refused(&on_host(&nobody, "rm -r x").await));
    let there = Action::Command { line: "rm -r x", workdir: Some("/work"), reach: Reach::Host };
    assert_eq!(nobody.decide(&there).await, Verdict::Allowed);
    ledger.revoke(|_| true).unwrap();
    assert!(is_refused(&nobody.decide(&there).await), "also in a conversation that goes on");
    let without_copy = AskGate::new(Mode::default(), None).with_ledger(ledger);
    assert!(is_refused(&on_host(&without_copy, "rm -r x").await));
}

#[tokio::test]
async fn what_is_taken_back_is_asked_about_again_in_the_conversation_that_gave_it() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::new(hermes_home::Home::at(dir.path(), hermes_home::Profile::Default));
    let person = says(Reply::Choice(2));
    let gate = gate(Mode::default(), &person).with_ledger(ledger.clone());
    on_host(&gate, "rm -r x").await;
    on_host(&gate, "rm -r x").await;
    assert_eq!(lock(&person.1).len(), 1);
    let id = ledger.records().unwrap()[0].id.clone();
    ledger.revoke(|other| other == id).unwrap();
    on_host(&gate, "rm -r x").await;
    assert_eq!(lock(&person.1).len(), 2);
    std::fs::write(dir.path().join("config.yaml"), "command_allowlist: []\n").unwrap();
    on_host(&gate, "rm -r x").await;
    assert_eq!(lock(&person.1).len(), 3, "taking the line out of config.yaml takes it back too");
}

#[tokio::test]
async fn patterns_that_are_taken_back_no_longer_count() {
    let patterns: Arc<Mutex<Option<Patterns>>> = Arc::default();
    let told = Arc::clone(&patterns);
    let mode = Mode { allow: vec!["rm *".into()], ..Mode::default() };
    let gate = AskGate::new(mode, None).obeying(Arc::new(move || lock(&told).clone()));
    assert_eq!(on_host(&gate, "rm -r x").await, Verdict::Allowed);
    *lock(&patterns) = Some(Patterns { allow: vec!["git *".into()], ..Patterns::default() });
    assert!(is_refused(&on_host(&gate, "rm -r x").await));
    assert!(is_refused(&on_host(&gate, "git push -f").await), "a new one waits for the next conversation");
}

#[tokio::test]
async fn the_same_again_counts_where_it_was_given() {
    let person = says(Reply::Choice(1));
    let gate = gate(Mode::default(), &person);
    on_host(&gate, "rm -r x").await;
    on_host(&gate, "cd /other").await;
    on_host(&gate, "rm -r x").await;
    assert_eq!(lock(&person.1).len(), 2);
    assert!(lock(&person.1)[1].choices[1].text.contains("/other"), "{:?}", lock(&person.1));
    on_host(&gate, "cd /work").await;
    on_host(&gate, "rm -r x").await;
    assert_eq!(lock(&person.1).len(), 2);
}

#[tokio::test]
async fn what_lives_on_the_shell_is_agreed_to_once() {
    for (before, line) in [("X=build", "rm -r $X"), ("clean() { rm -r build; }", "clean")] {
        let person = says(Reply::Choice(0));
        let gate = gate(Mode::default(), &person);
        on_host(&gate, before).await;
        on_host(&gate, line).await;
        let asked = lock(&person.1).last().cloned().unwrap();
        let keys: String = asked.choices.iter().map(|offer| offer.key).collect();
        assert_eq!(keys, "10", "{before}; {line}");
    }
    // An agreement from before does not cover what a variable makes of the line now.
    let person = says(Reply::Choice(1));
    let gate = gate(Mode::default(), &person);
    on_host(&gate, "rm -r $X").await;
    on_host(&gate, "X=src").await;
    on_host(&gate, "rm -r $X").await;
    assert_eq!(lock(&person.1).len(), 2);
}

#[tokio::test]
async fn words_are_a_no_that_the_model_hears() {
    for (words, told) in [("keep 3 files", "the user refused it and said: keep 3 files"), ("no", SAID_NO)] {
        let person = says(Reply::Text(words.into()));
        let Verdict::Refused { reason } = on_host(&gate(Mode::default(), &person), "rm -r x").await else {
            panic!("words never agree")
        };
        assert_eq!(reason, told);
    }
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
    let surroundings =
        Surroundings { home: "/home/ada".into(), cwd: Some("/home/ada/x".into()), ..Surroundings::default() };
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
    assert!(is_refused(&on_host(&alone, "rm -r x").await), "without a person a model's yes is not enough");
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

#[tokio::test]
async fn scripts_that_tools_wrote_are_read_before_they_run() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let surroundings =
        Surroundings { cwd: Some(root.clone()), files: Files::Here, ..Surroundings::default() };
    let gate = AskGate::new(Mode::default(), None).at(surroundings);
    let write = |name: &str, text: &str| {
        std::fs::write(root.join(name), text).unwrap();
        root.join(name)
    };
    let ours = [
        write("bad.sh", "cd /\nrm -rf *\n"),
        write("bad.py", "import shutil\nshutil.rmtree('build')\n"),
        write("bad", "#!/usr/bin/env python3\nimport os\nos.system('rm -rf /')\n"),
        write("args.sh", "rm -rf \"$1\"\n"),
        write("fine.sh", "set -e\n\"$CC\" -o x x.c\n$RUN ./x \"$@\"\n"),
        write("fine.py", "import requests, subprocess\nsubprocess.run(['ls'])\nopen('o', 'w').write('x')\n"),
    ];
    assert_eq!(gate.decide(&Action::Write { paths: &ours, reach: Reach::Host }).await, Verdict::Allowed);
    write("theirs.sh", "rm -rf build\n");
    for line in ["bash bad.sh", "sh ./bad.sh", "python3 bad.py", "./bad", ". ./bad.sh", "sh args.sh build"] {
        assert!(is_refused(&on_host(&gate, line).await), "{line}");
    }
    for line in ["bash fine.sh x", "python3 fine.py", "bash theirs.sh"] {
        assert_eq!(on_host(&gate, line).await, Verdict::Allowed, "{line}");
    }
    gate.set_yolo(Yolo::On);
    assert_eq!(on_host(&gate, "sh args.sh build").await, Verdict::Allowed);
    for line in ["bash bad.sh", "./bad", "sh args.sh /"] {
        assert!(is_refused(&on_host(&gate, line).await), "{line}");
    }
}

#[tokio::test]
async fn files_with_keys_are_asked_about() {
    let person = says(Reply::Choice(0));
    let asking = gate(Mode::default(), &person);
    let paths = [PathBuf::from("/a/.env"), PathBuf::from("/a/x.rs")];
    let write = |paths, reach| Action::Write { paths, reach };
    assert_eq!(asking.decide(&write(&paths, Reach::Host)).await, Verdict::Allowed);
    assert!(lock(&person.1)[0].text.contains("/a/.env"), "{:?}", lock(&person.1));
    assert_eq!(asking.decide(&write(&paths[1..], Reach::Host)).await, Verdict::Allowed);
    assert_eq!(asking.decide(&write(&paths, Reach::Contained)).await, Verdict::Allowed);
    assert_eq!(lock(&person.1).len(), 1);
    assert!(is_refused(&AskGate::new(Mode::default(), None).decide(&write(&paths, Reach::Host)).await));
    let system = [PathBuf::from("/usr/bin/x")];
    asking.decide(&write(&system, Reach::Host)).await;
    assert!(lock(&person.1)[1].text.contains("a file of the system: `/usr/bin/x`"), "{:?}", lock(&person.1));
}

#[tokio::test]
async fn what_is_forbidden_meanwhile_counts() {
    let patterns: Arc<Mutex<Option<Patterns>>> = Arc::default();
    let told = Arc::clone(&patterns);
    let mode = Mode { yolo: Yolo::On, deny: vec!["old*".into()], ..Mode::default() };
    let gate = AskGate::new(mode, None).obeying(Arc::new(move || lock(&told).clone()));
    assert!(is_refused(&on_host(&gate, "old x").await), "nothing else is known");
    assert_eq!(on_host(&gate, "new x").await, Verdict::Allowed);
    *lock(&patterns) = Some(Patterns { deny: vec!["new*".into()], ..Patterns::default() });
    assert!(is_refused(&on_host(&gate, "new x").await));
    assert_eq!(on_host(&gate, "old x").await, Verdict::Allowed);
}
