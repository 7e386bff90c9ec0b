//! Long pages: the beginning and the end, and where the whole is.

/// In hundredths: what of the room is for the beginning.
const HEAD: usize = 75;

/// The parts of a page that are shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'t> {
    head: &'t str,
    tail: &'t str,
    chars: usize,
}

/// Cuts a text that is longer than this many characters; at the ends of lines where they are near.
pub(super) fn cut(text: &str, most: usize) -> Option<Parts<'_>> {
    let chars = text.chars().count();
    if chars <= most {
        return None;
    }
    let head_chars = most * HEAD / 100;
    let at = |place: usize| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    let (head_end, tail_start) = (at(head_chars), at(chars - (most - head_chars)));
    let head = &text[..head_end];
    let head =
        head.rfind('\n').filter(|line| *line * 10 >= head.len() * 9).map_or(head, |line| &head[..line]);
    let tail = &text[tail_start..];
    let tail = tail.find('\n').filter(|line| *line * 10 <= tail.len()).map_or(tail, |line| &tail[line + 1..]);
    Some(Parts { head, tail, chars })
}

impl Parts<'_> {
    /// The parts with a word between them; `kept` says where the whole is, or why it is nowhere.
    pub(super) fn with_notice(&self, kept: Result<&str, &str>) -> String {
        let shown = self.head.chars().count() + self.tail.chars().count();
        let whole = match kept {
            Ok(path) => format!("the whole text is in {path}"),
            Err(reason) => format!("the whole text could not be kept ({reason})"),
        };
        format!(
            "{}\n\n[... {} of {} characters are left out here; {whole} ...]\n\n{}",
            self.head,
            self.chars - shown,
            self.chars,
            self.tail
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pages_stay_whole() {
        assert_eq!(cut("short", 5), None);
        assert_eq!(cut("ééééé", 5), None);
    }

    #[test]
    fn long_pages_keep_their_ends() {
        let text: String =
            (0..1000).flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()]).collect();
        let parts = cut(&text, 2000).unwrap();
        assert!(
            parts.head.starts_with("line 0\n")
                && parts.head.len() <= 1500
                && text.contains(&format!("{}\n", parts.head))
        );
        assert!(parts.tail.starts_with("line ") && parts.tail.ends_with("line 999\n"));
        let shown = parts.with_notice(Ok("/tmp/x.txt"));
        assert!(
            shown.contains("the whole text is in /tmp/x.txt") && shown.contains("of 8890 characters"),
            "{shown}"
        );
        assert!(parts.with_notice(Err("no room")).contains("could not be kept (no room)"));
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let text = "é".repeat(5000);
        let parts = cut(&text, 2000).unwrap();
        assert_eq!((parts.head.chars().count(), parts.tail.chars().count()), (1500, 500));
    }
}
