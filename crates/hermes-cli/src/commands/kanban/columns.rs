//! `hermes kanban board`: columns side by side.

use std::collections::BTreeMap;
use std::process::ExitCode;

use hermes_board::extras::Extras;
use hermes_board::query::{Filter, Sort};
use hermes_board::{Card, CardId, Status};
use serde_json::json;

use super::screen::{Screen, fold, line, pad};
use super::{Desk, json, text};

/// Show the board, a column for each status
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only cards of this profile
    #[arg(long)]
    assignee: Option<String>,
    /// Only cards of this name space
    #[arg(long)]
    tenant: Option<String>,
    /// At most so many cards in a column
    #[arg(short = 'n', long, default_value_t = 12)]
    limit: usize,
    /// How wide it may be; the terminal's width if it is not said
    #[arg(long, value_name = "CELLS")]
    width: Option<usize>,
}

/// The columns, from left to right.
const COLUMNS: &[Status] = &[
    Status::Triage,
    Status::Todo,
    Status::Scheduled,
    Status::Ready,
    Status::Running,
    Status::Blocked,
    Status::Review,
    Status::Done,
];
/// A column is not narrower, and there are blanks between two.
const NARROWEST: usize = 24;
const GAP: usize = 2;
/// Without a terminal.
const USUAL: usize = 120;

/// Shows the board.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let filter = Filter {
        assignee: args.assignee.as_deref().map(str::to_lowercase),
        tenant: args.tenant.clone(),
        ..Filter::default()
    };
    let (cards, extras) = match desk.look()? {
        Some(mut board) => (board.list(&filter, Sort::default())?, board.extras()?),
        None => (Vec::new(), BTreeMap::new()),
    };
    let fallback = desk.fallback(&cards)?;
    let mut columns: BTreeMap<Status, Vec<&Card>> = BTreeMap::new();
    for card in &cards {
        columns.entry(card.status).or_default().push(card);
    }
    if let Some(done) = columns.get_mut(&Status::Done) {
        done.sort_by_key(|card| std::cmp::Reverse(card.completed_at));
    }
    if desk.json {
        let of = |status: &Status| {
            let cards = columns.get(status).map(Vec::as_slice).unwrap_or_default();
            let tasks: Vec<_> =
                cards.iter().take(args.limit).map(|card| json::card(card, fallback.as_deref())).collect();
            json!({ "name": status, "count": cards.len(), "tasks": tasks })
        };
        let all: Vec<_> = COLUMNS.iter().map(of).collect();
        return desk.say("", || json!({ "board": desk.slug.as_str(), "columns": all, "now": desk.now }));
    }
    let screen = desk.screen();
    let width = args.width.unwrap_or(if screen.width == usize::MAX { USUAL } else { screen.width });
    let drawing = Drawing { desk, screen, extras: &extras, fallback: fallback.as_deref(), most: args.limit };
    let text = drawing.all(&columns, width.max(NARROWEST));
    desk.say(
        if text.is_empty() { "No cards yet: `hermes kanban create TITLE` makes one." } else { &text },
        || json!(null),
    )
}

struct Drawing<'a> {
    desk: &'a Desk<'a>,
    screen: Screen,
    extras: &'a BTreeMap<CardId, Extras>,
    fallback: Option<&'a str>,
    most: usize,
}

/// A line of a column, and its colour.
type Cell = (String, &'static str);

impl Drawing<'_> {
    /// Columns that have cards, as many beside each other as fit.
    fn all(&self, columns: &BTreeMap<Status, Vec<&Card>>, width: usize) -> String {
        let filled: Vec<(Status, &Vec<&Card>)> =
            COLUMNS.iter().filter_map(|status| Some((*status, columns.get(status)?))).collect();
        let beside = ((width + GAP) / (NARROWEST + GAP)).clamp(1, filled.len().max(1));
        let wide = (width + GAP) / beside - GAP;
        let bands: Vec<String> = filled.chunks(beside).map(|band| self.band(band, wide)).collect();
        bands.join("\n")
    }

    fn band(&self, columns: &[(Status, &Vec<&Card>)], width: usize) -> String {
        let drawn: Vec<Vec<Cell>> =
            columns.iter().map(|(status, cards)| self.column(*status, cards, width)).collect();
        let height = drawn.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for row in 0..height {
            let mut plain = Vec::new();
            for column in &drawn {
                let (words, colour) = column.get(row).map_or(("", ""), |(words, colour)| (words, *colour));
                let words = pad(words, width);
                plain.push(if colour.is_empty() { words } else { self.screen.paint.colour(colour, &words) });
            }
            text.push_str(plain.join(&" ".repeat(GAP)).trim_end());
            text.push('\n');
        }
        text
    }

    fn column(&self, status: Status, cards: &[&Card], width: usize) -> Vec<Cell> {
        let head = format!("{} {} ({})", text::icon(status), status.as_str().to_uppercase(), cards.len());
        let mut cells = vec![(head, text::colour(status)), ("─".repeat(width), "2")];
        for card in cards.iter().take(self.most) {
            let who = text::who(card, self.fallback);
            cells.push((line(&format!("{} {who}", card.id), width), text::colour(status)));
            cells.extend(fold(&card.title, width, 2).into_iter().map(|words| (words, "")));
            let notes = text::notes(card, self.extras.get(&card.id), self.desk.now);
            if !notes.is_empty() {
                cells.push((line(&notes, width), "2"));
            }
            cells.push((String::new(), ""));
        }
        if cards.len() > self.most {
            cells.push((format!("… {} more", cards.len() - self.most), "2"));
        }
        cells
    }
}
