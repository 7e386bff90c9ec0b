//! `hermes kanban tail`, `watch` and `log`.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use hermes_board::BoardError;
use hermes_board::card::CardId;
use hermes_board::rows::Happened;

use super::{Desk, json, show};
use crate::ui;
use hermes_cli::chat::text::clean;

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
    match desk.look()? {
        Some(mut board) => board.card(&id)?,
        None => return Err(BoardError::NoCard(vec![id]).into()),
    };
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

/// How long to wait between looks.
pub fn pause(seconds: f64) -> anyhow::Result<Duration> {
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
                    if !wanted(event)? {
                        continue;
                    }
                    if desk.json {
                        let mut value = json::event(event);
                        value["id"] = event.id.into();
                        value["task_id"] = serde_json::json!(event.task_id);
                        ui::print(&value.to_string())?;
                    } else {
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
    /// Go on as it grows, also when a new attempt begins a new file
    #[arg(short = 'f', long)]
    follow: bool,
    /// Leave out colours and other signs for a terminal, as it is always done on a terminal
    #[arg(long)]
    plain: bool,
}

/// Between two looks at a log that grows.
const LOOK: Duration = Duration::from_millis(250);

/// Prints a log.
pub fn log(desk: &Desk<'_>, args: &LogArgs) -> anyhow::Result<ExitCode> {
    use std::io::IsTerminal;
    let id = CardId::new(&args.task_id);
    match desk.look()? {
        Some(mut board) => board.card(&id)?,
        None => return Err(BoardError::NoCard(vec![id]).into()),
    };
    let path = desk.root.logs(&desk.slug).join(format!("{id}.log"));
    let mut said = Said { plain: args.plain || std::io::stdout().is_terminal(), rest: Vec::new() };
    let mut file = open(&path)?;
    if file.is_none() {
        ui::note(&format!("no worker has written anything for {id} yet"));
    }
    if let (Some(bytes), Some(file)) = (args.tail, &mut file) {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    }
    if desk.json {
        let mut bytes = Vec::new();
        if let Some(file) = &mut file {
            file.read_to_end(&mut bytes)?;
        }
        let text = String::from_utf8_lossy(&bytes);
        return desk.say("", || serde_json::json!({ "task_id": id, "path": path, "log": text }));
    }
    loop {
        if let Some(open) = &mut file {
            let mut bytes = Vec::new();
            open.read_to_end(&mut bytes)?;
            said.print(&bytes)?;
        }
        if !args.follow {
            said.rest()?;
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(LOOK);
        file = follow_file(file, &path, &mut said)?;
    }
}

fn open(path: &Path) -> anyhow::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(anyhow::Error::new(error).context(format!("cannot read {}", path.display()))),
    }
}

/// The file to go on with: the same, or the new one if the old was moved away. The rest of the old one is not lost, and
/// one that was cut is read from its beginning.
fn follow_file(file: Option<File>, path: &Path, said: &mut Said) -> anyhow::Result<Option<File>> {
    use std::os::unix::fs::MetadataExt;
    let Some(mut file) = file else { return open(path) };
    let Ok(now) = std::fs::metadata(path) else { return Ok(Some(file)) };
    let was = file.metadata()?;
    if (now.dev(), now.ino()) != (was.dev(), was.ino()) {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        said.print(&bytes)?;
        said.rest()?;
        return open(path);
    }
    if now.len() < file.stream_position()? {
        file.seek(SeekFrom::Start(0))?;
    }
    Ok(Some(file))
}

/// What is printed of a log. For a terminal whole lines, with nothing in them that steers it.
struct Said {
    plain: bool,
    rest: Vec<u8>,
}

impl Said {
    fn print(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if !self.plain {
            return ui::print_bytes(bytes);
        }
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        ui::print(&lines(&whole))
    }

    /// What came after the last line.
    fn rest(&mut self) -> std::io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        if rest.is_empty() { Ok(()) } else { ui::print(&lines(&rest)) }
    }
}

fn lines(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().flat_map(|line| [clean(line), "\n".to_owned()]).collect()
}
