//! The byte stream a client talks over.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use rustix::net::SendFlags;

use super::outbox::Direct;

/// Both halves of a stream to an agent, and how to close it.
pub struct Transport {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) writer: Box<dyn Write + Send>,
    pub(crate) closer: Box<dyn FnOnce() + Send>,
    pub(crate) direct: Option<Direct>,
}

impl Transport {
    /// A stream that closes when its writing half is dropped.
    pub fn new(reader: impl Read + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        Self { reader: Box::new(reader), writer: Box::new(writer), closer: Box::new(|| ()), direct: None }
    }

    /// Calls `closer` when the client is done with the stream or gives up on it. It must make a blocked read and a
    /// blocked write return: shut the socket down, end the process behind the pipes.
    #[must_use]
    pub fn on_close(mut self, closer: impl FnOnce() + Send + 'static) -> Self {
        self.closer = Box::new(closer);
        self
    }

    /// A connected socket.
    pub fn socket(socket: UnixStream) -> std::io::Result<Self> {
        let (reader, handle, sender) = (socket.try_clone()?, socket.try_clone()?, socket.try_clone()?);
        let mut transport = Self::new(reader, socket).on_close(move || {
            // It may be closed already, which is all we want.
            let _ = handle.shutdown(Shutdown::Both);
        });
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        transport.direct = Some(Box::new(move |bytes| Ok(rustix::net::send(&sender, bytes, flags)?)));
        Ok(transport)
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transport")
    }
}
