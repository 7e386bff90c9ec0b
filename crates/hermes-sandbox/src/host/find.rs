//! Finding a program: a path, or a bare name on the search path.

use std::path::{Path, PathBuf};

use crate::context::Environment;

/// Finds `name` on the search path of `env`; a name with a slash is a path of its own.
pub fn program(name: &Path, env: &Environment) -> Option<PathBuf> {
    if name.components().count() != 1 || name.is_absolute() {
        return is_executable(name).then(|| name.to_path_buf());
    }
    let path = env.get("PATH")?;
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|candidate| is_executable(candidate))
}

/// Whether there is a file here that we may run.
pub fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn bare_names_are_looked_up_and_paths_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let tool = dir.path().join("engine");
        std::fs::write(&tool, "#!/bin/sh\n").unwrap();
        let env: Environment = [("PATH", format!("relative:{}", dir.path().display()))].into_iter().collect();
        assert_eq!(program(Path::new("engine"), &env), None, "not executable yet");
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(program(Path::new("engine"), &env), Some(tool.clone()));
        assert_eq!(program(&tool, &Environment::default()), Some(tool));
        assert_eq!(program(dir.path(), &env), None, "a directory is not a program");
    }
}
