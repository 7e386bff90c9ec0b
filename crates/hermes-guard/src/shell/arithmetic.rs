//! Arithmetic of the shell where everything in it is known.

use std::cell::Cell;

use super::value::{State, Variables};

/// How many values one expression may hold.
const MOST_STEPS: usize = 2_000;

/// How deep brackets, and names that stand for expressions, are followed.
const DEEPEST: usize = 16;

/// What an expression comes to, and the variables it sets, in order. A value that is not known is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Computed {
    /// The result.
    pub result: Option<i64>,
    /// Names that were assigned, with their values.
    pub assigned: Vec<(String, Option<i64>)>,
}

/// Works out the text between `((` and `))`.
pub fn compute(text: &str, variables: &Variables) -> Computed {
    let left = Cell::new(MOST_STEPS);
    let mut reader =
        Reader { text: text.as_bytes(), at: 0, variables, assigned: Vec::new(), depth: 0, left: &left };
    let result = reader.comma();
    reader.blanks();
    let whole = reader.at == text.len();
    Computed { result: result.filter(|_| whole), assigned: reader.assigned }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    variables: &'t Variables,
    assigned: Vec<(String, Option<i64>)>,
    depth: usize,
    /// How many steps are left, those of inner expressions included.
    left: &'t Cell<usize>,
}

/// Operators between two values, the loosest first.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.blanks();
        let fits = self.text[self.at.min(self.text.len())..].starts_with(sign.as_bytes());
        if fits {
            self.at += sign.len();
        }
        fits
    }

    fn comma(&mut self) -> Option<i64> {
        let mut value = self.assignment();
        while self.eat(",") {
            value = self.assignment();
        }
        value
    }

    /// `name = value`, `name += value`
    fn assignment(&mut self) -> Option<i64> {
        let start = self.at;
        if let Some(name) = self.name() {
            self.blanks();
            let operator = ["=", "+=", "-=", "*=", "/=", "%="].into_iter().find(|sign| {
                let rest = &self.text[self.at..];
                rest.starts_with(sign.as_bytes()) && !rest.starts_with(b"==")
            });
            if let Some(operator) = operator {
                self.at += operator.len();
                let value = self.assignment();
                let old = if operator == "=" { Some(0) } else { self.value_of(&name) };
                let value = match (&operator[..operator.len() - 1], old, value) {
                    ("", _, value) => value,
                    (sign, Some(old), Some(value)) => apply(sign, old, value),
                    _ => None,
                };
                self.assigned.push((name, value));
                return value;
            }
        }
        self.at = start;
        self.choice()
    }

    fn choice(&mut self) -> Option<i64> {
        let test = self.level(0);
        if !self.eat("?") {
            return test;
        }
        let yes = self.assignment();
        let no = if self.eat(":") { self.assignment() } else { None };
        if test? != 0 { yes } else { no }
    }

    fn level(&mut self, level: usize) -> Option<i64> {
        let Some(signs) = LEVELS.get(level) else { return self.power() };
        let mut value = self.level(level + 1);
        loop {
            self.blanks();
            let rest = &self.text[self.at.min(self.text.len())..];
            // `<` is not the beginning of `<<`, `&` not that of `&&`, `*` not that of `**`.
            let doubled = rest.len() > 1 && rest[0] == rest[1];
            let found = signs.iter().find(|sign| {
                rest.starts_with(sign.as_bytes())
                    && (sign.len() == 2 || !doubled || matches!(rest[0], b'+' | b'-' | b'%' | b'/'))
            });
            let Some(sign) = found else { return value };
            self.at += sign.len();
            let right = self.level(level + 1);
            value = value.zip(right).and_then(|(left, right)| apply(sign, left, right));
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unary();
        if !self.eat("**") {
            return base;
        }
        let exponent = self.power()?;
        base?.checked_pow(u32::try_from(exponent).ok()?)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        self.left.set(self.left.get().saturating_sub(1));
        let value = if self.depth > DEEPEST || self.left.get() == 0 {
            None
        } else if self.eat("-") {
            self.unary().and_then(i64::checked_neg)
        } else if self.eat("+") {
            self.unary()
        } else if self.eat("!") {
            self.unary().map(|value| i64::from(value == 0))
        } else if self.eat("~") {
            self.unary().map(|value| !value)
        } else if self.eat("(") {
            let value = self.comma();
            value.filter(|_| self.eat(")"))
        } else {
            self.atom()
        };
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Option<i64> {
        if let Some(name) = self.name() {
            if self.text.get(self.at) == Some(&b'[') {
                return None;
            }
            let value = self.value_of(&name);
            for (sign, change) in [("++", 1), ("--", -1)] {
                if self.eat(sign) {
                    self.assigned.push((name, value.and_then(|value| value.checked_add(change))));
                    return value;
                }
            }
            return value;
        }
        self.blanks();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'#') {
            self.at += 1;
        }
        number(std::str::from_utf8(&self.text[start..self.at]).ok()?)
    }

    fn name(&mut self) -> Option<String> {
        self.blanks();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let rest = &self.text[self.at.min(self.text.len())..];
        if rest.first().is_none_or(|byte| byte.is_ascii_digit() || !is_part(byte)) {
            return None;
        }
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        self.at += length;
        String::from_utf8(rest[..length].to_vec()).ok()
    }

    /// A name stands for its value, which is an expression too.
    fn value_of(&self, name: &str) -> Option<i64> {
        if let Some((_, value)) = self.assigned.iter().rev().find(|(other, _)| other == name) {
            return *value;
        }
        match self.variables.state(name) {
            State::Known(value) => {
                let text = value.text()?;
                if text.trim().is_empty() {
                    return Some(0);
                }
                if self.depth >= DEEPEST {
                    return None;
                }
                let mut inner = Reader {
                    text: text.as_bytes(),
                    at: 0,
                    variables: self.variables,
                    assigned: Vec::new(),
                    depth: self.depth + 4,
                    left: self.left,
                };
                let value = inner.comma();
                value.filter(|_| inner.at == text.len())
            }
            State::Unknown | State::Untouched => None,
        }
    }
}

