//! Tool calls: a line while they run, a line when they are done, and the lines that say what went wrong.

use std::time::{Duration, Instant};

use hermes_agent::event::CallStatus;
use serde_json::Value;

use crate::chat::figures;
use crate::chat::options::{Glyphs, ToolDetail};
use crate::chat::text::{Color, Line, Style, cells, clean, cut, fit};

/// Bytes of a tool's output that are kept to show the newest lines.
const KEPT: usize = 8 << 10;
/// Lines shown of what went wrong.
const ERROR_LINES: usize = 3;
/// Lines shown of a finished tool's output, when more should be shown.
const OUTPUT_LINES: usize = 12;
/// Lines shown of a running one's.
const LIVE_LINES: usize = 5;

/// A tool that runs.
#[derive(Debug)]
pub(super) struct RunningTool {
    pub(super) id: String,
    name: String,
    brief: String,
    since: Instant,
    output: String,
}

impl RunningTool {
    pub(super) fn new(id: String, name: String, brief: String, since: Instant) -> Self {
        Self { id, name, brief, since, output: String::new() }
    }

    pub(super) fn output(&mut self, text: &str) {
        self.output.push_str(text);
        if self.output.len() > 2 * KEPT {
            let mut from = self.output.len() - KEPT;
            while !self.output.is_char_boundary(from) {
                from += 1;
            }
            self.output.drain(..from);
        }
    }

    pub(super) fn live(&self, now: Instant, detail: ToolDetail, glyphs: Glyphs, width: usize) -> Vec<Line> {
        let elapsed = now.saturating_duration_since(self.since);
        let mark = Line::styled(glyphs.spinner(elapsed.as_millis()), Style::color(Color::Cyan));
        let mut lines = vec![self.headline(mark, elapsed, width)];
        let shown = match detail {
            ToolDetail::Compact => 1,
            ToolDetail::Output => LIVE_LINES,
        };
        let texts = if self.name == hermes_agent::delegation::NAME {
            newest_by_helper(&self.output)
        } else {
            last_lines(&self.output, shown)
        };
        lines.extend(texts.iter().map(|text| beside(text, Style::FAINT, glyphs, width)));
        lines
    }

    pub(super) fn finished(
        &self,
        status: CallStatus,
        elapsed: Duration,
        result: &str,
        detail: ToolDetail,
        glyphs: Glyphs,
        width: usize,
    ) -> Vec<Line> {
        let mark = match status {
            CallStatus::Ok => Line::styled(glyphs.ok(), Style::color(Color::Green)),
            CallStatus::Failed => Line::styled(glyphs.failed(), Style::color(Color::Red)),
            CallStatus::Cancelled => Line::styled(glyphs.cancelled(), Style::FAINT),
        };
        let mut lines = vec![self.headline(mark, elapsed, width)];
        let result = Reading::of(result);
        let (texts, style) = match (status, detail) {
            (CallStatus::Failed, _) => (result.error_lines(), Style::color(Color::Red)),
            (_, ToolDetail::Output) => (last_lines(&result.output, OUTPUT_LINES), Style::FAINT),
            _ => (Vec::new(), Style::FAINT),
        };
        lines.extend(texts.iter().map(|text| beside(text, style, glyphs, width)));
        lines
    }

    /// `mark name brief  1.2s`; the time stays visible when the rest does not fit.
    fn headline(&self, mark: Line, elapsed: Duration, width: usize) -> Line {
        let time =
            if elapsed < Duration::from_millis(100) { String::new() } else { figures::duration(elapsed) };
        let room = width.saturating_sub(cells(&time) + usize::from(!time.is_empty()) * 2);
        let mut line = mark.with(" ", Style::PLAIN);
        line.push(&self.name, Style::STRONG);
        let first = self.brief.lines().next().unwrap_or_default();
        if !first.is_empty() {
            line.push(" ", Style::PLAIN);
            line.push(first, Style::PLAIN);
            if self.brief.lines().nth(1).is_some() {
                line.push(" …", Style::FAINT);
            }
        }
        let mut line = cut(&line, room);
        if !time.is_empty() {
            line.push(&format!("  {time}"), Style::FAINT);
        }
        cut(&line, width)
    }
}

