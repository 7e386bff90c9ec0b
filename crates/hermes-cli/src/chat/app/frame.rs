//! The live area: what runs, what waits, the input or a panel, the status line.

use std::time::Instant;

use super::Chat;
use super::questions::Panel;
use super::send::image_name;
use crate::chat::live::Frame;
use crate::chat::options::BusyInput;
use crate::chat::slash::Switch;
use crate::chat::status_line::{self, Clock};
use crate::chat::text::{Color, Line, Style, cells, cut, fit};

/// Waiting messages that are shown.
const QUEUED_SHOWN: usize = 3;

/// The frame for the chat as it is. The input and the status line have priority over what runs.
pub(super) fn render(chat: &Chat, now: Instant) -> Frame {
    let (width, rows) = (chat.size.columns.max(2), chat.size.rows.max(2) - 1);
    let mut bottom = Frame::default();
    waiting(chat, width, &mut bottom);
    if bottom.lines.len() + 3 > rows {
        bottom.lines.clear();
    }
    match &chat.panel {
        Some(panel) => add_panel(chat, panel, width, &mut bottom),
        None => add_input(chat, width, rows, &mut bottom),
    }
    if let Some(hint) = chat.hint {
        bottom.lines.push(cut(&Line::styled(&format!("  {hint}"), Style::color(Color::Yellow)), width));
    }
    if chat.status_bar == Switch::On && rows > 3 {
        bottom.lines.push(status(chat, now, width));
    }
    limit(&mut bottom, rows);
    let works = chat.turn.as_ref().filter(|_| !matches!(chat.panel, Some(Panel::Question(..))));
    let turn = works.map(|t| now.saturating_duration_since(t.since));
    let room = rows - bottom.lines.len();
    let mut above = chat.transcript.live(now, turn, room.saturating_sub(1));
    above.truncate(room.saturating_sub(1));
    // An empty line keeps the input apart from what is above.
    if room > 0 {
        above.push(Line::new());
    }
    let offset = above.len();
    above.append(&mut bottom.lines);
    Frame { lines: above, cursor: bottom.cursor.map(|(row, column)| (row + offset, column)) }
}

/// Keeps the last rows when there are more than fit.
fn limit(frame: &mut Frame, rows: usize) {
    let over = frame.lines.len().saturating_sub(rows);
    frame.lines.drain(..over);
    frame.cursor = frame.cursor.and_then(|(row, column)| Some((row.checked_sub(over)?, column)));
}

fn waiting(chat: &Chat, width: usize, frame: &mut Frame) {
    let mark = chat.abilities.glyphs.queued();
    for queued in chat.queue.iter().take(QUEUED_SHOWN) {
        let first = queued.shown.lines().next().unwrap_or_default();
        let line = Line::styled(&format!("{mark} next: "), Style::FAINT).with(first, Style::FAINT.italic());
        frame.lines.push(cut(&line, width));
    }
    if chat.queue.len() > QUEUED_SHOWN {
        let more = format!("{mark} and {} more", chat.queue.len() - QUEUED_SHOWN);
        frame.lines.push(cut(&Line::styled(&more, Style::FAINT), width));
    }
    if !chat.images.is_empty() {
        let names: Vec<String> = chat.images.iter().map(|p| format!("[image: {}]", image_name(p))).collect();
        frame.lines.push(cut(&Line::styled(&names.join(" "), Style::color(Color::Magenta)), width));
    }
}

fn add_panel(chat: &Chat, panel: &Panel, width: usize, frame: &mut Frame) {
    let glyphs = chat.abilities.glyphs;
    let top = frame.lines.len();
    match panel {
        Panel::Question(panel, _) => {
            let (lines, cursor) = panel.render(glyphs, width);
            frame.lines.extend(lines);
            frame.cursor = cursor.map(|(row, column)| (row + top, column));
        }
        Panel::Pick(picker) => frame.lines.extend(picker.render(glyphs, width)),
        Panel::Search(search) => frame.lines.extend(search.render(&chat.history, width)),
    }
}

fn add_input(chat: &Chat, width: usize, rows: usize, frame: &mut Frame) {
    let glyphs = chat.abilities.glyphs;
    let view = chat.editor.view(width.saturating_sub(2));
    let most = (rows / 2).max(1);
    let first = (view.row + 1).saturating_sub(most);
    let top = frame.lines.len();
    for (i, row) in view.rows.iter().enumerate().skip(first).take(most) {
        let mark = if i == 0 { glyphs.prompt() } else { " " };
        let mut line = Line::styled(mark, Style::color(Color::Cyan).bold()).with(" ", Style::PLAIN);
        line.push(row, Style::PLAIN);
        frame.lines.push(line);
    }
    frame.cursor = Some((top + view.row - first, 2 + view.column));
    let rest = chat.ghost().or_else(|| placeholder(chat));
    if let (Some(rest), Some(line)) = (rest, frame.lines.last_mut()) {
        let room = width.saturating_sub(2 + cells(view.rows.last().map_or("", String::as_str)) + 1);
        line.push(&fit(rest, room), Style::FAINT);
    }
    if let Some(menu) = &chat.menu {
        let room = rows.saturating_sub(frame.lines.len() + 1);
        frame.lines.extend(menu.render(width).into_iter().take(room));
    }
}

/// What an empty input says.
fn placeholder(chat: &Chat) -> Option<&'static str> {
    if !chat.editor.is_empty() {
        return None;
    }
    if chat.turn.is_none() {
        return (chat.tally.turns == 0).then_some("Write a message, or /help");
    }
    Some(match chat.options.busy_input {
        BusyInput::Interrupt => "A message interrupts; /queue and /steer do not",
        BusyInput::Queue => "A message is sent after this turn",
        BusyInput::Steer => "A message reaches the running turn",
    })
}

fn status(chat: &Chat, now: Instant, width: usize) -> Line {
    let turn = match &chat.turn {
        Some(_) => None,
        None => chat.last_turn,
    };
    let clock = Clock { session: now.saturating_duration_since(chat.started), turn };
    status_line::render(&chat.facts, clock, chat.options.cost, chat.abilities.glyphs, width)
}
