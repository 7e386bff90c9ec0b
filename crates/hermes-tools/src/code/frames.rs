//! Frames between this program and the launcher: four bytes of length, one byte of kind, the body.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A longer frame is a mistake of the other side.
const LONGEST: usize = 32 << 20;

/// What the launcher says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    /// It runs.
    Hello,
    /// The directory it made for the script.
    Directory(PathBuf),
    /// The script printed something.
    Output(Vec<u8>),
    /// The script printed something to its standard error.
    Complaint(Vec<u8>),
    /// So many bytes of the output are left out here.
    Gap(u64),
    /// The script wants a tool.
    Call(Wanted),
    /// The script sent something that is no call; why not.
    NoCall(String),
    /// The script is over, with this code.
    Over(i32),
    /// The script could not be started.
    Failed(String),
}

/// A call the script makes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Wanted {
    /// The script's number for it.
    pub(super) id: u64,
    /// The name of the tool.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) arguments: Map<String, Value>,
}

/// Puts frames together from pieces.
#[derive(Debug, Default)]
pub(super) struct Frames {
    buffer: Vec<u8>,
}

impl Frames {
    /// Takes a piece; the frames that are whole now. The error says what is wrong with the stream.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<Vec<Said>, String> {
        self.buffer.extend_from_slice(piece);
        let mut frames = Vec::new();
        let mut at = 0;
        while let Some((length, rest)) = self.buffer[at..].split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            if length == 0 || length > LONGEST {
                return Err(format!("a frame of {length} bytes"));
            }
            let Some(frame) = rest.get(..length) else { break };
            frames.push(read(frame[0], &frame[1..])?);
            at += 4 + length;
        }
        self.buffer.drain(..at);
        Ok(frames)
    }
}

fn read(kind: u8, body: &[u8]) -> Result<Said, String> {
    #[derive(Deserialize)]
    struct Over {
        code: i32,
    }
    #[derive(Deserialize)]
    struct Gap {
        kind: char,
        bytes: u64,
    }
    #[derive(Deserialize)]
    struct Made {
        directory: PathBuf,
    }
    let bad = |error: serde_json::Error| format!("a frame of kind '{}': {error}", char::from(kind));
    Ok(match kind {
        b'H' => Said::Hello,
        b'O' => Said::Output(body.to_vec()),
        b'E' => Said::Complaint(body.to_vec()),
        b'D' => Said::Directory(serde_json::from_slice::<Made>(body).map_err(bad)?.directory),
        b'G' => match serde_json::from_slice(body).map_err(bad)? {
            Gap { kind: 'O', bytes } => Said::Gap(bytes),
            // Of complaints only the beginning is shown: what is missing after it is not missed.
            Gap { .. } => Said::Complaint(Vec::new()),
        },
        // The launcher passes on what the script wrote, whatever it is.
        b'C' => serde_json::from_slice(body).map_or_else(|error| Said::NoCall(error.to_string()), Said::Call),
        b'B' => Said::NoCall(String::from_utf8_lossy(body).into_owned()),
        b'X' => Said::Over(serde_json::from_slice::<Over>(body).map_err(bad)?.code),
        b'F' => Said::Failed(String::from_utf8_lossy(body).into_owned()),
        _ => return Err(format!("a frame of unknown kind {kind}")),
    })
}

/// The frame that starts a script.
pub(super) fn start(order: &Value) -> Vec<u8> {
    frame(b'S', order)
}

/// The frame that answers a call.
pub(super) fn answer(id: u64, text: &str) -> Vec<u8> {
    frame(b'R', &json!({ "id": id, "text": text }))
}

fn frame(kind: u8, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = u32::try_from(body.len() + 1).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(body.len() + 5);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.push(kind);
    frame.extend_from_slice(body.as_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_in_any_pieces() {
        let mut stream = Vec::new();
        for (kind, body) in [(b'H', &b""[..]), (b'O', b"\xff\0x"), (b'X', b"{\"code\":3}")] {
            stream.extend_from_slice(&(body.len() as u32 + 1).to_be_bytes());
            stream.push(kind);
            stream.extend_from_slice(body);
        }
        stream.extend_from_slice(&frame(b'C', &json!({"id": 7, "tool": "t", "arguments": {"a": 1}})));
        for size in 1..stream.len() {
            let mut frames = Frames::default();
            let said: Vec<Said> = stream.chunks(size).flat_map(|piece| frames.push(piece).unwrap()).collect();
            assert_eq!(said[..3], [Said::Hello, Said::Output(b"\xff\0x".to_vec()), Said::Over(3)]);
            assert!(matches!(&said[3], Said::Call(Wanted { id: 7, tool, .. }) if tool == "t"));
        }
    }

    #[test]
    fn what_is_no_frame_is_told() {
        assert!(Frames::default().push(b"Hello, this is no frame").is_err());
        assert!(Frames::default().push(&[0, 0, 0, 0]).is_err());
        assert!(Frames::default().push(&[0, 0, 0, 2, b'X', b'{']).is_err());
    }

    #[test]
    fn what_is_no_call_is_the_fault_of_the_script() {
        for body in [&b""[..], b"{", b"{\"id\": -1, \"tool\": \"t\", \"arguments\": {}}", b"\xff"] {
            let mut stream = (body.len() as u32 + 1).to_be_bytes().to_vec();
            stream.push(b'C');
            stream.extend_from_slice(body);
            let said = Frames::default().push(&stream).unwrap();
            assert!(matches!(said.as_slice(), [Said::NoCall(_)]), "{said:?}");
        }
    }
}
