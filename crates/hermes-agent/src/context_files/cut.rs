//! Shortening a long file: much of its beginning, some of its end, and a word about what is missing.

/// Share of the limit that goes to the beginning and to the end, in tenths. The rest is for the marker.
const HEAD: usize = 7;
const TAIL: usize = 2;

/// Most characters of a marker.
pub(super) const MARKER_LIMIT: usize = 600;

/// A text that was shortened or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The text.
    pub text: String,
    /// How many characters are missing.
    pub missing: usize,
}

/// At most `limit` characters of a text and a marker that says how to get at the rest.
pub fn cut(text: &str, limit: usize, how_to_read_on: &str) -> Cut {
    let chars = text.chars().count();
    if chars <= limit {
        return Cut { text: text.to_owned(), missing: 0 };
    }
    let head = back_to_line_end(&text[..offset(text, limit * HEAD / 10)]);
    let tail = on_to_line_start(&text[offset(text, chars - limit * TAIL / 10)..]);
    let missing = chars - head.chars().count() - tail.chars().count();
    let how: String = how_to_read_on.chars().take(MARKER_LIMIT - 100).collect();
    Cut { text: format!("{head}\n[… {missing} characters left out here; {how} …]\n{tail}"), missing }
}

fn offset(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(offset, _)| offset)
}

/// Without the last, torn line, if not too much is lost with it.
fn back_to_line_end(head: &str) -> &str {
    match head.rfind('\n') {
        Some(end) if end > head.len() / 10 * 9 => &head[..end],
        _ => head,
    }
}

fn on_to_line_start(tail: &str) -> &str {
    match tail.find('\n') {
        Some(end) if end < tail.len() / 10 => &tail[end + 1..],
        _ => tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_beginning_and_the_end_stay() {
        let text: String =
            (0..1000).flat_map(|n| ["line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
        let cut = cut(&text, 1000, "read 'x'");
        assert!(cut.text.starts_with("line 0\n") && cut.text.ends_with("line 999\n"));
        assert!(cut.text.contains(&format!("{} characters left out here; read 'x'", cut.missing)));
        assert!(
            cut.text.lines().all(|line| line.starts_with("line ") || line.starts_with("[…")),
            "{}",
            cut.text
        );
    }

    proptest! {
        #[test]
        fn the_cap_holds_for_any_text(text in "(\\PC|\n){0,400}", limit in 1usize..300) {
            let cut = cut(&text, limit, "…");
            prop_assert!(cut.text.chars().count() <= limit + MARKER_LIMIT);
            if text.chars().count() <= limit {
                prop_assert_eq!(cut, Cut { text, missing: 0 });
            } else {
                prop_assert!(cut.missing > 0);
            }
        }
    }
}
