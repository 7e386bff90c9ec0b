//! Directories of local commands: where they start, and where temporary files go.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::context::Environment;

/// Where temporary files go: the first absolute one of the usual variables, else `/tmp`, else what the
/// system says.
pub fn temp_dir(env: &Environment) -> PathBuf {
    let named = ["TMPDIR", "TMP", "TEMP"]
        .iter()
        .filter_map(|name| env.get(name))
        .map(PathBuf::from)
        .find(|dir| dir.is_absolute());
    named.unwrap_or_else(|| {
        let tmp = Path::new("/tmp");
        if access(tmp, Access::WRITE_OK).is_ok() { tmp.to_path_buf() } else { std::env::temp_dir() }
    })
}

/// The nearest directory that can be entered: the wanted one, else an ancestor of it, else the place for
/// temporary files. A directory that was deleted under us must not stop every later command.
pub fn usable(wanted: &Path, env: &Environment) -> PathBuf {
    wanted
        .ancestors()
        .filter(|dir| dir.is_absolute())
        .find(|dir| dir.is_dir() && access(*dir, Access::EXEC_OK).is_ok())
        .map_or_else(|| temp_dir(env), Path::to_path_buf)
}

/// Where local commands start: the setting, if it is more than a placeholder, else where we were started.
pub fn start_dir(setting: Option<&str>, host_cwd: &Path, env: &Environment) -> PathBuf {
    let setting = setting.map(str::trim).filter(|cwd| !matches!(*cwd, "" | "." | "auto" | "cwd"));
    let home = || env.get("HOME").map(PathBuf::from);
    let wanted = match setting {
        None => host_cwd.to_path_buf(),
        Some("~") => home().unwrap_or_else(|| host_cwd.to_path_buf()),
        Some(cwd) => match (cwd.strip_prefix("~/"), home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => host_cwd.join(cwd),
        },
    };
    usable(&wanted, env)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().copied().collect()
    }

    #[test]
    fn the_first_absolute_variable_names_the_temporary_place() {
        assert_eq!(temp_dir(&env(&[("TMPDIR", "x"), ("TMP", "/a"), ("TEMP", "/b")])), Path::new("/a"));
        assert_eq!(temp_dir(&env(&[("TMPDIR", "/c"), ("TMP", "/a")])), Path::new("/c"));
        assert_eq!(temp_dir(&Environment::default()), Path::new("/tmp"));
    }

    #[test]
    fn a_deleted_directory_falls_back_to_its_nearest_ancestor() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("a/b/c");
        assert_eq!(usable(&gone, &Environment::default()), dir.path());
        std::fs::create_dir_all(&gone).unwrap();
        assert_eq!(usable(&gone, &Environment::default()), gone);
        assert_eq!(usable(Path::new("not/absolute"), &env(&[("TMPDIR", "/var")])), Path::new("/var"));
    }

    #[test]
    fn placeholders_mean_where_we_were_started() {
        let dir = tempfile::tempdir().unwrap();
        let started = dir.path();
        for placeholder in [None, Some("."), Some("auto"), Some("cwd"), Some(" ")] {
            assert_eq!(start_dir(placeholder, started, &Environment::default()), started);
        }
        let home = env(&[("HOME", started.to_str().unwrap())]);
        assert_eq!(start_dir(Some("~"), Path::new("/"), &home), started);
        std::fs::create_dir(started.join("sub")).unwrap();
        assert_eq!(start_dir(Some("~/sub"), Path::new("/"), &home), started.join("sub"));
        assert_eq!(start_dir(Some("sub"), started, &Environment::default()), started.join("sub"));
    }
}
