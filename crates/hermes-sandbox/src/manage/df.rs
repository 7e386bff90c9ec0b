//! How much room it all takes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Manager;
use crate::docker::cli::{Request, deadline};
use crate::docker::errors::EngineError;
use crate::docker::{belongs, spec};
use crate::error::SandboxError;

/// Room taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskUse {
    /// Containers of this profile: what they changed beyond their image.
    pub containers: Vec<Usage>,
    /// Kept directories on this machine.
    pub directories: Vec<Usage>,
    /// The box programs written out.
    pub programs: Usage,
    /// All of it.
    pub total_bytes: u64,
}

/// Room taken by one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// A name or a path.
    pub what: String,
    /// Bytes on disk.
    pub bytes: u64,
}

impl Manager {
    /// Room taken by this profile's containers, their directories and our programs.
    pub fn df(&self) -> Result<DiskUse, SandboxError> {
        let containers = self.container_sizes()?;
        let kept = self.context.sandbox_dir.join("docker");
        let mut directories: Vec<Usage> = subdirectories(&kept).iter().map(|dir| usage(dir)).collect();
        let own = spec::kept_dir(&self.context.sandbox_dir, self.identity());
        if !own.starts_with(&kept) {
            directories.push(usage(&own));
        }
        let programs = usage(&self.context.cache_dir.join("box"));
        let total_bytes =
            containers.iter().chain(&directories).map(|usage| usage.bytes).sum::<u64>() + programs.bytes;
        Ok(DiskUse { containers, directories, programs, total_bytes })
    }

    fn container_sizes(&self) -> Result<Vec<Usage>, SandboxError> {
        let all = self.all()?;
        let ours: Vec<_> =
            all.iter().filter(|one| belongs::to_this_profile(self.identity(), one).is_ok()).collect();
        if ours.is_empty() {
            return Ok(Vec::new());
        }
        let mut args = ["inspect", "--size", "--type", "container"].map(str::to_owned).to_vec();
        args.extend(ours.iter().map(|one| one.id.clone()));
        // Measuring takes the engine a while.
        let request = Request::new("measuring containers", "", deadline::CREATE, args);
        let output = self.attach().engine.ask(&request, None)?;
        let sizes: Vec<RawSize> = serde_json::from_slice(&output.stdout).map_err(|error| {
            EngineError::Gibberish { doing: request.doing.to_owned(), detail: error.to_string() }
        })?;
        Ok(sizes
            .into_iter()
            .map(|raw| Usage { what: raw.name.trim_start_matches('/').to_owned(), bytes: raw.size })
            .collect())
    }
}

#[derive(Deserialize)]
struct RawSize {
    #[serde(rename = "Name", default)]
    name: String,
    #[serde(rename = "SizeRw", default)]
    size: u64,
}

fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn usage(dir: &Path) -> Usage {
    Usage { what: dir.display().to_string(), bytes: size_of_tree(dir) }
}

/// Blocks on disk, links not followed. What cannot be read counts as nothing.
fn size_of_tree(root: &Path) -> u64 {
    let mut total = 0;
    let mut pending = vec![root.to_path_buf()];
    while let Some(path) = pending.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        total += meta.blocks() * 512;
        if meta.is_dir() {
            pending.extend(
                fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()),
            );
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_measured_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/file"), vec![1u8; 100_000]).unwrap();
        std::os::unix::fs::symlink("/", dir.path().join("root")).unwrap();
        let size = size_of_tree(dir.path());
        assert!((100_000..400_000).contains(&size), "{size}");
        assert_eq!(size_of_tree(&dir.path().join("missing")), 0);
    }
}
