//! `hermes` and `hermes chat` on a terminal.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use hermes_agent::assembly::Consent;
use hermes_cli::chat::{self, Abilities, ChatOptions, Output, Terminal, UserInput};
use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::auxiliary;
use hermes_tools::Answerer;

use super::args::TalkArgs;
use super::conversation::{AgentConversation, Titles};
use crate::app::App;
use crate::ui;

/// Talks until the user leaves.
pub fn run(app: &App, talk: &TalkArgs, first: Option<UserInput>) -> anyhow::Result<ExitCode> {
    let mut opening = super::opening(app, talk)?;
    let (link, inbox) = chat::link();
    let person: Arc<dyn Answerer> = Arc::new(link.clone());
    if !matches!(opening.consent, Consent::Yolo) {
        opening.consent = Consent::Ask(Arc::clone(&person));
    }
    opening.person = Some(person);
    let worktree = super::worktree_for(talk, &mut opening)?;
    let resumed = opening.resume.is_some();
    let (cwd, settings) = (opening.cwd.clone(), opening.settings.clone());
    let titles =
        if settings.get(&auxiliary::TITLE_GENERATION_ENABLED)? { Titles::Make } else { Titles::Leave };
    let (conversation, notices) = AgentConversation::open(opening, titles, link.events())?;
    let workplace = conversation.workplace();
    let mut options = options(app, &settings, cwd)?;
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
        let _ = writeln!(text, "\n> {notice}");
    }
    if resumed {
        let title = facts.title.as_deref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
        let _ = writeln!(text, "\nSession {}{title}, {} messages:", facts.session_id, facts.messages);
        for exchange in conversation.recent() {
            let _ = writeln!(text, "\n❯ {}\n\n{}", exchange.user, exchange.answer);
        }
    }
    text
}

/// How the chat looks and behaves.
fn options(app: &App, settings: &Settings, cwd: PathBuf) -> Result<ChatOptions, SettingError> {
    let mut options = ChatOptions::from_settings(settings, cwd)?;
    options.history_file = Some(app.home.path(".hermes_history"));
    options.user_home = app.user_home();
    options.editor = app.var("VISUAL").or(app.var("EDITOR")).map(str::to_owned);
    app.var("PATH").unwrap_or_default().clone_into(&mut options.program_path);
    if let Ok(program) = std::env::current_exe() {
        options.own_program = vec![program.into(), "-p".into(), app.home.profile().as_str().into()];
    }
    Ok(options)
}
