//! Builds the box program as a static executable and hands it to `src/program.rs` for embedding.
//!
//! A prebuilt one can be given instead: `HERMES_BOX_PREBUILT=/path/to/hermes-box cargo build`.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Its name decides the directory inside the target directory. It must not be a name that the outer build
/// uses: two builds with the same directory and profile wait for each other for ever.
const PROFILE: &str = "boxed";

/// Small before fast: it is embedded, copied and mapped, and spends its time in the kernel.
const PROFILE_SETTINGS: [&str; 7] = [
    "inherits=\"release\"",
    "opt-level=\"z\"",
    "lto=\"fat\"",
    "codegen-units=1",
    "panic=\"unwind\"",
    "strip=true",
    "debug=false",
];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HERMES_BOX_PREBUILT");
    let built = match env::var_os("HERMES_BOX_PREBUILT") {
        Some(path) => {
            let path = PathBuf::from(path);
            println!("cargo::rerun-if-changed={}", path.display());
            path
        }
        None => build()?,
    };
    let bytes = fs::read(&built).map_err(|error| format!("cannot read {}: {error}", built.display()))?;
    let embedded = PathBuf::from(variable("OUT_DIR")?).join("hermes-box");
    fs::write(&embedded, &bytes)?;
    println!("cargo::rustc-env=HERMES_BOX_PROGRAM={}", embedded.display());
    println!("cargo::rustc-env=HERMES_BOX_HASH={}", hex(&Sha256::digest(&bytes)));
    Ok(())
}

/// Builds it with a cargo of its own and returns where it is.
fn build() -> Result<PathBuf> {
    let workspace = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("../..").canonicalize()?;
    let source = workspace.join("crates/hermes-box");
    let files = sources(&source, &workspace)?;
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    println!("cargo::rerun-if-changed={}", source.join("src").display());

    let target = variable("TARGET")?;
    let directory = target_directory()?;
    let status = command(&workspace, &directory, &target, &fingerprint(&files)?).status()?;
    if !status.success() {
        return Err(format!("building the box program for {target} failed ({status})").into());
    }
    Ok(directory.join(&target).join(PROFILE).join("hermes-box"))
}

fn command(workspace: &Path, directory: &Path, target: &str, build: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command
        .current_dir(workspace)
        .args(["build", "--locked", "--package", "hermes-box", "--bin", "hermes-box"])
        .args(["--profile", PROFILE, "--target", target])
        .arg("--target-dir")
        .arg(directory);
    for setting in PROFILE_SETTINGS {
        command.arg("--config").arg(format!("profile.{PROFILE}.{setting}"));
    }
    // What the outer build was told about itself (flags, wrappers, features) is not meant for this one.
    for (name, _) in env::vars_os() {
        let name = name.to_str().unwrap_or_default().to_owned();
        if is_of_the_outer_build(&name) {
            command.env_remove(&name);
        }
    }
    command
        .env("RUSTFLAGS", "-C target-feature=+crt-static -C relocation-model=static")
        .env("HERMES_BOX_BUILD", build);
    command
}

fn is_of_the_outer_build(name: &str) -> bool {
    let kept = matches!(name, "CARGO_HOME" | "CARGO_MAKEFLAGS")
        || name.starts_with("CARGO_NET")
        || name.starts_with("CARGO_HTTP");
    let wrapper =
        matches!(name, "RUSTC_WRAPPER" | "RUSTC_WORKSPACE_WRAPPER" | "RUSTC" | "RUSTDOC" | "RUSTFLAGS");
    let of_script =
        matches!(name, "TARGET" | "HOST" | "PROFILE" | "OPT_LEVEL" | "DEBUG" | "OUT_DIR" | "NUM_JOBS");
    !kept && (wrapper || of_script || name.starts_with("CARGO"))
}

/// A stable place inside the workspace's target directory, so that check, clippy, tests and builds share it.
fn target_directory() -> Result<PathBuf> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let shared = out.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file());
    Ok(shared.unwrap_or(&out).join("box-program"))
}

/// Every file the program is made from, in order.
fn sources(source: &Path, workspace: &Path) -> Result<Vec<PathBuf>> {
    let mut files =
        vec![source.join("Cargo.toml"), workspace.join("Cargo.lock"), workspace.join("Cargo.toml")];
    let mut directories = vec![source.join("src")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// What tells two builds of one version apart.
fn fingerprint(files: &[PathBuf]) -> Result<String> {
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(Sha256::digest(fs::read(file)?));
    }
    Ok(hex(&hasher.finalize())[..12].to_owned())
}

fn variable(name: &str) -> Result<String> {
    env::var(name).map_err(|_| format!("cargo did not set {name}").into())
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
