//! The engine's command with one directory exchanged: a program that is mounted there cannot be run.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Engine;

impl Engine {
    /// A command that is this engine's, except that the mount at `target` holds `program` as a file that cannot be run, as
    /// on a file system without programs. It is made in `dir`.
    pub fn forbidding(&self, dir: &Path, target: &str, program: &str) -> PathBuf {
        let (source, wrapper) = (dir.join("no-programs"), dir.join("engine"));
        let script = format!(
            "#!/bin/bash\nargs=()\nfor arg in \"$@\"; do\n  case $arg in *:{target}:ro) arg=\"{}:{target}:ro\" ;; esac\n  \
             args+=(\"$arg\")\ndone\nexec \"{}\" \"${{args[@]}}\"\n",
            source.display(),
            self.program().display()
        );
        let made = fs::create_dir(&source)
            .and_then(|()| fs::write(source.join(program), "not to be run"))
            .and_then(|()| fs::write(&wrapper, script))
            .and_then(|()| fs::set_permissions(&wrapper, Permissions::from_mode(0o755)));
        made.unwrap_or_else(|error| panic!("cannot make {}: {error}", wrapper.display()));
        wrapper
    }
}
