//! Questions of the wizards. Every one of them can be answered with leaving: `q`, Ctrl-D, Ctrl-C.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::ui;

/// Somebody left in the middle of the questions.
#[derive(Debug, thiserror::Error)]
#[error("left")]
pub struct Left;

/// What Enter alone means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enter {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// Whether there is somebody to ask.
pub fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a line. Blanks around it do not count.
pub fn line(question: &str) -> anyhow::Result<String> {
    write!(io::stderr(), "{question} ")?;
    io::stderr().flush()?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        ui::note("");
        return Err(Left.into());
    }
    match line.trim() {
        "q" | "Q" => Err(Left.into()),
        text => Ok(text.to_owned()),
    }
}

/// Asks for a secret, which is not shown while it is typed. Enter alone leaves.
pub fn secret(question: &str) -> anyhow::Result<String> {
    let typed = ui::ask_hidden(&format!("{question} "))?;
    match typed.trim() {
        "" | "q" => Err(Left.into()),
        text => Ok(text.to_owned()),
    }
}

/// Asks a question that is answered with yes or no.
pub fn yes(question: &str, enter: Enter) -> anyhow::Result<bool> {
    let choices = if enter == Enter::Yes { "[Y/n]" } else { "[y/N]" };
    loop {
        match line(&format!("{question} {choices}"))?.to_lowercase().as_str() {
            "" => return Ok(enter == Enter::Yes),
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => ui::note("  y or n, or q to leave"),
        }
    }
}

/// A list to choose from.
#[derive(Debug)]
pub struct Menu<'a> {
    /// What is chosen.
    pub title: &'a str,
    /// What is shown for each entry; the filter looks into it.
    pub rows: &'a [String],
    /// What Enter alone takes.
    pub preset: Option<usize>,
    /// Whether something that is not in the list may be typed.
    pub other: Other,
}

/// Whether something that is not in the list may be typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// Yes.
    Allowed,
    /// No.
    Refused,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picked {
    /// An entry.
    Row(usize),
    /// Something else.
    Typed(String),
}

/// More than this is not shown at once: a list that runs off the screen cannot be read.
const MOST: usize = 40;

impl Menu<'_> {
    /// Shows the list and asks until something is chosen.
    pub fn pick(&self) -> anyhow::Result<Picked> {
        let mut filter = String::new();
        loop {
            let shown = matching(self.rows, &filter);
            self.show(&shown, &filter);
            let typed = line(&self.question())?;
            match understand(&typed, self.rows, self.preset) {
                Meant::Row(row) => return Ok(Picked::Row(row)),
                Meant::NoSuchNumber => ui::note(&format!("  there is no {typed}")),
                Meant::Again => filter.clear(),
                Meant::Filter => {
                    let found = matching(self.rows, &typed);
                    match found.as_slice() {
                        [] if self.other == Other::Allowed => {
                            if yes(&format!("'{typed}' is not in the list. Use it anyway?"), Enter::No)? {
                                return Ok(Picked::Typed(typed));
                            }
                        }
                        [] => ui::note(&format!("  nothing matches '{typed}'")),
                        [only] => return Ok(Picked::Row(*only)),
                        _ => filter = typed,
                    }
                }
            }
        }
    }

    fn show(&self, shown: &[usize], filter: &str) {
        ui::note(&format!("\n{}", self.title));
        let width = self.rows.len().to_string().len().max(2);
        for row in shown.iter().take(MOST) {
            let mark = if self.preset == Some(*row) { '*' } else { ' ' };
            ui::note(&format!(" {mark}{:>width$}  {}", row + 1, ui::harmless(&self.rows[*row])));
        }
        let hidden = shown.len().saturating_sub(MOST);
        if hidden > 0 {
            ui::note(&format!("  … and {hidden} more: type a part of a name to see fewer"));
        }
        if !filter.is_empty() {
            ui::note(&format!(
                "  ({} of {} match '{filter}'; Enter shows all)",
                shown.len(),
                self.rows.len()
            ));
        }
    }

    fn question(&self) -> String {
        let enter = self.preset.map_or_else(String::new, |row| format!(", Enter for {}", row + 1));
        format!("Number or part of a name{enter}, q to leave:")
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Meant {
    Row(usize),
    NoSuchNumber,
    Filter,
    Again,
}

/// What a line typed at a list means.
fn understand(typed: &str, rows: &[String], preset: Option<usize>) -> Meant {
    if typed.is_empty() {
        return preset.map_or(Meant::Again, Meant::Row);
    }
    if let Some(row) = rows.iter().position(|row| row.split_whitespace().next() == Some(typed)) {
        return Meant::Row(row);
    }
    match typed.parse::<usize>() {
        Ok(number) if (1..=rows.len()).contains(&number) => Meant::Row(number - 1),
        Ok(_) => Meant::NoSuchNumber,
        Err(_) => Meant::Filter,
    }
}

/// The rows that hold all words of the filter.
fn matching(rows: &[String], filter: &str) -> Vec<usize> {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    let holds = |row: &String| words.iter().all(|word| row.to_lowercase().contains(word));
    rows.iter().enumerate().filter(|(_, row)| holds(row)).map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<String> {
        ["o3  200k", "openai/gpt-5", "anthropic/claude-opus", "anthropic/claude-haiku"]
            .map(str::to_owned)
            .to_vec()
    }

    #[test]
    fn what_is_typed_is_a_number_a_name_or_a_filter() {
        let rows = rows();
        assert_eq!(understand("2", &rows, None), Meant::Row(1));
        assert_eq!(understand("o3", &rows, None), Meant::Row(0));
        assert_eq!(understand("9", &rows, None), Meant::NoSuchNumber);
        assert_eq!(understand("0", &rows, None), Meant::NoSuchNumber);
        assert_eq!(understand("", &rows, Some(3)), Meant::Row(3));
        assert_eq!(understand("", &rows, None), Meant::Again);
        assert_eq!(understand("claude", &rows, None), Meant::Filter);
    }

    #[test]
    fn all_words_of_a_filter_must_be_there() {
        let rows = rows();
        assert_eq!(matching(&rows, "claude"), [2, 3]);
        assert_eq!(matching(&rows, "CLAUDE opus"), [2]);
        assert_eq!(matching(&rows, ""), [0, 1, 2, 3]);
        assert!(matching(&rows, "gemini").is_empty());
    }
}
