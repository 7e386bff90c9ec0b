//! A turn as plain lines: what the agent does on one line each, its words as they come. For `chat -q` and the demo.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{IsTerminal as _, Write};

use hermes_agent::{AgentEvent, CallStatus, Level};
use hermes_guard::{Policy, Redactor, complete_prefix};

use crate::ui;

/// Whether lines may hold colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// They may.
    Colours,
    /// Plain text.
    Plain,
}

/// How much of a tool's output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One line for each call.
    Brief,
    /// The first lines of what commands print, too.
    Output,
}

/// Words without an end are not held back for ever.
const LONGEST_HELD: usize = 16 * 1024;
/// Lines of output that are shown of one call.
const MOST_LINES: usize = 12;

/// Writes events as lines. What the agent does goes to one writer, its words to another.
pub struct Plain<'a> {
    doing: Box<dyn Write + Send + 'a>,
    saying: Box<dyn Write + Send + 'a>,
    paint: Paint,
    detail: Detail,
    /// The tools of calls that run.
    running: HashMap<String, String>,
    /// Masks secrets in what is shown.
    redactor: Option<Redactor>,
    /// Words that wait for the end of their line: a key comes in pieces.
    pending: String,
    /// Whether words stand on the line that was begun last.
    mid_line: bool,
    /// Whether everything that was said could be written so far.
    said: std::io::Result<()>,
}

impl<'a> Plain<'a> {
    /// Writes what is done to `doing` and what is said to `saying`.
    pub fn new(
        doing: impl Write + Send + 'a,
        saying: impl Write + Send + 'a,
        paint: Paint,
        detail: Detail,
    ) -> Self {
        Self {
            doing: Box::new(doing),
            saying: Box::new(saying),
            paint,
            detail,
            running: HashMap::new(),
            redactor: None,
            pending: String::new(),
            mid_line: false,
            said: Ok(()),
        }
    }

    /// The same without secrets. Words are shown a line at a time then.
    #[must_use]
    pub fn masking(self, redactor: Redactor) -> Self {
        Self { redactor: Some(redactor), ..self }
    }

    /// Shows one event. A reader that left is no reason to end the turn.
    pub fn event(&mut self, event: &AgentEvent) {
        let _ = self.show(event);
    }

    /// Ends the line that was begun.
    pub fn end_line(&mut self) {
        let rest = std::mem::take(&mut self.pending);
        self.say_masked(&rest);
        if std::mem::take(&mut self.mid_line) {
            self.say("\n");
        }
    }

    /// Whether everything that was said could be written.
    pub fn said(self) -> std::io::Result<()> {
        self.said
    }

    fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.as_ref().map_or(Cow::Borrowed(text), |redactor| redactor.redact(text, Policy::Log))
    }

    fn say_masked(&mut self, text: &str) {
        if !text.is_empty() {
            let text = self.masked(text).into_owned();
            self.say(&text);
            self.mid_line = !text.ends_with('\n');
        }
    }

    fn say(&mut self, text: &str) {
        if self.said.is_ok() {
            let text = for_stdout(text);
            self.said = self.saying.write_all(text.as_bytes()).and_then(|()| self.saying.flush());
        }
    }

    fn show(&mut self, event: &AgentEvent) -> std::io::Result<()> {
        match event {
            AgentEvent::Text { delta } => {
                self.pending.push_str(delta);
                let ready = match &self.redactor {
                    Some(_) if self.pending.len() < LONGEST_HELD => complete_prefix(&self.pending),
                    _ => self.pending.len(),
                };
                let rest = self.pending.split_off(ready);
                let text = std::mem::replace(&mut self.pending, rest);
                self.say_masked(&text);
                Ok(())
            }
            AgentEvent::ToolStarted { id, name, brief, .. } => {
                self.running.insert(id.clone(), name.clone());
                let line = ui::harmless(&first_line(&self.masked(brief), 100));
                let name = self.colour("36", name);
                self.line(&format!("  {name} {line}"))
            }
            AgentEvent::ToolOutput { id, text }
                if self.running.get(id).is_some_and(|name| name == hermes_agent::delegation::NAME) =>
            {
                text.lines().try_for_each(|line| {
                    let line = self.colour("2", &format!("    {}", ui::harmless(line)));
                    self.line(&line)
                })
            }
            AgentEvent::ToolFinished { id, status, elapsed_ms, result, .. } => {
                self.running.remove(id);
                self.finished(*status, *elapsed_ms, result)
            }
            AgentEvent::Waiting { reason, seconds } => {
                self.line(&format!("  {} again in {seconds:.0} s: {reason}", self.colour("33", "waiting")))
            }
            AgentEvent::Switched { reason, provider, model } => self.line(&format!(
                "  {} '{model}' at {provider} takes over: {reason}",
                self.colour("33", "switched")
            )),
            AgentEvent::Compacted { before, after, messages } => {
                self.line(&format!("  {messages} messages summarised: {before} tokens became {after}"))
            }
            AgentEvent::Notice { level: Level::Warning, text } => {
                self.line(&format!("  {} {}", self.colour("33", "warning:"), ui::harmless(text)))
            }
            AgentEvent::Notice { level: Level::Info, text } => {
                self.line(&format!("  {}", ui::harmless(text)))
            }
            AgentEvent::TurnEnded { .. } => {
                self.end_line();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn finished(&mut self, status: CallStatus, elapsed_ms: u64, result: &str) -> std::io::Result<()> {
        if self.detail == Detail::Output {
            let printed = self.masked(&printed(result)).into_owned();
            let lines: Vec<&str> = printed.lines().collect();
            for line in lines.iter().take(MOST_LINES) {
                let line = self.colour("2", &format!("    {}", ui::harmless(line)));
                self.line(&line)?;
            }
            if lines.len() > MOST_LINES {
                let more = format!("    … {} more lines", lines.len() - MOST_LINES);
                self.line(&self.colour("2", &more))?;
            }
        }
        let (colour, word) = match status {
            CallStatus::Ok => ("32", "ok"),
            CallStatus::Failed => ("31", "failed"),
            CallStatus::Cancelled => ("33", "cancelled"),
        };
        let word = self.colour(colour, word);
        self.line(&format!("    {word} {}", self.colour("2", &took(elapsed_ms))))
    }

    fn line(&mut self, text: &str) -> std::io::Result<()> {
        self.end_line();
        writeln!(self.doing, "{text}")?;
        self.doing.flush()
    }

    fn colour(&self, code: &str, text: &str) -> String {
        match self.paint {
            Paint::Colours => format!("\x1b[{code}m{text}\x1b[0m"),
            Paint::Plain => text.to_owned(),
        }
    }
}

/// What the model says, for standard output: as it is for a program, harmless for a terminal.
pub fn for_stdout(text: &str) -> Cow<'_, str> {
    if std::io::stdout().is_terminal() { Cow::Owned(ui::harmless(text)) } else { Cow::Borrowed(text) }
}

/// What a command printed, out of a result that is JSON; any other result as it is.
fn printed(result: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(result).unwrap_or_default();
    let error = value["error"].as_str().map(|error| format!("error: {error}"));
    match (value["output"].as_str(), error) {
        (Some(output), None) => output.trim_end().to_owned(),
        (Some(output), Some(error)) => format!("{}\n{error}", output.trim_end()).trim_start().to_owned(),
        (None, Some(error)) => error,
        (None, None) => result.to_owned(),
    }
}

fn first_line(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(most).collect();
    if cut.len() < text.trim_end().len() { format!("{cut} …") } else { cut }
}

fn took(milliseconds: u64) -> String {
    if milliseconds < 1000 {
        format!("{milliseconds} ms")
    } else {
        format!("{:.1} s", milliseconds as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn shown(detail: Detail, events: &[AgentEvent]) -> String {
        let screen = Screen::default();
        let mut plain = Plain::new(screen.clone(), screen.clone(), Paint::Plain, detail);
        for event in events {
            plain.event(event);
        }
        plain.end_line();
        let bytes = screen.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn events() -> Vec<AgentEvent> {
        let text = |delta: &str| AgentEvent::Text { delta: delta.into() };
        vec![
            text("I look"),
            text(" first."),
            AgentEvent::ToolStarted {
                id: "1".into(),
                name: "terminal".into(),
                brief: "cat <<E\nx\nE".into(),
                arguments: serde_json::Value::Null,
            },
            AgentEvent::ToolFinished {
                id: "1".into(),
                name: "terminal".into(),
                status: CallStatus::Ok,
                elapsed_ms: 4,
                result: "{\"output\":\"a\\nb\",\"exit_code\":0,\"error\":null}".into(),
            },
            text("Done."),
        ]
    }

    #[test]
    fn calls_stand_on_lines_of_their_own() {
        assert_eq!(
            shown(Detail::Brief, &events()),
            "I look first.\n  terminal cat <<E …\n    ok 4 ms\nDone.\n"
        );
    }

    #[test]
    fn keys_do_not_show_however_they_come() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let text = |delta: &str| AgentEvent::Text { delta: delta.into() };
        let screen = Screen::default();
        let mut plain = Plain::new(screen.clone(), screen.clone(), Paint::Plain, Detail::Brief)
            .masking(Redactor::new([]));
        let brief = format!("git push https://{key}@github.com/a/b");
        let started = AgentEvent::ToolStarted {
            id: "1".into(),
            name: "terminal".into(),
            brief,
            arguments: serde_json::Value::Null,
        };
        for event in
            [text("The token is "), text(&key[..9]), text(&key[9..]), text(".\nNext"), started, text("ok")]
        {
            plain.event(&event);
        }
        plain.end_line();
        let shown = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
        assert!(!shown.contains(&key[..12]), "{shown}");
        assert!(shown.starts_with("The token is ghp_a1...a1B2.\nNext\n  terminal git push"), "{shown}");
        assert!(shown.ends_with("ok\n"), "{shown}");
    }

    #[test]
    fn what_commands_print_can_be_shown() {
        let text = shown(Detail::Output, &events());
        assert!(text.contains("    a\n    b\n    ok 4 ms\n"), "{text}");
    }
}
