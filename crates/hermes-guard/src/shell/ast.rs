//! The tree of a shell script.
//!
//! Text is kept as written; what a word means after quotes are removed is the job of `value`.

/// A range of bytes in the text that was parsed. Parts of a script inside backquotes have the span of the
/// whole substitution, because their own text is written there in escaped form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it starts.
    pub start: usize,
    /// Where it ends (the first byte after it).
    pub end: usize,
}

impl Span {
    /// What it covers, or nothing when `text` is not the text that was parsed.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// A whole script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What it does, in order.
    pub list: List,
}

/// Commands one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The commands in order.
    pub items: Vec<Item>,
}

/// One chain of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Pipelines joined by `&&` and `||`.
    pub chain: Chain,
    /// Whether the shell waits for it.
    pub mode: Mode,
}

/// Whether the shell waits for a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Ended by `;`, a new line or the end.
    Foreground,
    /// Ended by `&`.
    Background,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The first pipeline.
    pub first: Pipeline,
    /// The others, each with what joins it to the one before.
    pub rest: Vec<(Link, Pipeline)>,
}

impl Chain {
    /// All pipelines in order.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, pipeline)| pipeline))
    }
}

/// What joins two pipelines of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`. Without any command when only `!` or `time` is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// Where it stands.
    pub span: Span,
    /// `!` and `time` in the order they were written.
    pub prefixes: Vec<Prefix>,
    /// The commands, each with how its output reaches the next one.
    pub stages: Vec<Stage>,
}

/// A word before a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// `!`
    Not,
    /// `time`
    Time,
    /// `time -p`
    TimePosix,
}

/// A command of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The command.
    pub command: Command,
    /// How its output reaches the next one; the last stage says `None`.
    pub pipe: Option<Pipe>,
}

/// What a pipe carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// `|`
    Output,
    /// `|&`
    OutputAndErrors,
}

/// A command with its redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Where it stands, redirections included.
    pub span: Span,
    /// What it is.
    pub kind: CommandKind,
    /// Its redirections in order.
    pub redirects: Vec<Redirect>,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Assignments and words.
    Simple(Simple),
    /// `{ list; }`
    Group(List),
    /// `( list )`
    Subshell(List),
    /// `if`
    If(If),
    /// `while` and `until`
    Loop(Loop),
    /// `for name in words`
    For(For),
    /// `for (( ; ; ))`
    ArithmeticFor(ArithmeticFor),
    /// `select name in words`
    Select(For),
    /// `case`
    Case(Case),
    /// `(( ))`
    Arithmetic(Vec<WordPart>),
    /// `[[ ]]`
    Test(Test),
    /// A definition of a function.
    Function(Function),
    /// `coproc`
    Coproc(Coproc),
}

/// Assignments and words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Assignments before the first word.
    pub assignments: Vec<Assignment>,
    /// The name of the command and its arguments.
    pub words: Vec<Word>,
}

/// `name=value`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where it stands.
    pub span: Span,
    /// The variable.
    pub name: String,
    /// What stands between `[` and `]`.
    pub subscript: Option<Vec<WordPart>>,
    /// `=` or `+=`.
    pub how: Assign,
    /// What is assigned.
    pub value: AssignedValue,
}

/// How a value is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assign {
    /// `=`
    Set,
    /// `+=`
    Append,
}

/// What is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedValue {
    /// One value; it has no parts for `name=`.
    Word(Word),
    /// `( … )`
    Array(Vec<Element>),
}

