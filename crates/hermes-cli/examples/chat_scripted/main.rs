//! The chat with a conversation that is played from a script: no model, no network, nothing stored.
//!
//! `cargo run -p hermes-cli --example chat_scripted [-- --fast]`. What you write decides what is played: `work` runs
//! tools, `ask` asks for an approval, `clarify` asks for words, `fail` fails, `table` shows markdown, anything else is
//! echoed.

mod script;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use hermes_cli::chat::slash::{Commands, QuickAction, QuickCommand};
use hermes_cli::chat::{Abilities, ChatOptions, Output, Terminal, link, run};

use script::{Scripted, Speed};

fn main() -> ExitCode {
    let env: Vec<(String, String)> = std::env::vars().collect();
    let var = |name: &str| env.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let speed = if std::env::args().any(|a| a == "--fast") { Speed::Fast } else { Speed::Real };
    let output = if io::stdout().is_terminal() { Output::Terminal } else { Output::Other };
    let (link, inbox) = link();
    let mut options = ChatOptions::plain(std::env::current_dir().unwrap_or_default());
    options.user_home = var("HOME").unwrap_or_default().into();
    options.editor = var("VISUAL").or(var("EDITOR")).map(str::to_owned);
    options.program_path = var("PATH").unwrap_or_default().into();
    options.history_file = var("CHAT_HISTORY").map(Into::into);
    options.greeting =
        "**hermes** with a scripted conversation. Try `work`, `ask`, `clarify`, `fail`, `table`.".into();
    let quick = |name: &str, action| QuickCommand { name: name.into(), action };
    options.commands = Commands::new(
        vec!["insights"],
        vec![
            quick("today", QuickAction::Run("date +%F".into())),
            quick("w", QuickAction::Alias("work".into())),
        ],
    );
    let conversation = Scripted::new(link, speed);
    let Ok(terminal) = Terminal::standard() else { return ExitCode::FAILURE };
    match run(Box::new(conversation), inbox, options, Abilities::decide(var, output), terminal) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
