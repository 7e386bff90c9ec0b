//! Front matter: settings of other programs at the top of a file, between two lines of dashes.

/// The text behind the front matter. Which files a Cursor rule is for stays, as a first line.
pub(super) fn strip(text: &str) -> String {
    let Some((front, rest)) = split(text) else { return text.to_owned() };
    let globs = front.lines().find_map(|line| line.strip_prefix("globs:")).unwrap_or_default();
    let globs = globs.trim().trim_matches(['"', '\'', '[', ']']);
    if globs.is_empty() { rest.to_owned() } else { format!("(for files: {globs})\n{rest}") }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix("---\n")?;
    if let Some(rest) = inside.strip_prefix("---\n") {
        return Some(("", rest.trim_start()));
    }
    let (front, rest) = inside.split_once("\n---")?;
    // A longer line of dashes is a ruler, and then there was no front matter.
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix('\n')? };
    Some((front, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_front_matter_goes() {
        for (text, left) in [
            ("---\na: 1\n---\n\nbody", "body"),
            ("---\n---\nbody", "body"),
            ("---\na: 1\n---", ""),
            ("body\n---\nmore", "body\n---\nmore"),
            ("---\nnever closed", "---\nnever closed"),
            ("---\na\n-----\nb", "---\na\n-----\nb"),
            ("---\nglobs: [src/**]\n---\nbody", "(for files: src/**)\nbody"),
        ] {
            assert_eq!(strip(text), left, "{text:?}");
        }
    }
}
