//! Before a stopped container of ours is started: the directories it has mounted must be there again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::inspect::Observed;
use super::maker::Maker;
use super::spec::{PROGRAM_DIR, RUN_DIR};
use crate::files;
use crate::program::{FILE_NAME, Program};

/// Puts back what was cleaned up on this machine while the container was stopped. The engine would put an
/// empty directory there, and the container could never start again.
///
/// Nothing here can make things worse, so nothing here is an error: if it was in vain, starting fails.
pub fn before_start(maker: &Maker<'_>, seen: &Observed) {
    for mount in seen.mounts.iter().filter(|mount| mount.kind == "bind") {
        match mount.target.as_str() {
            PROGRAM_DIR => put_back_program(maker.program, &mount.source),
            RUN_DIR => {
                let _ = maker.registry.prepare(&seen.name);
            }
            "/root" | "/workspace" if mount.source.starts_with(&maker.context.sandbox_dir) => {
                let _ = files::private_dir(&mount.source);
            }
            _ => {}
        }
    }
}

/// The program may be a newer one than the container was made with: any of them can be its first process.
fn put_back_program(program: Program, dir: &Path) {
    let path = dir.join(FILE_NAME);
    if path.exists() {
        return;
    }
    let _ = files::private_dir(dir);
    if files::write_private(&path, program.bytes()).is_ok() {
        let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o555));
        let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o755));
    }
}
