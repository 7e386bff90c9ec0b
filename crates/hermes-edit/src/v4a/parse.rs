//! Reading a patch: markers, headers and hunks. Forgiving about fences, blanks and line ends, never about paths.

use super::{Ending, FilePatch, Hunk, HunkLine, LineKind, Patch, PatchError};

/// A line of the patch with its number from 1.
type Numbered<'a> = (usize, &'a str);

/// What a line that begins with `***` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark<'a> {
    Begin,
    End,
    EndOfFile,
    MoveTo(&'a str),
    File(Header<'a>),
    /// `*** Something File: x` that nobody knows.
    Unknown,
}

/// What begins the part about one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header<'a> {
    Update(&'a str),
    Add(&'a str),
    Delete(&'a str),
    Move(&'a str),
}

pub(super) fn parse(text: &str) -> Result<Patch, PatchError> {
    let lines: Vec<Numbered<'_>> = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .collect();
    let body = without_wrapping(&lines)?;
    let files =
        sections(&body)?.into_iter().map(|section| section.read()).collect::<Result<Vec<_>, PatchError>>()?;
    if files.is_empty() { Err(PatchError::Empty) } else { Ok(Patch { files }) }
}

fn mark(line: &str) -> Option<Mark<'_>> {
    let rest = line.strip_prefix("***")?.trim();
    let (key, value) = rest.split_once(':').map_or((rest, None), |(key, value)| (key, Some(value.trim())));
    let words: Vec<String> = key.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Some(match (words.as_slice(), value) {
        (["begin", "patch"], None) => Mark::Begin,
        (["end", "patch"], None) => Mark::End,
        (["end", "of", "file"], None) => Mark::EndOfFile,
        (["move", "to"], Some(path)) => Mark::MoveTo(path),
        (["update", "file"], Some(path)) => Mark::File(Header::Update(path)),
        (["add", "file"], Some(path)) => Mark::File(Header::Add(path)),
        (["delete", "file"], Some(path)) => Mark::File(Header::Delete(path)),
        (["move", "file"], Some(paths)) => Mark::File(Header::Move(paths)),
        ([_, "file"], Some(_)) => Mark::Unknown,
        _ => return None,
    })
}

/// The lines between the marks of beginning and end, or all of them if there are none, without a code fence.
fn without_wrapping<'a>(lines: &[Numbered<'a>]) -> Result<Vec<Numbered<'a>>, PatchError> {
    let begins = lines.iter().any(|(_, line)| mark(line) == Some(Mark::Begin));
    let mut inside = !begins;
    let mut body = Vec::new();
    for &(number, line) in lines {
        match mark(line) {
            Some(Mark::Begin) => inside = true,
            Some(Mark::End) => inside = false,
            Some(Mark::File(_)) if !inside => {
                return Err(syntax(
                    number,
                    line,
                    "this header is outside of '*** Begin Patch' and '*** End Patch'",
                ));
            }
            _ if inside => body.push((number, line)),
            _ => {}
        }
    }
    let filled = |line: &&Numbered<'_>| !line.1.trim().is_empty();
    if lines.iter().find(filled).is_some_and(|(_, line)| is_fence(line)) {
        if let Some(at) = body.iter().position(|(_, line)| !line.trim().is_empty())
            && is_fence(body[at].1)
        {
            body.drain(..=at);
        }
        if let Some(at) = body.iter().rposition(|(_, line)| !line.trim().is_empty())
            && is_fence(body[at].1)
        {
            body.truncate(at);
        }
    }
    Ok(body)
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// The part of a patch about one file.
struct Section<'a> {
    number: usize,
    line: &'a str,
    header: Header<'a>,
    body: Vec<Numbered<'a>>,
}

fn sections<'a>(body: &[Numbered<'a>]) -> Result<Vec<Section<'a>>, PatchError> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    for &(number, line) in body {
        match (mark(line), sections.last_mut()) {
            (Some(Mark::File(header)), _) => {
                sections.push(Section { number, line, header, body: Vec::new() });
            }
            (Some(Mark::Unknown), _) => {
                return Err(syntax(
                    number,
                    line,
                    "files can be updated, added, deleted and moved, nothing else",
                ));
            }
            (_, Some(section)) => section.body.push((number, line)),
            (_, None) if line.trim().is_empty() => {}
            (_, None) => {
                return Err(syntax(
                    number,
                    line,
                    "a file header such as '*** Update File: PATH' must come first",
                ));
            }
        }
    }
    Ok(sections)
}

