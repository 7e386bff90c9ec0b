//! Where commands run, as the model is told.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Where commands run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On this machine.
    Host(HostFacts),
    /// Elsewhere. Nothing about this machine is said: it would only mislead.
    Sandbox {
        /// What is known about it.
        description: String,
    },
    /// Nothing is said.
    Unsaid,
}

/// What there is to know about this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// The operating system.
    pub system: String,
    /// The user's home directory.
    pub user_home: PathBuf,
    /// Where commands start.
    pub cwd: PathBuf,
    /// The git repository that is in.
    pub repository: Option<PathBuf>,
}

impl HostFacts {
    /// Looks at this machine.
    pub fn look(user_home: PathBuf, cwd: PathBuf) -> Self {
        let uname = rustix::system::uname();
        let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
        let system =
            format!("{} {} ({})", text(uname.sysname()), text(uname.release()), text(uname.machine()));
        let repository = crate::context_files::repository(&cwd);
        Self { system, user_home, cwd, repository }
    }
}

impl Place {
    /// What the model is told.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Unsaid => String::new(),
            Self::Sandbox { description } => {
                format!(
                    "# Environment\nCommands and file tools work in a sandbox, not on the user's machine. {}",
                    description.trim()
                )
            }
            Self::Host(facts) => {
                let mut text = format!(
                    "# Environment\nCommands and file tools work on the user's machine: {}, home {}, working directory {}",
                    facts.system,
                    facts.user_home.display(),
                    facts.cwd.display()
                );
                match &facts.repository {
                    Some(root) if *root == facts.cwd => text.push_str(" (a git repository)"),
                    Some(root) => {
                        let _ = write!(text, " (in the git repository {})", root.display());
                    }
                    None => {}
                }
                text.push('.');
                text
            }
        }
    }
}
