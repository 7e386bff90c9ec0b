//! Podman for tests: the installed program with a storage and settings of its own, so that nothing of the user
//! is touched.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Resource, getrlimit};

use super::image::{self, Image};
use super::{Engine, EngineError, EngineKind};
use crate::command::End;
use crate::debian::{MissingProgram, find_program};

/// Storage drivers in the order of preference.
const DRIVERS: [&str; 2] = ["overlay", "vfs"];

/// Sets podman up below `dir` and runs a container with it once. The caller holds the lock.
pub(super) fn set_up(dir: &Path) -> Result<Engine, EngineError> {
    let engine = client(dir).ok_or_else(|| MissingProgram {
        program: "podman".to_owned(),
        reason: "install the package 'podman'".to_owned(),
    })?;
    let own = dir.join("podman");
    if own.exists() {
        return Ok(engine);
    }
    let mut attempts = Vec::new();
    for driver in DRIVERS {
        let tried = write_settings(&own, driver)
            .and_then(|()| image::ensure(&engine, Image::Base))
            .and_then(|()| smoke(&engine));
        match tried {
            Ok(()) => return Ok(engine),
            Err(error) => attempts.push(format!("- storage driver {driver}: {error}")),
        }
        remove_all(dir);
    }
    Err(EngineError::Unusable { action: "run a container".to_owned(), report: attempts.join("\n") })
}

/// Removes all containers, images and files of the podman below `dir`.
pub(super) fn remove_all(dir: &Path) {
    let own = dir.join("podman");
    if let (Some(engine), true) = (client(dir), own.exists()) {
        // Errors show up when the files are removed.
        let _finished = engine.try_cli(["rm", "--all", "--force", "--time=0"], Vec::new());
        let _finished = engine.try_cli(["system", "reset", "--force"], Vec::new());
        // Podman binds its storage onto itself; a mounted directory cannot be removed.
        let _not_mounted =
            Command::new("umount").arg(own.join("root/overlay")).stderr(Stdio::null()).status();
        let _shown_later = fs::remove_dir_all(&own);
    }
}

fn client(dir: &Path) -> Option<Engine> {
    let own = dir.join("podman");
    let variable = |name: &str, file: &str| (name.to_owned(), own.join(file).display().to_string());
    let env = vec![
        variable("CONTAINERS_CONF", "containers.conf"),
        variable("CONTAINERS_STORAGE_CONF", "storage.conf"),
    ];
    Some(Engine { kind: EngineKind::Podman, program: find_program("podman")?, env, dir: dir.to_path_buf() })
}

fn write_settings(own: &Path, driver: &str) -> Result<(), EngineError> {
    fs::create_dir_all(own).map_err(EngineError::file("make", own))?;
    for (name, text) in [("containers.conf", settings(own)), ("storage.conf", storage(own, driver))] {
        let path = own.join(name);
        fs::write(&path, text).map_err(EngineError::file("write", &path))?;
    }
    Ok(())
}

fn smoke(engine: &Engine) -> Result<(), EngineError> {
    let args = ["run", "--rm", Image::Base.name(), "/bin/bash", "-c", "echo up"];
    let finished = engine.try_cli(args, Vec::new())?;
    if finished.end == End::Code(0) && finished.out() == "up\n" {
        return Ok(());
    }
    Err(EngineError::Unusable { action: "run a container".to_owned(), report: finished.to_string() })
}

/// Limits within our own, because raising them needs a capability that may be missing; no network by default,
/// because a bridge would change the packet filters of the machine.
fn settings(own: &Path) -> String {
    let within = |resource, wanted: u64| getrlimit(resource).maximum.map_or(wanted, |own| own.min(wanted));
    let files = within(Resource::Nofile, 4096);
    let processes = within(Resource::Nproc, 4096);
    let own = own.display();
    format!(
        "[containers]\n\
         default_ulimits = [\"nofile={files}:{files}\", \"nproc={processes}:{processes}\"]\n\
         netns = \"none\"\n\
         [engine]\n\
         cgroup_manager = \"cgroupfs\"\n\
         events_logger = \"file\"\n\
         tmp_dir = \"{own}/tmp\"\n\
         volume_path = \"{own}/volumes\"\n",
    )
}

fn storage(own: &Path, driver: &str) -> String {
    let own = own.display();
    format!("[storage]\ndriver = \"{driver}\"\ngraphroot = \"{own}/root\"\nrunroot = \"{own}/run\"\n")
}
