//! Where an agent listens.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A place to listen at or to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Path(PathBuf),
    /// A name that exists as long as somebody listens; it has no owner and no permissions.
    Abstract(OsString),
}

impl Address {
    /// The name every agent of this user in this container (process namespace) listens at, so that a bridge started there
    /// finds it. Containers that share the host's network do not meet.
    pub fn in_box() -> Self {
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let digits: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
        let uid = rustix::process::geteuid().as_raw();
        Self::Abstract(format!("hermes-box-{uid}-{digits}").into())
    }

    /// Listens there. A stale socket is replaced; whoever calls makes sure that it is stale.
    pub(crate) fn listen(&self, mode: u32) -> io::Result<UnixListener> {
        match self {
            Self::Abstract(name) => {
                UnixListener::bind_addr(&SocketAddr::from_abstract_name(name.as_bytes())?)
            }
            Self::Path(path) => {
                let (directory, name) = open_parent(path)?;
                let place = reach(&directory).join(&name);
                if let Ok(metadata) = fs::symlink_metadata(&place) {
                    if !metadata.file_type().is_socket() {
                        return Err(io::Error::new(
                            io::ErrorKind::AlreadyExists,
                            format!("'{}' exists and is not a socket", path.display()),
                        ));
                    }
                    fs::remove_file(&place)?;
                }
                let listener = UnixListener::bind(&place)?;
                fs::set_permissions(&place, fs::Permissions::from_mode(mode))?;
                Ok(listener)
            }
        }
    }

    /// Connects. The directory of a path may be shared with somebody hostile: a link is not followed, and anything but a socket of
    /// one of `owners` (anybody's when empty) is refused.
    pub(crate) fn connect(&self, owners: &[u32]) -> Result<UnixStream, UnixError> {
        match self {
            Self::Abstract(name) => {
                let address = SocketAddr::from_abstract_name(name.as_bytes()).map_err(UnixError::Absent)?;
                UnixStream::connect_addr(&address).map_err(absent_or_broken)
            }
            Self::Path(path) => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let socket = rustix::fs::open(path, flags, Mode::empty())
                    .map_err(|error| absent_or_broken(error.into()))?;
                let metadata = fs::File::from(socket.try_clone().map_err(UnixError::Broken)?)
                    .metadata()
                    .map_err(UnixError::Broken)?;
                if !metadata.file_type().is_socket() {
                    return Err(UnixError::NotASocket(path.clone()));
                }
                if !owners.is_empty() && !owners.contains(&metadata.uid()) {
                    return Err(UnixError::Owner { path: path.clone(), uid: metadata.uid() });
                }
                // Exactly what was looked at, whatever the path leads to by now.
                UnixStream::connect(reach(&socket)).map_err(absent_or_broken)
            }
        }
    }
}

/// Why a socket could not be connected to.
#[derive(Debug, thiserror::Error)]
pub enum UnixError {
    /// Nobody listens there.
    #[error("no box agent listens there: {0}")]
    Absent(io::Error),
    /// The system refused.
    #[error("the box agent's socket cannot be used: {0}")]
    Broken(io::Error),
    /// Something else is in its place, perhaps put there by a hostile command.
    #[error("'{}' is not a socket; remove it", .0.display())]
    NotASocket(PathBuf),
    /// The socket is not the agent's.
    #[error("'{}' belongs to user {uid}, who is not the box agent's; remove it", path.display())]
    Owner {
        /// The socket.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
}

fn absent_or_broken(error: io::Error) -> UnixError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => UnixError::Absent(error),
        _ => UnixError::Broken(error),
    }
}

/// A path that means this open file; short enough for a socket's address however long its real path is.
fn reach(fd: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

fn open_parent(path: &Path) -> io::Result<(OwnedFd, OsString)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((rustix::fs::open(parent, flags, Mode::empty())?, name.to_os_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn long_paths_can_be_listened_at() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("x".repeat(120));
        fs::create_dir(&deep).unwrap();
        let address = Address::Path(deep.join("agent.sock"));
        let _listener = address.listen(0o600).unwrap();
        address.connect(&[rustix::process::geteuid().as_raw()]).unwrap();
        assert_eq!(fs::symlink_metadata(deep.join("agent.sock")).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_a_hostile_command_puts_there_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let real = Address::Path(directory.path().join("real"));
        let _listener = real.listen(0o600).unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(directory.path().join("real"), &link).unwrap();
        assert!(matches!(
            Address::Path(link).connect(&[]),
            Err(UnixError::NotASocket(_) | UnixError::Broken(_))
        ));
        let file = directory.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(matches!(Address::Path(file.clone()).connect(&[]), Err(UnixError::NotASocket(_))));
        assert!(matches!(real.connect(&[12_345]), Err(UnixError::Owner { .. })));
        assert!(Address::Path(file).listen(0o600).is_err(), "a file of somebody's is not removed");
    }

    #[test]
    fn nobody_there_is_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        assert!(matches!(Address::Path(path.clone()).connect(&[]), Err(UnixError::Absent(_))));
        drop(Address::Path(path.clone()).listen(0o600).unwrap());
        assert!(matches!(Address::Path(path.clone()).connect(&[]), Err(UnixError::Absent(_))));
        Address::Path(path).listen(0o600).unwrap();
    }
}
