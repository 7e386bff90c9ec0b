//! An engine that accepts connections and never answers, to show that callers have a deadline.

use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

/// A socket where a container engine should be, but nobody speaks.
#[derive(Debug)]
pub struct SilentEngine {
    dir: TempDir,
    state: Arc<State>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct State {
    connections: AtomicUsize,
    stopping: AtomicBool,
}

impl SilentEngine {
    /// Starts to listen.
    pub fn start() -> Self {
        let dir = tempfile::Builder::new().prefix("hermes-silent-").tempdir().expect("a temporary directory");
        let listener = UnixListener::bind(dir.path().join("docker.sock")).expect("a socket");
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let acceptor = thread::spawn(move || accept(&listener, &shared));
        Self { dir, state, acceptor: Some(acceptor) }
    }

    /// The value for `DOCKER_HOST`.
    pub fn host(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("docker.sock")
    }

    /// How many connections came in.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }
}

impl Drop for SilentEngine {
    fn drop(&mut self) {
        self.state.stopping.store(true, Ordering::SeqCst);
        // Wakes the acceptor, which sees the flag, closes all connections and ends.
        let _woken = UnixStream::connect(self.socket());
        if let Some(acceptor) = self.acceptor.take() {
            let _ended = acceptor.join();
        }
    }
}

fn accept(listener: &UnixListener, state: &State) {
    let mut open = Vec::new();
    for stream in listener.incoming().flatten() {
        if state.stopping.load(Ordering::SeqCst) {
            break;
        }
        state.connections.fetch_add(1, Ordering::SeqCst);
        if let Ok(mut reader) = stream.try_clone() {
            let swallow = move || {
                let mut buffer = [0; 1024];
                while reader.read(&mut buffer).is_ok_and(|count| count > 0) {}
            };
            open.push((stream, thread::spawn(swallow)));
        }
    }
    for (stream, reader) in open {
        let _closed = stream.shutdown(std::net::Shutdown::Both);
        let _ended = reader.join();
    }
}