fn beside(text: &str, style: Style, glyphs: Glyphs, width: usize) -> Line {
    let line = Line::styled(&format!("  {} ", glyphs.bar()), Style::FAINT);
    let room = width.saturating_sub(line.width());
    cut(&line.with(&fit(text, room), style), width)
}

/// The newest lines that say something. A progress bar that rewrites its line counts as the line it shows last.
fn last_lines(text: &str, count: usize) -> Vec<String> {
    let shown = text.lines().map(|line| clean(line.trim_end().rsplit('\r').next().unwrap_or_default()));
    let mut lines: Vec<String> = shown.filter(|line| !line.trim().is_empty()).collect();
    lines.split_off(lines.len().saturating_sub(count))
}

/// The newest line of each helper, in the order they began. Their lines start with `[name]`.
fn newest_by_helper(text: &str) -> Vec<String> {
    let mut newest: Vec<(String, String)> = Vec::new();
    for line in last_lines(text, usize::MAX) {
        let Some((name, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else { continue };
        match newest.iter_mut().find(|(known, _)| known == name) {
            Some((_, shown)) => *shown = line,
            None => newest.push((name.to_owned(), line)),
        }
    }
    newest.truncate(LIVE_LINES);
    newest.into_iter().map(|(_, line)| line).collect()
}

/// What came of helpers, a line for each.
fn helpers(object: &serde_json::Map<String, Value>) -> Option<String> {
    let line = |helper: &Value| {
        let words = helper["error"].as_str().or(helper["summary"].as_str()).unwrap_or_default();
        let first = words.lines().next().unwrap_or_default();
        // Helpers have a state, pages an address.
        let name = helper["status"].as_str().or(helper["url"].as_str()).unwrap_or_default();
        format!("{name}: {first}")
    };
    Some(object.get("results")?.as_array()?.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// A result as the model gets it, read for people: many tools answer in JSON.
struct Reading {
    error: Option<String>,
    output: String,
    exit_code: Option<i64>,
}

impl Reading {
    fn of(result: &str) -> Self {
        let Some(object) = first_object(result) else {
            return Self { error: None, output: result.to_owned(), exit_code: None };
        };
        let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|t| !t.trim().is_empty());
        Self {
            error: text("error").map(str::to_owned),
            output: text("output")
                .or_else(|| text("content"))
                .or_else(|| text("stderr"))
                .map(str::to_owned)
                .or_else(|| helpers(&object))
                .unwrap_or_default(),
            exit_code: object.get("exit_code").and_then(Value::as_i64).filter(|code| *code != 0),
        }
    }

    fn error_lines(&self) -> Vec<String> {
        let mut lines = match &self.error {
            Some(error) => telling_lines(error),
            None => telling_lines(&self.output),
        };
        if let Some(code) = self.exit_code {
            lines.push(format!("exit code {code}"));
        }
        lines
    }
}

/// The object that a result is. The model may get words before and after it: a frame around what strangers wrote, advice
/// when a call failed again and again.
fn first_object(result: &str) -> Option<serde_json::Map<String, Value>> {
    let starts = result.match_indices('{').map(|(at, _)| at);
    let line_starts = starts.filter(|at| *at == 0 || result[..*at].ends_with('\n')).take(4);
    line_starts.map(|at| &result[at..]).find_map(|text| {
        let first = serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?;
        match first {
            Ok(Value::Object(object)) => Some(object),
            _ => None,
        }
    })
}

const TELLING: [&str; 9] =
    ["error", "fatal", "failed", "exception", "cannot", "not found", "denied", "panicked", "no such"];

/// The lines from the first one that sounds like the reason; the last ones when none does.
fn telling_lines(text: &str) -> Vec<String> {
    let lines = last_lines(text, usize::MAX);
    let tells = |line: &String| {
        let lower = line.to_lowercase();
        TELLING.iter().any(|word| lower.contains(word))
    };
    let from = lines.iter().position(tells).unwrap_or(lines.len().saturating_sub(ERROR_LINES));
    lines.into_iter().skip(from).take(ERROR_LINES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_helpers_each_has_a_line() {
        let text = "[1 one] 0s terminal ls\n[2 two] 1s says: hm\n[1 one] 2s terminal make\n";
        assert_eq!(newest_by_helper(text), ["[1 one] 2s terminal make", "[2 two] 1s says: hm"]);
        let Value::Object(result) = serde_json::json!({"results": [
            {"status": "completed", "summary": "All done.\nMore."},
            {"status": "timeout", "summary": "x", "error": "too late"},
        ]}) else {
            panic!("an object");
        };
        assert_eq!(helpers(&result).as_deref(), Some("completed: All done.\ntimeout: too late"));
    }

    fn finished(
        brief: &str,
        status: CallStatus,
        result: &str,
        detail: ToolDetail,
        width: usize,
    ) -> Vec<String> {
        let tool = RunningTool::new("1".into(), "terminal".into(), brief.into(), Instant::now());
        let lines = tool.finished(status, Duration::from_millis(3210), result, detail, Glyphs::Rich, width);
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn a_good_call_is_one_line() {
        let ok =
            |width| finished("cargo test --workspace", CallStatus::Ok, "a\nb", ToolDetail::Compact, width);
        assert_eq!(ok(60), ["✓ terminal cargo test --workspace  3.2s"]);
        assert_eq!(ok(24), ["✓ terminal cargo …  3.2s"]);
        assert_eq!(finished("x", CallStatus::Ok, "a\nb", ToolDetail::Output, 60).len(), 3);
    }

    #[test]
    fn a_failed_call_says_why() {
        let result = r#"{"output": "Compiling x\nerror[E0308]: mismatched types\n --> src/main.rs:1\nmore\nmore", "exit_code": 101}"#;
        assert_eq!(
            finished("cargo build", CallStatus::Failed, result, ToolDetail::Compact, 60),
            [
                "✗ terminal cargo build  3.2s",
                "  │ error[E0308]: mismatched types",
                "  │  --> src/main.rs:1",
                "  │ more",
                "  │ exit code 101"
            ]
        );
    }

    #[test]
    fn words_around_a_result_do_not_make_it_unreadable() {
        let advised =
            "{\"error\": \"there is no file \\\"x\\\"\"}\n\n[it failed 3 times: try something else]";
        let framed = "<outside>\n{\"results\": [{\"url\": \"http://10.0.0.1/\", \"content\": \"\", \"error\": \"a private address\"}]}\n</outside>";
        for (result, words) in
            [(advised, "  │ there is no file \"x\""), (framed, "  │ http://10.0.0.1/: a private address")]
        {
            let lines = finished("x", CallStatus::Failed, result, ToolDetail::Compact, 80);
            assert_eq!(lines[1..], [words.to_owned()], "{result}");
        }
    }

    #[test]
    fn the_newest_line_of_a_progress_bar_is_shown() {
        let since = Instant::now();
        let mut tool = RunningTool::new("1".into(), "terminal".into(), "wget".into(), since);
        tool.output("start\n10%\r50%\r\x1b[32m90%\x1b[0m");
        let now = since + Duration::from_secs(12);
        let lines: Vec<String> =
            tool.live(now, ToolDetail::Compact, Glyphs::Ascii, 40).iter().map(Line::text).collect();
        assert_eq!(lines, ["- terminal wget  12s", "  | 90%"]);
    }

    #[test]
    fn endless_output_is_not_kept() {
        let mut tool = RunningTool::new("1".into(), "t".into(), String::new(), Instant::now());
        for _ in 0..1000 {
            tool.output("é日本\n日本é日本\n");
        }
        assert!(tool.output.len() <= 2 * KEPT + 100);
    }
}
