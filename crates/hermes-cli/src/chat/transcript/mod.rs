//! What happens, as lines: finished ones are printed once and stay; what still runs is in the live lines.

mod printer;
mod thoughts;
mod tools;

use std::time::{Duration, Instant};

use hermes_agent::event::Level;
use hermes_agent::{AgentEvent, Outcome, TurnReport};

use self::printer::{Kind, Printer};
use self::thoughts::Thoughts;
use self::tools::RunningTool;
use super::figures;
use super::markdown::Markdown;
use super::options::{Glyphs, Reasoning, ToolDetail};
use super::text::{Color, Line, Style, cut, wrap};

/// How many running tools are shown at once.
const TOOLS_SHOWN: usize = 6;

/// The lines of a chat.
#[derive(Debug)]
pub struct Transcript {
    /// How thoughts are shown.
    pub reasoning: Reasoning,
    /// How much of tools' output is shown.
    pub detail: ToolDetail,
    glyphs: Glyphs,
    width: usize,
    printer: Printer,
    answer: Option<Markdown>,
    thoughts: Option<Thoughts>,
    tools: Vec<RunningTool>,
    activity: Activity,
    /// Whether the current model call has shown words of an answer.
    said: Said,
}

#[derive(Debug, Clone, PartialEq)]
enum Activity {
    Idle,
    Working(&'static str),
    WritingCall(String),
    Waiting { reason: String, until: Instant },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Nothing,
    Something,
}

impl Transcript {
    /// An empty one.
    pub fn new(width: usize, glyphs: Glyphs, reasoning: Reasoning, detail: ToolDetail) -> Self {
        Self {
            reasoning,
            detail,
            glyphs,
            width,
            printer: Printer::default(),
            answer: None,
            thoughts: None,
            tools: Vec::new(),
            activity: Activity::Idle,
            said: Said::Nothing,
        }
    }

    /// The screen has another width now.
    pub fn resize(&mut self, width: usize) {
        self.width = width;
        if let Some(answer) = &mut self.answer {
            answer.resize(width);
        }
    }

    /// The lines that were finished since the last time.
    pub fn take_printed(&mut self) -> Vec<Line> {
        self.printer.take()
    }

    /// Shows what the user sent.
    pub fn user(&mut self, text: &str, images: &[String]) {
        self.close();
        let style = Style::color(Color::Cyan).bold();
        let mut lines = Vec::new();
        for (i, line) in text.trim_end().lines().enumerate() {
            let mark = if i == 0 { self.glyphs.prompt() } else { " " };
            let line = Line::styled(mark, style).with(" ", Style::PLAIN).with(line, Style::STRONG);
            lines.extend(wrap(&line, self.width, &Line::plain("  ")));
        }
        for image in images {
            lines.push(Line::styled(&format!("  [image: {image}]"), Style::FAINT));
        }
        self.printer.print(Kind::User, lines);
    }

    /// Shows text of the program itself.
    pub fn say(&mut self, markdown: &str) {
        let lines = Markdown::render(markdown, self.width);
        self.printer.print(Kind::Notice, lines);
    }

    /// Shows an answer of the past.
    pub fn answered(&mut self, markdown: &str) {
        let lines = Markdown::render(markdown, self.width);
        self.printer.print(Kind::Answer, lines);
    }

    /// Shows lines as they are.
    pub fn show(&mut self, lines: Vec<Line>) {
        self.printer.print(Kind::Notice, lines);
    }

    /// Shows that something failed.
    pub fn fail(&mut self, text: &str) {
        self.marked(self.glyphs.failed(), text, Style::color(Color::Red));
    }

    /// Shows a remark.
    pub fn remark(&mut self, text: &str) {
        self.marked(self.glyphs.dot(), text, Style::FAINT);
    }

    fn warn(&mut self, text: &str) {
        self.marked("!", text, Style::color(Color::Yellow));
    }