impl Section<'_> {
    fn read(&self) -> Result<FilePatch, PatchError> {
        match self.header {
            Header::Update(written) => {
                let path = self.path(written)?;
                let (to, hunks) = hunks(&self.body)?;
                Ok(match to {
                    Some((number, to)) => FilePatch::Move { from: path, to: checked(number, to)?, hunks },
                    None => FilePatch::Update { path, hunks },
                })
            }
            Header::Add(written) => {
                Ok(FilePatch::Add { path: self.path(written)?, text: added(&self.body)? })
            }
            Header::Delete(written) => self.read_delete(written),
            Header::Move(paths) => self.read_move(paths),
        }
    }

    fn path(&self, written: &str) -> Result<String, PatchError> {
        checked(self.number, written)
    }

    /// What a file held before it goes may be listed, and does not matter.
    fn read_delete(&self, written: &str) -> Result<FilePatch, PatchError> {
        let path = self.path(written)?;
        match self.body.iter().find(|(_, line)| !line.trim().is_empty() && !line.starts_with('-')) {
            Some((number, line)) => Err(syntax(*number, line, "nothing can follow '*** Delete File:'")),
            None => Ok(FilePatch::Delete { path }),
        }
    }

    fn read_move(&self, paths: &str) -> Result<FilePatch, PatchError> {
        let Some((from, to)) = paths.split_once(" -> ").or_else(|| paths.split_once("->")) else {
            return Err(syntax(self.number, self.line, "a move is written '*** Move File: OLD -> NEW'"));
        };
        let (again, hunks) = hunks(&self.body)?;
        if let Some((number, to)) = again {
            return Err(syntax(number, to, "a move has one destination"));
        }
        Ok(FilePatch::Move { from: self.path(from)?, to: self.path(to)?, hunks })
    }
}

/// A path that says where it leads.
fn checked(line: usize, written: &str) -> Result<String, PatchError> {
    let path = written.trim();
    let wrong = |reason| Err(PatchError::Path { line, path: path.to_owned(), reason });
    if path.is_empty() {
        return wrong("is empty");
    }
    if path.contains('\0') {
        return wrong("contains a NUL character");
    }
    if path.split(['/', '\\']).any(|part| part.trim() == "..") {
        return wrong("leads upwards: write it without '..'");
    }
    Ok(path.to_owned())
}

/// The text of a new file: it ends with a line end unless the patch says otherwise.
fn added(body: &[Numbered<'_>]) -> Result<String, PatchError> {
    let mut text = String::new();
    let used = body.iter().rposition(|(_, line)| !line.trim().is_empty()).map_or(0, |last| last + 1);
    for (number, line) in &body[..used] {
        if let Some(line) = line.strip_prefix('+') {
            text.push_str(line);
            text.push('\n');
        } else if line.trim().is_empty() {
            text.push('\n');
        } else if line.starts_with('\\') {
            if text.ends_with('\n') && says_no_newline(line) {
                text.pop();
            }
        } else if mark(line) != Some(Mark::EndOfFile) && hint_text(line).is_none() {
            return Err(syntax(*number, line, "each line of a new file begins with '+'"));
        }
    }
    Ok(text)
}

fn says_no_newline(line: &str) -> bool {
    line.to_ascii_lowercase().contains("no newline")
}

/// A hunk that is being read, and which of its lines are empty without a prefix.
#[derive(Default)]
struct Open {
    hunk: Hunk,
    bare: Vec<bool>,
}

impl Open {
    fn push(&mut self, kind: LineKind, text: &str, bare: bool) {
        self.hunk.lines.push(HunkLine { kind, text: text.to_owned(), ending: Ending::Unsaid });
        self.bare.push(bare);
    }

    /// The hunk, if it has lines. Empty lines without a prefix at its ends only set it off from its neighbours.
    fn close(mut self) -> Option<Hunk> {
        let first = self.bare.iter().position(|bare| !bare)?;
        let last = self.bare.iter().rposition(|bare| !bare)?;
        self.hunk.lines.truncate(last + 1);
        self.hunk.lines.drain(..first);
        Some(self.hunk)
    }
}

/// Where a file goes (with the line that says so), and its hunks.
type Hunks<'a> = (Option<Numbered<'a>>, Vec<Hunk>);

