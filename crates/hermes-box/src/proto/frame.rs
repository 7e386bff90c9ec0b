//! Frames: the header every message starts with, and reading them from a stream that may lie.

use std::io::{self, Read};

use super::wire::{Input, Malformed, Wire};

/// The longest body of a frame. A longer one is refused before anything is allocated for it.
pub const MAX_BODY: usize = 1024 * 1024 + 4096;
/// The longest body of a frame before both sides have said hello.
pub const MAX_HELLO_BODY: usize = 4096;
/// The most bytes one data frame carries.
pub const MAX_DATA: usize = 64 * 1024;
/// Bytes of a header: length, kind, request.
pub const HEADER: usize = 9;

/// The number a client gives to a call; 0 is the connection itself.
pub type CallId = u32;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Client: first frame.
    Hello = 0x01,
    /// Server: the hello was accepted.
    Welcome = 0x02,
    /// Server: the hello was not accepted; nothing follows.
    Refused = 0x03,
    /// Client: a new call.
    Call = 0x10,
    /// Both: bytes of a call.
    Data = 0x11,
    /// Client: no more bytes will come for this call.
    End = 0x12,
    /// Both: that many more bytes may be sent.
    Credit = 0x13,
    /// Client: cancel, signal, resize.
    Control = 0x14,
    /// Server: the call has begun to run.
    Started = 0x15,
    /// Server: the call is over, with its answer.
    Done = 0x16,
    /// Server: the call is over, with an error.
    Failed = 0x17,
    /// Both: the other side broke the rules; nothing follows.
    Fatal = 0x18,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::Hello,
            0x02 => Self::Welcome,
            0x03 => Self::Refused,
            0x10 => Self::Call,
            0x11 => Self::Data,
            0x12 => Self::End,
            0x13 => Self::Credit,
            0x14 => Self::Control,
            0x15 => Self::Started,
            0x16 => Self::Done,
            0x17 => Self::Failed,
            0x18 => Self::Fatal,
            _ => return None,
        })
    }
}

/// One frame as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub kind: Kind,
    /// The call it belongs to.
    pub id: CallId,
    /// What it says.
    pub body: Vec<u8>,
}

impl Frame {
    /// The frame as bytes for the stream.
    pub fn encode(kind: Kind, id: CallId, body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = vec![0; 4];
        out.push(kind as u8);
        id.put(&mut out);
        body(&mut out);
        let length = (out.len() - HEADER) as u32;
        out[..4].copy_from_slice(&length.to_le_bytes());
        out
    }

    /// Encodes this frame again.
    pub fn to_bytes(&self) -> Vec<u8> {
        Self::encode(self.kind, self.id, |out| out.extend_from_slice(&self.body))
    }
}

/// Why no frame could be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream failed or ended inside a frame.
    #[error("the stream broke: {0}")]
    Io(#[from] io::Error),
    /// A frame longer than allowed.
    #[error("a frame of {0} bytes is longer than allowed")]
    TooLong(usize),
    /// A kind of frame this version does not know.
    #[error("{0:#04x} is not a known kind of frame")]
    UnknownKind(u8),
    /// A frame whose body does not have the right layout.
    #[error("a frame cannot be decoded: {0}")]
    Malformed(#[from] Malformed),
    /// A frame that must not come here.
    #[error("a {0:?} frame is not allowed here")]
    Misplaced(Kind),
    /// More bytes than were granted.
    #[error("the other side sent more than it was allowed to")]
    Overrun,
}

/// Reads the next frame; `None` when the stream ended between two frames.
pub fn read_frame(from: &mut impl Read, max_body: usize) -> Result<Option<Frame>, FrameError> {
    let mut header = [0; HEADER];
    if !read_first(from, &mut header)? {
        return Ok(None);
    }
    let mut fields = Input::new(&header);
    let length = u32::take(&mut fields)? as usize;
    let kind_byte = u8::take(&mut fields)?;
    let id = u32::take(&mut fields)?;
    let kind = Kind::from_byte(kind_byte).ok_or(FrameError::UnknownKind(kind_byte))?;
    if length > max_body {
        return Err(FrameError::TooLong(length));
    }
    // Beyond an ordinary frame the buffer grows with what really arrives, not with what was announced.
    let mut body = Vec::with_capacity(length.min(MAX_DATA + HEADER));
    let read = from.take(length as u64).read_to_end(&mut body)?;
    if read < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(Some(Frame { kind, id, body }))
}

/// Fills `header`; false when the stream ended before its first byte.
fn read_first(from: &mut impl Read, header: &mut [u8; HEADER]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < HEADER {
        match from.read(&mut header[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
