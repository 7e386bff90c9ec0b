//! Goes through a script in the order it would run and keeps track of what is known of its variables.
//!
//! Where it is not certain that a command runs, or how often, only what is the same either way stays known.

use super::ast::{
    ArithmeticFor, Case, Chain, Command, CommandKind, For, If, Link, List, Mode, Pipeline, Redirect, Script,
    Simple, Target, Word, WordPart,
};
use super::effects::{after_command, after_expansion, names_in_arithmetic};
use super::inner::{inside_command, inside_part};
use super::sites::{Place, Site};
use super::value::{Field, Piece, Variables};

/// How the body of a `for` loop is visited.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loops {
    /// Once.
    Once,
    /// Once for each word.
    Unrolled,
    /// Once and for its effects only: nobody is told.
    Silent,
}

/// How many times bodies of loops are visited again in all.
const MOST_ROUNDS: usize = 64;

/// Up to how many values of a loop are tried out to see what its body changes.
const MOST_TRIED: usize = 4;

type Visit<'v, 'a> = &'v mut dyn FnMut(&Site<'a>, &Variables);

pub(super) fn walk<'a>(script: &'a Script, variables: &mut Variables, loops: Loops, visit: Visit<'_, 'a>) {
    let mut walk = Walk {
        places: Vec::new(),
        upstream: None,
        downstream: None,
        variables: std::mem::take(variables),
        loops,
        rounds: MOST_ROUNDS,
        visit,
    };
    walk.list(&script.list);
    *variables = walk.variables;
}

struct Walk<'v, 'a> {
    places: Vec<Place>,
    upstream: Option<&'a Command>,
    downstream: Option<&'a Command>,
    variables: Variables,
    loops: Loops,
    rounds: usize,
    visit: Visit<'v, 'a>,
}

