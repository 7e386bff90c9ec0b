//! Talking to the agent: one question (`-z`, piped input) or a conversation (`hermes`, `hermes chat`).

pub mod args;
mod ask;
mod chat;
mod conversation;
pub mod ending;
pub mod oneshot;
mod picture;
pub mod plain;
mod query;
mod skills;
mod worker;
mod worktree;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use hermes_agent::assembly::{self, Consent, Kind, OpenError, Opened, Opening, Resume, TellId};
use hermes_agent::prompt::{Platform, Rules};
use hermes_home::settings::table::{model as model_settings, safety};
use hermes_model::provider::Wanted;
use hermes_tools::toolsets::SelectionError;
use hermes_tools::{Answerer, NobodyThere};

use hermes_cli::chat::UserInput;

use self::args::{OneShotArgs, TalkArgs};
use self::worktree::Worktree;
use crate::app::App;
use crate::ui;

/// What is asked without any command: a question, what is piped in, or a conversation.
pub fn run(app: &App, talk: &TalkArgs, once: &OneShotArgs) -> anyhow::Result<ExitCode> {
    crate::logging::start(app);
    if let Some(prompt) = &once.oneshot {
        return oneshot::run(app, talk, once, prompt);
    }
    if !std::io::stdin().is_terminal() {
        return oneshot::run(app, talk, once, "-");
    }
    chat::run(app, talk, None)
}

/// Talk to the agent
#[derive(Debug, clap::Args)]
pub struct ChatArgs {
    #[command(flatten)]
    talk: TalkArgs,
    /// Ask this question, show the work and the answer, and leave
    #[arg(short, long, value_name = "QUERY", allow_hyphen_values = true, value_parser = args::question)]
    query: Option<String>,
    /// Print only the answer; the session's id goes to standard error
    #[arg(short = 'Q', long, requires = "query")]
    quiet: bool,
    /// Show more of what tools print
    #[arg(short, long)]
    verbose: bool,
    /// Add a picture to the first question
    #[arg(long, value_name = "PATH")]
    image: Vec<PathBuf>,
}

impl ChatArgs {
    /// With the flags that stood before the command.
    #[must_use]
    pub fn after(self, before: TalkArgs) -> Self {
        Self { talk: self.talk.after(before), ..self }
    }
}

/// `hermes chat`.
pub fn chat(app: &App, args: ChatArgs) -> anyhow::Result<ExitCode> {
    crate::logging::start(app);
    if let Some(query) = &args.query {
        let shown = match (args.quiet, args.verbose) {
            (true, _) => query::Shown::Answer,
            (false, true) => query::Shown::Output,
            (false, false) => query::Shown::Work,
        };
        return query::run(app, &args.talk, query, &args.image, shown);
    }
    if !std::io::stdin().is_terminal() {
        return oneshot::run(
            app,
            &args.talk,
            &OneShotArgs { image: args.image, ..OneShotArgs::default() },
            "-",
        );
    }
    let first = (!args.image.is_empty()).then(|| UserInput { text: String::new(), images: args.image });
    chat::run(app, &args.talk, first)
}

/// Puts an agent together. Names of toolsets that mean nothing are wrong usage.
fn open(opening: Opening) -> anyhow::Result<Opened> {
    assembly::open(opening).map_err(|error| match error {
        OpenError::Tools(SelectionError::NoneKnown(_)) => ui::WrongUsage(error.to_string()).into(),
        error => error.into(),
    })
}

/// The worktree of a conversation. It ends with this, however the conversation ends.
struct OwnWorktree(Option<Worktree>);

/// A worktree for the conversation, if one was asked for; the work is there then.
fn worktree_for(talk: &TalkArgs, opening: &mut Opening) -> anyhow::Result<OwnWorktree> {
    if !talk.worktree {
        return Ok(OwnWorktree(None));
    }
    let mut random = [0; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let name = format!("{:08x}", u32::from_be_bytes(random));
    let worktree = Worktree::make(&opening.cwd, &name)?;
    if worktree.ignored == worktree::Ignored::Now {
        ui::note(
            "`.worktrees/` was added to the .gitignore of the repository, so that worktrees stay out of commits",
        );
    }
    opening.cwd.clone_from(&worktree.path);
    Ok(OwnWorktree(Some(worktree)))
}

impl Drop for OwnWorktree {
    /// A worktree that stays is said, so that its work is found.
    fn drop(&mut self) {
        match self.0.take().map(Worktree::end) {
            None | Some(Ok(worktree::End::Removed)) => {}
            Some(Ok(worktree::End::Kept { path, branch })) => {
                ui::note(&format!("The worktree holds work and stays: {} (branch {branch})", path.display()));
            }
            Some(Err(error)) => ui::warn(&format!("the worktree could not be looked at: {error:#}")),
        }
    }
}

/// How an agent is opened for the command line.
pub fn opening(app: &App, talk: &TalkArgs) -> anyhow::Result<Opening> {
    let mut env = app.env.clone();
    if talk.ignore_user_config {
        env.insert("HERMES_IGNORE_USER_CONFIG".into(), "1".into());
    }
    let mut settings = hermes_home::Settings::load(&app.home, &env)?;
    if talk.checkpoints {
        settings = settings.with_flag(&safety::CHECKPOINTS_ENABLED, true.into());
    }
    if talk.provider.is_some() && talk.model.is_none() && settings.get(&model_settings::DEFAULT)?.is_empty() {
        return Err(ui::WrongUsage("--provider also needs a model: add -m MODEL".to_owned()).into());
    }
    let yolo = talk.yolo || settings.get(&safety::YOLO_MODE)?;
    let ignore_rules =
        talk.ignore_rules || app.var("HERMES_IGNORE_RULES").is_some_and(|v| !v.is_empty() && v != "0");
    let source = talk.source.clone().or_else(|| app.var("HERMES_SESSION_SOURCE").map(str::to_owned));
    let source = source.unwrap_or_else(|| "cli".to_owned());
    Ok(Opening {
        wanted: Wanted { provider: talk.provider.clone(), model: talk.model.clone(), base_url: None },
        toolsets: talk.toolsets.clone(),
        resume: resume(talk, &source),
        source,
        kind: Kind::Conversation,
        rules: if ignore_rules { Rules::Ignore } else { Rules::Follow },
        consent: if yolo { Consent::Yolo } else { Consent::Nobody },
        person: None,
        most_calls: talk.max_turns,
        session_id: if talk.pass_session_id { TellId::Yes } else { TellId::No },
        cwd: working_directory()?,
        home: app.home.clone(),
        settings,
        env,
    })
}

/// Stands for the person on a platform that has one, where only the tools are looked at.
pub fn somebody_on(platform: &str) -> Option<Arc<dyn Answerer>> {
    match Platform::named(platform) {
        Platform::Cron | Platform::Api => None,
        _ => Some(Arc::new(NobodyThere)),
    }
}

fn working_directory() -> anyhow::Result<PathBuf> {
    std::env::current_dir().map_err(|error| {
        anyhow::anyhow!("the current directory cannot be used ({error}): change to one that exists")
    })
}

fn resume(talk: &TalkArgs, source: &str) -> Option<Resume> {
    match (&talk.resume, &talk.continue_last) {
        (Some(name), _) => Some(Resume::Named(name.clone())),
        (None, Some(name)) if !name.is_empty() => Some(Resume::Named(name.clone())),
        (None, Some(_)) => Some(Resume::Latest { source: source.to_owned() }),
        (None, None) => None,
    }
}
