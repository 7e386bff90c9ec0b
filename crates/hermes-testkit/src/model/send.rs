//! Sends a planned response at the pace the script asks for.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::http::{chunk, write_head};
use super::wire::{Delivery, Frame, Plan};

/// How an answer travels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) late: Duration,
    pub(super) slow: Duration,
    pub(super) split: Option<usize>,
}

/// What becomes of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connection {
    Keep,
    Close,
}

/// Sends the response. `pause` waits, but not longer than the server lives.
pub(super) fn send(
    stream: &mut TcpStream,
    plan: &Plan,
    pace: Pace,
    pause: &dyn Fn(Duration),
) -> io::Result<Connection> {
    pause(pace.late);
    let mut headers = plan.headers.clone();
    headers.push(match plan.delivery {
        Delivery::Stream => ("transfer-encoding".to_owned(), "chunked".to_owned()),
        Delivery::Whole => ("content-length".to_owned(), length(plan).to_string()),
    });
    write_head(stream, plan.status, &headers)?;
    for frame in &plan.frames {
        match frame {
            Frame::Send(bytes) => send_bytes(stream, bytes, plan.delivery, pace, pause)?,
            Frame::Stall => {
                wait_until_client_leaves(stream);
                return Ok(Connection::Close);
            }
            Frame::Cut => return Ok(Connection::Close),
        }
    }
    if plan.delivery == Delivery::Stream {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(Connection::Keep)
}

/// Every network write is a chunk of its own, so that the client sees the cuts even when packets are joined.
fn send_bytes(
    stream: &mut TcpStream,
    bytes: &[u8],
    delivery: Delivery,
    pace: Pace,
    pause: &dyn Fn(Duration),
) -> io::Result<()> {
    for piece in bytes.chunks(pace.split.unwrap_or(bytes.len()).max(1)) {
        match delivery {
            Delivery::Stream => stream.write_all(&chunk(piece))?,
            Delivery::Whole => stream.write_all(piece)?,
        }
        pause(pace.slow);
    }
    Ok(())
}

fn length(plan: &Plan) -> usize {
    let size = |frame: &Frame| if let Frame::Send(bytes) = frame { bytes.len() } else { 0 };
    plan.frames.iter().map(size).sum()
}

/// A client that leaves closes its end; a server that stops shuts the connection down. Both end the read.
fn wait_until_client_leaves(stream: &mut TcpStream) {
    let mut ignored = [0; 512];
    while stream.read(&mut ignored).is_ok_and(|count| count > 0) {}
}
