//! Shell-style patterns over whole texts: `*`, `?`, `[a-z]`, `[!a]`.

/// Whether the whole text fits the pattern, whatever the case of letters.
pub fn matches(pattern: &str, text: &str) -> bool {
    matches_exactly(&pattern.trim().to_lowercase(), &text.to_lowercase())
}

/// Whether the whole text fits the pattern.
pub fn matches_exactly(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    // The place behind the last star, and the text it was tried at: a star that took too little takes one more.
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p + 1, t));
            p += 1;
        } else if let Some(length) = one(&pattern[p..], text[t]) {
            p += length;
            t += 1;
        } else if let Some((after, from)) = star {
            star = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// A pattern that fits this text alone.
pub fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[') {
            pattern.extend(['[', c, ']']);
        } else {
            pattern.push(c);
        }
    }
    pattern
}

/// How much of the pattern stands for this one character, if it fits.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match set(pattern) {
            Some((length, negated, members)) => {
                (members.iter().any(|(a, b)| (*a..=*b).contains(&c)) != negated).then_some(length)
            }
            // Without an end it is just a bracket.
            None => (c == '[').then_some(1),
        },
        other => (*other == c).then_some(1),
    }
}

type Set = (usize, bool, Vec<(char, char)>);

/// The characters between brackets.
fn set(pattern: &[char]) -> Option<Set> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let start = if negated { 2 } else { 1 };
    // A bracket that comes first is a member.
    let mut end = start + 1 + pattern.get(start + 1..)?.iter().position(|c| *c == ']')?;
    // The end of a class is not the end of the set.
    while pattern[end - 1] == ':' && pattern[start..end - 1].windows(2).any(|pair| pair == ['[', ':']) {
        match pattern.get(end + 1..).and_then(|rest| rest.iter().position(|c| *c == ']')) {
            Some(length) => end += 1 + length,
            None => break,
        }
    }
    let (mut members, mut at) = (Vec::new(), start);
    while at < end {
        if let Some((length, ranges)) = class(&pattern[at..end]) {
            members.extend_from_slice(ranges);
            at += length;
        } else if at + 2 < end && pattern[at + 1] == '-' {
            members.push((pattern[at], pattern[at + 2]));
            at += 3;
        } else {
            members.push((pattern[at], pattern[at]));
            at += 1;
        }
    }
    Some((end + 1, negated, members))
}

/// `[:alpha:]` at the beginning: how long it is, and the characters it stands for.
fn class(pattern: &[char]) -> Option<(usize, &'static [(char, char)])> {
    const CLASSES: &[(&str, &[(char, char)])] = &[
        ("[:alpha:]", &[('a', 'z'), ('A', 'Z')]),
        ("[:lower:]", &[('a', 'z')]),
        ("[:upper:]", &[('A', 'Z')]),
        ("[:digit:]", &[('0', '9')]),
        ("[:alnum:]", &[('a', 'z'), ('A', 'Z'), ('0', '9')]),
        ("[:xdigit:]", &[('a', 'f'), ('A', 'F'), ('0', '9')]),
        ("[:punct:]", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
        ("[:graph:]", &[('!', '~')]),
        ("[:print:]", &[(' ', '~')]),
        ("[:space:]", &[('\t', '\r'), (' ', ' ')]),
        ("[:blank:]", &[('\t', '\t'), (' ', ' ')]),
        ("[:word:]", &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]),
    ];
    CLASSES.iter().find_map(|(name, ranges)| {
        let fits = pattern.len() >= name.len() && name.chars().zip(pattern).all(|(a, b)| a == *b);
        fits.then_some((name.len(), *ranges))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        for (pattern, text) in [
            ("git *", "git push"),
            ("*rm*-rf*", "sudo RM -rf /"),
            ("a?c", "abc"),
            ("x[0-9]y", "x5y"),
            ("x[!0-9]y", "xay"),
            ("x[]]y", "x]y"),
            ("[[:alpha:]]*", "etc"),
            ("[[:digit:]_]x", "_x"),
            ("x[[:digit:]_]", "x_"),
            ("a[b", "a[b"),
            ("**", ""),
            ("a*b*c", "a--b--b--c"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("git", "git push"), ("a?c", "ac"), ("x[0-9]", "xa"), ("*a", "ab"), ("", "x")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn an_escaped_text_fits_itself_alone() {
        let text = "rm *.[ab]?";
        assert!(matches_exactly(&escape(text), text));
        assert!(!matches_exactly(&escape(text), "rm x.[ab]y"));
    }

    #[test]
    fn many_stars_end_soon() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(150)));
        assert!(matches(&"*a".repeat(100), &"a".repeat(2000)));
    }
}
