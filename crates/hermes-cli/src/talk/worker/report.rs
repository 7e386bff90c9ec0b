//! Says on the board how an attempt goes: what it took, what was said last, in which conversation. On a thread of its own,
//! so that a board that is slow never holds the work up; and seldom, so that the board is not kept busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hermes_agent::{AgentEvent, Control, Spending};
use hermes_board::card::Outcome;
use hermes_board::workers::{Progress, Usage};
use hermes_board::{Board, BoardError, CardId, RunId};
use hermes_guard::{Policy, Redactor};

/// Time between two reports.
const EVERY: Duration = Duration::from_secs(3);
/// Most characters of what was said last.
const LINE: usize = 200;

/// See the module.
pub struct Reporter {
    to: Option<Sender<Progress>>,
    thread: Option<JoinHandle<()>>,
    lost: Arc<AtomicBool>,
    redactor: Redactor,
    session: Option<String>,
    /// What earlier turns took.
    before: Spending,
    /// What side work took.
    side: Spending,
    turn: Spending,
    said: String,
    line: Option<String>,
}

impl Reporter {
    /// Reports from now on. When the card is taken away from the attempt, `control` is interrupted.
    pub fn start(board: Board, card: CardId, run: RunId, control: Control, redactor: Redactor) -> Self {
        let (to, from) = mpsc::channel();
        let lost = Arc::new(AtomicBool::new(false));
        let mut desk = Desk { board, card, run, control, lost: Arc::clone(&lost) };
        let thread = std::thread::Builder::new()
            .name("board".to_owned())
            .spawn(move || desk.listen(&from))
            .inspect_err(|error| tracing::warn!(%error, "the board is not told how it goes"))
            .ok();
        Self {
            to: Some(to),
            thread,
            lost,
            redactor,
            session: None,
            before: Spending::default(),
            side: Spending::default(),
            turn: Spending::default(),
            said: String::new(),
            line: None,
        }
    }

    /// Hears what happens.
    pub fn event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::TurnStarted { session_id } => self.session = Some(session_id.clone()),
            AgentEvent::Text { delta } => {
                self.said.push_str(delta);
                self.line = last_line(&self.said);
                // Only the last line is wanted.
                if let Some(end) = self.said.rfind('\n').filter(|_| self.said.len() > 4 * LINE) {
                    self.said.drain(..end);
                }
            }
            AgentEvent::StartOver => self.said.clear(),
            AgentEvent::ToolStarted { name, brief, .. } => {
                self.said.clear();
                self.line = Some(format!("{name} {brief}"));
            }
            AgentEvent::Usage { turn, .. } => self.turn = *turn,
            AgentEvent::TurnEnded { report } => {
                self.before = self.before + report.spending;
                self.turn = Spending::default();
            }
            AgentEvent::ToolFinished { .. } | AgentEvent::ToolOutput { .. } => {}
            _ => return,
        }
        self.tell();
    }

    /// What side work took in all.
    pub fn side(&mut self, spent: Spending) {
        self.side = spent;
        self.tell();
    }

    /// What was used up so far.
    pub fn usage(&self) -> Usage {
        let spent = self.before + self.turn + self.side;
        let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        Usage {
            input_tokens: count(spent.input + spent.cache_read + spent.cache_write),
            output_tokens: count(spent.output),
            cost_usd: spent.micro_dollars as f64 / 1e6,
        }
    }

    /// Whether the card was taken away from the attempt.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    fn tell(&self) {
        let Some(to) = &self.to else { return };
        let line = self.line.as_deref().map(|line| self.redactor.redact(line, Policy::Log));
        let line = line.map(|line| line.chars().take(LINE).collect());
        let progress =
            Progress { usage: Some(self.usage()), last_line: line, session_id: self.session.clone() };
        // Nobody listens when the thread could not be started.
        let _ = to.send(progress);
    }

    /// Says the last of it, and waits until it is written.
    pub fn finish(&mut self) {
        self.tell();
        self.to = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn last_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
}

/// The other side: writes.
struct Desk {
    board: Board,
    card: CardId,
    run: RunId,
    control: Control,
    lost: Arc<AtomicBool>,
}

impl Desk {
    fn listen(&mut self, from: &mpsc::Receiver<Progress>) {
        let mut newest: Option<Progress> = None;
        let mut due = Instant::now();
        loop {
            let wait = due.saturating_duration_since(Instant::now());
            match from.recv_timeout(wait) {
                Ok(progress) => {
                    newest = Some(progress);
                    if Instant::now() < due {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.write(newest.take());
                    return;
                }
            }
            self.write(newest.take());
            self.look();
            due = Instant::now() + EVERY;
        }
    }

    fn write(&mut self, progress: Option<Progress>) {
        let Some(progress) = progress else { return };
        let now = jiff::Timestamp::now().as_second();
        if let Err(error) = self.board.progress(self.run, &progress, now) {
            tracing::warn!(%error, "the board was not told how it goes");
        }
    }

    /// A card that somebody took away is not worked on any more.
    fn look(&mut self) {
        match self.is_ours() {
            Ok(true) => {}
            Ok(false) => {
                self.lost.store(true, Ordering::SeqCst);
                self.control.interrupt();
            }
            Err(error) => tracing::warn!(%error, "the board cannot be read"),
        }
    }

    /// What the worker closed itself is its own until it is done speaking.
    fn is_ours(&mut self) -> Result<bool, BoardError> {
        if self.board.card(&self.card)?.current_run == Some(self.run) {
            return Ok(true);
        }
        let attempts = self.board.details(&self.card)?.attempts;
        let own = attempts.iter().find(|attempt| attempt.id == self.run).and_then(|attempt| attempt.outcome);
        Ok(matches!(own, Some(Outcome::Completed | Outcome::Blocked)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_last_that_says_something() {
        assert_eq!(last_line("one\n two \n\n").as_deref(), Some("two"));
        assert_eq!(last_line(" \n"), None);
    }
}
