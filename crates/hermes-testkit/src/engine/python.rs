//! The Python of this machine as files for an image: the program, its libraries, its standard library.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::EngineError;
use crate::debian::find_program;

/// Parts of the standard library that only take room.
const LEFT_OUT: [&str; 9] = [
    "test",
    "tests",
    "idlelib",
    "ensurepip",
    "lib2to3",
    "tkinter",
    "__pycache__",
    "site-packages",
    "dist-packages",
];

/// Prints the program and its standard library.
const WHERE: &str =
    "import os, sys, sysconfig\nprint(os.path.realpath(sys.executable))\nprint(sysconfig.get_path('stdlib'))";

/// Every file of it, by its absolute path.
pub(super) fn files() -> Result<Vec<PathBuf>, EngineError> {
    let system = Path::new("/usr/bin/python3");
    let python = if system.is_file() { Some(system.to_path_buf()) } else { find_program("python3") };
    let python = python.ok_or_else(|| missing(system, "install 'python3'"))?;
    let said = said_by(Command::new(&python).args(["-I", "-c", WHERE]), &python)?;
    let mut lines = said.lines().map(PathBuf::from);
    let (Some(program), Some(library)) = (lines.next(), lines.next()) else {
        return Err(missing(&python, "it does not say where its library is"));
    };
    let mut files = BTreeSet::from([program.clone()]);
    walk(&library, &mut files).map_err(EngineError::file("read", &library))?;
    let loaded: Vec<PathBuf> = files.iter().filter(|file| is_loaded(file, &program)).cloned().collect();
    for file in loaded {
        // What a part of the library needs and is not here, the part does without.
        let needed = said_by(Command::new("ldd").arg(&file), &file).unwrap_or_default();
        files.extend(needed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from));
    }
    Ok(files.into_iter().collect())
}

fn is_loaded(file: &Path, program: &Path) -> bool {
    file == program || file.extension().is_some_and(|extension| extension == "so")
}

fn walk(directory: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        // Links are followed: the image gets what they lead to.
        match fs::metadata(entry.path()) {
            Ok(metadata) if metadata.is_dir() => walk(&entry.path(), files)?,
            Ok(metadata) if metadata.is_file() => {
                files.insert(entry.path());
            }
            _ => {}
        }
    }
    Ok(())
}

fn said_by(command: &mut Command, program: &Path) -> Result<String, EngineError> {
    let output = command.output().map_err(|error| missing(program, &error.to_string()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn missing(program: &Path, reason: &str) -> EngineError {
    EngineError::Program { program: program.to_path_buf(), reason: reason.to_owned() }
}
