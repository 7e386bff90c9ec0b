//! The chat on a screen of a virtual terminal, with events and keys by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::sync::{Arc, Mutex};

use hermes_agent::event::{CallStatus, Level};
use hermes_tools::gate::{Offer, Question, Reply, Words};
use serde_json::json;
use tokio::sync::oneshot;

use super::*;
use crate::chat::conversation::{Choice, CommandOutcome, Request, link};
use crate::chat::live::Painter;
use crate::chat::options::{BusyInput, Glyphs};
use crate::chat::slash::{Commands, QuickAction, QuickCommand};
use crate::chat::term::{Decoder, Key, KeyCode};
use crate::chat::text::Palette;

/// What the chat asked of its conversation.
#[derive(Default)]
struct Calls {
    turns: Vec<UserInput>,
    controls: Vec<Control>,
    requests: Vec<Request>,
    outcome: Option<CommandOutcome>,
    /// Ends in the background that wait for a turn.
    news: usize,
}

struct Fake(Arc<Mutex<Calls>>);

impl Conversation for Fake {
    fn start_turn(&mut self, input: UserInput, _events: Events) -> Control {
        let mut calls = self.0.lock().unwrap();
        let control = Control::new();
        calls.turns.push(input);
        calls.controls.push(control.clone());
        control
    }

    fn take_up_news(&mut self, _events: Events) -> Option<Control> {
        let mut calls = self.0.lock().unwrap();
        calls.news = calls.news.checked_sub(1)?;
        let control = Control::new();
        calls.controls.push(control.clone());
        Some(control)
    }

    fn status(&self) -> StatusFacts {
        StatusFacts {
            model: "test-model".into(),
            session_id: "s1".into(),
            context: 20_000,
            window: Some(100_000),
            ..StatusFacts::default()
        }
    }

    fn command(&mut self, request: Request, _events: Events) -> CommandOutcome {
        let mut calls = self.0.lock().unwrap();
        calls.requests.push(request);
        calls.outcome.take().unwrap_or_else(|| CommandOutcome::Said("done".into()))
    }
}

/// A chat, a screen, and a clock that only moves when told.
struct Bench {
    chat: Chat,
    calls: Arc<Mutex<Calls>>,
    painter: Painter,
    screen: vt100::Parser,
    now: Instant,
    effects: Vec<Effect>,
}

impl Bench {
    fn new() -> Self {
        Self::sized(60, 16, |_| {})
    }

    fn with(change: impl FnOnce(&mut ChatOptions)) -> Self {
        Self::sized(60, 16, change)
    }

    fn sized(columns: usize, rows: usize, change: impl FnOnce(&mut ChatOptions)) -> Self {
        let calls = Arc::new(Mutex::new(Calls::default()));
        let (link, _inbox) = link();
        let mut options = ChatOptions::plain("/nonexistent");
        change(&mut options);
        let size = Size { columns, rows };
        let abilities =
            Abilities { palette: Palette::Bare, glyphs: Glyphs::Rich, kind: TerminalKind::Screen };
        let now = Instant::now();
        let history = History::new(vec!["older message".into()]);
        let chat = Chat::new(
            Box::new(Fake(Arc::clone(&calls))),
            link.events(),
            options,
            abilities,
            size,
            history,
            now,
        );
        let mut bench = Self {
            chat,
            calls,
            painter: Painter::new(Palette::Bare, size),
            // The virtual terminal itself cannot be narrower than a wide character.
            screen: vt100::Parser::new(rows as u16, columns.max(4) as u16, 500),
            now,
            effects: Vec::new(),
        };
        bench.draw();
        bench
    }

    fn draw(&mut self) {
        let mut out = Vec::new();
        let printed = self.chat.take_printed();
        self.painter.draw(&printed, &self.chat.frame(self.now), &mut out).unwrap();
        self.screen.process(&out);
        self.effects.extend(self.chat.take_effects());
    }

    fn message(&mut self, message: Message) {
        self.chat.handle(message, self.now);
        self.draw();
    }