/// `10`, `010`, `0x10`, `2#10`
fn number(text: &str) -> Option<i64> {
    if let Some((base, digits)) = text.split_once('#') {
        let base = base.parse().ok().filter(|base| (2..=36).contains(base))?;
        return i64::from_str_radix(digits, base).ok();
    }
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => i64::from_str_radix(&text[2..], 16).ok(),
        [b'0', _, ..] => i64::from_str_radix(&text[1..], 8).ok(),
        _ => text.parse().ok(),
    }
}

fn apply(sign: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |value: bool| Some(i64::from(value));
    match sign {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?),
        ">>" => left.checked_shr(u32::try_from(right).ok()?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::Field;

    #[test]
    fn what_is_known_is_worked_out() {
        let mut variables = Variables::new();
        variables.set("n", Field::from_text("7"));
        variables.set("e", Field::from_text("n - 1"));
        for (text, wanted) in [
            ("-1", Some(-1)),
            ("1-2", Some(-1)),
            ("2*(3+4)%5", Some(4)),
            ("n+1", Some(8)),
            ("e*2", Some(12)),
            ("0x10 + 010", Some(24)),
            ("2**3", Some(8)),
            ("1<2 ? 5 : 6", Some(5)),
            ("1 << 4 | 1", Some(17)),
            ("x + 1", None),
            ("1 +", None),
            ("a[1]", None),
            ("1 / 0", None),
        ] {
            assert_eq!(compute(text, &variables).result, wanted, "{text}");
        }
        let set = compute("x=-1, y+=2, n++", &variables);
        assert_eq!(
            set.assigned,
            [("x".to_owned(), Some(-1)), ("y".to_owned(), None), ("n".to_owned(), Some(8))]
        );
    }

    #[test]
    fn deep_and_broken_expressions_end() {
        let variables = Variables::new();
        let mut many = Variables::new();
        for (name, next) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")] {
            many.set(name, Field::from_text(&format!("{next}+").repeat(3000)));
        }
        assert_eq!(compute("a+a", &many).result, None);
        for text in [
            "(".repeat(5000),
            "-".repeat(5000),
            "1+".repeat(5000),
            "a=".repeat(300),
            "?".repeat(50),
            "é((".to_owned(),
        ] {
            assert_eq!(compute(&text, &variables).result, None);
        }
    }
}
