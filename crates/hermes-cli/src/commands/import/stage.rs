//! Unpacking what is to be restored, out of sight.

use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail};
use hermes_home::files::create_private_dir;

use super::plan::Plan;
use super::source::{Entry, Source, SourceError};
use super::swap;
use crate::commands::backup::rules;
use crate::ui;

/// Unpacks what the plan needs. On an error nothing is left.
pub fn unpack(source: &mut Source, plan: &Plan, target: &Path) -> anyhow::Result<()> {
    refuse_full_disk(source, plan, target)?;
    let done = unpack_all(source, plan, target);
    if done.is_err() {
        swap::discard(target)?;
    }
    done
}

fn unpack_all(source: &mut Source, plan: &Plan, target: &Path) -> anyhow::Result<()> {
    let top = swap::unpacked(target);
    create_private_dir(&top)?;
    for placement in &plan.place {
        let entry = source.entries[placement.entry].clone();
        let path = top.join(&entry.path);
        if let Some(parent) = path.parent() {
            create_private_dir(parent)?;
        }
        write(source, &entry, &path)?;
    }
    Ok(())
}

fn write(source: &mut Source, entry: &Entry, path: &Path) -> Result<(), SourceError> {
    let failed = |source| SourceError::Write { path: path.to_path_buf(), source };
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let mut out = BufWriter::new(file);
    source.copy(entry, &mut out, path)?;
    out.flush().map_err(failed)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode(entry));
    fs::set_permissions(path, mode).map_err(failed)
}

/// What the archive says, never more than readable and executable for others, and never that for secrets.
fn mode(entry: &Entry) -> u32 {
    match entry.mode {
        Some(mode) if !rules::is_private(&entry.path) => (mode & 0o755) | 0o600,
        _ => 0o600,
    }
}

/// Reads everything and throws it away, to know that it can be read.
pub fn verify(source: &mut Source, plan: &Plan) -> Result<(), SourceError> {
    for placement in &plan.place {
        let entry = source.entries[placement.entry].clone();
        source.copy(&entry, &mut std::io::sink(), &entry.path)?;
    }
    Ok(())
}

/// A disk filled by an import would stop everything else on the machine.
fn refuse_full_disk(source: &Source, plan: &Plan, target: &Path) -> anyhow::Result<()> {
    const RESERVE: u64 = 64 * 1024 * 1024;
    let needed: u64 = plan.place.iter().map(|p| source.entries[p.entry].size).sum();
    let disk = rustix::fs::statvfs(target)
        .with_context(|| format!("cannot tell how much room there is in {}", target.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if needed.saturating_add(RESERVE) > free {
        bail!(
            "nothing was restored: the archive needs {} and {} has {} left",
            ui::size(needed),
            target.display(),
            ui::size(free)
        );
    }
    Ok(())
}
