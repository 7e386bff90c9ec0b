//! What is mounted below a directory: deleting a profile must not empty somebody else's disk.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The first mount point at or below `dir` (a real path) in the text of `/proc/self/mountinfo`.
pub fn mount_below(mountinfo: &[u8], dir: &Path) -> Option<PathBuf> {
    mountinfo
        .split(|b| *b == b'\n')
        .filter_map(|line| line.split(|b| *b == b' ').nth(4))
        .map(unescape)
        .find(|point| point.starts_with(dir))
}

/// The kernel writes blanks and the like as backslash and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let octal = tail
            .get(..3)
            .and_then(|d| std::str::from_utf8(d).ok())
            .and_then(|d| u8::from_str_radix(d, 8).ok());
        if let Some(byte) = octal.filter(|_| *first == b'\\') {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_found_at_and_below_but_not_beside() {
        let text = b"22 1 0:20 / / rw - ext4 /dev/a rw\n\
                     30 22 0:21 / /h/profiles/work/my\\040disk rw shared:1 - ext4 /dev/b rw\n";
        let found = |dir: &str| mount_below(text, Path::new(dir));
        assert_eq!(found("/h/profiles/work"), Some(PathBuf::from("/h/profiles/work/my disk")));
        assert_eq!(found("/h/profiles/wor"), None);
        assert_eq!(found("/h/profiles/other"), None);
    }
}
