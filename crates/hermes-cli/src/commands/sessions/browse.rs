//! `hermes sessions browse`: choose a conversation to go on with.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use hermes_store::sessions::{ListFilter, Order, SessionRow};
use jiff::Timestamp;

use super::{open_to_look, text};
use crate::app::App;
use crate::ui;

/// Choose a conversation to go on with
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only through this door
    #[arg(long)]
    source: Option<String>,
    /// How many to choose from
    #[arg(long, default_value_t = 500)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How many are shown at a time.
const PAGE: usize = 15;

/// Lets the user choose; without a terminal it is a list.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let filter = ListFilter {
        source: args.source.clone(),
        exclude_sources: vec!["tool".to_owned()],
        limit: Some(args.limit),
        order: Order::LastActive,
        ..ListFilter::default()
    };
    let rows = match open_to_look(app)? {
        None => Vec::new(),
        Some(mut store) => store.list(&filter)?,
    };
    if args.json {
        ui::print_json(&rows.iter().map(text::json).collect::<Vec<_>>())?;
    } else if rows.is_empty() {
        ui::print("No conversations yet: `hermes` starts one.")?;
    } else if io::stdin().is_terminal() && io::stderr().is_terminal() {
        if let Some(row) = choose(&rows)? {
            ui::print(&text::resume_command(app, &row.id))?;
        }
    } else {
        ui::print(&text::table(&rows, Timestamp::now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a line of the user means for the list as it is shown.
#[derive(Debug, PartialEq, Eq)]
enum Answer<'a> {
    /// The entry with this number, from 0.
    Take(usize),
    /// The next page.
    More,
    /// Only those with this in them; all of them if it is empty.
    Narrow(&'a str),
    /// Nothing.
    Leave,
}

fn answer(line: &str, shown: usize) -> Answer<'_> {
    match line.trim() {
        // No line at all is the end of input.
        _ if !line.ends_with('\n') => Answer::Leave,
        "" => Answer::More,
        "q" | "quit" => Answer::Leave,
        "/" => Answer::Narrow(""),
        text => match text.parse::<usize>() {
            Ok(number) if (1..=shown).contains(&number) => Answer::Take(number - 1),
            _ => Answer::Narrow(text.trim_start_matches('/')),
        },
    }
}

fn choose(rows: &[SessionRow]) -> io::Result<Option<&SessionRow>> {
    let now = Timestamp::now();
    let mut fitting: Vec<&SessionRow> = rows.iter().collect();
    let mut page = 0;
    loop {
        let end = fitting.len().min((page + 1) * PAGE);
        for (index, row) in fitting.iter().enumerate().take(end).skip(page * PAGE) {
            ui::note(&format!(
                "{:>4}  {}  {} · {}",
                index + 1,
                text::name(row, 60),
                ui::count(row.message_count, "message"),
                text::ago(row.last_active, now)
            ));
        }
        let more = if end < fitting.len() { ", Enter for more" } else { "" };
        let line = ui::ask(&format!("number to choose, text to narrow down{more}, q to leave: "))?;
        match answer(&line, end) {
            Answer::Take(index) => return Ok(fitting.get(index).copied()),
            Answer::Leave => return Ok(None),
            Answer::More => page = if end < fitting.len() { page + 1 } else { 0 },
            Answer::Narrow(text) => {
                fitting = rows.iter().filter(|row| fits(row, text)).collect();
                page = 0;
                if fitting.is_empty() {
                    ui::note("none fits; `/` shows all again");
                }
            }
        }
    }
}

fn fits(row: &SessionRow, text: &str) -> bool {
    let text = text.to_lowercase();
    let parts = [row.id.as_str(), row.title.as_deref().unwrap_or_default(), &row.preview, &row.source];
    parts.iter().any(|part| part.to_lowercase().contains(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_mean_a_choice_a_filter_or_the_end() {
        assert_eq!(answer("2\n", 3), Answer::Take(1));
        assert_eq!(answer("4\n", 3), Answer::Narrow("4"));
        assert_eq!(answer("\n", 3), Answer::More);
        assert_eq!(answer("", 3), Answer::Leave);
        assert_eq!(answer("q\n", 3), Answer::Leave);
        assert_eq!(answer("/\n", 3), Answer::Narrow(""));
        assert_eq!(answer("/2 b\n", 3), Answer::Narrow("2 b"));
    }
}
