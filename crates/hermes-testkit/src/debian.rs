//! Programs from Debian packages: installed where a service is needed, only unpacked for what goes into images.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::command::{End, run_limited};

/// A program that is missing and cannot be installed here.
#[derive(Debug, Clone, thiserror::Error)]
#[error("'{program}' is missing and cannot be installed: {reason}")]
pub struct MissingProgram {
    /// The program.
    pub program: String,
    /// Why it could not be installed.
    pub reason: String,
}

const APT_LIMIT: Duration = Duration::from_mins(10);

/// Looks a program up in `PATH` and the places of system programs.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system =
        ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// Gives a program, installing its package where that is possible: as root, with apt.
pub(crate) fn program_or_install(name: &str, package: &str) -> Result<PathBuf, MissingProgram> {
    if let Some(path) = find_program(name) {
        return Ok(path);
    }
    let missing = |reason: String| MissingProgram { program: name.to_owned(), reason };
    if !rustix::process::geteuid().is_root() {
        return Err(missing(format!("install the package '{package}' (this needs root)")));
    }
    if find_program("apt-get").is_none() {
        return Err(missing(format!("there is no apt-get; install '{package}' by hand")));
    }
    install(package).map_err(missing)?;
    find_program(name).ok_or_else(|| missing(format!("the package '{package}' does not contain it")))
}

/// Gives the path of a static program of a package. What the system has is used if it is static; else the
/// package is downloaded and unpacked under `dir`, which needs no root and changes nothing on the system.
pub(crate) fn static_program(name: &str, package: &str, dir: &Path) -> Result<PathBuf, MissingProgram> {
    let unpacked = dir.join("packages").join(package);
    let places = |root: &Path| [root.join("bin").join(name), root.join("usr/bin").join(name)];
    let usable = |path: &PathBuf| fs::read(path).is_ok_and(|bytes| is_static(&bytes));
    let known = find_program(name).into_iter().chain(places(&unpacked)).find(usable);
    if let Some(path) = known {
        return Ok(path);
    }
    let missing = |reason: String| MissingProgram { program: format!("{name} (static)"), reason };
    unpack(package, &unpacked).map_err(missing)?;
    places(&unpacked).into_iter().find(usable).ok_or_else(|| {
        missing(format!("the package '{package}' does not contain a static program of that name"))
    })
}

fn install(package: &str) -> Result<(), String> {
    let arguments = ["install", "--yes", "--no-install-recommends", package];
    // Package lists may be missing or stale, so a failure is tried once more with fresh ones.
    apt(&arguments, Path::new("/")).or_else(|_| {
        apt(&["update"], Path::new("/"))?;
        apt(&arguments, Path::new("/"))
    })
}

fn unpack(package: &str, target: &Path) -> Result<(), String> {
    fs::create_dir_all(target).map_err(|error| format!("cannot make '{}': {error}", target.display()))?;
    apt(&["download", package], target)?;
    let listing = fs::read_dir(target).map_err(|error| error.to_string())?;
    let archive = listing
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or_else(|| format!("apt-get downloaded no archive for '{package}'"))?;
    let mut command = Command::new("dpkg-deb");
    command.arg("--extract").arg(&archive).arg(target);
    checked(command)
}

fn apt(arguments: &[&str], dir: &Path) -> Result<(), String> {
    let mut command = Command::new("apt-get");
    command.args(arguments).current_dir(dir).env("DEBIAN_FRONTEND", "noninteractive");
    checked(command)
}

fn checked(command: Command) -> Result<(), String> {
    let finished = run_limited(command, Vec::new(), APT_LIMIT).map_err(|error| error.to_string())?;
    if finished.end == End::Code(0) { Ok(()) } else { Err(finished.to_string()) }
}

/// True for a 64-bit ELF program that names no dynamic loader.
fn is_static(program: &[u8]) -> bool {
    const DYNAMIC_LOADER: u32 = 3;
    let number = |at: usize, size: usize| {
        let bytes = program.get(at..at + size)?;
        Some(bytes.iter().rev().fold(0_usize, |value, byte| value << 8 | usize::from(*byte)))
    };
    let headers = || Some((number(32, 8)?, number(54, 2)?, number(56, 2)?));
    let Some((offset, size, count)) = headers().filter(|_| program.starts_with(b"\x7fELF\x02\x01")) else {
        return false;
    };
    (0..count)
        .all(|index| number(offset + index * size, 4).is_some_and(|kind| kind != DYNAMIC_LOADER as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_programs_are_told_from_dynamic_ones() {
        let ourselves = fs::read(std::env::current_exe().expect("a path")).expect("our own program");
        assert!(!is_static(&ourselves));
        assert!(!is_static(b"#!/bin/sh\n"));
        assert!(!is_static(b"\x7fELF\x02\x01"));
        let mut bare = vec![0; 64];
        bare[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert!(is_static(&bare), "a program without any header has no loader");
    }
}
