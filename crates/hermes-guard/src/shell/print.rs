//! Writes a tree so that bash reads the same script again: one command per line, quotes as they were.

use super::ast::{
    ArithmeticFor, Arm, ArmEnd, Assign, AssignedValue, Assignment, Case, Command, CommandKind, Element,
    Expands, Fd, For, HereDocument, If, Item, Link, List, LoopKind, Mode, Pipe, Pipeline, Prefix, Redirect,
    Script, Simple, Target, Test, Word, WordPart,
};
use super::print_word::parts;

/// The script as text.
pub fn print(script: &Script) -> String {
    let mut printer = Printer::default();
    printer.list(&script.list);
    printer.out
}

/// A word as text.
pub fn print_word(word: &Word) -> String {
    print_parts(&word.parts)
}

/// Parts of a word as text.
pub(super) fn print_parts(these: &[WordPart]) -> String {
    let mut printer = Printer::default();
    parts(&mut printer, these);
    printer.out
}

/// A simple command on one line, without the bodies of here-documents.
pub(super) fn print_command_line(command: &Command) -> String {
    let mut printer = Printer::default();
    printer.command(command);
    printer.out
}

pub(super) fn print_redirect(redirect: &Redirect) -> String {
    let mut printer = Printer::default();
    printer.redirect(redirect);
    printer.out
}

pub(super) fn print_test(test: &Test) -> String {
    let mut printer = Printer::default();
    printer.test(test);
    printer.out
}

/// Words that mean something else where a command starts.
const RESERVED: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "for", "select", "case", "esac",
    "in", "{", "}", "function", "[[", "]]", "coproc", "time", "!",
];

#[derive(Default)]
pub(super) struct Printer {
    pub(super) out: String,
    /// Bodies and delimiters that must follow the end of the line.
    documents: Vec<String>,
}

impl Printer {
    pub(super) fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn newline(&mut self) {
        self.out.push('\n');
        for document in std::mem::take(&mut self.documents) {
            self.out.push_str(&document);
        }
    }

    fn list(&mut self, list: &List) {
        for item in &list.items {
            self.item(item);
            self.newline();
        }
    }

    /// Between brackets that end the list themselves.
    pub(super) fn list_in_brackets(&mut self, list: &List) {
        let outer = std::mem::take(&mut self.documents);
        let start = self.out.len();
        for (i, item) in list.items.iter().enumerate() {
            if i > 0 {
                self.newline();
            }
            self.item(item);
        }
        if !self.documents.is_empty() {
            self.newline();
        }
        // `$((` would be arithmetic.
        if self.out[start..].starts_with('(') {
            self.out.insert(start, ' ');
        }
        self.documents = outer;
    }

