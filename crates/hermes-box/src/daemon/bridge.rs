//! Standard input and output as a stream to an agent: what `exec -i` and ssh start.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// Copies both ways until either side ends, then leaves at once: nothing may linger after its client. Plain reads and writes,
/// as `splice` between a socket and a pipe can hang.
pub(super) fn run(socket: UnixStream) -> io::Result<()> {
    let (mut to_agent, mut from_agent) = (socket.try_clone()?, socket);
    std::thread::Builder::new().name("bridge-in".into()).stack_size(128 * 1024).spawn(move || {
        copy(&mut io::stdin().lock(), &mut to_agent);
        std::process::exit(0);
    })?;
    copy(&mut from_agent, &mut io::stdout().lock());
    std::process::exit(0)
}

fn copy(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if to.write_all(&buffer[..count]).and_then(|()| to.flush()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
