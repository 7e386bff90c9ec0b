//! The agent's socket in the directory shared with a container.
//!
//! The directory belongs to the container's side too: a command in there can put anything in the socket's
//! place, such as a link to a socket of the host. So it is opened without following links, looked at, and
//! connected to through the very thing that was looked at.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Connects to the socket at `path`. When its owner is known, one of another owner is refused.
pub fn connect(path: &Path, owner: Option<u32>) -> io::Result<(UnixStream, u32)> {
    let seen = open_without_following(path)?;
    let meta = seen.metadata()?;
    if !meta.file_type().is_socket() {
        return Err(io::Error::other("what is in the socket's place is not a socket"));
    }
    if owner.is_some_and(|owner| owner != meta.uid()) {
        return Err(io::Error::other("the socket has another owner than before"));
    }
    // This path leads to what was opened above, whatever the directory holds by now. It is also short: the
    // system allows about a hundred characters for the path of a socket.
    let stream = UnixStream::connect(format!("/proc/self/fd/{}", seen.as_raw_fd()))?;
    Ok((stream, meta.uid()))
}

fn open_without_following(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty())?;
    Ok(File::from(fd))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_is_connected_to_whatever_the_length_of_its_path() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        let short = dir.path().join("s");
        let _listener = UnixListener::bind(&short).unwrap();
        std::fs::rename(&short, deep.join("box.sock")).unwrap();
        let (_, owner) = connect(&deep.join("box.sock"), None).unwrap();
        assert!(connect(&deep.join("box.sock"), Some(owner)).is_ok());
        assert!(connect(&deep.join("box.sock"), Some(owner + 1)).is_err());
    }

    #[test]
    fn a_link_to_another_socket_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("docker.sock");
        let _listener = UnixListener::bind(&real).unwrap();
        let trap = dir.path().join("box.sock");
        std::os::unix::fs::symlink(&real, &trap).unwrap();
        assert!(connect(&trap, None).is_err());
        std::fs::remove_file(&trap).unwrap();
        std::fs::write(&trap, "").unwrap();
        assert!(connect(&trap, None).is_err());
        std::fs::remove_file(&trap).unwrap();
        assert_eq!(connect(&trap, None).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