    fn marked(&mut self, mark: &str, text: &str, style: Style) {
        let mut lines = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line =
                Line::styled(if i == 0 { mark } else { " " }, style).with(" ", style).with(line, style);
            lines.extend(wrap(&line, self.width, &Line::plain("  ")));
        }
        self.printer.print(Kind::Notice, lines);
    }

    /// Something begins, before its first event.
    pub fn begin(&mut self) {
        self.activity = Activity::Working("Thinking");
    }

    /// Takes in what happened.
    pub fn event(&mut self, event: AgentEvent, now: Instant) {
        match event {
            AgentEvent::TurnStarted { .. } => self.activity = Activity::Working("Thinking"),
            AgentEvent::Asking { .. } => {
                self.close();
                self.said = Said::Nothing;
                self.activity = Activity::Working("Thinking");
            }
            AgentEvent::Text { delta } => self.text(&delta),
            AgentEvent::Reasoning { delta } => {
                self.thoughts.get_or_insert_default().push(&delta);
            }
            AgentEvent::StartOver => self.start_over(),
            AgentEvent::WritingCall { name } => {
                self.close_answer();
                self.activity = Activity::WritingCall(name);
            }
            AgentEvent::ToolStarted { id, name, brief, .. } => {
                self.close();
                self.activity = Activity::Working("Working");
                self.tools.push(RunningTool::new(id, name, brief, now));
            }
            AgentEvent::ToolOutput { id, text } => {
                if let Some(tool) = self.tools.iter_mut().find(|t| t.id == id) {
                    tool.output(&text);
                }
            }
            AgentEvent::ToolFinished { id, name, status, elapsed_ms, result } => {
                let tool = self.take_tool(&id, name, now);
                let elapsed = Duration::from_millis(elapsed_ms);
                let lines = tool.finished(status, elapsed, &result, self.detail, self.glyphs, self.width);
                self.printer.print(Kind::Tool, lines);
            }
            AgentEvent::TurnEnded { report } => self.ended(&report),
            other => self.aside(other, now),
        }
    }

    /// What happens between the words and the tools.
    fn aside(&mut self, event: AgentEvent, now: Instant) {
        match event {
            AgentEvent::Waiting { reason, seconds } => {
                let pause = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                self.activity = Activity::Waiting { reason, until: now + pause };
            }
            AgentEvent::Switched { reason, provider, model } => {
                self.close();
                self.warn(&format!("{reason}: now asking {model} ({provider})"));
            }
            AgentEvent::Compacting { .. } => {
                self.close();
                self.activity = Activity::Working("Making the conversation shorter");
            }
            AgentEvent::Compacted { before, after, messages } => self.remark(&format!(
                "made shorter: {} to {} tokens, a summary stands for {messages} messages (/uncompact takes it back)",
                figures::tokens(before),
                figures::tokens(after)
            )),
            AgentEvent::Steered { text } => self.remark(&format!("passed on: {text}")),
            AgentEvent::Notice { level: Level::Info, text } => self.remark(&text),
            AgentEvent::Notice { level: Level::Warning, text } => self.warn(&text),
            // Usage belongs to the status line.
            _ => {}
        }
    }

    fn text(&mut self, delta: &str) {
        self.close_thoughts();
        self.activity = Activity::Working("Answering");
        self.said = Said::Something;
        let width = self.width;
        let lines = self.answer.get_or_insert_with(|| Markdown::new(width)).push(delta);
        self.printer.print(Kind::Answer, lines);
    }

    fn start_over(&mut self) {
        self.thoughts = None;
        self.answer = None;
        if self.said == Said::Something {
            self.warn("the answer broke off; it begins again");
        }
        self.said = Said::Nothing;
        self.activity = Activity::Working("Thinking");
    }

    fn take_tool(&mut self, id: &str, name: String, now: Instant) -> RunningTool {
        match self.tools.iter().position(|t| t.id == id) {
            Some(at) => self.tools.remove(at),
            None => RunningTool::new(id.to_owned(), name, String::new(), now),
        }
    }