    /// Types bytes as a terminal sends them.
    fn types(&mut self, bytes: &str) -> &mut Self {
        let mut decoder = Decoder::new();
        let mut inputs = decoder.feed(bytes.as_bytes());
        inputs.extend(decoder.flush());
        for input in inputs {
            self.message(Message::Input(input));
        }
        self
    }

    fn event(&mut self, event: AgentEvent) -> &mut Self {
        self.message(Message::Agent(event));
        self
    }

    fn text(&mut self, delta: &str) -> &mut Self {
        self.event(AgentEvent::Text { delta: delta.into() })
    }

    fn tool_starts(&mut self, id: &str, brief: &str) -> &mut Self {
        self.event(AgentEvent::ToolStarted {
            id: id.into(),
            name: "terminal".into(),
            brief: brief.into(),
            arguments: json!({}),
        })
    }

    fn ends(&mut self, outcome: Outcome) -> &mut Self {
        self.ends_with(outcome, "", None)
    }

    fn ends_with(&mut self, outcome: Outcome, text: &str, left_over: Option<&str>) -> &mut Self {
        let report = TurnReport {
            session_id: "s1".into(),
            outcome,
            text: text.into(),
            error: None,
            cause: None,
            provider: "p".into(),
            model: "m".into(),
            spending: Spending::default(),
            tool_calls: 0,
            elapsed_ms: 0,
            left_over: left_over.map(str::to_owned),
        };
        self.event(AgentEvent::TurnEnded { report })
    }

    fn asks(&mut self, choices: &[&str]) -> oneshot::Receiver<Reply> {
        let (reply, answer) = oneshot::channel();
        let question = Question {
            subject: "rm -rf build".into(),
            text: "Run this command?".into(),
            choices: Offer::numbered(choices.iter().copied()),
            words: Words::Refusal,
        };
        self.message(Message::Ask(UiRequest { question, reply }));
        answer
    }

    fn later(&mut self, milliseconds: u64) -> &mut Self {
        self.now += Duration::from_millis(milliseconds);
        self.draw();
        self
    }

    fn shown(&self) -> String {
        self.screen.screen().contents()
    }

    fn sent(&self) -> Vec<String> {
        self.calls.lock().unwrap().turns.iter().map(|t| t.text.clone()).collect()
    }

    fn interrupted(&self) -> bool {
        self.calls.lock().unwrap().controls.last().unwrap().is_interrupted()
    }

    fn left(&self) -> bool {
        self.effects.contains(&Effect::Leave)
    }
}

#[test]
fn a_turn_from_question_to_answer() {
    let mut bench = Bench::new();
    bench.types("what is this\r");
    assert_eq!(bench.sent(), ["what is this"]);
    bench.event(AgentEvent::Asking { provider: "p".into(), model: "m".into(), call: 1, of: 9 });
    bench.text("I look at **it**.\nStill wri");
    bench.later(1200);
    insta::assert_snapshot!("streaming", bench.shown());
    bench.text("ting.");
    bench.tool_starts("1", "cargo test");
    bench.event(AgentEvent::ToolOutput { id: "1".into(), text: "running 3 tests\ntest a ... ok\n".into() });
    bench.later(2500);
    insta::assert_snapshot!("tool_running", bench.shown());
    bench.event(AgentEvent::ToolFinished {
        id: "1".into(),
        name: "terminal".into(),
        status: CallStatus::Failed,
        elapsed_ms: 2500,
        result: "error: test b failed".into(),
    });
    bench.event(AgentEvent::Notice { level: Level::Warning, text: "the disk is nearly full".into() });
    bench.text("It is broken.");
    bench.ends(Outcome::Completed);
    insta::assert_snapshot!("answered", bench.shown());
}

