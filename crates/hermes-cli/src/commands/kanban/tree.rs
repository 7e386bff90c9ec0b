//! `hermes kanban tree`: what waits for what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_board::query::{Filter, Sort};
use hermes_board::{BoardError, Card, CardId};
use serde_json::{Value, json};

use super::screen::{Screen, line};
use super::{Desk, text};

/// Show what waits for what
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only below this card
    card: Option<String>,
}

/// Shows cards under those they wait for.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let Some(mut board) = desk.look()? else {
        return match &args.card {
            Some(id) => Err(BoardError::NoCard(vec![CardId::new(id)]).into()),
            None => desk.say("No cards yet.", || json!([])),
        };
    };
    let cards: BTreeMap<CardId, Card> = board
        .list(&Filter::default(), Sort::default())?
        .into_iter()
        .map(|card| (card.id.clone(), card))
        .collect();
    let mut children: BTreeMap<CardId, Vec<CardId>> = BTreeMap::new();
    let mut below: BTreeSet<CardId> = BTreeSet::new();
    for (parent, child) in board.links()? {
        if cards.contains_key(&parent) && cards.contains_key(&child) {
            below.insert(child.clone());
            children.entry(parent).or_default().push(child);
        }
    }
    let tops: Vec<CardId> = match &args.card {
        Some(id) => vec![board.card(&CardId::new(id))?.id],
        None => cards.keys().filter(|id| !below.contains(*id)).cloned().collect(),
    };
    let fallback = desk.fallback(cards.values())?;
    let mut drawing = Drawing {
        cards: &cards,
        children: &children,
        drawn: BTreeSet::new(),
        text: String::new(),
        screen: desk.screen(),
        fallback: fallback.as_deref(),
    };
    let values: Vec<Value> = tops.iter().filter_map(|top| drawing.branch(top, 0)).collect();
    let text = if drawing.text.is_empty() { "No cards yet." } else { &drawing.text };
    desk.say(text, || Value::Array(values))
}

struct Drawing<'a> {
    cards: &'a BTreeMap<CardId, Card>,
    children: &'a BTreeMap<CardId, Vec<CardId>>,
    drawn: BTreeSet<CardId>,
    text: String,
    screen: Screen,
    fallback: Option<&'a str>,
}

/// Deeper than this nothing is drawn: the other program may have made a circle, and a stack ends.
const DEEPEST: usize = 200;

impl Drawing<'_> {
    /// A card and all below it. One that waits for several is drawn in full only once.
    fn branch(&mut self, id: &CardId, depth: usize) -> Option<Value> {
        let card = self.cards.get(id)?;
        let again = !self.drawn.insert(id.clone());
        let note = if again { "  (see above)" } else { "" };
        let head = format!("{} {id}  {}", text::icon(card.status), card.status);
        let _ = writeln!(
            self.text,
            "{}{}  {}  {}{note}",
            "  ".repeat(depth),
            self.screen.paint.colour(text::colour(card.status), &head),
            text::who(card, self.fallback),
            line(&card.title, 80)
        );
        let mut below = Vec::new();
        if !again && depth < DEEPEST {
            for child in self.children.get(id).into_iter().flatten() {
                below.extend(self.branch(child, depth + 1));
            }
        }
        Some(json!({
            "id": id, "status": card.status, "title": card.title, "assignee": card.assignee, "seen_above": again,
            "children": below,
        }))
    }
}