    fn ended(&mut self, report: &TurnReport) {
        self.close();
        self.tools.clear();
        self.activity = Activity::Idle;
        if self.said == Said::Nothing && !report.text.trim().is_empty() {
            self.answered(&report.text);
        }
        self.said = Said::Nothing;
        let error = report.error.as_deref();
        match report.outcome {
            Outcome::Completed => {}
            Outcome::Interrupted => self.marked(self.glyphs.cancelled(), "interrupted", Style::FAINT),
            Outcome::Failed => self.fail(error.unwrap_or("the turn failed")),
            Outcome::Partial => self.warn(error.unwrap_or("the answer is not complete")),
            Outcome::OutOfCalls => {
                self.warn(error.unwrap_or("the limit of model calls for a turn is reached"));
            }
            Outcome::OutOfBudget => self.fail(error.unwrap_or("the budget is used up")),
        }
    }

    /// Nothing more comes for what is being shown.
    fn close(&mut self) {
        self.close_thoughts();
        self.close_answer();
    }

    fn close_answer(&mut self) {
        if let Some(mut answer) = self.answer.take() {
            let lines = answer.finish();
            self.printer.print(Kind::Answer, lines);
        }
    }

    fn close_thoughts(&mut self) {
        if let Some(thoughts) = self.thoughts.take() {
            let lines = thoughts.finished(self.reasoning, self.width);
            self.printer.print(Kind::Thought, lines);
        }
    }

    /// The lines that still change, at most about `rows` of them. `turn` is how long the turn runs; without it
    /// somebody else has the user's attention and nothing says that it works.
    pub fn live(&self, now: Instant, turn: Option<Duration>, rows: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(thoughts) = self.thoughts.as_ref().filter(|_| self.reasoning != Reasoning::Hidden) {
            lines.extend(thoughts.tail(self.width));
        }
        if let Some(answer) = &self.answer {
            lines.extend(answer.tail());
        }
        for tool in self.tools.iter().take(TOOLS_SHOWN) {
            lines.extend(tool.live(now, self.detail, self.glyphs, self.width));
        }
        if self.tools.len() > TOOLS_SHOWN {
            let more = self.tools.len() - TOOLS_SHOWN;
            lines.push(Line::styled(&format!("  and {more} more"), Style::FAINT));
        }
        // The newest matter most when not everything fits.
        let room = rows.saturating_sub(2);
        let hidden = lines.len().saturating_sub(room);
        let mut shown = lines.split_off(hidden);
        if !shown.is_empty() && self.printer.wants_gap(self.live_kind()) {
            shown.insert(0, Line::new());
        }
        if let Some(working) = turn.and_then(|turn| self.working(now, turn)) {
            shown.push(Line::new());
            shown.push(cut(&working, self.width));
        }
        shown
    }

    fn live_kind(&self) -> Kind {
        if self.answer.is_some() {
            Kind::Answer
        } else if self.thoughts.is_some() {
            Kind::Thought
        } else {
            Kind::Tool
        }
    }

    fn working(&self, now: Instant, turn: Duration) -> Option<Line> {
        let text = match &self.activity {
            Activity::Idle => return None,
            Activity::Working(what) => (*what).to_owned(),
            Activity::WritingCall(name) => format!("Preparing {name}"),
            Activity::Waiting { reason, until } => {
                let left = until.saturating_duration_since(now).as_secs_f64().ceil();
                format!("{reason}; again in {left:.0}s")
            }
        };
        let spinner = self.glyphs.spinner(turn.as_millis());
        let mut line = Line::styled(spinner, Style::color(Color::Cyan)).with(" ", Style::PLAIN);
        line.push(&text, Style::PLAIN);
        let (time, dot) = (figures::clock(turn), self.glyphs.dot());
        line.push(&format!(" {time} {dot} Ctrl-C interrupts"), Style::FAINT);
        Some(line)
    }
}