#[test]
fn typing_while_it_works_interrupts_queues_or_steers() {
    let mut bench = Bench::new();
    bench.types("first\r").types("second\r");
    assert!(bench.interrupted());
    assert!(bench.shown().contains("next: second"), "{}", bench.shown());
    bench.ends(Outcome::Interrupted);
    assert_eq!(bench.sent(), ["first", "second"]);

    let mut bench = Bench::with(|o| o.busy_input = BusyInput::Queue);
    bench.types("first\r").types("second\r").types("third\r");
    assert!(!bench.interrupted());
    bench.ends(Outcome::Completed);
    bench.ends(Outcome::Completed);
    assert_eq!(bench.sent(), ["first", "second", "third"]);

    let mut bench = Bench::with(|o| o.busy_input = BusyInput::Steer);
    bench.types("first\r").types("mind the tests\r");
    let guidance = bench.calls.lock().unwrap().controls[0].take_guidance();
    assert_eq!(guidance.as_deref(), Some("mind the tests"));
    bench.ends_with(Outcome::Completed, "", Some("mind the tests"));
    assert_eq!(bench.sent(), ["first", "mind the tests"], "what came too late is the next turn");
}

#[test]
fn commands_never_interrupt() {
    let mut bench = Bench::new();
    bench.types("first\r").types("/usage\r").types("/steer to the left\r").types("/queue later\r");
    assert!(!bench.interrupted());
    assert_eq!(bench.calls.lock().unwrap().requests, [Request::Usage]);
    assert_eq!(bench.calls.lock().unwrap().controls[0].take_guidance().as_deref(), Some("to the left"));
    bench.types("/undo\r");
    assert!(bench.shown().contains("works between turns"), "{}", bench.shown());
    bench.ends(Outcome::Completed);
    assert_eq!(bench.sent(), ["first", "later"]);
    bench.types("/stop\r");
    assert!(bench.interrupted());
}

#[test]
fn ctrl_c_clears_then_interrupts_then_leaves() {
    let mut bench = Bench::new();
    bench.types("go\r").types("half a thought\x03");
    assert!(!bench.interrupted());
    assert!(!bench.shown().contains("half a thought"));
    bench.later(5000).types("\x03");
    assert!(bench.interrupted() && !bench.left());
    bench.later(5000).types("\x03");
    assert!(!bench.left(), "too late to count as the second press");
    bench.later(500).types("\x03");
    assert!(bench.left());
}

#[test]
fn an_idle_chat_is_left_by_the_second_press() {
    let mut bench = Bench::new();
    bench.types("go\r").ends(Outcome::Completed).later(200).types("\x03");
    assert!(!bench.left(), "it was meant for the turn");
    assert!(bench.shown().contains("Ctrl-C again leaves"));
    let mut bench = Bench::new();
    bench.types("\x03");
    assert!(!bench.left() && bench.shown().contains("Ctrl-C again leaves"));
    bench.later(5000).types("\x03");
    assert!(!bench.left(), "too late to count as the second press");
    bench.later(500).types("\x03");
    assert!(bench.left());
    let mut bench = Bench::new();
    bench.types("x\x04");
    assert!(!bench.left(), "Ctrl-D only leaves an empty input");
    bench.types("\x7f\x04");
    assert!(bench.left());
}

#[test]
fn what_waited_comes_back_when_the_turn_is_stopped() {
    let mut bench = Bench::with(|o| o.busy_input = BusyInput::Queue);
    bench.types("first\r").types("second\r").types("third\r").types("\x03").ends(Outcome::Interrupted);
    assert_eq!(bench.sent(), ["first"]);
    assert_eq!(bench.chat.editor.text(), "second\nthird");
}

#[test]
fn an_approval_needs_a_choice() {
    let mut bench = Bench::new();
    bench.types("go\r").later(3000);
    let mut answer = bench.asks(&["Once", "Always", "No"]);
    insta::assert_snapshot!("approval", bench.shown());
    bench.types("\r").types("yes\r");
    assert!(answer.try_recv().is_err());
    assert!(bench.shown().contains("no answer"), "{}", bench.shown());
    bench.types("2");
    assert!(answer.try_recv().is_err(), "it is shown first");
    bench.types("\r");
    assert_eq!(answer.try_recv().unwrap(), Reply::Choice(1));
    assert!(bench.shown().contains("→ Always"), "{}", bench.shown());

    let mut answer = bench.asks(&["Once", "No"]);
    bench.types("\x03");
    assert_eq!(answer.try_recv().unwrap(), Reply::Nobody);
    assert!(!bench.interrupted(), "refusing lets the turn go on");
}

