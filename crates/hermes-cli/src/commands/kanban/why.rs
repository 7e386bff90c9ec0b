//! `hermes kanban why`: every gate of a card, and what would open it.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_board::why::{Answer, Gate, Seen};
use hermes_board::{BoardError, CardId, Status};
use serde_json::json;

use super::screen::{Paint, line, pad};
use super::{Desk, text};

/// Say why a card is not started, and what would change that
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The card
    task_id: String,
}

/// Says why.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let id = CardId::new(&args.task_id);
    let Some(mut board) = desk.look()? else { return Err(BoardError::NoCard(vec![id]).into()) };
    board.card(&id)?;
    let view = desk.view(&mut board)?;
    let seen = Seen {
        snapshot: &view.snapshot,
        rules: &view.rules,
        world: &view.world,
        dispatcher: view.dispatcher(),
        now: desk.now,
    };
    let answer = board.why(&id, &seen)?;
    let verdict = verdict(&answer);
    desk.say(&page(&answer, &verdict, desk.screen().paint), || {
        json!({
            "task_id": id,
            "status": answer.details.card.status,
            "verdict": verdict,
            "starts": answer.starts.as_ref().map(|(profile, before)| json!({ "profile": profile, "before": before })),
            "gates": answer.gates,
        })
    })
}

/// The answer in a sentence.
fn verdict(answer: &Answer) -> String {
    let card = &answer.details.card;
    match (card.status, answer.closed(), &answer.starts) {
        (Status::Done, ..) => "It is done.".to_owned(),
        (Status::Archived, ..) => "It was put away.".to_owned(),
        (Status::Running, ..) => {
            let who = card.assignee.as_deref().map_or_else(|| "somebody".to_owned(), |name| line(name, 60));
            format!("It runs: {who} has it.")
        }
        (_, Some(gate), _) => format!("It is not started: {}.", gate.says.trim_end_matches('.')),
        (_, None, Some((profile, 0))) => format!("It is started next, for \"{}\".", line(profile, 60)),
        (_, None, Some((profile, before))) => {
            let cards = if *before == 1 { "1 card".to_owned() } else { format!("{before} cards") };
            format!("It is started at the next look, for \"{}\", after {cards}.", line(profile, 60))
        }
        (_, None, None) => "Every gate is open: it is started at the next look.".to_owned(),
    }
}

fn page(answer: &Answer, verdict: &str, paint: Paint) -> String {
    let card = &answer.details.card;
    let head = format!("{} {}  {}", text::icon(card.status), card.id, card.status);
    let mut out = format!("{}  {}\n", paint.colour(text::colour(card.status), &head), line(&card.title, 80));
    let _ = writeln!(out, "{}\n", paint.bold(&line(verdict, 400)));
    for gate in &answer.gates {
        out.push_str(&told(gate, paint));
    }
    out
}

fn told(gate: &Gate, paint: Paint) -> String {
    let (sign, colour) = if gate.passed { ("✓", "32") } else { ("✗", "31") };
    let mut out =
        format!("  {} {}  {}\n", paint.colour(colour, sign), pad(gate.gate, 13), line(&gate.says, 300));
    if let Some(opens) = gate.opens.as_deref().filter(|_| !gate.passed) {
        let _ = writeln!(out, "    {}  {}", pad("", 13), paint.faint(&format!("→ {}", line(opens, 300))));
    }
    out
}
