//! `hermes sandbox jobs output`: what a job printed, as it is or as JSON.

use std::io::Write;
use std::process::ExitCode;

use hermes_box::client::{Client, JobEvent};
use hermes_box::proto::job::{JobInfo, JobState};
use serde_json::{Value, json};

use super::jobs::{over, state};
use crate::ui;

/// How much is asked for at once.
const PIECE: u32 = 256 * 1024;

/// Print a job's output
///
/// With `--json` one object: `offset` and `next_offset` say which bytes it holds, `text` holds them (`base64` where they
/// are not UTF-8), `missing` names parts that are no longer kept. `--offset` goes on where the last one ended.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The job
    id: String,
    /// Go on until it ends (with --json, print when it has ended); its exit code is then ours
    #[arg(short, long)]
    follow: bool,
    /// Begin after so many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    offset: u64,
}

/// Prints it.
pub fn run(client: &Client, args: &Args, as_json: bool) -> anyhow::Result<ExitCode> {
    match (as_json, args.follow) {
        (false, true) => follow(client, args),
        (false, false) => show(client, args),
        (true, true) => {
            let job = client.jobs().wait(&args.id, None)?;
            ui::print_json(&object(&job, collect(client, args)?))?;
            Ok(over(&job))
        }
        (true, false) => {
            // Asked before the output is read: a job that ended by then has printed everything there is.
            let job = client.jobs().get(&args.id)?;
            ui::print_json(&object(&job, collect(client, args)?))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn show(client: &Client, args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    pieces(client, args, |missing, bytes| {
        if let Some(gap) = missing {
            out.flush()?;
            ui::note(&format!("note: {} bytes in between are no longer kept", gap.bytes));
        }
        Ok(out.write_all(bytes)?)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn follow(client: &Client, args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let mut following = client.jobs().follow(&args.id, args.offset)?;
    loop {
        match following.next_event(None)? {
            JobEvent::Output(bytes) => {
                out.write_all(&bytes)?;
                out.flush()?;
            }
            JobEvent::Ended(job) => return Ok(over(&job)),
            JobEvent::Quiet => {}
        }
    }
}

/// A part of the output that is no longer kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
struct Gap {
    offset: u64,
    bytes: u64,
}

/// Reads to the end of what there is. Each piece comes with what is missing before it; the result is where it ended.
fn pieces(
    client: &Client,
    args: &Args,
    mut take: impl FnMut(Option<Gap>, &[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut offset = args.offset;
    loop {
        let piece = client.jobs().read(&args.id, offset, PIECE)?;
        let gap = (piece.offset > offset).then(|| Gap { offset, bytes: piece.offset - offset });
        take(gap, &piece.bytes)?;
        if piece.next >= piece.end || piece.bytes.is_empty() {
            return Ok(piece.next);
        }
        offset = piece.next;
    }
}

/// What was printed between two offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Collected {
    offset: u64,
    next: u64,
    bytes: Vec<u8>,
    missing: Vec<Gap>,
}

fn collect(client: &Client, args: &Args) -> anyhow::Result<Collected> {
    let (mut bytes, mut missing) = (Vec::new(), Vec::new());
    let next = pieces(client, args, |gap, piece| {
        missing.extend(gap);
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(Collected { offset: args.offset, next, bytes, missing })
}

fn object(job: &JobInfo, mut collected: Collected) -> Value {
    if job.state == JobState::Running {
        leave_half_character(&mut collected);
    }
    let mut object = json!({
        "id": job.id,
        "state": state(job),
        "exit_code": job.exit_code(),
        "offset": collected.offset,
        "next_offset": collected.next,
        "missing": collected.missing,
    });
    match String::from_utf8(collected.bytes) {
        Ok(text) => object["text"] = text.into(),
        Err(error) => object["base64"] = crate::base64::encode(error.as_bytes()).into(),
    }
    object
}

/// The end of a character that a running job has half printed is left for the next time.
fn leave_half_character(collected: &mut Collected) {
    if let Err(error) = std::str::from_utf8(&collected.bytes)
        && error.error_len().is_none()
    {
        let whole = error.valid_up_to();
        collected.next -= (collected.bytes.len() - whole) as u64;
        collected.bytes.truncate(whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_waits_and_nonsense_does_not() {
        let collected = |bytes: &[u8]| Collected {
            offset: 5,
            next: 5 + bytes.len() as u64,
            bytes: bytes.into(),
            missing: vec![],
        };
        let mut half = collected(&"aü".as_bytes()[..2]);
        leave_half_character(&mut half);
        assert_eq!((half.bytes.as_slice(), half.next), (b"a".as_slice(), 6));
        let mut nonsense = collected(b"a\xffb");
        leave_half_character(&mut nonsense);
        assert_eq!(nonsense, collected(b"a\xffb"));
    }
}