#[test]
fn an_approval_does_not_take_keys_that_were_meant_for_the_input() {
    let mut bench = Bench::new();
    bench.types("go\r").later(3000).types("there are ");
    let mut answer = bench.asks(&["Once", "No"]);
    bench.later(100).types("1").later(100).types("0 ways");
    assert!(answer.try_recv().is_err());
    assert_eq!(bench.chat.editor.text(), "there are 10 ways");
    bench.later(1000).types("2\r");
    assert_eq!(answer.try_recv().unwrap(), Reply::Choice(1));
}

#[test]
fn words_at_a_question_refuse_and_are_passed_on() {
    let mut bench = Bench::new();
    bench.types("go\r").later(3000);
    let mut answer = bench.asks(&["Once", "Here", "Always", "No"]);
    bench.types("no, keep 3 files");
    assert!(answer.try_recv().is_err());
    assert!(bench.shown().contains("no, keep 3 files"), "{}", bench.shown());
    bench.types("\r");
    assert_eq!(answer.try_recv().unwrap(), Reply::Text("no, keep 3 files".into()));
    assert!(bench.chat.editor.is_empty() && !bench.interrupted());
}

#[test]
fn a_question_nobody_waits_for_disappears() {
    let mut bench = Bench::new();
    bench.types("go\r").later(3000);
    let answer = bench.asks(&["Once", "No"]);
    assert!(bench.shown().contains("Run this command?"));
    drop(answer);
    bench.ends(Outcome::Interrupted);
    assert!(!bench.shown().contains("Run this command?"), "{}", bench.shown());
}

#[test]
fn long_pastes_are_short_on_the_screen_and_whole_when_sent() {
    let mut bench = Bench::new();
    let long = "a line\n".repeat(30);
    bench.types(&format!("see \x1b[200~{long}\x1b[201~ please\r"));
    assert!(bench.shown().contains("see [pasted #1: 30 lines] please"), "{}", bench.shown());
    assert_eq!(bench.sent(), [format!("see {long} please")]);
}

#[test]
fn pictures_are_attached() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cat.png");
    std::fs::write(&path, "x").unwrap();
    let mut bench = Bench::new();
    bench.types(&format!("\x1b[200~{}\x1b[201~", path.display()));
    assert!(bench.shown().contains("[image: cat.png]"), "{}", bench.shown());
    bench.types("what is it\r");
    assert_eq!(bench.calls.lock().unwrap().turns[0].images, [path]);
    bench.types("/image /nonexistent/dog.png\r");
    assert!(bench.shown().contains("cannot attach"), "{}", bench.shown());
}

#[test]
fn the_menu_completes_commands() {
    let mut bench = Bench::new();
    bench.types("/st");
    insta::assert_snapshot!("menu", bench.shown());
    bench.types("\x1b[B\x1b[B\r");
    assert_eq!(bench.chat.editor.text(), "/steer ");
    bench.types("\x15/unc\t");
    assert_eq!(bench.chat.editor.text(), "/uncompact ");
    bench.types("\x15/mod\x1b");
    assert!(bench.chat.menu.is_none());
}

#[test]
fn lines_continue_and_history_comes_back() {
    let mut bench = Bench::new();
    bench.types("one\\\rtwo\x1b\rthree\nfour\r");
    assert_eq!(bench.sent(), ["one\ntwo\nthree\nfour"]);
    bench.ends(Outcome::Completed);
    bench.types("\x1b[A\x1b[A\x1b[A\x1b[A\x1b[A");
    assert_eq!(bench.chat.editor.text(), "older message");
    bench.types("\x15old");
    assert!(bench.shown().contains("older message"), "the rest is suggested");
    bench.types("\x1b[C");
    assert_eq!(bench.chat.editor.text(), "older message");
    bench.types("\x15\x12mess\r");
    assert_eq!(bench.chat.editor.text(), "older message", "found by Ctrl-R");
}

