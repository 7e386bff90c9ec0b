//! The flags of a conversation: for `hermes`, `hermes -z` and `hermes chat` alike.

use std::path::PathBuf;

/// How to talk to the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct TalkArgs {
    /// Use this model
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Use this provider
    #[arg(long, value_name = "PROVIDER")]
    pub provider: Option<String>,
    /// Only these toolsets, separated by commas (`all` for every one)
    #[arg(short, long, value_name = "TOOLSETS", value_delimiter = ',')]
    pub toolsets: Vec<String>,
    /// Go on with a session: its id, the beginning of it, or its title
    #[arg(short, long, value_name = "SESSION", conflicts_with = "continue_last")]
    pub resume: Option<String>,
    /// Go on with the session of this name, or with the latest one
    #[arg(short, long = "continue", value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub continue_last: Option<String>,
    /// Work in a new git worktree of this repository
    #[arg(short, long)]
    pub worktree: bool,
    /// Run commands without asking
    #[arg(long)]
    pub yolo: bool,
    /// Keep snapshots of files before they are changed, for /rollback
    #[arg(long)]
    pub checkpoints: bool,
    /// Tell the model the id of the session
    #[arg(long)]
    pub pass_session_id: bool,
    /// Use built-in settings instead of config.yaml; keys in .env still count
    #[arg(long)]
    pub ignore_user_config: bool,
    /// Leave SOUL.md, AGENTS.md and the like, and memory out of the prompt
    #[arg(long)]
    pub ignore_rules: bool,
    /// Most model calls for one question
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,
    /// Mark the session with this source (`tool` keeps it out of lists)
    #[arg(long, value_name = "TAG")]
    pub source: Option<String>,
    /// Load these skills before the first question
    #[arg(long, value_name = "SKILL", value_delimiter = ',')]
    pub skills: Vec<String>,
    /// Kept for programs that start this one: there is no other screen to choose
    #[arg(long, hide = true)]
    pub cli: bool,
    /// Kept for programs that start this one: nothing asks about hooks
    #[arg(long, hide = true)]
    pub accept_hooks: bool,
}

/// How a single question is asked and answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct OneShotArgs {
    /// Ask one question, print the answer and leave (`-` reads the question from standard input)
    #[arg(short = 'z', long, value_name = "PROMPT", allow_hyphen_values = true, value_parser = question)]
    pub oneshot: Option<String>,
    /// Add what comes on standard input to the question
    #[arg(long, requires = "oneshot")]
    pub stdin: bool,
    /// Print everything that happens as lines of JSON
    // Its own id: clap carries the `--json` of a command up to here otherwise.
    #[arg(id = "events_as_json", long = "json", requires = "oneshot")]
    pub json: bool,
    /// Write what it took to this file, as JSON, also when it fails
    #[arg(long, value_name = "PATH")]
    pub usage_file: Option<PathBuf>,
    /// Add a picture to the question
    #[arg(long, value_name = "PATH")]
    pub image: Vec<PathBuf>,
}

impl TalkArgs {
    /// These flags, and those of `before` where these say nothing: `hermes --yolo chat` means `hermes chat --yolo`.
    #[must_use]
    pub fn after(self, before: Self) -> Self {
        Self {
            model: self.model.or(before.model),
            provider: self.provider.or(before.provider),
            toolsets: if self.toolsets.is_empty() { before.toolsets } else { self.toolsets },
            resume: self.resume.or(before.resume),
            continue_last: self.continue_last.or(before.continue_last),
            worktree: self.worktree || before.worktree,
            yolo: self.yolo || before.yolo,
            checkpoints: self.checkpoints || before.checkpoints,
            pass_session_id: self.pass_session_id || before.pass_session_id,
            ignore_user_config: self.ignore_user_config || before.ignore_user_config,
            ignore_rules: self.ignore_rules || before.ignore_rules,
            max_turns: self.max_turns.or(before.max_turns),
            source: self.source.or(before.source),
            skills: if self.skills.is_empty() { before.skills } else { self.skills },
            cli: self.cli || before.cli,
            accept_hooks: self.accept_hooks || before.accept_hooks,
        }
    }
}

/// A question may begin with a hyphen; a single word that does is a flag at the wrong place.
pub fn question(text: &str) -> Result<String, &'static str> {
    let is_word = text.starts_with('-') && !text.contains(char::is_whitespace);
    if is_word && text != "-" && text.parse::<f64>().is_err() {
        return Err("it looks like a flag; if it is the question, pipe it in");
    }
    Ok(text.to_owned())
}
