//! What `echo` and `printf` write when all their arguments are known.

use super::ansi::{Dialect, decode};

/// The output of a command, if it can be known; a `None` is no statement about it.
pub(super) fn output_of(arguments: &[String]) -> Option<String> {
    let (name, rest) = arguments.split_first()?;
    match name.as_str() {
        "echo" => echo(rest),
        "printf" => printf(rest),
        _ => None,
    }
}

fn echo(mut arguments: &[String]) -> Option<String> {
    let mut escapes = false;
    let mut end = "\n";
    while let Some((first, rest)) = arguments.split_first() {
        let Some(letters) = first.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
        if !letters.chars().all(|letter| matches!(letter, 'n' | 'e' | 'E')) {
            break;
        }
        for letter in letters.chars() {
            match letter {
                'n' => end = "",
                'e' => escapes = true,
                _ => escapes = false,
            }
        }
        arguments = rest;
    }
    let text = arguments.join(" ");
    let text = if escapes { decode(&text, Dialect::Echo)? } else { text };
    Some(text + end)
}

fn printf(arguments: &[String]) -> Option<String> {
    let arguments = arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments);
    let (format, mut rest) = arguments.split_first()?;
    if format.starts_with('-') {
        return None;
    }
    let mut out = String::new();
    loop {
        let before = rest.len();
        let mut pieces = format.split('%');
        out.push_str(&decode(pieces.next()?, Dialect::Printf)?);
        while let Some(piece) = pieces.next() {
            let mut chars = piece.chars();
            match chars.next() {
                Some(kind @ ('s' | 'd' | 'i' | 'b')) => {
                    if let Some((argument, others)) = rest.split_first() {
                        match kind {
                            's' => out.push_str(argument),
                            'b' => out.push_str(&decode(argument, Dialect::Printf)?),
                            _ => out.push_str(&argument.parse::<i64>().ok()?.to_string()),
                        }
                        rest = others;
                    } else if matches!(kind, 'd' | 'i') {
                        out.push('0');
                    }
                    out.push_str(&decode(chars.as_str(), Dialect::Printf)?);
                }
                // `%%`: the piece between the two is empty.
                None => {
                    out.push('%');
                    out.push_str(&decode(pieces.next()?, Dialect::Printf)?);
                }
                Some(_) => return None,
            }
        }
        // The format is used again while it takes arguments.
        if rest.is_empty() || rest.len() == before {
            return Some(out);
        }
    }
}