impl<'a> Walk<'_, 'a> {
    fn inside(&mut self, place: Place, walk: impl FnOnce(&mut Self)) {
        self.places.push(place);
        walk(self);
        self.places.pop();
    }

    /// In a shell of its own: what it sets is gone afterwards.
    fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = self.variables.clone();
        walk(self);
        self.variables = before;
    }

    /// Perhaps not at all.
    fn perhaps(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = self.variables.clone();
        walk(self);
        self.variables.meet(&before);
    }

    /// What must hold at the start of every round of a loop.
    fn settle(&mut self, body: impl FnOnce(&mut Self)) {
        // A silent walk is inside another loop that settles for it.
        if self.loops == Loops::Silent {
            return;
        }
        let loops = std::mem::replace(&mut self.loops, Loops::Silent);
        self.perhaps(body);
        self.loops = loops;
    }

    fn list(&mut self, list: &'a List) {
        for item in &list.items {
            match item.mode {
                Mode::Foreground => self.chain(&item.chain),
                Mode::Background => {
                    self.apart(|walk| walk.inside(Place::Background, |walk| walk.chain(&item.chain)));
                }
            }
        }
    }

    fn chain(&mut self, chain: &'a Chain) {
        self.pipeline(&chain.first);
        if chain.rest.is_empty() {
            return;
        }
        let after_first = self.variables.clone();
        for (link, pipeline) in &chain.rest {
            let step = |walk: &mut Self| walk.inside(Place::Branch, |walk| walk.pipeline(pipeline));
            match link {
                Link::And => step(self),
                // It runs when anything before it failed, so none of that is certain.
                Link::Or => {
                    self.variables.meet(&after_first);
                    self.perhaps(step);
                }
            }
        }
        self.variables.meet(&after_first);
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) {
        if let [stage] = &pipeline.stages[..] {
            return self.command(&stage.command);
        }
        let around = (self.upstream, self.downstream);
        for (i, stage) in pipeline.stages.iter().enumerate() {
            let before = i.checked_sub(1).and_then(|i| pipeline.stages.get(i));
            self.upstream = before.map_or(around.0, |stage| Some(&stage.command));
            self.downstream = pipeline.stages.get(i + 1).map_or(around.1, |stage| Some(&stage.command));
            self.apart(|walk| walk.command(&stage.command));
        }
        (self.upstream, self.downstream) = around;
    }

    fn command(&mut self, command: &'a Command) {
        command.redirects.iter().for_each(|redirect| self.redirect(redirect));
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(command, simple),
            CommandKind::Group(list) => self.inside(Place::Group, |walk| walk.list(list)),
            CommandKind::Subshell(list) => {
                self.apart(|walk| walk.inside(Place::Subshell, |walk| walk.list(list)));
            }
            CommandKind::If(clause) => self.if_clause(clause),
            CommandKind::Loop(this) => self.repeat(|walk| {
                walk.inside(Place::Condition, |walk| walk.list(&this.condition));
                walk.inside(Place::Loop, |walk| walk.list(&this.body));
            }),
            CommandKind::For(this) => self.for_loop(this),
            CommandKind::Select(this) => {
                self.words(this.words.as_deref().unwrap_or_default());
                self.forget_word(&this.name);
                self.repeat(|walk| walk.inside(Place::Loop, |walk| walk.list(&this.body)));
            }
            CommandKind::ArithmeticFor(this) => self.arithmetic_for(this),
            CommandKind::Case(this) => self.case(this),
            CommandKind::Arithmetic(parts) => self.arithmetic(parts),
            CommandKind::Test(_) => self.own_words(command),
            CommandKind::Function(function) => {
                let name = super::print::print_word(&function.name);
                let around = (self.upstream.take(), self.downstream.take());
                // Nobody knows what the variables hold when it is called.
                self.apart(|walk| {
                    walk.variables.forget_all();
                    walk.inside(Place::Function(name), |walk| walk.command(&function.body));
                });
                (self.upstream, self.downstream) = around;
            }
            CommandKind::Coproc(coproc) => {
                self.apart(|walk| walk.inside(Place::Coproc, |walk| walk.command(&coproc.body)));
            }
        }
    }

    fn simple(&mut self, command: &'a Command, simple: &'a Simple) {
        self.own_words(command);
        if self.loops != Loops::Silent {
            let site = Site {
                command,
                places: self.places.clone(),
                upstream: self.upstream,
                downstream: self.downstream,
            };
            (self.visit)(&site, &self.variables);
        }
        after_command(simple, &mut self.variables);
    }

    /// The words of the command itself; its redirections are apart.
    fn own_words(&mut self, command: &'a Command) {
        let words = inside_command(command);
        let own = words.len() - command.redirects.len();
        words[..own].iter().for_each(|parts| self.parts(parts));
    }

    fn redirect(&mut self, redirect: &'a Redirect) {
        match &redirect.target {
            Target::Word(word) => self.parts(&word.parts),
            Target::Document(document) => {
                self.inside(Place::HereDocument, |walk| walk.parts(&document.body));
            }
        }
        if let Some(super::ast::Fd::Variable(name)) = &redirect.fd {
            self.variables.forget(name);
        }
    }

    /// The conditions may run, one of the bodies or none does.
    fn if_clause(&mut self, clause: &'a If) {
        let mut ends: Vec<Variables> = Vec::new();
        for (condition, body) in &clause.branches {
            self.inside(Place::Condition, |walk| walk.list(condition));
            let after_condition = self.variables.clone();
            self.inside(Place::Branch, |walk| walk.list(body));
            ends.push(std::mem::replace(&mut self.variables, after_condition));
        }
        if let Some(otherwise) = &clause.otherwise {
            self.inside(Place::Branch, |walk| walk.list(otherwise));
        }
        for end in &ends {
            self.variables.meet(end);
        }
    }

    fn case(&mut self, this: &'a Case) {
        self.parts(&this.word.parts);
        let before = self.variables.clone();
        for arm in &this.arms {
            self.words(&arm.patterns);
            self.inside(Place::Branch, |walk| walk.list(&arm.body));
            // The next arm may follow this one or not.
            self.variables.meet(&before);
        }
    }

    fn repeat(&mut self, body: impl Fn(&mut Self)) {
        self.settle(&body);
        self.perhaps(&body);
    }

    fn for_loop(&mut self, this: &'a For) {
        let words = this.words.as_deref().unwrap_or_default();
        self.words(words);
        let values = self.values_of(this);
        let name = this.name.fixed();
        let Some(name) = name else { return self.repeat(|walk| walk.round(this)) };
        let known = values.filter(|values| self.loops == Loops::Unrolled && values.len() <= self.rounds);
        let Some(values) = known else {
            self.variables.forget(&name);
            return self.repeat(|walk| walk.round(this));
        };
        self.rounds -= values.len();
        // Trying out every value is worth it for few.
        let tried = if values.len() <= MOST_TRIED { values.clone() } else { vec![Field::unknown()] };
        for value in tried {
            self.settle(|walk| {
                walk.variables.set(&name, value);
                walk.round(this);
            });
        }
        let before = self.variables.clone();
        for value in values {
            self.variables = before.clone();
            self.variables.set(&name, value);
            self.round(this);
        }
        self.variables = before;
        self.variables.forget(&name);
    }

    fn round(&mut self, this: &'a For) {
        self.inside(Place::Loop, |walk| walk.list(&this.body));
    }

    /// The words of a loop, if there are some and all are known.
    fn values_of(&self, this: &For) -> Option<Vec<Field>> {
        let mut values = Vec::new();
        for word in this.words.as_ref()? {
            let fields = self.variables.resolve(word);
            if fields.fields().is_empty() || fields.fields().iter().any(|f| f.pieces == [Piece::Unknown]) {
                return None;
            }
            values.extend(fields.fields().iter().cloned());
        }
        (!values.is_empty()).then_some(values)
    }

    fn arithmetic_for(&mut self, this: &'a ArithmeticFor) {
        this.expressions.iter().for_each(|parts| self.arithmetic(parts));
        self.repeat(|walk| walk.inside(Place::Loop, |walk| walk.list(&this.body)));
    }

    fn arithmetic(&mut self, parts: &'a [WordPart]) {
        self.parts(parts);
        names_in_arithmetic(parts, &mut self.variables);
    }

    fn forget_word(&mut self, word: &Word) {
        if let Some(name) = word.fixed() {
            self.variables.forget(&name);
        }
    }

    fn words(&mut self, words: &'a [Word]) {
        for word in words {
            self.parts(&word.parts);
        }
    }

    fn parts(&mut self, parts: &'a [WordPart]) {
        for part in parts {
            self.part(part);
        }
    }

    fn part(&mut self, part: &'a WordPart) {
        match part {
            WordPart::Substitution(this) => {
                self.apart(|walk| walk.inside(Place::Substitution, |walk| walk.list(&this.list)));
            }
            WordPart::Process(this) => {
                self.apart(|walk| walk.inside(Place::Process(this.direction), |walk| walk.list(&this.list)));
            }
            other => inside_part(other).into_iter().for_each(|parts| self.parts(parts)),
        }
        match part {
            WordPart::Parameter(this) => after_expansion(this, &mut self.variables),
            WordPart::Arithmetic(this) => names_in_arithmetic(&this.parts, &mut self.variables),
            _ => {}
        }
    }
}
