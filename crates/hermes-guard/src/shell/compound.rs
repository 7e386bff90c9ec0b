//! Compound commands: groups, conditions, loops, functions.

use super::ast::{
    ArithmeticFor, Arm, ArmEnd, Case, Command, CommandKind, Coproc, For, Function, If, List, Loop, LoopKind,
    Simple, Word, WordPart,
};
use super::cursor::{Parsed, Parser};
use super::error::Reason;

/// Words that start a compound command.
const OPENING: [&str; 10] =
    ["if", "while", "until", "for", "select", "case", "{", "function", "[[", "coproc"];

impl Parser<'_> {
    /// A compound command with its redirections, if one starts here.
    pub(super) fn compound(&mut self) -> Parsed<Option<Command>> {
        let start = self.pos;
        let Some(kind) = self.compound_kind()? else { return Ok(None) };
        let (kind, redirects) = match kind {
            // Redirections behind a function or coprocess belong to its body, which has taken them.
            CommandKind::Function(_) | CommandKind::Coproc(_) => (kind, Vec::new()),
            other => (other, self.redirects_after_compound()?),
        };
        Ok(Some(Command { span: self.span_from(start), kind, redirects }))
    }

    fn redirects_after_compound(&mut self) -> Parsed<Vec<super::ast::Redirect>> {
        self.after_compound = true;
        let mut redirects = Vec::new();
        loop {
            let before = self.pos;
            self.skip_blanks();
            let Some(redirect) = self.redirect()? else {
                self.pos = before;
                self.after_compound = redirects.is_empty();
                return Ok(redirects);
            };
            redirects.push(redirect);
        }
    }

    fn compound_kind(&mut self) -> Parsed<Option<CommandKind>> {
        if self.peek() == Some(b'(') {
            if let Some(parts) = self.arithmetic_command()? {
                return Ok(Some(CommandKind::Arithmetic(parts)));
            }
            return self.subshell().map(|list| Some(CommandKind::Subshell(list)));
        }
        let Some((word, end)) = self.plain_word(&OPENING) else { return Ok(None) };
        self.pos = end;
        let kind = match word {
            "{" => CommandKind::Group(self.closed_by("}", "'}'")?),
            "if" => CommandKind::If(self.if_clause()?),
            "while" => CommandKind::Loop(self.while_loop(LoopKind::While)?),
            "until" => CommandKind::Loop(self.while_loop(LoopKind::Until)?),
            "for" => self.for_loop()?,
            "select" => CommandKind::Select(self.loop_over_words()?),
            "case" => CommandKind::Case(self.case()?),
            "function" => CommandKind::Function(self.function()?),
            "coproc" => CommandKind::Coproc(self.coproc()?),
            _ => CommandKind::Test(self.test()?),
        };
        Ok(Some(kind))
    }

    fn subshell(&mut self) -> Parsed<List> {
        self.pos += 1;
        let list = self.body()?;
        if self.eat(b')') { Ok(list) } else { Err(self.unexpected("')'")) }
    }

    /// Commands up to this reserved word.
    fn closed_by(&mut self, word: &'static str, expected: &'static str) -> Parsed<List> {
        let list = self.body()?;
        if self.eat_plain(word) { Ok(list) } else { Err(self.unexpected(expected)) }
    }

    fn if_clause(&mut self) -> Parsed<If> {
        let mut branches = Vec::new();
        loop {
            let condition = self.closed_by("then", "'then'")?;
            let body = self.body()?;
            branches.push((condition, body));
            if self.eat_plain("elif") {
                continue;
            }
            let otherwise = if self.eat_plain("else") { Some(self.body()?) } else { None };
            if !self.eat_plain("fi") {
                return Err(self.unexpected("'fi'"));
            }
            return Ok(If { branches, otherwise });
        }
    }

    fn while_loop(&mut self, until: LoopKind) -> Parsed<Loop> {
        let condition = self.closed_by("do", "'do'")?;
        let body = self.closed_by("done", "'done'")?;
        Ok(Loop { until, condition, body })
    }

    fn for_loop(&mut self) -> Parsed<CommandKind> {
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            return self.arithmetic_for().map(CommandKind::ArithmeticFor);
        }
        self.loop_over_words().map(CommandKind::For)
    }

    fn arithmetic_for(&mut self) -> Parsed<ArithmeticFor> {
        let expressions = self.for_expressions()?;
        self.skip_blanks();
        if self.next_operator() == Some(";") {
            self.eat_operator(";");
        }
        self.skip_newlines()?;
        Ok(ArithmeticFor { expressions, body: self.loop_body()? })
    }

    /// `do … done` or `{ … }`
    fn loop_body(&mut self) -> Parsed<List> {
        if self.eat_plain("do") {
            return self.closed_by("done", "'done'");
        }
        if self.eat_plain("{") { self.closed_by("}", "'}'") } else { Err(self.unexpected("'do'")) }
    }

    fn loop_over_words(&mut self) -> Parsed<For> {
        self.skip_blanks();
        let name = self.required_word("the name of a variable")?;
        self.skip_blanks();
        let same_line = self.next_operator() != Some("\n");
        if same_line && self.eat_operator(";") {
            self.skip_newlines()?;
            return Ok(For { name, words: None, body: self.loop_body()? });
        }
        self.skip_newlines()?;
        if !self.eat_plain("in") {
            // Behind the name, on its line, bash knows `do` but not `{`.
            if same_line && self.plain_word(&["do"]).is_none() {
                return Err(self.unexpected("'in' or 'do'"));
            }
            return Ok(For { name, words: None, body: self.loop_body()? });
        }
        let words = self.words_of_loop()?;
        self.skip_newlines()?;
        Ok(For { name, words: Some(words), body: self.loop_body()? })
    }

    fn words_of_loop(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            if self.next_operator() == Some("\n") || self.eat_operator(";") {
                return Ok(words);
            }
            words.push(self.required_word("a word, ';' or the end of the line")?);
        }
    }

    fn case(&mut self) -> Parsed<Case> {
        self.skip_blanks();
        let word = self.required_word("a word")?;
        self.skip_newlines()?;
        if !self.eat_plain("in") {
            return Err(self.unexpected("'in'"));
        }
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.eat_plain("esac") {
                return Ok(Case { word, arms });
            }
            let patterns = self.patterns()?;
            let body = self.list()?;
            let end = match self.operator() {
                Some((";;", _)) => ArmEnd::Leave,
                Some((";&", _)) => ArmEnd::FallThrough,
                Some((";;&", _)) => ArmEnd::TryNext,
                _ if self.eat_plain("esac") => {
                    arms.push(Arm { patterns, body, end: ArmEnd::Leave });
                    return Ok(Case { word, arms });
                }
                _ => return Err(self.unexpected("';;' or 'esac'")),
            };
            if let Some((_, after)) = self.operator() {
                self.pos = after;
            }
            arms.push(Arm { patterns, body, end });
        }
    }

    fn patterns(&mut self) -> Parsed<Vec<Word>> {
        self.eat(b'(');
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.required_word("a pattern")?);
            self.skip_blanks();
            if self.eat(b')') {
                return Ok(patterns);
            }
            if !self.eat_operator("|") {
                return Err(self.unexpected("'|' or ')'"));
            }
        }
    }

    fn function(&mut self) -> Parsed<Function> {
        self.skip_blanks();
        let name = self.required_word("the name of a function")?;
        self.skip_blanks();
        let before = self.pos;
        if self.eat(b'(') {
            self.skip_blanks();
            if !self.eat(b')') {
                self.pos = before;
            }
        }
        self.function_body(name)
    }

    /// A function whose name was read as the first word of a command; `(` comes next.
    pub(super) fn function_after_name(&mut self, start: usize, name: Word) -> Parsed<Command> {
        self.pos += 1;
        self.skip_blanks();
        if !self.eat(b')') {
            return Err(self.unexpected("')'"));
        }
        let function = self.function_body(name)?;
        Ok(Command {
            span: self.span_from(start),
            kind: CommandKind::Function(function),
            redirects: Vec::new(),
        })
    }

    fn function_body(&mut self, name: Word) -> Parsed<Function> {
        self.skip_newlines()?;
        if self.plain_word(&["function", "coproc"]).is_some() {
            return Err(self.unexpected("the body of a function"));
        }
        match self.nested(Self::compound)? {
            Some(body) => Ok(Function { name, body: Box::new(body) }),
            None => Err(self.unexpected("the body of a function")),
        }
    }

    fn coproc(&mut self) -> Parsed<Coproc> {
        self.skip_blanks();
        if self.plain_word(&["function", "coproc", "!"]).is_some() {
            return Err(self.unexpected("a command"));
        }
        if let Some(body) = self.nested(Self::compound)? {
            return Ok(Coproc { name: None, body: Box::new(body) });
        }
        let start = self.pos;
        let mut simple = Simple::default();
        if !self.redirect_ahead() && (self.next_operator().is_none() || self.at_process_substitution()) {
            match self.assignment_or_word()? {
                Ok(assignment) => simple.assignments.push(assignment),
                Err(word) => simple.words.push(word),
            }
            self.skip_blanks();
            if let Some(name) = simple.words.pop_if(|_| self.starts_compound()) {
                return match self.nested(Self::compound)? {
                    Some(body) => Ok(Coproc { name: Some(name), body: Box::new(body) }),
                    None => Err(self.unexpected("a command")),
                };
            }
        }
        let body = self.simple_from(start, simple)?;
        Ok(Coproc { name: None, body: Box::new(body) })
    }

    fn starts_compound(&mut self) -> bool {
        self.peek() == Some(b'(')
            || self.plain_word(&OPENING).is_some_and(|(word, _)| word != "function" && word != "coproc")
    }

    /// A word that must be here.
    pub(super) fn required_word(&mut self, what: &'static str) -> Parsed<Word> {
        let Some(word) = self.word()? else { return Err(self.unexpected(what)) };
        Ok(word)
    }

    /// `(( … ))` with the parts between.
    fn arithmetic_command(&mut self) -> Parsed<Option<Vec<WordPart>>> {
        let start = self.pos;
        if self.peek_second() != Some(b'(') || self.not_arithmetic.contains(&start) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        self.try_arithmetic(start)
    }

    fn for_expressions(&mut self) -> Parsed<[Vec<WordPart>; 3]> {
        let start = self.pos;
        self.pos += 1;
        if !self.eat(b'(') {
            return Err(self.unexpected("'(('"));
        }
        let first = self.nested(|p| p.arithmetic_parts(b";)"))?;
        let second = self.for_expression(b';', start)?;
        let third = self.for_expression(b';', start)?;
        if self.eat(b')') && self.eat(b')') {
            Ok([first, second, third])
        } else {
            Err(self.unexpected("'))'"))
        }
    }

    fn for_expression(&mut self, after: u8, start: usize) -> Parsed<Vec<WordPart>> {
        if self.peek().is_none() {
            return Err(self.error_at(start, Reason::NotClosed("'(('")));
        }
        if !self.eat(after) {
            return Err(self.unexpected("';'"));
        }
        self.nested(|p| p.arithmetic_parts(b";)"))
    }
}
