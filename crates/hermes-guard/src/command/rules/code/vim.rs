//! Orders for editors that are given in the line: `vim -c '%s/a/b/' +wq`.

use super::Orders;
use crate::command::call::Call;
use crate::command::word::Word;

/// Orders that change or show the text at hand.
const PLAIN: &[&str] = &[
    "q",
    "qa",
    "quit",
    "qall",
    "wq",
    "wqa",
    "wqall",
    "x",
    "xa",
    "xit",
    "wa",
    "wall",
    "cq",
    "cquit",
    "set",
    "se",
    "setlocal",
    "setl",
    "syntax",
    "syn",
    "sort",
    "d",
    "delete",
    "j",
    "join",
    "p",
    "print",
    "noh",
    "nohlsearch",
    "retab",
    "ret",
    "t",
    "m",
    "co",
    "copy",
    "move",
    "y",
    "pu",
    "put",
    "undo",
    "u",
    "redo",
    "filetype",
    "filet",
    "colorscheme",
    "colo",
    "echo",
    "version",
    "ve",
    "scriptnames",
    "messages",
    "mes",
    "checkhealth",
    "helptags",
    "helpt",
    "help",
    "h",
    "only",
    "on",
    "normal",
    "norm",
    "s",
    "g",
    "v",
    "global",
    "vglobal",
    "substitute",
    "diffthis",
    "wn",
    "n",
    "next",
    "prev",
    "",
];
/// Orders whose argument is a file that is written.
const WRITES: &[&str] = &["w", "write", "sav", "saveas", "wn", "up", "update"];
/// Orders whose argument is a file that is shown.
const READS: &[&str] = &[
    "e", "edit", "r", "read", "sp", "split", "vs", "vsplit", "tabe", "tabedit", "tabnew", "view", "vie", "f",
    "file", "b",
];
/// Words that only say how.
const MODIFIERS: &[&str] = &[
    "silent",
    "sil",
    "keepj",
    "keepjumps",
    "keepp",
    "keeppatterns",
    "noa",
    "noautocmd",
    "verbose",
    "verb",
    "vert",
    "tab",
];

/// What the orders of a call do.
pub(in crate::command::rules) fn orders(call: &Call) -> Orders {
    let args = call.args();
    let mut found = Orders::default();
    for (place, word) in args.iter().enumerate() {
        let text = word.beginning();
        let given = match text.as_str() {
            "-c" | "--cmd" | "-sc" | "-esc" | "-Esc" => args.get(place + 1).cloned(),
            text if text.starts_with('+') => word.without_prefix("+"),
            text if text.starts_with("-c") && text.len() > 2 => word.without_prefix("-c"),
            _ => None,
        };
        match given {
            Some(order) if order.is_blank() => found.runs.push(String::new()),
            Some(order) => found.add(read(&order.shown())),
            None => {}
        }
    }
    found
}

/// What one order does.
fn read(order: &str) -> Orders {
    let mut found = Orders::default();
    for part in order.split(" | ") {
        let mut part = part.trim().trim_start_matches(':');
        while let Some(rest) = without_modifier(part) {
            part = rest;
        }
        let part = without_range(part);
        let end = part.find(|c: char| !c.is_alphanumeric()).unwrap_or(part.len());
        let (verb, rest) = part.split_at(end);
        let argument = rest.trim_start_matches('!').trim();
        // A user's own command begins with a capital letter.
        let own = verb.starts_with(|c: char| c.is_uppercase());
        let runs = verb.is_empty() && rest.starts_with('!')
            || argument.starts_with('!')
            || part.contains("\\=")
            || matches!(verb, "normal" | "norm") && argument.contains([':', '!'])
            || matches!(verb, "g" | "v" | "global" | "vglobal")
                && (rest.contains('!') || rest.contains("/e") || rest.contains("w "))
            || verb == "echo" && rest.contains('(');
        if runs {
            found.runs.push(argument.trim_start_matches('!').to_owned());
        } else if WRITES.contains(&verb) {
            found.writes.extend(Some(argument.to_owned()).filter(|file| !file.is_empty()));
        } else if READS.contains(&verb) {
            found.reads.extend(Some(argument.to_owned()).filter(|file| !file.is_empty()));
        } else if !own && !PLAIN.contains(&verb) && !verb.chars().all(|c| c.is_ascii_digit()) {
            found.runs.push(String::new());
        }
    }
    found
}

fn without_modifier(part: &str) -> Option<&str> {
    let (first, rest) = part.split_once(' ')?;
    MODIFIERS.contains(&first.trim_end_matches('!')).then(|| rest.trim_start())
}

/// Without the lines an order is for.
fn without_range(part: &str) -> &str {
    if let Some(rest) = part.strip_prefix('/') {
        return rest.split_once('/').map_or("", |(_, rest)| rest).trim_start_matches([',', ' ']);
    }
    part.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '%' | '$' | ',' | '.' | '+' | '-' | ' ' | '\'' | '<' | '>')
    })
}

/// Whether an order in the text for `ed` starts a program: `!ls`, `r !ls`, `w !sh`.
pub(in crate::command::rules) fn runs_in_ed(text: &str) -> bool {
    text.lines().any(|line| {
        let line = without_range(line.trim());
        line.strip_prefix(['r', 'w', 'e', 'E', 'f', 'W']).map_or(line, str::trim_start).starts_with('!')
    })
}

/// The words that are orders stand for no file.
pub(in crate::command::rules) fn is_order(word: &Word) -> bool {
    word.beginning().starts_with('+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_run_are_told_from_those_that_edit() {
        for order in [
            "silent !ls",
            "r !ls",
            "%!sh",
            "exe \"!ls\"",
            "lua os.execute(\"ls\")",
            "py3 import os",
            "term ls",
            "call delete(\"x\")",
            "sil !ls",
            "let x=system (\"ls\")",
            "w !sh",
            "so x",
            "%s/a/\\=system('ls')/",
            "g/x/!ls",
        ] {
            assert!(!read(order).runs.is_empty(), "{order}");
        }
        for order in [
            "wq",
            "q!",
            "%s/a/b/g",
            "10",
            "PlugInstall",
            "Lazy! sync",
            "set nu",
            "w",
            "g/x/d",
            "normal ggdG",
            "qa!",
            "/foo",
        ] {
            assert!(read(order).runs.is_empty(), "{order}: {:?}", read(order));
        }
        assert_eq!(read("w! /dev/sda").writes, ["/dev/sda"]);
        assert_eq!(read("e .env").reads, [".env"]);
        assert!(runs_in_ed("1,$p\nr !ls") && !runs_in_ed("a\nhello!\n.\nw"));
    }
}