fn hunks<'a>(body: &[Numbered<'a>]) -> Result<Hunks<'a>, PatchError> {
    let mut to = None;
    let mut done = Vec::new();
    let mut open = Open::default();
    for &(number, line) in without_names(body) {
        if let Some(hint) = hint_text(line) {
            let hints_so_far =
                if open.bare.iter().all(|bare| *bare) { open.hunk.hints.clone() } else { Vec::new() };
            done.extend(std::mem::take(&mut open).close());
            open.hunk.hints = hints_so_far;
            read_hint(hint, &mut open.hunk);
            continue;
        }
        match mark(line) {
            Some(Mark::MoveTo(path)) if to.is_some() => {
                return Err(syntax(number, path, "a move has one destination"));
            }
            Some(Mark::MoveTo(path)) => to = Some((number, path)),
            Some(Mark::EndOfFile) => {
                open.hunk.end_of_file = true;
                done.extend(std::mem::take(&mut open).close());
            }
            _ => read_line(line, &mut open),
        }
    }
    done.extend(open.close());
    Ok((to, done))
}

fn read_line(line: &str, open: &mut Open) {
    match line.chars().next() {
        None => open.push(LineKind::Keep, "", true),
        Some(' ') => open.push(LineKind::Keep, &line[1..], false),
        Some('-') => open.push(LineKind::Remove, &line[1..], false),
        Some('+') => open.push(LineKind::Add, &line[1..], false),
        Some('\\') => {
            if let Some(last) = open.hunk.lines.last_mut()
                && says_no_newline(line)
            {
                last.ending = Ending::None;
            }
        }
        Some(_) => open.push(LineKind::Keep, line, false),
    }
}

/// The lines after `--- name` and `+++ name`, which some writers put under the header.
fn without_names<'a, 'b>(body: &'b [Numbered<'a>]) -> &'b [Numbered<'a>] {
    match body {
        [(_, old), (_, new), rest @ ..] if old.starts_with("--- ") && new.starts_with("+++ ") => rest,
        _ => body,
    }
}

/// What stands after `@@`. A line like `@@count = 0` is code.
fn hint_text(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("@@")?;
    let marker = rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.trim_end().ends_with("@@");
    marker.then(|| rest.trim())
}

fn read_hint(hint: &str, hunk: &mut Hunk) {
    let text = match hint.split_once("@@") {
        Some((range, section)) if line_number(range).is_some() => {
            hunk.at = line_number(range);
            section.trim()
        }
        Some((text, "")) => text.trim(),
        _ if line_number(hint).is_some() => {
            hunk.at = line_number(hint);
            ""
        }
        _ => hint,
    };
    if !text.is_empty() {
        hunk.hints.push(text.to_owned());
    }
}

/// The first old line that a range such as `-12,3 +14,5` concerns. A range of no lines names the line before.
fn line_number(range: &str) -> Option<usize> {
    let (old, new) = range.trim().split_once(' ')?;
    let read = |side: &str, sign: char| -> Option<(usize, usize)> {
        let side = side.trim().strip_prefix(sign)?;
        let (line, count) = side.split_once(',').unwrap_or((side, "1"));
        Some((line.parse().ok()?, count.parse().ok()?))
    };
    read(new, '+')?;
    let (line, count) = read(old, '-')?;
    if count == 0 { line.checked_add(1) } else { Some(line) }
}

fn syntax(line: usize, text: &str, reason: &'static str) -> PatchError {
    const SHOWN: usize = 120;
    PatchError::Syntax { line, reason, text: text.chars().take(SHOWN).collect() }
}
