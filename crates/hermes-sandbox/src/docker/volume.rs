//! The box program in a volume, for an engine that does not see our files.

use super::cleanup::{self, Removal};
use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use super::spec::PROGRAM_DIR;
use crate::program::{FILE_NAME, Program};

/// Makes sure the volume of this program is filled, and returns its name.
///
/// The name is the content's hash, so whoever fills it writes the same bytes, and an update takes a new one.
pub fn fill(engine: &dyn Engine, program: Program, image: &str) -> Result<String, EngineError> {
    let name = format!("hermes-box-{}", program.short_hash());
    if is_filled(engine, &name) {
        return Ok(name);
    }
    // Copying works through a container, even one that never runs.
    let mount = format!("{name}:{PROGRAM_DIR}");
    let args = ["create", "--pull", "never", "--network=none", "-v", &mount, "--entrypoint", "/none", image];
    let made = engine.demand(&Request::new("making a helper container", image, deadline::CREATE, args))?;
    let helper = String::from_utf8_lossy(&made.stdout).lines().last().unwrap_or_default().trim().to_owned();
    let copied = copy(engine, program, &helper);
    // It never ran; whether removing it works does not change whether the copy did.
    let _ = cleanup::remove(engine, &helper, Removal::Forced);
    copied?;
    mark_filled(engine, &name)?;
    Ok(name)
}

/// Copies through the command's input, as an archive, so that no path of ours is needed.
fn copy(engine: &dyn Engine, program: Program, helper: &str) -> Result<(), EngineError> {
    let target = format!("{helper}:{PROGRAM_DIR}");
    let mut request =
        Request::new("copying the box program", helper, deadline::COPY, ["cp", "-", target.as_str()]);
    request.stdin = Some(archive(program));
    engine.demand(&request).map(drop)
}

/// A volume cannot be given a label once it is there. An empty volume beside it, made last, says that the
/// copy was complete.
fn mark_filled(engine: &dyn Engine, name: &str) -> Result<(), EngineError> {
    let mark = mark(name);
    let args = ["volume", "create", "--label", "hermes-agent=1", mark.as_str()];
    engine.demand(&Request::new("making a volume", &mark, deadline::CHANGE, args)).map(drop)
}

fn is_filled(engine: &dyn Engine, name: &str) -> bool {
    let mark = mark(name);
    let args = ["volume", "inspect", name, mark.as_str()];
    let request = Request::new("looking at a volume", name, deadline::LOOK, args);
    engine.ask(&request, None).is_ok_and(|output| output.code == 0)
}

fn mark(name: &str) -> String {
    format!("{name}-filled")
}

/// A tar archive with the program alone in it.
fn archive(program: Program) -> Vec<u8> {
    const BLOCK: usize = 512;
    let bytes = program.bytes();
    let mut header = [0u8; BLOCK];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, FILE_NAME);
    put(100, "0000555\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{:011o}\0", bytes.len()));
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut archive = header.to_vec();
    archive.extend_from_slice(bytes);
    archive.resize(archive.len().next_multiple_of(BLOCK) + 2 * BLOCK, 0);
    archive
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::fake::FakeEngine;

    #[test]
    fn a_filled_volume_is_only_looked_at() {
        let engine = FakeEngine::default();
        let name = fill(&engine, Program::embedded(), "tiny:1").unwrap();
        assert!(name.starts_with("hermes-box-"));
        assert_eq!(engine.verbs(), ["volume"]);
    }

    #[test]
    fn an_empty_one_is_filled_and_marked_last() {
        let engine = FakeEngine::default()
            .refuse(&["volume", "inspect"], 1, "no such volume")
            .say(&["create", "--pull"], "0123456789abcdef\n");
        fill(&engine, Program::embedded(), "tiny:1").unwrap();
        assert_eq!(engine.verbs(), ["volume", "create", "cp", "rm", "volume"]);
    }

    #[test]
    fn a_failed_copy_is_not_marked_and_its_helper_is_removed() {
        let engine = FakeEngine::default()
            .refuse(&["volume", "inspect"], 1, "no such volume")
            .say(&["create", "--pull"], "0123456789abcdef\n")
            .refuse(&["cp"], 1, "no space left on device");
        assert!(fill(&engine, Program::embedded(), "tiny:1").is_err());
        assert_eq!(engine.verbs(), ["volume", "create", "cp", "rm"]);
    }

    #[test]
    fn the_archive_holds_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tar");
        std::fs::write(&path, archive(Program::embedded())).unwrap();
        let done =
            std::process::Command::new("tar").arg("-xf").arg(&path).current_dir(dir.path()).status().unwrap();
        assert!(done.success());
        assert_eq!(std::fs::read(dir.path().join(FILE_NAME)).unwrap(), Program::embedded().bytes());
    }
}
