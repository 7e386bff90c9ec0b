//! What can be typed after `hermes profile`.

use std::path::PathBuf;

use clap::Subcommand;
use hermes_home::profile::{Profile, ProfileName};

/// Keep several agents apart: each profile is a home of its own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a command it says which profile is active, where it is and why.

Examples:
  hermes profile create work --clone     a profile that starts with your settings
  hermes -p work profile show            use it once
  hermes profile use work                use it from now on
  hermes profile export work             pack it into work.tar.gz, without keys")]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// What can be done with profiles.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the profiles
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    Create(Create),
    /// Use a profile whenever nothing else is said
    Use {
        /// The profile, `default` for the root
        #[arg(value_name = "NAME", value_parser = Profile::parse)]
        target: Profile,
    },
    /// Show what a profile has
    Show {
        /// The profile; the active one when left out
        #[arg(value_name = "NAME", value_parser = Profile::parse)]
        target: Option<Profile>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a profile another name; its aliases and the active profile follow
    Rename {
        /// The name it has
        #[arg(value_name = "OLD", value_parser = Profile::parse)]
        from: Profile,
        /// The name it gets
        #[arg(value_name = "NEW", value_parser = ProfileName::parse_new)]
        to: ProfileName,
    },
    Delete(Delete),
    Describe(Describe),
    Export(Export),
    Import(Import),
    Alias(Alias),
}

/// Make a profile
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A profile has its own settings, keys, memory, skills, sessions and logs.

--clone copies config.yaml, .env, SOUL.md, the skills, MEMORY.md and USER.md.
--clone-all copies everything but caches, backups and running processes.
--clone-from alone means --clone.

Examples:
  hermes profile create work
  hermes profile create work --clone --description \"reviews code\"
  hermes profile create copy --clone-all --clone-from work")]
pub struct Create {
    /// The name: lower-case letters, digits, '-' and '_'
    #[arg(value_name = "NAME", value_parser = ProfileName::parse_new)]
    pub name: ProfileName,
    /// What to copy.
    #[command(flatten)]
    pub source: Source,
    /// Make no command of the profile's name in ~/.local/bin
    #[arg(long)]
    pub no_alias: bool,
    /// Leave out the skills that come with hermes, now and after updates
    #[arg(long, conflicts_with_all = ["clone", "clone_all", "clone_from"])]
    pub no_skills: bool,
    /// What the profile is good at, in a sentence or two
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
}

/// What a new profile is copied from.
#[derive(Debug, clap::Args)]
pub struct Source {
    /// Start with the settings, keys, persona, skills and memory of the active profile
    #[arg(long, conflicts_with = "clone_all")]
    pub clone: bool,
    /// Start with everything of the active profile, also its sessions
    #[arg(long)]
    pub clone_all: bool,
    /// Clone this profile instead of the active one
    #[arg(long, value_name = "SOURCE", value_parser = Profile::parse)]
    pub clone_from: Option<Profile>,
}

/// Delete a profile with everything in it
#[derive(Debug, clap::Args)]
pub struct Delete {
    /// The profile
    #[arg(value_name = "NAME", value_parser = Profile::parse)]
    pub target: Profile,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
}

/// Show or set what a profile is good at
#[derive(Debug, clap::Args)]
pub struct Describe {
    /// The profile; the active one when left out
    #[arg(value_name = "NAME", value_parser = Profile::parse)]
    pub target: Option<Profile>,
    /// Set the description to this; an empty text removes it
    #[arg(long)]
    pub text: Option<String>,
}

/// Pack a profile into a .tar.gz without keys and logins
#[derive(Debug, clap::Args)]
#[command(after_help = "\
.env, auth.json and other files with logins stay behind, and so do links.
config.yaml goes along as it is, with any key that is written into it.")]
pub struct Export {
    /// The profile
    #[arg(value_name = "NAME", value_parser = Profile::parse)]
    pub target: Profile,
    /// The file to write, or a directory to put NAME.tar.gz into
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Make a profile from an exported .tar.gz
#[derive(Debug, clap::Args)]
pub struct Import {
    /// The archive
    #[arg(value_name = "ARCHIVE")]
    pub archive: PathBuf,
    /// The name of the new profile; the archive's own when left out
    #[arg(long, value_name = "NAME", value_parser = ProfileName::parse_new)]
    pub name: Option<ProfileName>,
}

/// Make or remove a command in ~/.local/bin that runs hermes with a profile
#[derive(Debug, clap::Args)]
pub struct Alias {
    /// The profile
    #[arg(value_name = "NAME", value_parser = Profile::parse)]
    pub target: Profile,
    /// Remove the alias given with --name, or all aliases of the profile
    #[arg(long)]
    pub remove: bool,
    /// The name of the command; the profile's own when left out
    #[arg(long = "name", value_name = "ALIAS", value_parser = ProfileName::parse)]
    pub called: Option<ProfileName>,
}