/// An element of an array as written: `value`, or `[key]=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// What stands between `[` and `]=`, and how it is assigned.
    pub key: Option<(Vec<WordPart>, Assign)>,
    /// The value.
    pub value: Word,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands.
    pub span: Span,
    /// What it is made of.
    pub parts: Vec<WordPart>,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPart {
    /// Plain text, not quoted.
    Literal(String),
    /// A character after a backslash.
    Escaped(char),
    /// `'…'`
    Single(String),
    /// `$'…'`, with its escapes as written.
    AnsiC(String),
    /// `"…"`
    Double(Vec<WordPart>),
    /// `$"…"`
    Translated(Vec<WordPart>),
    /// `$name`, `${…}`
    Parameter(Parameter),
    /// `$( … )` or backquotes
    Substitution(Substitution),
    /// `$(( … ))` or `$[ … ]`; what it computes is not read further than the expansions in it.
    Arithmetic(Arithmetic),
    /// `<( … )` or `>( … )`
    Process(ProcessSubstitution),
    /// `~`, `~name`, `~+`, `~-` where the shell expands it; the text is what follows `~`.
    Tilde(String),
    /// `*`, `?` or `[…]` that is matched against file names.
    Glob(String),
    /// `@(a|b)` and its kin, known only inside `[[ ]]`, as written.
    ExtendedGlob(char, Vec<WordPart>),
    /// `{a,b}`
    Braces(Vec<Vec<WordPart>>),
    /// `{1..9}`: what stands between the braces.
    Range(String),
    /// `( … )` after `name=` in an argument of `declare` and its kin.
    Array(Vec<Element>),
}

/// `$(( … ))` or `$[ … ]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Which brackets.
    pub form: ArithmeticForm,
    /// What stands between them.
    pub parts: Vec<WordPart>,
}

/// The brackets of an arithmetic expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticForm {
    /// `$(( ))`
    Parentheses,
    /// `$[ ]`
    Brackets,
}

/// `$name` or `${…}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Where it stands.
    pub span: Span,
    /// The variable or special parameter: `x`, `1`, `@`, `?`.
    pub name: String,
    /// Whether braces were written.
    pub form: ParameterForm,
    /// What stands between `[` and `]`.
    pub subscript: Option<Vec<WordPart>>,
    /// What is done with it.
    pub operation: Operation,
}

/// How a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterForm {
    /// `$name`
    Plain,
    /// `${name}`
    Braced,
    /// `${!name}`: the name of the variable is the value of this one. With [`Operation::Names`] and
    /// subscripts `@` and `*`, the names or keys themselves.
    Indirect,
    /// `${#name}`
    Length,
}

/// What is done with the value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Value,
    /// `-`, `=`, `?`, `+`, with or without a colon.
    Instead(Instead, When, Vec<WordPart>),
    /// `#`, `##`, `%`, `%%`, the operator as written.
    Remove(String, Vec<WordPart>),
    /// `/`, `//`, `/#`, `/%`: the operator as written, the pattern, the replacement if there is one.
    Replace(String, Vec<WordPart>, Option<Vec<WordPart>>),
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`: the operator as written and the pattern.
    Case(String, Vec<WordPart>),
    /// `:offset` and `:offset:length`
    Slice(Vec<WordPart>, Option<Vec<WordPart>>),
    /// `@Q` and the like.
    Transform(char),
    /// `${!prefix*}` and `${!prefix@}`
    Names(char),
    /// Bash refuses it when it runs it, or a newer bash runs it as a command. The text is what follows the name.
    Unreadable(Vec<WordPart>),
}

/// What the word of `${name-word}` is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// `-`: the value if there is none.
    Default,
    /// `=`: the value, assigned too, if there is none.
    AssignDefault,
    /// `?`: the message of an error if there is none.
    Error,
    /// `+`: the value if there is one.
    Alternative,
}

/// When a parameter counts as missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Without a colon: it is not set.
    Unset,
    /// With a colon: it is not set, or empty.
    UnsetOrEmpty,
}

/// `$( … )` or backquotes
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Substitution {
    /// Where it stands.
    pub span: Span,
    /// Which of the two.
    pub form: SubstitutionForm,
    /// The commands whose output it stands for.
    pub list: List,
}

/// How a command substitution is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubstitutionForm {
    /// `$( … )`
    Dollar,
    /// Backquotes, with the text between them as written.
    Backquotes(String),
}

/// `<( … )` or `>( … )`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessSubstitution {
    /// Where it stands.
    pub span: Span,
    /// Who reads from whom.
    pub direction: Direction,
    /// The commands.
    pub list: List,
}

/// Which way a process substitution flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<( … )`: the commands write, the word names what can be read.
    FromProcess,
    /// `>( … )`: what is written to the word goes to the commands.
    ToProcess,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Where it stands, without the body of a here-document.
    pub span: Span,
    /// The descriptor as written.
    pub fd: Option<Fd>,
    /// What is done.
    pub operator: RedirectOperator,
    /// With what.
    pub target: Target,
}

