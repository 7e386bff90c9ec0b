//! `hermes kanban tail`, `watch` and `log`.

use std::io::{Read, Seek, SeekFrom};
use std::process::ExitCode;
use std::time::Duration;

use hermes_board::card::CardId;
use hermes_board::rows::Happened;

use super::{Desk, show};
use crate::ui;

/// Most events fetched at once.
const MOST: usize = 500;

/// Follow what happens to a card
#[derive(Debug, clap::Args)]
pub struct TailArgs {
    /// The card
    task_id: String,
    /// Seconds between looks
    #[arg(long, default_value_t = 1.0)]
    interval: f64,
}

/// Follow what happens on the board
#[derive(Debug, clap::Args)]
pub struct WatchArgs {
    /// Only cards of this profile
    #[arg(long)]
    assignee: Option<String>,
    /// Only cards of this name space
    #[arg(long)]
    tenant: Option<String>,
    /// Only these kinds, with commas between
    #[arg(long, value_delimiter = ',')]
    kinds: Vec<String>,
    /// Seconds between looks
    #[arg(long, default_value_t = 0.5)]
    interval: f64,
}

/// Follows a card: all that happened, then what happens.
pub fn tail(desk: &Desk<'_>, args: &TailArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    desk.board()?.card(&id)?;
    follow(desk, Some(&id), 0, pause(args.interval)?, |_| Ok(true))
}

/// Follows the board: what happens from now on.
pub fn watch(desk: &Desk<'_>, args: &WatchArgs) -> anyhow::Result<ExitCode> {
    let from = desk.board()?.newest_event()?;
    let mut board = desk.board()?;
    ui::note("watching; Ctrl-C ends it");
    follow(desk, None, from, pause(args.interval)?, |event| {
        if !args.kinds.is_empty() && !args.kinds.contains(&event.kind) {
            return Ok(false);
        }
        if args.assignee.is_none() && args.tenant.is_none() {
            return Ok(true);
        }
        // A card may be gone by the time its events are read.
        let Ok(card) = board.card(&event.task_id) else { return Ok(false) };
        let same = |wanted: &Option<String>, is: &Option<String>| wanted.is_none() || wanted == is;
        Ok(same(&args.assignee, &card.assignee) && same(&args.tenant, &card.tenant))
    })
}

fn pause(seconds: f64) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|pause| !pause.is_zero()).ok_or_else(|| {
        ui::WrongUsage(format!("--interval must be more than 0 seconds, not {seconds}")).into()
    })
}

/// Prints what happens until somebody ends it.
fn follow(
    desk: &Desk<'_>,
    card: Option<&CardId>,
    from: i64,
    pause: Duration,
    mut wanted: impl FnMut(&Happened) -> anyhow::Result<bool>,
) -> anyhow::Result<ExitCode> {
    let mut board = desk.board()?;
    let (mut after, mut version) = (from, None);
    loop {
        // Looking is cheap while nobody writes.
        let now = board.version()?;
        if version != Some(now) {
            version = Some(now);
            loop {
                let events = board.events_after(after, card, MOST)?;
                let Some(last) = events.last() else { break };
                after = last.id;
                for event in &events {
                    if wanted(event)? {
                        let text = show::happened(event);
                        let name =
                            if card.is_some() { String::new() } else { format!("{}  ", event.task_id) };
                        ui::print(&format!("{name}{text}"))?;
                    }
                }
            }
        }
        std::thread::sleep(pause);
    }
}

/// Print what a card's worker wrote
#[derive(Debug, clap::Args)]
pub struct LogArgs {
    /// The card
    task_id: String,
    /// Only the last so many bytes
    #[arg(long, value_name = "BYTES")]
    tail: Option<u64>,
    /// Go on as it grows
    #[arg(short = 'f', long)]
    follow: bool,
}

/// Prints a log.
pub fn log(desk: &Desk<'_>, args: &LogArgs) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    desk.board()?.card(&id)?;
    let path = desk.root.logs(&desk.slug).join(format!("{id}.log"));
    let mut file = match std::fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            ui::note(&format!("no worker has written anything for {id} yet"));
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => {
            return Err(anyhow::Error::new(error).context(format!("cannot read {}", path.display())));
        }
    };
    if let Some(bytes) = args.tail {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    }
    loop {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        if !bytes.is_empty() {
            ui::print_bytes(&bytes)?;
        }
        if !args.follow {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(Duration::from_millis(250));
    }
}
