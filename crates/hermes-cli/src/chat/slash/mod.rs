//! Slash commands: one table for parsing, help and completion.

mod nearest;
mod parse;
mod table;
mod words;

use std::fmt::Write as _;

pub use parse::{ChatCommand, Leaving, Parsed, Switch};
pub use table::COMMANDS;

/// One command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What can follow, for help.
    pub args: &'static str,
    /// What it does, in a line.
    pub help: &'static str,
    /// When it can be used.
    pub when: When,
    /// What it is about.
    pub group: Group,
    /// Words that can follow, for completion.
    pub words: &'static [&'static str],
}

/// When a command can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At any time, while the agent works too.
    Always,
    /// Between turns.
    Idle,
}

/// What commands are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Sessions and what is in them.
    Session,
    /// Work that runs.
    Work,
    /// The model and its tools.
    Model,
    /// Figures and facts.
    Facts,
    /// The screen and the input.
    Screen,
}

impl Group {
    /// All of them, as help shows them.
    pub const ALL: [Self; 5] = [Self::Session, Self::Work, Self::Model, Self::Facts, Self::Screen];

    /// A heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Session => "Session",
            Self::Work => "Running work",
            Self::Model => "Model and tools",
            Self::Facts => "Facts",
            Self::Screen => "Screen and input",
        }
    }
}

/// A shortcut from the settings (`quick_commands`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub action: QuickAction,
}

/// What a shortcut does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuickAction {
    /// Runs a shell command on this machine and shows what it prints.
    Run(String),
    /// Stands for another command or message.
    Alias(String),
}

/// The commands of one chat.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    hidden: Vec<&'static str>,
    quick: Vec<QuickCommand>,
}

impl Commands {
    /// The whole table but for `hidden`, and the shortcuts of the settings. Built-in names win.
    pub fn new(hidden: Vec<&'static str>, quick: Vec<QuickCommand>) -> Self {
        Self { hidden, quick }
    }

    /// The built-in commands.
    pub fn all(&self) -> impl Iterator<Item = &'static Command> {
        COMMANDS.iter().filter(|c| !self.hidden.contains(&c.name))
    }

    /// The shortcuts.
    pub fn quick(&self) -> &[QuickCommand] {
        &self.quick
    }

    /// The command with that name or alias.
    pub fn find(&self, name: &str) -> Option<&'static Command> {
        self.all().find(|c| c.name == name || c.aliases.contains(&name))
    }

    /// The name that was probably meant.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let names = self.all().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied()));
        nearest::nearest(name, names.chain(self.quick.iter().map(|q| q.name.as_str())))
    }

    /// Help about all of them, or one, as markdown.
    pub fn help(&self, about: Option<&str>) -> String {
        if let Some(name) = about.map(|a| a.trim_start_matches('/')) {
            return match self.find(name) {
                Some(command) => help_line(command),
                None => self.unknown(name),
            };
        }
        let mut out = String::new();
        for group in Group::ALL {
            let _ = writeln!(out, "### {}", group.title());
            for command in self.all().filter(|c| c.group == group) {
                out.push_str(&help_row(command));
            }
            out.push('\n');
        }
        if !self.quick.is_empty() {
            out.push_str("### Your shortcuts\n");
            for quick in &self.quick {
                let does = match &quick.action {
                    QuickAction::Run(command) => format!("runs `{command}`"),
                    QuickAction::Alias(target) => format!("stands for `{target}`"),
                };
                let _ = writeln!(out, "| `/{}` | {does} |", quick.name);
            }
            out.push('\n');
        }
        out.push_str(KEYS_HELP);
        out
    }

    /// What to say about a name nobody knows.
    pub fn unknown(&self, name: &str) -> String {
        let hint = self.nearest(name).map(|n| format!(" Did you mean `/{n}`?")).unwrap_or_default();
        format!("There is no command `/{name}`.{hint} `/help` lists them.")
    }
}

fn help_line(command: &Command) -> String {
    format!("`{}` {}{}", usage(command), command.help, also(command))
}

/// A row of a table; bars inside code do not part cells.
fn help_row(command: &Command) -> String {
    format!("| `{}` | {}{} |\n", usage(command), command.help, also(command))
}

fn usage(command: &Command) -> String {
    format!("/{} {}", command.name, command.args).trim_end().to_owned()
}

fn also(command: &Command) -> String {
    match command.aliases {
        [] => String::new(),
        names => format!(" (also {})", names.iter().map(|n| format!("/{n}")).collect::<Vec<_>>().join(", ")),
    }
}

const KEYS_HELP: &str = "\
### Keys
| Enter | sends; Alt+Enter, Ctrl+J or a `\\` at the end starts a new line |
| Tab | completes commands and paths, `@name` a file |
| Up, Down | walk through history; Ctrl+R searches it |
| Ctrl+C | clears the input, then interrupts the agent; twice leaves |
| Ctrl+D | leaves when the input is empty |
| Ctrl+G | opens your editor |
| Ctrl+L, Ctrl+Z | clears the screen, suspends |
| Esc | closes menus, refuses questions |
";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_name_is_taken_twice_and_every_line_is_short() {
        let mut seen = HashSet::new();
        for command in COMMANDS {
            for name in std::iter::once(&command.name).chain(command.aliases) {
                assert!(seen.insert(*name), "'{name}' stands for two commands");
            }
            assert!(command.help.len() <= 60, "'{}' has a long help text", command.name);
        }
    }

    #[test]
    fn a_wrong_name_gets_the_nearest() {
        let commands = Commands::default();
        assert_eq!(commands.nearest("modle").as_deref(), Some("model"));
        assert_eq!(commands.nearest("comp").as_deref(), Some("compress"));
        assert_eq!(commands.nearest("xyzzy"), None);
        assert!(commands.unknown("usge").contains("`/usage`"));
    }

    #[test]
    fn hidden_commands_are_nowhere() {
        let commands = Commands::new(vec!["insights"], Vec::new());
        assert!(commands.find("insights").is_none());
        assert!(!commands.help(None).contains("/insights"));
    }
}
