//! What each side may send: frames with their meaning.

use super::call::Call;
use super::exec::{Control, StreamId};
use super::fault::Fault;
use super::frame::{CallId, Frame, FrameError, Kind, MAX_DATA};
use super::hello::{Hello, Refusal, Welcome};
use super::wire::{Input, Wire, wire_enum};

wire_enum! {
    /// What the bytes of a data frame of the agent are.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Channel {
        /// Output of a command or job, content of a file.
        1 = Output(StreamId),
        /// A part of an answer that does not fit in one frame.
        2 = Answer,
    }
}

/// From a client to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToAgent {
    /// First of all.
    Hello(Hello),
    /// A new call, with the number of bytes the agent may send for it.
    Call {
        /// Chosen by the client; must not be in use.
        id: CallId,
        /// First grant of bytes.
        window: u32,
        /// What is asked.
        call: Box<Call>,
    },
    /// Input for a call.
    Data {
        /// The call.
        id: CallId,
        /// The bytes, never empty.
        bytes: Vec<u8>,
    },
    /// No more input for a call.
    End(CallId),
    /// The agent may send that many more bytes.
    Credit {
        /// The call.
        id: CallId,
        /// How many.
        bytes: u32,
    },
    /// Steer a call.
    Control {
        /// The call.
        id: CallId,
        /// How.
        control: Control,
    },
    /// The agent broke the rules.
    Fatal(String),
}

/// From an agent to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToClient {
    /// The hello was accepted.
    Welcome(Welcome),
    /// The hello was not accepted.
    Refused(Refusal),
    /// Output of a call.
    Data {
        /// The call.
        id: CallId,
        /// What the bytes are.
        channel: Channel,
        /// The bytes, never empty.
        bytes: Vec<u8>,
    },
    /// The client may send that many more bytes.
    Credit {
        /// The call.
        id: CallId,
        /// How many.
        bytes: u32,
    },
    /// A command whose output is streamed runs now, as this process.
    Started {
        /// The call.
        id: CallId,
        /// The process.
        pid: u32,
    },
    /// A call is over; the answer (or the last part of it).
    Done {
        /// The call.
        id: CallId,
        /// The answer, encoded as the call's answer type.
        answer: Vec<u8>,
    },
    /// A call is over; it failed.
    Failed {
        /// The call.
        id: CallId,
        /// Why.
        fault: Fault,
    },
    /// The client broke the rules.
    Fatal(String),
}

impl ToAgent {
    /// As bytes for the stream.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello(hello) => Frame::encode(Kind::Hello, 0, |out| hello.put(out)),
            Self::Call { id, window, call } => Frame::encode(Kind::Call, *id, |out| {
                window.put(out);
                call.put(out);
            }),
            Self::Data { id, bytes } => Frame::encode(Kind::Data, *id, |out| out.extend_from_slice(bytes)),
            Self::End(id) => Frame::encode(Kind::End, *id, |_| {}),
            Self::Credit { id, bytes } => Frame::encode(Kind::Credit, *id, |out| bytes.put(out)),
            Self::Control { id, control } => Frame::encode(Kind::Control, *id, |out| control.put(out)),
            Self::Fatal(text) => Frame::encode(Kind::Fatal, 0, |out| text.put(out)),
        }
    }

    /// The meaning of a frame a client sent.
    pub fn decode(frame: Frame) -> Result<Self, FrameError> {
        let id = frame.id;
        let mut input = Input::new(&frame.body);
        let message = match frame.kind {
            Kind::Hello => Self::Hello(Hello::take(&mut input)?),
            Kind::Call => {
                Self::Call { id, window: u32::take(&mut input)?, call: Box::new(Call::take(&mut input)?) }
            }
            Kind::Data => return Ok(Self::Data { id, bytes: data(frame.body)? }),
            Kind::End => Self::End(id),
            Kind::Credit => Self::Credit { id, bytes: u32::take(&mut input)? },
            Kind::Control => Self::Control { id, control: Control::take(&mut input)? },
            Kind::Fatal => Self::Fatal(String::take(&mut input)?),
            kind => return Err(FrameError::Misplaced(kind)),
        };
        input.finish()?;
        Ok(message)
    }
}

impl ToClient {
    /// As bytes for the stream.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Welcome(welcome) => Frame::encode(Kind::Welcome, 0, |out| welcome.put(out)),
            Self::Refused(refusal) => Frame::encode(Kind::Refused, 0, |out| refusal.put(out)),
            Self::Data { id, channel, bytes } => Self::encode_data(*id, *channel, bytes),
            Self::Credit { id, bytes } => Frame::encode(Kind::Credit, *id, |out| bytes.put(out)),
            Self::Started { id, pid } => Frame::encode(Kind::Started, *id, |out| pid.put(out)),
            Self::Done { id, answer } => Frame::encode(Kind::Done, *id, |out| out.extend_from_slice(answer)),
            Self::Failed { id, fault } => Frame::encode(Kind::Failed, *id, |out| fault.put(out)),
            Self::Fatal(text) => Frame::encode(Kind::Fatal, 0, |out| text.put(out)),
        }
    }

    /// A data frame straight from a buffer.
    pub fn encode_data(id: CallId, channel: Channel, bytes: &[u8]) -> Vec<u8> {
        Frame::encode(Kind::Data, id, |out| {
            out.reserve(bytes.len() + 2);
            channel.put(out);
            out.extend_from_slice(bytes);
        })
    }

    /// The meaning of a frame an agent sent.
    pub fn decode(frame: Frame) -> Result<Self, FrameError> {
        let id = frame.id;
        let mut input = Input::new(&frame.body);
        let message = match frame.kind {
            Kind::Welcome => Self::Welcome(Welcome::take(&mut input)?),
            Kind::Refused => Self::Refused(Refusal::take(&mut input)?),
            Kind::Data => {
                let channel = Channel::take(&mut input)?;
                Self::Data { id, channel, bytes: data(input.remainder().to_vec())? }
            }
            Kind::Credit => Self::Credit { id, bytes: u32::take(&mut input)? },
            Kind::Started => Self::Started { id, pid: u32::take(&mut input)? },
            Kind::Done => return Ok(Self::Done { id, answer: frame.body }),
            Kind::Failed => Self::Failed { id, fault: Fault::take(&mut input)? },
            Kind::Fatal => Self::Fatal(String::take(&mut input)?),
            kind => return Err(FrameError::Misplaced(kind)),
        };
        input.finish()?;
        Ok(message)
    }
}

/// Data frames are never empty (each must cost credit) and never longer than agreed.
fn data(bytes: Vec<u8>) -> Result<Vec<u8>, FrameError> {
    match bytes.len() {
        0 => Err(FrameError::Malformed(super::wire::Malformed::Short)),
        1..=MAX_DATA => Ok(bytes),
        length => Err(FrameError::TooLong(length)),
    }
}
