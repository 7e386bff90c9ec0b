//! Programs of `awk`, token by token.

use super::Orders;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::other::javascript::end_of_pattern;
use crate::command::word::Word;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Text(String),
    Name(String),
    Sign(char),
}

/// What the programs of a call do; one that is not known at all may do anything.
pub(in crate::command::rules) fn orders(call: &Call) -> Orders {
    let options = Options::of(call);
    let mut programs: Vec<Word> = options.values(&["-e", "--source"]).cloned().collect();
    let from_file = options.has(&["-f", "--file", "-E", "--exec"]);
    // Beside a file a word is data, unless it looks like a program: not every awk reads its options alike.
    let is_program = |word: &&Word| !from_file || word.shown().contains('{');
    if programs.is_empty() {
        programs.extend(options.operands.first().filter(is_program).cloned());
    }
    let given: Vec<(String, String)> = options
        .values(&["-v", "--assign"])
        .filter_map(|word| {
            word.shown().split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect();
    let mut orders = Orders::default();
    for program in programs {
        if program.is_blank() {
            orders.runs.push(String::new());
        } else {
            orders.add(read(&program.shown(), &given));
        }
    }
    orders
}

/// What a program does, with these variables given to it.
fn read(program: &str, given: &[(String, String)]) -> Orders {
    let tokens = tokens(program);
    let mut orders = Orders::default();
    let name = |at: usize| match tokens.get(at) {
        Some(Token::Name(name)) => Some(name.as_str()),
        _ => None,
    };
    let is = |at: usize, sign: char| tokens.get(at) == Some(&Token::Sign(sign));
    let mut printing = false;
    for at in 0..tokens.len() {
        match &tokens[at] {
            Token::Name(word) if word == "system" => orders.runs.push(String::new()),
            Token::Name(word) if word == "print" || word == "printf" => printing = true,
            Token::Sign(';' | '{' | '}' | '\n') => printing = false,
            // `@load`, `@include`, `@f(x)`
            Token::Sign('@') => orders.runs.push(String::new()),
            Token::Sign('|') if is(at + 1, '|') || at > 0 && is(at - 1, '|') => {}
            Token::Sign('|') => {
                let both_ways = is(at + 1, '&');
                if both_ways || name(at + 1) == Some("getline") {
                    orders.runs.push(String::new());
                } else if printing {
                    orders.runs.push(value(&tokens[at + 1..], &tokens, given));
                }
            }
            Token::Sign('>') if printing && !is(at + 1, '=') && !is(at + 1, '>') => {
                orders.writes.push(value(&tokens[at + 1..], &tokens, given));
            }
            Token::Name(word) if word == "getline" => {
                let from = (at + 1..tokens.len().min(at + 4)).find(|place| is(*place, '<'));
                orders.reads.extend(from.map(|place| value(&tokens[place + 1..], &tokens, given)));
            }
            _ => {}
        }
    }
    orders.writes.retain(|file| !file.is_empty());
    orders
}

/// The text an expression stands for: its texts, and the names that were given one. Empty where there is none.
fn value(expression: &[Token], all: &[Token], given: &[(String, String)]) -> String {
    let ends = |token: &&Token| !matches!(token, Token::Sign(';' | '}' | '\n'));
    let mut text = String::new();
    for token in expression.iter().take_while(ends) {
        match token {
            Token::Text(part) => text.push_str(part),
            Token::Name(name) => {
                let assigned = all.windows(3).find_map(|three| match three {
                    [Token::Name(to), Token::Sign('='), Token::Text(value)] if to == name => {
                        Some(value.clone())
                    }
                    _ => None,
                });
                let before = given.iter().find(|(to, _)| to == name).map(|(_, value)| value.clone());
                text.push_str(&assigned.or(before).unwrap_or_default());
            }
            Token::Sign(_) => {}
        }
    }
    text
}

fn tokens(program: &str) -> Vec<Token> {
    let chars: Vec<char> = program.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        match c {
            '"' => {
                let mut text = String::new();
                while let Some(c) = chars.get(at).copied() {
                    at += 1;
                    match c {
                        '"' => break,
                        '\\' => {
                            text.extend(chars.get(at));
                            at += 1;
                        }
                        other => text.push(other),
                    }
                }
                tokens.push(Token::Text(text));
            }
            '#' => {
                while chars.get(at).is_some_and(|c| *c != '\n') {
                    at += 1;
                }
            }
            // A pattern, where a value could not end before it.
            '/' if !matches!(
                tokens.last(),
                Some(Token::Name(_) | Token::Text(_) | Token::Sign(')' | ']'))
            ) =>
            {
                at = end_of_pattern(&chars, at);
                tokens.push(Token::Sign('/'));
            }
            c if c.is_alphanumeric() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = chars.get(at).filter(|c| c.is_alphanumeric() || **c == '_') {
                    name.push(*c);
                    at += 1;
                }
                tokens.push(Token::Name(name));
            }
            ' ' | '\t' | '\r' => {}
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    tokens
}

/// Whether a command behind a pipe only sorts or counts what it is given.
pub(in crate::command::rules) fn only_sorts(command: &str) -> bool {
    const SORTERS: &[&str] =
        &["sort", "uniq", "wc", "head", "tail", "column", "cut", "nl", "tac", "rev", "tr", "cat", "less"];
    let plain = command.replace("1>&2", "").replace(">&2", "");
    let harmless =
        |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | ',' | '.' | '\t' | '=' | '|' | ':');
    plain.chars().all(harmless)
        && plain.split('|').all(|part| {
            let mut words = part.split_whitespace();
            let first = words.next().unwrap_or_default();
            SORTERS.contains(&first) && words.all(|word| !word.starts_with("-o") && !word.starts_with("--"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_run_write_and_read_are_found() {
        for program in [
            "BEGIN{system (\"ls\")}",
            "BEGIN{print \"x\" |\"sh\"}",
            "BEGIN{\"ls\"|  getline; print}",
            "BEGIN{print \"ls\" |& \"sh\"}",
            "BEGIN{f=\"sys\" \"tem\"; @f(\"ls\")}",
            "@include \"x\"; BEGIN{}",
        ] {
            assert!(!read(program, &[]).runs.is_empty(), "{program}");
        }
        assert_eq!(read("BEGIN{f=\"/a\"; print \"x\" > f}", &[]).writes, ["/a"]);
        assert_eq!(read("BEGIN{print \"x\" > (\"/a\")}", &[]).writes, ["/a"]);
        assert_eq!(read("{print > f}", &[("f".into(), "/a".into())]).writes, ["/a"]);
        assert_eq!(read("BEGIN{while((getline l < \".env\")>0) print l}", &[]).reads, [".env"]);
        assert!(only_sorts("sort -u") && only_sorts("cat 1>&2") && !only_sorts("sh") && !only_sorts(""));
    }

    #[test]
    fn ordinary_programs_do_nothing_else() {
        for program in [
            "{print $1}",
            "$3 > 5 {print}",
            "/a|system(/ {n++} END {print n}",
            "NR>1 || $2 ~ /x|y/ {print \"a|b > c\"}",
            "{print > $1\".txt\"}",
            "{s+=$1} END{print s/NR}",
            "BEGIN{while((getline l < ARGV[1])>0) n++}",
        ] {
            let orders = read(program, &[]);
            assert!(orders.runs.is_empty(), "{program}: {orders:?}");
        }
    }
}
