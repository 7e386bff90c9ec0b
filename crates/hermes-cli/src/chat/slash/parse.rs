//! A line that was sent, as a command or as a message.

use hermes_checkpoint::Mine;

use super::{Command, Commands, QuickCommand, words};
use crate::chat::conversation::{Compress, Request, Rollback};
use crate::chat::options::BusyInput;

/// What a line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Words for the model.
    Message,
    /// A command for the conversation.
    Conversation(&'static Command, Request),
    /// A command for the chat itself.
    Chat(&'static Command, ChatCommand),
    /// A shortcut of the settings, with what was written behind it.
    Quick(QuickCommand, String),
    /// A command that is not one; what to tell the user, as markdown.
    Wrong(String),
}

/// Commands the chat carries out itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatCommand {
    /// A new session on a clear screen.
    Clear,
    /// Interrupt and end background processes.
    Stop,
    /// Send when the turn is over.
    Queue(String),
    /// Guidance for the running turn.
    Steer(String),
    /// A command of the board, in words.
    Kanban(Vec<String>),
    /// What Enter does while the agent works; nothing shows it.
    Busy(Option<BusyInput>),
    /// Whether thoughts are shown.
    Reasoning(Option<Switch>),
    /// How much of tools' output is shown.
    Verbose(Option<Switch>),
    /// Whether there is a status line.
    StatusBar(Option<Switch>),
    /// Copies an answer, counted from the end.
    Copy(usize),
    /// Attaches a picture.
    Image(String),
    /// Attaches the picture in the clipboard.
    Paste,
    /// Repaints.
    Redraw,
    /// Help, about one command or all.
    Help(Option<String>),
    /// Leaves.
    Quit(Leaving),
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// What becomes of the session when the chat ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// It stays.
    Keeping,
    /// It is deleted.
    Deleting,
}

impl Commands {
    /// Reads a line. A path (`/etc/hosts ...`) is a message.
    pub fn parse(&self, line: &str) -> Parsed {
        let Some(rest) = line.trim().strip_prefix('/') else { return Parsed::Message };
        let (name, args) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name.is_empty() || name.contains(['/', '.']) {
            return Parsed::Message;
        }
        let name = name.to_ascii_lowercase();
        if let Some(command) = self.find(&name) {
            return parse_args(command, args.trim());
        }
        match self.quick().iter().find(|q| q.name == name) {
            Some(quick) => Parsed::Quick(quick.clone(), args.trim().to_owned()),
            None => Parsed::Wrong(self.unknown(&name)),
        }
    }
}

fn parse_args(command: &'static Command, args: &str) -> Parsed {
    if let Some(request) = conversation(command.name, args) {
        return match request {
            Ok(request) => Parsed::Conversation(command, request),
            Err(WrongArgs) => usage(command),
        };
    }
    match chat(command.name, args) {
        Ok(chat) => Parsed::Chat(command, chat),
        Err(WrongArgs) => usage(command),
    }
}

/// The arguments make no sense.
struct WrongArgs;

fn usage(command: &Command) -> Parsed {
    Parsed::Wrong(format!("Usage: `/{} {}`, {}.", command.name, command.args, command.help))
}

fn some(args: &str) -> Option<String> {
    (!args.is_empty()).then(|| args.to_owned())
}

fn needed(args: &str) -> Result<String, WrongArgs> {
    some(args).ok_or(WrongArgs)
}

