//! Finding a shell.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::script::Dialect;
use crate::proto::info::ShellKind;

/// A shell that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shell {
    pub(crate) path: PathBuf,
    pub(crate) dialect: Dialect,
}

impl Shell {
    /// As the agent tells about it.
    pub(crate) fn kind(shell: Option<&Shell>) -> ShellKind {
        match shell {
            None => ShellKind::Missing,
            Some(Shell { path, dialect: Dialect::Bash }) => ShellKind::Bash(path.clone()),
            Some(Shell { path, dialect: Dialect::Plain }) => ShellKind::PlainSh(path.clone()),
        }
    }
}

/// The first of: `bash` along the path, in its usual places, `$SHELL` if it is a bash, a plain `sh`.
pub(crate) fn find(path: Option<&OsStr>, user_shell: Option<&OsStr>) -> Option<Shell> {
    let along_path = path.into_iter().flat_map(std::env::split_paths).map(|directory| directory.join("bash"));
    let usual = ["/usr/bin/bash", "/bin/bash", "/usr/local/bin/bash"].map(PathBuf::from);
    let own = user_shell.map(PathBuf::from).filter(|shell| shell.file_name() == Some(OsStr::new("bash")));
    let bash = along_path.chain(usual).chain(own).find(|candidate| is_program(candidate));
    if let Some(path) = bash {
        return Some(Shell { path, dialect: Dialect::Bash });
    }
    let plain = ["/bin/sh", "/usr/bin/sh", "/bin/ash", "/bin/dash"].map(PathBuf::from);
    plain.into_iter().find(|path| is_program(path)).map(|path| Shell { path, dialect: Dialect::Plain })
}

/// A given shell; anything that is not called bash is taken for a plain one.
pub(crate) fn given(path: &Path) -> Shell {
    let bash = path.file_name() == Some(OsStr::new("bash"));
    Shell { path: path.to_path_buf(), dialect: if bash { Dialect::Bash } else { Dialect::Plain } }
}

fn is_program(path: &Path) -> bool {
    path.is_absolute() && path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
