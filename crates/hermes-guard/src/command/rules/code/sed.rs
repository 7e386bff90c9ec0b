//! Scripts of `sed`, command by command.

use super::Orders;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::word::Word;

/// What the scripts of a call do; one that is not known at all may do anything.
pub(in crate::command::rules) fn orders(call: &Call) -> Orders {
    let options = Options::of(call);
    let mut scripts: Vec<Word> = options.values(&["-e", "--expression"]).cloned().collect();
    if scripts.is_empty() && !options.has(&["-f", "--file"]) {
        scripts.extend(options.operands.first().cloned());
    }
    let mut orders = Orders::default();
    for script in scripts {
        if script.is_blank() {
            orders.runs.push(String::new());
        } else {
            orders.add(read(&script.shown()));
        }
    }
    orders
}

/// What a script does.
fn read(script: &str) -> Orders {
    let chars: Vec<char> = script.chars().collect();
    let mut reader = Reader { chars: &chars, at: 0, orders: Orders::default() };
    while reader.at < chars.len() {
        reader.command();
    }
    reader.orders
}

struct Reader<'c> {
    chars: &'c [char],
    at: usize,
    orders: Orders,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip(&mut self, fits: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&fits) {
            self.at += 1;
        }
    }

    /// Everything up to a sign that stands alone, which is passed.
    fn upto(&mut self, end: char) {
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '\\' {
                self.at += 1;
            } else if c == end {
                return;
            }
        }
    }

    fn line(&mut self) -> String {
        let start = self.at.min(self.chars.len());
        self.at = start;
        self.skip(|c| c != '\n');
        self.chars[start..self.at].iter().collect::<String>().trim().to_owned()
    }

    /// The lines a command is for.
    fn address(&mut self) {
        loop {
            match self.peek() {
                Some('/') => {
                    self.at += 1;
                    self.upto('/');
                }
                Some('\\') => {
                    let end = self.chars.get(self.at + 1).copied().unwrap_or('/');
                    self.at += 2;
                    self.upto(end);
                }
                Some(c)
                    if c.is_ascii_digit()
                        || c.is_whitespace()
                        || matches!(c, '$' | ',' | '~' | '+' | '!' | 'I' | 'M') =>
                {
                    self.at += 1;
                }
                _ => return,
            }
        }
    }

    fn command(&mut self) {
        self.skip(|c| c.is_whitespace() || matches!(c, ';' | '{' | '}'));
        self.address();
        let Some(command) = self.peek() else { return };
        self.at += 1;
        match command {
            's' => self.substitution(),
            'y' => {
                let Some(end) = self.peek() else { return };
                self.at += 1;
                self.upto(end);
                self.upto(end);
            }
            'e' => {
                let command = self.line();
                self.orders.runs.push(command);
            }
            'w' | 'W' => {
                let file = self.line();
                self.orders.writes.push(file);
            }
            'r' | 'R' => {
                let file = self.line();
                self.orders.reads.push(file);
            }
            'a' | 'i' | 'c' => self.upto('\n'),
            'b' | 't' | 'T' | ':' => self.skip(|c| c != ';' && c != '\n' && c != '}'),
            '#' => {
                self.line();
            }
            _ => {}
        }
    }

    /// `s/a/b/flags`
    fn substitution(&mut self) {
        let Some(end) = self.peek() else { return };
        self.at += 1;
        self.upto(end);
        self.upto(end);
        while let Some(flag) = self.peek() {
            match flag {
                'e' => self.orders.runs.push(String::new()),
                'w' => {
                    self.at += 1;
                    let file = self.line();
                    self.orders.writes.push(file);
                    return;
                }
                c if c.is_ascii_alphanumeric() => {}
                _ => return,
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn commands_that_run_and_write_are_found_behind_every_address() {
        for script in [
            "/x/e ls",
            "/x/s//ls/e",
            "s/a;b/c/e",
            "1els",
            "1e\tls",
            r"s/\//x/e",
            "s/x/{ls}/e",
            "1~2e ls",
            r"\,x,e ls",
            "1,/x/e ls",
            "s/x/ls/;/y/e",
            "sxaxlsxe",
            "e",
            "$!{1!e ls\n}",
        ] {
            assert!(!read(script).runs.is_empty(), "{script}");
        }
        assert_eq!(read("/x/w /tmp/a").writes, ["/tmp/a"]);
        assert_eq!(read("w/tmp/a").writes, ["/tmp/a"]);
        assert_eq!(read("s/a;b/c/gw /tmp/a").writes, ["/tmp/a"]);
        assert_eq!(read("$r .env").reads, [".env"]);
    }

    #[test]
    fn ordinary_scripts_do_nothing_else() {
        for script in [
            "s/a/b/g",
            "1,5p",
            "/re/d",
            "s|e w|x e|",
            "y/abc/wer/",
            "a\\\ne ls",
            "i e ls",
            "s/x/…/",
            "/start/,/end/{s/e/w/;p}",
            ":a;N;$!ba;s/\\n/ /g",
            "# e ls",
            "$=",
            "5q",
        ] {
            let orders = read(script);
            assert!(orders.runs.is_empty() && orders.writes.is_empty(), "{script}: {orders:?}");
        }
    }
}
