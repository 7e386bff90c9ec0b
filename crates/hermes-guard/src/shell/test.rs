//! `[[ … ]]`

use super::ast::{Test, Word, WordPart};
use super::cursor::{Parsed, Parser};
use super::marks::Marks;
use super::word::Inside;

const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

const BINARY: [&str; 13] =
    ["=", "==", "!=", "=~", "-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Parser<'_> {
    /// What follows `[[`, up to and with `]]`.
    pub(super) fn test(&mut self) -> Parsed<Test> {
        let test = self.any_of()?;
        self.skip_blanks();
        if self.eat_plain("]]") { Ok(test) } else { Err(self.unexpected("']]'")) }
    }

    fn any_of(&mut self) -> Parsed<Test> {
        let mut tests = vec![self.all_of()?];
        while self.test_operator("||") {
            tests.push(self.all_of()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::Or(tests) })
    }

    fn all_of(&mut self) -> Parsed<Test> {
        let mut tests = vec![self.term()?];
        while self.test_operator("&&") {
            tests.push(self.term()?);
        }
        Ok(if tests.len() == 1 { tests.remove(0) } else { Test::And(tests) })
    }

    fn test_operator(&mut self, operator: &'static str) -> bool {
        self.skip_blanks();
        self.eat_operator(operator)
    }

    fn term(&mut self) -> Parsed<Test> {
        self.skip_newlines()?;
        if self.plain_word(&["]]"]).is_some() {
            return Err(self.unexpected("a test"));
        }
        if self.eat(b'(') {
            let inner = self.nested(Self::any_of)?;
            self.skip_blanks();
            let closed = self.eat(b')');
            if closed {
                self.skip_newlines()?;
                return Ok(Test::Group(Box::new(inner)));
            }
            return Err(self.unexpected("')'"));
        }
        if self.eat_plain("!") {
            return Ok(Test::Not(Box::new(self.nested(Self::term)?)));
        }
        let word = self.test_word(Inside::Bare)?;
        if let Some(operator) = unary(&word) {
            self.skip_blanks();
            let operand = self.test_word(Inside::Bare)?;
            self.skip_newlines()?;
            return Ok(Test::Unary(operator, operand));
        }
        self.skip_blanks();
        match self.binary_operator()? {
            Some(operator) => self.right_side(word, operator),
            None => Ok(Test::Word(word)),
        }
    }

    fn binary_operator(&mut self) -> Parsed<Option<String>> {
        match self.operator() {
            Some(("<" | ">", _)) if self.at_process_substitution() => {}
            Some((operator @ ("<" | ">"), end)) => {
                self.pos = end;
                return Ok(Some(operator.to_owned()));
            }
            Some(("&&" | "||" | ")", _)) => return Ok(None),
            _ => {}
        }
        if self.plain_word(&["]]"]).is_some() {
            return Ok(None);
        }
        match self.plain_word(&BINARY) {
            Some((operator, end)) => {
                self.pos = end;
                Ok(Some(operator.to_owned()))
            }
            None => Err(self.unexpected("an operator or ']]'")),
        }
    }

    fn right_side(&mut self, left: Word, operator: String) -> Parsed<Test> {
        self.skip_blanks();
        let inside = match operator.as_str() {
            "=" | "==" | "!=" => Inside::Pattern,
            "=~" => Inside::Regex,
            _ => Inside::Bare,
        };
        let right = self.test_word(inside)?;
        self.skip_newlines()?;
        Ok(Test::Binary(Box::new(left), operator, Box::new(right)))
    }

    fn test_word(&mut self, inside: Inside) -> Parsed<Word> {
        if self.plain_word(&["]]"]).is_some() || self.redirect_ahead() {
            return Err(self.unexpected("a word"));
        }
        match self.word_inside(inside, Marks::Tilde)? {
            Some(word) => Ok(word),
            None => Err(self.unexpected("a word")),
        }
    }
}

fn unary(word: &Word) -> Option<String> {
    let [WordPart::Literal(text)] = &word.parts[..] else { return None };
    let mut letters = text.strip_prefix('-')?.chars();
    let known = letters.next().is_some_and(|letter| UNARY.contains(letter)) && letters.next().is_none();
    known.then(|| text.clone())
}