#[test]
fn declining_never_leaves() {
    let mut bench = Bench::new();
    bench.types("/quit --delete\r").later(1000).types("0\r");
    assert!(!bench.left());
    assert!(bench.calls.lock().unwrap().requests.is_empty());
    bench.later(1000).types("/quit --delete\r").later(1000).types("1\r");
    assert!(bench.left());
    assert_eq!(bench.calls.lock().unwrap().requests, [Request::Discard]);

    let mut bench = Bench::new();
    let outcome = CommandOutcome::Confirm {
        question: "Take back 5?".into(),
        then: Box::new(Request::Undo { turns: 5 }),
    };
    bench.calls.lock().unwrap().outcome = Some(outcome);
    bench.types("/undo 5\r").later(1000).types("\x1b");
    assert!(!bench.left());
    assert_eq!(bench.calls.lock().unwrap().requests.len(), 1);
}

#[test]
fn choices_come_back_as_requests() {
    let mut bench = Bench::new();
    let choice = |name: &str| Choice {
        label: name.into(),
        detail: "a model".into(),
        request: Request::Model { wanted: Some(name.into()) },
    };
    let choices = ["small", "large"].map(choice).to_vec();
    bench.calls.lock().unwrap().outcome = Some(CommandOutcome::Choose { title: "Model".into(), choices });
    bench.types("/model\r");
    assert!(bench.shown().contains("❯ small"), "{}", bench.shown());
    bench.types("\x1b[B\r");
    assert_eq!(bench.calls.lock().unwrap().requests[1], Request::Model { wanted: Some("large".into()) });
}

#[test]
fn the_board_is_asked_by_the_program_itself() {
    let mut bench = Bench::new();
    bench
        .types("/kanban\r")
        .types("/kanban create \"a; b\" --assignee x\r")
        .types("/kanban --board web tail t_1\r");
    bench.types("/kanban comment it's\r");
    let own: Vec<String> = bench
        .effects
        .iter()
        .filter_map(|effect| if let Effect::RunOwn(words) = effect { Some(words.join("|")) } else { None })
        .collect();
    assert_eq!(own, ["kanban|--help", "kanban|create|a; b|--assignee|x"]);
    assert!(
        bench.shown().contains("terminal of its own") && bench.shown().contains("Usage"),
        "{}",
        bench.shown()
    );
}

#[test]
fn shortcuts_run_and_do_not_loop() {
    let quick = |name: &str, action| QuickCommand { name: name.into(), action };
    let quicks = vec![
        quick("gs", QuickAction::Run("git status".into())),
        quick("u", QuickAction::Alias("/usage".into())),
        quick("hi", QuickAction::Alias("say hello to".into())),
        quick("loop", QuickAction::Alias("/loop".into())),
    ];
    let mut bench = Bench::with(|o| o.commands = Commands::new(Vec::new(), quicks));
    bench.types("/gs\r").types("/u\r").types("/loop\r").types("/hi me\r");
    assert!(bench.effects.contains(&Effect::RunQuick { name: "gs".into(), command: "git status".into() }));
    assert_eq!(bench.calls.lock().unwrap().requests, [Request::Usage]);
    assert!(bench.shown().contains("leads back to itself"));
    assert_eq!(bench.sent(), ["say hello to me"]);
}

#[test]
fn an_answer_that_did_not_stream_is_shown_once() {
    let mut bench = Bench::new();
    bench.types("go\r").ends_with(Outcome::Completed, "The answer.", None);
    assert_eq!(bench.shown().matches("The answer.").count(), 1);
    bench.types("again\r").text("Another one.").ends_with(Outcome::Completed, "Another one.", None);
    assert_eq!(bench.shown().matches("Another one.").count(), 1);
    bench.types("/copy\r").types("/copy 2\r");
    let copied: Vec<_> = bench.effects.iter().filter(|e| matches!(e, Effect::Copy(_))).cloned().collect();
    assert_eq!(copied, [Effect::Copy("Another one.".into()), Effect::Copy("The answer.".into())]);
}

#[test]
fn an_answer_that_broke_off_begins_again() {
    let mut bench = Bench::new();
    bench.types("go\r").text("Half an ans");
    bench.event(AgentEvent::StartOver).text("A whole answer.").ends(Outcome::Completed);
    assert!(bench.shown().contains("A whole answer.") && !bench.shown().contains("Half an ans"));
}

