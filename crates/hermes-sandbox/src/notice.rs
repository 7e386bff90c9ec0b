//! What a caller must be told about the place its commands run in.

use serde::Serialize;

use crate::docker::drift::Difference;
use crate::docker::errors::LimitKind;
use crate::seen::LostJob;

/// Something that happened or does not hold; none of it is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum Notice {
    /// What earlier commands left is gone, wholly or partly.
    StateLost {
        /// Why, in words.
        reason: String,
        /// What is gone.
        lost: Lost,
        /// Background jobs that are gone, as far as they are known.
        jobs: Vec<LostJob>,
    },
    /// It was paused and now runs again; nothing is lost.
    Unpaused,
    /// It was made from other settings and was replaced.
    Recreated {
        /// What differed.
        differences: Vec<Difference>,
    },
    /// It was made from other settings and is kept.
    Drifted {
        /// What differs.
        differences: Vec<Difference>,
        /// Why it was kept.
        kept: String,
    },
    /// A limit that this host cannot enforce.
    NotEnforced {
        /// Which one.
        limit: LimitKind,
        /// Why.
        reason: String,
    },
    /// A mount that was left out.
    MountSkipped {
        /// The mount as it was given.
        mount: String,
        /// Why.
        reason: String,
    },
    /// A mount whose source was not there and was made, an empty directory.
    MountSourceMade {
        /// The path on this machine.
        source: String,
    },
    /// A mount that gives the box a very large part of the host.
    WideMount {
        /// The directory of the host.
        source: String,
    },
    /// What is to be kept is kept by the engine, because it does not see this machine's directories.
    KeptByEngine {
        /// The volumes.
        volumes: Vec<String>,
    },
    /// A setting that does nothing as it is.
    SettingIgnored {
        /// The setting.
        setting: String,
        /// Why.
        reason: String,
    },
    /// Our program cannot run in the place: commands are run by the engine.
    PlainExec {
        /// Why it cannot.
        reason: String,
    },
    /// A container of another program was taken over.
    Adopted {
        /// Its name.
        name: String,
    },
}

/// What is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// Running commands, jobs and shell state; files are there.
    Processes,
    /// All of that, and every file that is not on a mount.
    EverythingOffMounts,
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::StateLost { reason, lost: Lost::Processes, jobs } => {
                write!(f, "{reason}: everything that ran in it was ended, files were kept{}", named(jobs))
            }
            Self::StateLost { reason, lost: Lost::EverythingOffMounts, jobs } => write!(
                f,
                "{reason}: everything that ran in it and all files outside mounted directories were lost{}",
                named(jobs)
            ),
            Self::Unpaused => write!(f, "the sandbox was paused and has been resumed"),
            Self::Recreated { differences } => {
                write!(
                    f,
                    "the sandbox was made anew, files outside mounted directories are gone, because settings changed: {}",
                    list(differences)
                )
            }
            Self::Drifted { differences, kept } => write!(
                f,
                "the sandbox was made with other settings ({}) and was kept because {kept}; \
                 `hermes sandbox recreate` applies them",
                list(differences)
            ),
            Self::NotEnforced { limit, reason } => write!(f, "the {limit} limit is not enforced: {reason}"),
            Self::MountSkipped { mount, reason } => write!(f, "the mount \"{mount}\" was left out: {reason}"),
            Self::MountSourceMade { source } => {
                write!(f, "the directory \"{source}\" of a mount was not there and was made, empty")
            }
            Self::WideMount { source } => {
                write!(f, "the sandbox can reach all of \"{source}\" through a mount")
            }
            Self::KeptByEngine { volumes } => write!(
                f,
                "the container engine does not see the files of this machine: home and workspace are kept in its \
                 volumes {}",
                volumes.join(" and ")
            ),
            Self::SettingIgnored { setting, reason } => {
                write!(f, "the setting \"{setting}\" does nothing: {reason}")
            }
            Self::PlainExec { reason } => write!(
                f,
                "the box program cannot run in the container ({reason}): commands are run by the engine, which is slower; \
                 background jobs, terminals of a size and search are not to be had"
            ),
            Self::Adopted { name } => write!(f, "the container \"{name}\", made by another program, is used"),
        }
    }
}

/// Lost jobs by id and command: the first few by name, the rest by number.
fn named(jobs: &[LostJob]) -> String {
    const FEW: usize = 10;
    if jobs.is_empty() {
        return String::new();
    }
    let names: Vec<String> =
        jobs.iter().take(FEW).map(|job| format!("{} ({})", job.id, job.command)).collect();
    let rest = jobs.len().saturating_sub(FEW);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("; background jobs lost: {}{more}", names.join(", "))
}

fn list(differences: &[Difference]) -> String {
    differences.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