    fn item(&mut self, item: &Item) {
        self.pipeline(&item.chain.first);
        for (link, pipeline) in &item.chain.rest {
            self.text(if *link == Link::And { " && " } else { " || " });
            self.pipeline(pipeline);
        }
        if item.mode == Mode::Background {
            self.text(" &");
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        for prefix in &pipeline.prefixes {
            self.text(match prefix {
                Prefix::Not => "! ",
                Prefix::Time => "time ",
                Prefix::TimePosix => "time -p ",
            });
        }
        for stage in &pipeline.stages {
            self.command(&stage.command);
            match stage.pipe {
                Some(Pipe::Output) => self.text(" | "),
                Some(Pipe::OutputAndErrors) => self.text(" |& "),
                None => {}
            }
        }
    }

    fn command(&mut self, command: &Command) {
        let first = match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, &command.redirects),
            other => {
                self.compound(other);
                true
            }
        };
        if first {
            for redirect in &command.redirects {
                self.text(" ");
                self.redirect(redirect);
            }
        }
    }

    /// Says whether the redirections are still to be written.
    fn simple(&mut self, simple: &Simple, redirects: &[Redirect]) -> bool {
        let reserved = simple.assignments.is_empty() && simple.words.first().is_some_and(is_reserved);
        if reserved {
            for redirect in redirects {
                self.redirect(redirect);
                self.text(" ");
            }
        }
        let mut first = true;
        for assignment in &simple.assignments {
            self.space(&mut first);
            self.assignment(assignment);
        }
        for word in &simple.words {
            self.space(&mut first);
            parts(self, &word.parts);
        }
        !reserved
    }

    fn space(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.text(" ");
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.text(&assignment.name);
        if let Some(subscript) = &assignment.subscript {
            self.text("[");
            parts(self, subscript);
            self.text("]");
        }
        self.text(if assignment.how == Assign::Set { "=" } else { "+=" });
        match &assignment.value {
            AssignedValue::Word(word) => parts(self, &word.parts),
            AssignedValue::Array(elements) => self.array(elements),
        }
    }

    pub(super) fn array(&mut self, elements: &[Element]) {
        self.text("(");
        let mut first = true;
        for element in elements {
            self.space(&mut first);
            if let Some((key, how)) = &element.key {
                self.text("[");
                parts(self, key);
                self.text(if *how == Assign::Set { "]=" } else { "]+=" });
            }
            parts(self, &element.value.parts);
        }
        self.text(")");
    }

    fn redirect(&mut self, redirect: &Redirect) {
        match &redirect.fd {
            Some(Fd::Number(number)) => self.text(number),
            Some(Fd::Variable(name)) => {
                self.text("{");
                self.text(name);
                self.text("}");
            }
            None => {}
        }
        self.text(redirect.operator.symbol());
        match &redirect.target {
            Target::Word(word) => {
                if !redirect.operator.symbol().ends_with('&') {
                    self.text(" ");
                }
                parts(self, &word.parts);
            }
            Target::Document(document) => self.document(document),
        }
    }

    fn document(&mut self, document: &HereDocument) {
        parts(self, &document.delimiter.parts);
        let (end, _) = super::heredoc::delimiter(&document.delimiter);
        let mut text = match (&document.body[..], document.expands) {
            ([WordPart::Literal(body)], Expands::No) => body.clone(),
            (body, _) => print_parts(body),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&end);
        text.push('\n');
        self.documents.push(text);
    }

    fn block(&mut self, open: &str, list: &List, close: &str) {
        self.text(open);
        self.newline();
        self.list(list);
        self.text(close);
    }

    fn compound(&mut self, kind: &CommandKind) {
        match kind {
            CommandKind::Simple(_) => {}
            CommandKind::Group(list) => self.block("{", list, "}"),
            CommandKind::Subshell(list) => self.block("(", list, ")"),
            CommandKind::If(clause) => self.if_clause(clause),
            CommandKind::Loop(this) => {
                self.block(
                    if this.until == LoopKind::While { "while" } else { "until" },
                    &this.condition,
                    "",
                );
                self.block("do", &this.body, "done");
            }
            CommandKind::For(this) => self.for_loop("for ", this),
            CommandKind::Select(this) => self.for_loop("select ", this),
            CommandKind::ArithmeticFor(this) => self.arithmetic_for(this),
            CommandKind::Case(this) => self.case(this),
            CommandKind::Arithmetic(inner) => {
                self.text("((");
                parts(self, inner);
                self.text("))");
            }
            CommandKind::Test(test) => {
                self.text("[[ ");
                self.test(test);
                self.text(" ]]");
            }
            CommandKind::Function(function) => {
                self.text("function ");
                parts(self, &function.name.parts);
                self.text(" () ");
                self.command(&function.body);
            }
            CommandKind::Coproc(coproc) => {
                self.text("coproc ");
                if let Some(name) = &coproc.name {
                    parts(self, &name.parts);
                    self.text(" ");
                }
                self.command(&coproc.body);
            }
        }
    }

    fn if_clause(&mut self, clause: &If) {
        let mut word = "if";
        for (condition, body) in &clause.branches {
            self.block(word, condition, "");
            self.block("then", body, "");
            word = "elif";
        }
        if let Some(otherwise) = &clause.otherwise {
            self.block("else", otherwise, "");
        }
        self.text("fi");
    }

    fn for_loop(&mut self, keyword: &str, this: &For) {
        self.text(keyword);
        parts(self, &this.name.parts);
        if let Some(words) = &this.words {
            self.text(" in");
            for word in words {
                self.text(" ");
                parts(self, &word.parts);
            }
        }
        self.newline();
        self.block("do", &this.body, "done");
    }

    fn arithmetic_for(&mut self, this: &ArithmeticFor) {
        let [start, condition, step] = &this.expressions;
        self.text("for ((");
        parts(self, start);
        self.text(";");
        parts(self, condition);
        self.text(";");
        parts(self, step);
        self.text("))");
        self.newline();
        self.block("do", &this.body, "done");
    }

    fn case(&mut self, this: &Case) {
        self.text("case ");
        parts(self, &this.word.parts);
        self.text(" in");
        self.newline();
        for Arm { patterns, body, end } in &this.arms {
            self.text("(");
            for (i, pattern) in patterns.iter().enumerate() {
                if i > 0 {
                    self.text(" | ");
                }
                parts(self, &pattern.parts);
            }
            self.block(
                ")",
                body,
                match end {
                    ArmEnd::Leave => ";;",
                    ArmEnd::FallThrough => ";&",
                    ArmEnd::TryNext => ";;&",
                },
            );
            self.newline();
        }
        self.text("esac");
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Word(word) => parts(self, &word.parts),
            Test::Unary(operator, word) => {
                self.text(operator);
                self.text(" ");
                parts(self, &word.parts);
            }
            Test::Binary(left, operator, right) => {
                parts(self, &left.parts);
                self.text(" ");
                self.text(operator);
                self.text(" ");
                parts(self, &right.parts);
            }
            Test::Not(inner) => {
                self.text("! ");
                self.test(inner);
            }
            Test::And(tests) => self.tests(tests, " && "),
            Test::Or(tests) => self.tests(tests, " || "),
            Test::Group(inner) => {
                self.text("( ");
                self.test(inner);
                self.text(" )");
            }
        }
    }

    fn tests(&mut self, tests: &[Test], operator: &str) {
        for (i, test) in tests.iter().enumerate() {
            if i > 0 {
                self.text(operator);
            }
            self.test(test);
        }
    }
}

fn is_reserved(word: &Word) -> bool {
    matches!(&word.parts[..], [WordPart::Literal(text)] if RESERVED.contains(&text.as_str()))
}