#[test]
fn hostile_output_cannot_steer_the_terminal() {
    let mut bench = Bench::new();
    bench.types("go\r").text("\x1b[2J\x1b]0;owned\x07safe\x1b[31m text\n").ends(Outcome::Completed);
    bench.tool_starts("\x1b[2J", "ls \x1b[8mhidden");
    assert!(bench.shown().contains("safe text") && bench.shown().contains("ls hidden"), "{}", bench.shown());
}

#[test]
fn no_screen_is_too_small() {
    for (columns, rows) in [(20, 5), (8, 3), (2, 2), (1, 1), (200, 60)] {
        let mut bench = Bench::sized(columns, rows, |_| {});
        bench.types("/").types("\t\x1b\x7f");
        bench.types("a long message with 日本語 that has to be wrapped\r");
        bench.text("| a | b |\n|---|---|\n| 日本 | `x` |\n\n- item\n");
        bench.tool_starts("1", "a command that is far too long for this screen").later(12_000);
        bench.asks(&["Once", "No"]);
        bench.later(1000).types("\x1b");
        bench.asks(&[]);
        bench.later(1000).types("free\r").types("/help\r").ends(Outcome::Completed);
        bench.types("\x12x\x1b");
    }
}

#[test]
fn a_smaller_window_keeps_the_frame_whole() {
    let mut bench = Bench::sized(60, 16, |_| {});
    bench.types("go\r").text("Some words.\n");
    let size = Size { columns: 30, rows: 10 };
    let mut out = Vec::new();
    bench.screen.screen_mut().set_size(10, 30);
    bench.painter.resize(size, &mut out).unwrap();
    bench.screen.process(&out);
    bench.chat.resize(size);
    bench.draw();
    for row in bench.screen.screen().rows(0, 30).collect::<Vec<_>>() {
        assert!(row.chars().count() <= 30);
    }
    assert!(bench.shown().contains("test-model"), "{}", bench.shown());
}

#[test]
fn a_terminal_without_keys_answers_in_lines() {
    let mut bench = Bench::new();
    bench.chat.abilities.kind = TerminalKind::Lines;
    bench.message(Message::Line("hello".into()));
    assert_eq!(bench.sent(), ["hello"]);
    let mut answer = bench.asks(&["Once", "No"]);
    let lines = bench.shown();
    assert!(lines.contains("1. Once"), "{lines}");
    bench.message(Message::Line("1".into()));
    assert_eq!(answer.try_recv().unwrap(), Reply::Choice(0));
    bench.message(Message::Signal(Signal::Interrupt));
    assert!(bench.interrupted());
}

#[test]
fn keys_that_mean_nothing_do_nothing() {
    let mut bench = Bench::new();
    for code in [KeyCode::Other, KeyCode::PageUp, KeyCode::Esc, KeyCode::BackTab] {
        bench.message(Message::Input(Input::Key(Key::plain(code))));
    }
    bench.types("\x1b[15~\x1b[I");
    assert_eq!(bench.chat.editor.text(), "");
}

#[test]
fn what_ends_in_the_background_gets_a_turn_when_nothing_else_runs() {
    let mut bench = Bench::new();
    let ended = || {
        let report = TurnReport::without_answer("s1", Outcome::Completed, None);
        Message::Agent(AgentEvent::TurnEnded { report })
    };
    bench.message(Message::News);
    assert!(!bench.chat.is_busy(), "there is nothing to take up");
    bench.types("hello\r");
    bench.calls.lock().unwrap().news = 1;
    bench.message(Message::News);
    assert_eq!(bench.calls.lock().unwrap().news, 1, "the turn that runs comes first");
    bench.message(ended());
    assert!(bench.chat.is_busy(), "then it is taken up");
    let (news, turns) = {
        let calls = bench.calls.lock().unwrap();
        (calls.news, calls.turns.len())
    };
    assert_eq!((news, turns), (0, 1), "nobody sent anything for it");
    bench.message(ended());
    assert!(!bench.chat.is_busy());
}
