//! Text that is typed piece by piece: a command may come in several writes, so an unfinished line is kept until it ends.

use std::collections::HashMap;

/// Longest unfinished line that is kept.
const LONGEST: usize = 16 * 1024;
/// Most programs whose lines are kept.
const MOST: usize = 64;

/// Unfinished lines, by the command that reads them.
#[derive(Debug, Default)]
pub(super) struct Typed(HashMap<String, String>);

impl Typed {
    /// The text with the unfinished line before it.
    pub(super) fn whole(&self, command: &str, text: &str) -> String {
        format!("{}{text}", self.0.get(command).map_or("", String::as_str))
    }

    /// Keeps what is unfinished after a text was let through.
    pub(super) fn keep(&mut self, command: &str, whole: &str) {
        let unfinished = whole.rsplit(['\n', '\r']).next().unwrap_or_default();
        if unfinished.is_empty() || unfinished.len() > LONGEST {
            self.0.remove(command);
        } else if self.0.len() < MOST || self.0.contains_key(command) {
            self.0.insert(command.to_owned(), unfinished.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Typed;

    #[test]
    fn a_line_in_pieces_is_seen_whole() {
        let mut typed = Typed::default();
        typed.keep("bash", "ls\nrm -r");
        assert_eq!(typed.whole("bash", "f /\n"), "rm -rf /\n");
        assert_eq!(typed.whole("sh", "x"), "x");
        typed.keep("bash", "rm -rf x\n");
        assert_eq!(typed.whole("bash", "ls"), "ls");
    }
}