/// The descriptor of a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fd {
    /// `2>`; the digits as written.
    Number(String),
    /// `{name}>`
    Variable(String),
}

/// The operators of redirections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `>|`
    Clobber,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<<`
    HereString,
    /// `<<`
    HereDocument,
    /// `<<-`
    HereDocumentStripped,
}

/// What a redirection goes to or comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file, a descriptor, or the text of a here-string.
    Word(Word),
    /// A here-document.
    Document(HereDocument),
}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// The delimiter as written after the operator.
    pub delimiter: Word,
    /// Where the body stands.
    pub span: Span,
    /// The body; one literal if the delimiter is quoted. Leading tabs are already gone after `<<-`.
    pub body: Vec<WordPart>,
    /// Whether expansions in the body are done.
    pub expands: Expands,
}

/// Whether expansions are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expands {
    /// The text is taken as it is.
    No,
    /// `$` and backquotes mean what they mean between double quotes.
    Yes,
}

/// `if`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct If {
    /// Conditions with what follows `then`: the first for `if`, the others for `elif`.
    pub branches: Vec<(List, List)>,
    /// What follows `else`.
    pub otherwise: Option<List>,
}

/// `while` and `until`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Which of the two.
    pub until: LoopKind,
    /// The condition.
    pub condition: List,
    /// What is repeated.
    pub body: List,
}

/// Which loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// `while`
    While,
    /// `until`
    Until,
}

/// `for` and `select`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct For {
    /// The variable. Bash takes any word here and complains when it runs.
    pub name: Word,
    /// What follows `in`; without it the arguments of the script.
    pub words: Option<Vec<Word>>,
    /// What is repeated.
    pub body: List,
}

/// `for (( start; condition; step ))`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArithmeticFor {
    /// The three expressions.
    pub expressions: [Vec<WordPart>; 3],
    /// What is repeated.
    pub body: List,
}

/// `case`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What is compared.
    pub word: Word,
    /// Its arms in order.
    pub arms: Vec<Arm>,
}

/// One arm of `case`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Patterns between `|`.
    pub patterns: Vec<Word>,
    /// What is done.
    pub body: List,
    /// What happens after it.
    pub end: ArmEnd,
}

/// The end of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmEnd {
    /// `;;`
    Leave,
    /// `;&`
    FallThrough,
    /// `;;&`
    TryNext,
}

/// What stands between `[[` and `]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// A word alone: true if not empty.
    Word(Word),
    /// An operator such as `-f` and its word.
    Unary(String, Word),
    /// An operator such as `==`, `=~`, `-nt`, `<` between two words.
    Binary(Box<Word>, String, Box<Word>),
    /// `!`
    Not(Box<Test>),
    /// Two or more joined by `&&`.
    And(Vec<Test>),
    /// Two or more joined by `||`.
    Or(Vec<Test>),
    /// `( )`
    Group(Box<Test>),
}

/// A definition of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name. Bash takes any word here and complains when it runs.
    pub name: Word,
    /// Its body, with the redirections that are done on every call.
    pub body: Box<Command>,
}

/// `coproc`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coproc {
    /// Its name if one is given.
    pub name: Option<Word>,
    /// What runs beside the shell.
    pub body: Box<Command>,
}