fn conversation(name: &str, args: &str) -> Option<Result<Request, WrongArgs>> {
    Some(Ok(match name {
        "new" => Request::New { title: some(args) },
        "resume" => Request::Resume { which: some(args) },
        "branch" => Request::Branch { title: some(args) },
        "title" => Request::Title { title: some(args) },
        "history" => Request::History,
        "save" => Request::Save { path: some(args) },
        "undo" => return Some(count(args).map(|turns| Request::Undo { turns })),
        "retry" => Request::Retry,
        "compress" => return Some(compress(args).map(Request::Compress)),
        "uncompact" => Request::Uncompact,
        "rollback" => return Some(rollback(args).map(Request::Rollback)),
        "background" => return Some(needed(args).map(|prompt| Request::Background { prompt })),
        "agents" => Request::Agents,
        "model" => Request::Model { wanted: some(args) },
        "reasoning" if !matches!(args, "" | "show" | "hide" | "on" | "off") => {
            Request::Effort { level: args.to_ascii_lowercase() }
        }
        "yolo" => Request::Yolo,
        "tools" => Request::Tools,
        "toolsets" => Request::Toolsets,
        "status" => Request::Status,
        "usage" => Request::Usage,
        "context" => Request::Context,
        "insights" => return Some(days(args).map(|days| Request::Insights { days })),
        "config" => Request::Config,
        "profile" => Request::Profile,
        _ => return None,
    }))
}

fn chat(name: &str, args: &str) -> Result<ChatCommand, WrongArgs> {
    Ok(match name {
        "clear" => ChatCommand::Clear,
        "stop" => ChatCommand::Stop,
        "queue" => ChatCommand::Queue(needed(args)?),
        "steer" => ChatCommand::Steer(needed(args)?),
        "kanban" => ChatCommand::Kanban(words::split(args).ok_or(WrongArgs)?),
        "busy" if args.is_empty() || args == "status" => ChatCommand::Busy(None),
        "busy" => ChatCommand::Busy(Some(BusyInput::named(args).ok_or(WrongArgs)?)),
        "reasoning" => ChatCommand::Reasoning(switch(args)?),
        "verbose" => ChatCommand::Verbose(switch(args)?),
        "statusbar" => ChatCommand::StatusBar(switch(args)?),
        "copy" => ChatCommand::Copy(count(args)?),
        "image" => ChatCommand::Image(needed(args)?),
        "paste" => ChatCommand::Paste,
        "redraw" => ChatCommand::Redraw,
        "help" => ChatCommand::Help(some(args)),
        "quit" if args.is_empty() => ChatCommand::Quit(Leaving::Keeping),
        "quit" if args == "--delete" => ChatCommand::Quit(Leaving::Deleting),
        _ => return Err(WrongArgs),
    })
}

/// A number from 1; 1 when there is none.
fn count(args: &str) -> Result<usize, WrongArgs> {
    if args.is_empty() {
        return Ok(1);
    }
    args.parse().ok().filter(|n| *n > 0).ok_or(WrongArgs)
}

fn days(args: &str) -> Result<Option<u32>, WrongArgs> {
    if args.is_empty() {
        return Ok(None);
    }
    args.parse().ok().filter(|n| *n > 0).map(Some).ok_or(WrongArgs)
}

fn compress(args: &str) -> Result<Compress, WrongArgs> {
    if args == "--preview" {
        return Ok(Compress::Preview);
    }
    match args.split_once(' ') {
        Some(("here", number)) => Ok(Compress::Keeping { exchanges: count(number.trim())? }),
        _ if args == "here" => Ok(Compress::Keeping { exchanges: 1 }),
        _ => Ok(Compress::Now { focus: some(args) }),
    }
}

fn rollback(args: &str) -> Result<Rollback, WrongArgs> {
    let mine =
        if args.split_whitespace().any(|word| word == "--force") { Mine::Overwrite } else { Mine::Keep };
    let mut words = args.split_whitespace().filter(|word| *word != "--force");
    match (words.next(), words.next(), words.next()) {
        (None, ..) if mine == Mine::Keep => Ok(Rollback::List),
        (Some("diff"), Some(which), None) => Ok(Rollback::Diff { which: which.to_owned() }),
        (None | Some("diff"), ..) => Err(WrongArgs),
        (Some(which), ..) => {
            // A path may have blanks in it: what follows the number is one name.
            let rest = args.replace("--force", "");
            let file = rest.trim().strip_prefix(which).map(str::trim).unwrap_or_default();
            Ok(Rollback::Restore { which: which.to_owned(), file: some(file), mine })
        }
    }
}

