//! Small images without a registry: a root file system of static programs, imported into the engine.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tar::{Builder, EntryType, Header};

use super::shared::Lock;
use super::{Engine, EngineError, LABEL, python};
use crate::command::End;
use crate::debian::static_program;

/// An image that tests can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image {
    /// bash and busybox with all its applets.
    Base,
    /// The same with the Python of this machine.
    Python,
    /// busybox alone: there is an `sh`, but no bash.
    Busybox,
    /// One empty directory: nothing that could be run.
    Empty,
}

impl Image {
    /// The name of the image in the engine.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "hermes-test:base",
            Self::Python => "hermes-test:python",
            Self::Busybox => "hermes-test:busybox",
            Self::Empty => "hermes-test:empty",
        }
    }
}

/// Directories of a usable image with their modes.
const DIRECTORIES: [(&str, u32); 16] = [
    ("bin", 0o755),
    ("dev", 0o755),
    ("etc", 0o755),
    ("home", 0o755),
    ("home/user", 0o755),
    ("opt", 0o755),
    ("proc", 0o755),
    ("root", 0o700),
    ("sys", 0o755),
    ("tmp", 0o1777),
    ("usr", 0o755),
    ("usr/bin", 0o755),
    ("usr/local", 0o755),
    ("usr/local/bin", 0o755),
    ("var", 0o755),
    ("workspace", 0o755),
];

const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\n";
const GROUP: &str = "root:x:0:\nuser:x:1000:\n";

/// Makes the image unless the engine has it. One process at a time, so that they do not all build it at once.
pub(super) fn ensure(engine: &Engine, image: Image) -> Result<(), EngineError> {
    if exists(engine, image)? {
        return Ok(());
    }
    let _lock = Lock::take(&engine.dir.join("images"))?;
    if exists(engine, image)? {
        return Ok(());
    }
    build(engine, image)
}

/// Makes the image without asking whether it is there. The caller holds a lock.
pub(super) fn build(engine: &Engine, image: Image) -> Result<(), EngineError> {
    let root = root_file_system(image, &engine.dir)?;
    let label = format!("LABEL {LABEL}=image");
    let mut args = vec!["import", "--change", &label];
    if image != Image::Empty {
        args.extend(["--change", "ENV PATH=/usr/local/bin:/usr/bin:/bin", "--change", r#"CMD ["/bin/sh"]"#]);
    }
    args.extend(["-", image.name()]);
    let finished = engine.try_cli(&args, root)?;
    if finished.end == End::Code(0) {
        return Ok(());
    }
    Err(EngineError::Unusable { action: format!("import '{}'", image.name()), report: finished.to_string() })
}

fn exists(engine: &Engine, image: Image) -> Result<bool, EngineError> {
    let finished = engine.try_cli(["image", "inspect", image.name()], Vec::new())?;
    Ok(finished.end == End::Code(0))
}

fn root_file_system(image: Image, dir: &Path) -> Result<Vec<u8>, EngineError> {
    let unreadable = EngineError::file("write the root file system of an image under", dir);
    let programs = match image {
        Image::Empty => None,
        Image::Busybox => Some((read_program("busybox", "busybox-static", dir)?, None)),
        Image::Base | Image::Python => Some((
            read_program("busybox", "busybox-static", dir)?,
            Some(read_program("bash-static", "bash-static", dir)?),
        )),
    };
    let applets = if programs.is_some() { applets(dir)? } else { Vec::new() };
    let python = if image == Image::Python { python::files()? } else { Vec::new() };
    let write = || -> io::Result<Vec<u8>> {
        let mut tar = Builder::new(Vec::new());
        match programs {
            None => add(&mut tar, "workspace/", EntryType::Directory, 0o755, b"")?,
            Some((busybox, bash)) => {
                add_tree(&mut tar)?;
                add(&mut tar, "bin/busybox", EntryType::Regular, 0o755, &busybox)?;
                if let Some(bash) = bash {
                    add(&mut tar, "bin/bash", EntryType::Regular, 0o755, &bash)?;
                }
                applets.iter().try_for_each(|name| link(&mut tar, &format!("bin/{name}"), "/bin/busybox"))?;
                link(&mut tar, "usr/bin/env", "/bin/busybox")?;
                add_python(&mut tar, &python)?;
            }
        }
        tar.into_inner()
    };
    write().map_err(unreadable)
}

fn add_tree(tar: &mut Builder<Vec<u8>>) -> io::Result<()> {
    for (name, mode) in DIRECTORIES {
        add(tar, &format!("{name}/"), EntryType::Directory, mode, b"")?;
    }
    add(tar, "etc/passwd", EntryType::Regular, 0o644, PASSWD.as_bytes())?;
    add(tar, "etc/group", EntryType::Regular, 0o644, GROUP.as_bytes())
}

fn add_python(tar: &mut Builder<Vec<u8>>, files: &[PathBuf]) -> io::Result<()> {
    for file in files {
        let program =
            file.file_name().and_then(|name| name.to_str()).filter(|name| name.starts_with("python3"));
        let inside = file.to_string_lossy();
        add(tar, inside.trim_start_matches('/'), EntryType::Regular, 0o755, &std::fs::read(file)?)?;
        if program.is_some_and(|name| name != "python3")
            && file.parent().is_some_and(|dir| dir.ends_with("bin"))
        {
            link(tar, "usr/local/bin/python3", &inside)?;
        }
    }
    Ok(())
}

fn add(tar: &mut Builder<Vec<u8>>, path: &str, kind: EntryType, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes.len() as u64);
    // The user's directory belongs to the user, everything else to root.
    let owner = if path == "home/user/" { 1000 } else { 0 };
    header.set_uid(owner);
    header.set_gid(owner);
    tar.append_data(&mut header, path, bytes)
}

fn link(tar: &mut Builder<Vec<u8>>, path: &str, target: &str) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Symlink);
    header.set_mode(0o777);
    header.set_size(0);
    tar.append_link(&mut header, path, target)
}

fn read_program(name: &str, package: &str, dir: &Path) -> Result<Vec<u8>, EngineError> {
    let path = static_program(name, package, dir)?;
    std::fs::read(&path).map_err(EngineError::file("read", &path))
}

/// The names busybox answers to, asked from the very program that goes into the image.
fn applets(dir: &Path) -> Result<Vec<String>, EngineError> {
    let program = static_program("busybox", "busybox-static", dir)?;
    let output = Command::new(&program)
        .arg("--list")
        .output()
        .map_err(|error| EngineError::Program { program: program.clone(), reason: error.to_string() })?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.lines().filter(|name| *name != "busybox" && *name != "bash").map(str::to_owned).collect())
}
