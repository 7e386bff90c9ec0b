//! Turning an event into the one line that goes to the log.

use std::fmt::{self, Write};

use jiff::civil::DateTime;

use super::record::Level;

/// A line longer than this is cut; it is also the most that is appended in one write.
pub const MAX_LINE: usize = 16 * 1024;
/// What a single event may say before it is redacted and cut.
const MAX_TEXT: usize = 64 * 1024;
const MAX_SESSION: usize = 128;

/// Everything a line shows.
#[derive(Debug)]
pub struct Parts<'a> {
    pub time: DateTime,
    pub level: Level,
    pub session: Option<&'a str>,
    pub target: &'a str,
    /// Already redacted.
    pub message: &'a str,
}

/// The finished line with its line end.
pub fn format(parts: &Parts<'_>) -> String {
    let time = parts.time;
    let mut line = format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02},{:03} {} ",
        time.year(),
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.millisecond(),
        parts.level
    );
    if let Some(session) = parts.session {
        line.push('[');
        line.extend(session.chars().take(MAX_SESSION).map(|c| if plain(c) { c } else { '_' }));
        line.push_str("] ");
    }
    line.push_str(&logger_name(parts.target));
    line.push_str(": ");
    escape_into(&mut line, parts.message);
    cut(&mut line);
    line.push('\n');
    line
}

/// `hermes_gateway::run` becomes `gateway.run`, the name the reference would use: its filters then fit our lines too.
/// The program itself is `hermes`, and to everyone the command line.
fn logger_name(target: &str) -> String {
    let name = match target.split_once("::") {
        Some(("hermes", rest)) => format!("cli.{rest}"),
        _ => target.strip_prefix("hermes_").unwrap_or(target).to_owned(),
    };
    name.replace("::", ".").chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

/// What cannot be mistaken for the end of a field.
fn plain(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, '[' | ']' | ':')
}

/// One record stays one line, and nothing in it can steer a terminal.
fn escape_into(line: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push('\t'),
            c if c.is_control() => {
                let _ = write!(line, "\\x{:02x}", u32::from(c));
            }
            c => line.push(c),
        }
    }
}

fn cut(line: &mut String) {
    const ROOM_FOR_NOTE: usize = 40;
    if line.len() < MAX_LINE {
        return;
    }
    let keep = line.floor_char_boundary(MAX_LINE - ROOM_FOR_NOTE);
    let lost = line.len() - keep;
    line.truncate(keep);
    let _ = write!(line, "… [{lost} bytes cut]");
}

/// Collects the fields of an event as `message key=value key="other value"`, up to a bound.
#[derive(Debug, Default)]
pub struct EventText {
    message: String,
    fields: String,
}

impl EventText {
    /// The whole text.
    pub fn finish(mut self) -> String {
        if !self.message.is_empty() && !self.fields.is_empty() {
            self.message.push(' ');
        }
        self.message.push_str(&self.fields);
        self.message
    }

    fn field(&mut self, name: &str, value: &dyn fmt::Debug) {
        if name == "message" {
            let _ = write!(Bounded(&mut self.message), "{value:?}");
            return;
        }
        if !self.fields.is_empty() {
            self.fields.push(' ');
        }
        let _ = write!(Bounded(&mut self.fields), "{name}={value:?}");
    }
}

impl tracing::field::Visit for EventText {
    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        let bare =
            field.name() == "message" || (!value.is_empty() && value.chars().all(|c| plain(c) && c != '"'));
        if bare {
            self.field(field.name(), &format_args!("{value}"));
        } else {
            self.field(field.name(), &value);
        }
    }

    fn record_error(&mut self, field: &tracing::field::Field, value: &(dyn std::error::Error + 'static)) {
        let mut text = value.to_string();
        let mut cause = value.source();
        while let Some(error) = cause.filter(|_| text.len() < MAX_TEXT) {
            let _ = write!(text, ": {error}");
            cause = error.source();
        }
        self.record_str(field, &text);
    }

    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        self.field(field.name(), value);
    }
}

/// Takes text up to [`MAX_TEXT`] and then refuses, which ends the formatting of a huge value early.
struct Bounded<'a>(&'a mut String);

impl Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_TEXT.saturating_sub(self.0.len());
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn line(message: &str, session: Option<&str>, target: &str) -> String {
        let time = date(2026, 11, 5).at(3, 4, 5, 6_000_000);
        format(&Parts { time, level: Level::Warning, session, target, message })
    }

    #[test]
    fn the_format_is_that_of_the_reference() {
        assert_eq!(
            line("hello", Some("20260101_abc"), "hermes_gateway::run"),
            "2026-11-05 03:04:05,006 WARNING [20260101_abc] gateway.run: hello\n"
        );
        assert!(line("hello", None, "hermes::commands::x").ends_with(" WARNING cli.commands.x: hello\n"));
        assert_eq!(line("hello", None, "other"), "2026-11-05 03:04:05,006 WARNING other: hello\n");
    }

    #[test]
    fn a_record_is_one_line_without_control_characters() {
        let text = line("a\nb\r\x1b[31mred\u{9b}x\ty", Some("s]\n[x"), "a b");
        assert_eq!(text, "2026-11-05 03:04:05,006 WARNING [s___x] a_b: a\\nb\\r\\x1b[31mred\\x9bx\ty\n");
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let text = line(&"ä".repeat(20_000), None, "t");
        assert!(text.len() <= MAX_LINE, "{}", text.len());
        assert!(text.ends_with(" bytes cut]\n"));
    }
}