fn switch(args: &str) -> Result<Option<Switch>, WrongArgs> {
    match args {
        "" => Ok(None),
        "on" | "show" => Ok(Some(Switch::On)),
        "off" | "hide" => Ok(Some(Switch::Off)),
        _ => Err(WrongArgs),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{COMMANDS, QuickAction};
    use super::*;

    fn parse(line: &str) -> Parsed {
        let quick = QuickCommand { name: "gs".into(), action: QuickAction::Run("git status".into()) };
        Commands::new(Vec::new(), vec![quick]).parse(line)
    }

    fn request(line: &str) -> Request {
        match parse(line) {
            Parsed::Conversation(_, request) => request,
            other => panic!("'{line}' is {other:?}"),
        }
    }

    #[test]
    fn arguments_are_understood() {
        assert_eq!(request("/undo"), Request::Undo { turns: 1 });
        assert_eq!(request("/undo 3"), Request::Undo { turns: 3 });
        assert_eq!(request("/compress here 2"), Request::Compress(Compress::Keeping { exchanges: 2 }));
        assert_eq!(
            request("/compact the tests"),
            Request::Compress(Compress::Now { focus: Some("the tests".into()) })
        );
        assert_eq!(request("/COMPRESS --preview"), Request::Compress(Compress::Preview));
        assert_eq!(request("/reasoning high"), Request::Effort { level: "high".into() });
        let back = |which: &str, file: Option<&str>, mine| {
            let (which, file) = (which.to_owned(), file.map(str::to_owned));
            Request::Rollback(Rollback::Restore { which, file, mine })
        };
        assert_eq!(request("/rollback"), Request::Rollback(Rollback::List));
        assert_eq!(request("/rollback 2"), back("2", None, Mine::Keep));
        assert_eq!(request("/rollback 2 src/a b.rs"), back("2", Some("src/a b.rs"), Mine::Keep));
        assert_eq!(request("/rollback 2 --force"), back("2", None, Mine::Overwrite));
        let diff = Request::Rollback(Rollback::Diff { which: "3".into() });
        assert_eq!(request("/rollback diff 3"), diff);
        assert_eq!(request("/bg check it"), Request::Background { prompt: "check it".into() });
    }

    #[test]
    fn paths_and_prose_are_messages() {
        for message in ["/etc/hosts what is this", "/usr", "hello", "/", "/ what", "a /new b", "/a.txt"] {
            let parsed = parse(message);
            let is_message = parsed == Parsed::Message;
            assert_eq!(is_message, message != "/usr", "'{message}' is {parsed:?}");
        }
    }

    #[test]
    fn nonsense_is_explained() {
        for wrong in [
            "/undo none",
            "/steer",
            "/busy maybe",
            "/verbose loud",
            "/copy 0",
            "/quit now",
            "/nope",
            "/rollback diff",
        ] {
            assert!(matches!(parse(wrong), Parsed::Wrong(_)), "'{wrong}' is {:?}", parse(wrong));
        }
    }

    #[test]
    fn shortcuts_do_not_hide_commands() {
        assert!(matches!(parse("/gs -v"), Parsed::Quick(_, args) if args == "-v"));
        let quick = QuickCommand { name: "new".into(), action: QuickAction::Alias("hi".into()) };
        let commands = Commands::new(Vec::new(), vec![quick]);
        assert!(matches!(commands.parse("/new"), Parsed::Conversation(..)));
    }

    #[test]
    fn every_command_of_the_table_is_understood() {
        for command in COMMANDS {
            let args = if command.args.starts_with(char::is_uppercase) { "x" } else { "" };
            let parsed = parse(&format!("/{} {args}", command.name));
            assert!(
                matches!(parsed, Parsed::Chat(..) | Parsed::Conversation(..)),
                "{}: {parsed:?}",
                command.name
            );
        }
    }
}
