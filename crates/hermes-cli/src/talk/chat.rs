//! `hermes` and `hermes chat` on a terminal.

use std::process::ExitCode;
use std::sync::Arc;

use hermes_agent::assembly::Consent;
use hermes_cli::chat::slash::{Commands, QuickAction, QuickCommand};
use hermes_cli::chat::{self, Abilities, BusyInput, ChatOptions, Output, Terminal, UserInput};
use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::{auxiliary, display, other};
use hermes_tools::Answerer;

use super::args::TalkArgs;
use super::conversation::{AgentConversation, Titles};
use crate::app::App;
use crate::ui;

/// Talks until the user leaves.
pub fn run(app: &App, talk: &TalkArgs, first: Option<UserInput>) -> anyhow::Result<ExitCode> {
    let mut opening = super::opening(app, talk)?;
    let (link, inbox) = chat::link();
    if !matches!(opening.consent, Consent::Yolo) {
        opening.consent = Consent::Ask(Arc::new(link.clone()) as Arc<dyn Answerer>);
    }
    let worktree = super::worktree_for(talk, &mut opening)?;
    let resumed = opening.resume.is_some();
    let (cwd, settings) = (opening.cwd.clone(), opening.settings.clone());
    let titles =
        if settings.get(&auxiliary::TITLE_GENERATION_ENABLED)? { Titles::Make } else { Titles::Leave };
    let (conversation, notices) = AgentConversation::open(opening, titles, link.events())?;
    let workplace = conversation.workplace();
    let mut options = options(app, &settings)?;
    options.cwd = cwd;
    options.greeting = greeting(&conversation, &workplace.describe(), &notices, resumed);
    options.first = first;
    let abilities = Abilities::decide(|name| app.var(name), Output::Terminal);
    let ended = chat::run(Box::new(conversation), inbox, options, abilities, Terminal::standard()?);
    AgentConversation::close(&workplace);
    drop(worktree);
    let ended = ended?;
    Ok(match ended.by {
        chat::EndedBy::User => ExitCode::SUCCESS,
        chat::EndedBy::System => ExitCode::from(ui::FAILED),
    })
}

/// The first lines: what answers, where it works, how to get help, and what went before.
fn greeting(conversation: &AgentConversation, place: &str, notices: &[String], resumed: bool) -> String {
    use chat::Conversation as _;
    let facts = conversation.status();
    let mut text =
        format!("**Hermes** · {} at {} · {place} `/help` lists commands.\n", facts.model, facts.provider);
    for notice in notices {
        text.push_str(&format!("\n> {notice}\n"));
    }
    if resumed {
        let title = facts.title.as_deref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
        text.push_str(&format!("\nSession {}{title}, {} messages:\n", facts.session_id, facts.messages));
        for exchange in conversation.recent() {
            text.push_str(&format!("\n❯ {}\n\n{}\n", exchange.user, exchange.answer));
        }
    }
    text
}

/// How the chat looks and behaves, from the settings.
fn options(app: &App, settings: &Settings) -> Result<ChatOptions, SettingError> {
    let mut options = ChatOptions::plain("");
    let busy = settings.get(&display::BUSY_INPUT_MODE)?;
    options.busy_input = BusyInput::named(&busy).unwrap_or(BusyInput::Interrupt);
    options.reasoning = match settings.get(&display::SHOW_REASONING)? {
        true => chat::options::Reasoning::Brief,
        false => chat::options::Reasoning::Hidden,
    };
    options.bell = match settings.get(&display::BELL_ON_COMPLETE)? {
        true => chat::options::Bell::Rings,
        false => chat::options::Bell::Silent,
    };
    options.commands = Commands::new(Vec::new(), quick_commands(settings)?);
    options.history_file = Some(app.home.path(".hermes_history"));
    options.user_home = app.user_home();
    options.editor = app.var("VISUAL").or(app.var("EDITOR")).map(str::to_owned);
    options.program_path = app.var("PATH").unwrap_or_default().to_owned();
    Ok(options)
}

/// Shortcuts of the settings; what makes no sense is left out, `hermes config check` says so.
fn quick_commands(settings: &Settings) -> Result<Vec<QuickCommand>, SettingError> {
    let tree = settings.get(&other::QUICK_COMMANDS)?;
    let text = |value: &serde_json::Value, key: &str| value[key].as_str().map(str::to_owned);
    let mut commands = Vec::new();
    for (name, entry) in tree.as_object().into_iter().flatten() {
        let action = match entry["type"].as_str() {
            Some("exec") => text(entry, "command").map(QuickAction::Run),
            Some("alias") => text(entry, "target").map(QuickAction::Alias),
            _ => None,
        };
        commands.extend(action.map(|action| QuickCommand { name: name.clone(), action }));
    }
    Ok(commands)
}
