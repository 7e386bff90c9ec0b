//! A throw-away sshd on loopback: own keys, own settings, a port that was free, gone when dropped.
//!
//! The listening socket is ours; each connection gets an `sshd -i`. So there is no race for the port, and a test
//! can cut every connection at once, as a lost network would.

use std::fs;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

use crate::MissingProgram;
use crate::debian::program_or_install;
use crate::processes;

mod files;

use files::Files;

/// Why there is no sshd.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// A program is missing and cannot be installed here.
    #[error(transparent)]
    Missing(#[from] MissingProgram),
    /// The server could not be set up.
    #[error("cannot {action} for the ssh server: {reason}")]
    SetUp {
        /// What was being done.
        action: &'static str,
        /// Why it failed.
        reason: String,
    },
}

/// A running ssh server for the current user.
#[derive(Debug)]
pub struct SshServer {
    files: Files,
    address: SocketAddr,
    user: String,
    shared: Arc<Mutex<State>>,
    acceptor: Option<JoinHandle<()>>,
    dir: TempDir,
}

#[derive(Debug, Default)]
struct State {
    connections: Vec<(TcpStream, Child)>,
    accepted: usize,
    stopping: bool,
}

impl SshServer {
    /// Starts a server. The package openssh-server is installed where that is possible.
    pub fn start() -> Result<Self, SshError> {
        let sshd = program_or_install("sshd", "openssh-server")?;
        let keygen = program_or_install("ssh-keygen", "openssh-client")?;
        let failed = |action| move |error: io::Error| SshError::SetUp { action, reason: error.to_string() };
        // Each sshd drops its privileges into this directory; distributions make it at boot.
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").map_err(failed("make /run/sshd"))?;
        }
        let dir =
            tempfile::Builder::new().prefix("hermes-sshd-").tempdir().map_err(failed("make a directory"))?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(failed("listen"))?;
        let address = listener.local_addr().map_err(failed("listen"))?;
        let user = current_user().map_err(failed("ask for the user's name"))?;
        let files = Files::write(dir.path(), &keygen, address.port(), &user)?;
        let shared = Arc::new(Mutex::new(State::default()));
        let acceptor = {
            let (shared, files) = (Arc::clone(&shared), files.clone());
            thread::spawn(move || accept(&listener, &shared, &|stream| files.serve(&sshd, stream)))
        };
        Ok(Self { files, address, user, shared, acceptor: Some(acceptor), dir })
    }

    /// The host to connect to.
    pub fn host(&self) -> String {
        self.address.ip().to_string()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The user to log in as.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The private key that is let in.
    pub fn identity(&self) -> PathBuf {
        self.files.identity()
    }

    /// A private key that is not let in.
    pub fn stranger_identity(&self) -> PathBuf {
        self.files.stranger()
    }

    /// A `known_hosts` file with the server's key.
    pub fn known_hosts(&self) -> PathBuf {
        self.files.known_hosts()
    }

    /// A `known_hosts` file with another key for this server, as if someone stood in between.
    pub fn wrong_known_hosts(&self) -> PathBuf {
        self.files.wrong_known_hosts()
    }

    /// A client configuration where the host [`SshServer::ALIAS`] is this server.
    pub fn client_config(&self) -> PathBuf {
        self.files.client_config()
    }

    /// The name of this server in [`SshServer::client_config`].
    pub const ALIAS: &'static str = "hermes-test-host";

    /// The home directory (`HOME`) of sessions: a throw-away one, not that of the user.
    pub fn home(&self) -> PathBuf {
        self.files.home()
    }

    /// What the server logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.files.log()).unwrap_or_default()
    }

    /// How many connections have come in.
    pub fn connections(&self) -> usize {
        lock(&self.shared).accepted
    }

    /// Cuts every connection, as a lost network would. New ones are accepted.
    pub fn cut_connections(&self) {
        lock(&self.shared).end_connections();
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        {
            let mut state = lock(&self.shared);
            state.stopping = true;
            state.end_connections();
        }
        // Wakes the acceptor, which then sees that it should end.
        let _woken = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ended = acceptor.join();
        }
        // Commands of sessions may outlive their connection.
        processes::kill_all_of(self.dir.path());
    }
}

impl State {
    fn end_connections(&mut self) {
        for (stream, mut child) in self.connections.drain(..) {
            let _closed_already = stream.shutdown(Shutdown::Both);
            // Killed as well, because a session may sit on the dead connection for long.
            let _gone_already = child.kill();
            let _reaped = child.wait();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Mutex<State>, serve: &dyn Fn(&TcpStream) -> io::Result<Child>) {
    for stream in listener.incoming().flatten() {
        let mut state = lock(shared);
        if state.stopping {
            return;
        }
        state.accepted += 1;
        state.connections.retain_mut(|(_, child)| matches!(child.try_wait(), Ok(None)));
        // A connection whose sshd cannot be started is closed by dropping it; the client says so.
        if let Ok(child) = serve(&stream) {
            state.connections.push((stream, child));
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn current_user() -> io::Result<String> {
    let output = Command::new("id").arg("-un").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
