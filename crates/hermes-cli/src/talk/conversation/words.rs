//! What slash commands show, as markdown.

use std::fmt::Write as _;

use hermes_agent::context_report::{ContextReport, Filler};
use hermes_agent::{Agent, History};
use hermes_cli::chat::{Exchange, StatusFacts};
use hermes_model::{Message, MicroDollars};

use crate::ui;

/// The newest exchanges of a conversation, oldest first.
pub fn recent(history: &History, most: usize) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for message in history.messages() {
        match message {
            Message::User(_) => exchanges.push(Exchange { user: message.text(), answer: String::new() }),
            Message::Assistant(_) => {
                let text = message.text();
                if let Some(last) = exchanges.last_mut().filter(|_| !text.trim().is_empty()) {
                    last.answer = text;
                }
            }
            Message::Tool(_) => {}
        }
    }
    exchanges.split_off(exchanges.len().saturating_sub(most))
}

/// The conversation so far.
pub fn history(history: &History) -> String {
    if history.entries.is_empty() {
        return "Nothing has been said yet.".to_owned();
    }
    let mut text = String::new();
    for message in history.messages() {
        let _ = match message {
            Message::User(_) => writeln!(text, "**You:** {}\n", message.text()),
            Message::Assistant(_) => {
                let calls: Vec<String> = message.calls().map(|call| format!("`{}`", call.name)).collect();
                let calls = if calls.is_empty() { String::new() } else { format!(" {}", calls.join(", ")) };
                writeln!(text, "**Hermes:** {}{calls}\n", message.text())
            }
            Message::Tool(result) => writeln!(
                text,
                "`{}` gave {}.\n",
                result.name,
                ui::count(message.text().chars().count() as u64, "character")
            ),
        };
    }
    text
}

/// The session, the model, what it took.
pub fn status(facts: &StatusFacts, place: &str) -> String {
    let title = facts.title.as_deref().map(|title| format!(" \"{title}\"")).unwrap_or_default();
    format!(
        "- session {}{title}, {}\n- model {} at {}\n- {}\n- {place}\n",
        facts.session_id,
        ui::count(facts.messages as u64, "message"),
        facts.model,
        facts.provider,
        fill(facts.context, facts.window),
    ) + &usage(facts)
}

fn fill(context: u64, window: Option<u64>) -> String {
    match window {
        Some(window) if window > 0 => {
            format!("window {} of {} tokens, {} %", grouped(context), grouped(window), context * 100 / window)
        }
        _ => format!("window {} tokens; its size is not known ('model.context_length')", grouped(context)),
    }
}

/// Tokens and money.
pub fn usage(facts: &StatusFacts) -> String {
    let spent = facts.spent;
    if spent.calls == 0 {
        return "- no model was asked in this chat yet\n".to_owned();
    }
    let money = if spent.unpriced == 0 {
        MicroDollars(spent.micro_dollars).to_string()
    } else if spent.micro_dollars == 0 {
        "the price of this model is not known ('model.price')".to_owned()
    } else {
        format!(
            "{} and {} tokens without a known price",
            MicroDollars(spent.micro_dollars),
            grouped(spent.unpriced)
        )
    };
    format!(
        "- {}: {} tokens in, {} from the cache, {} written to it, {} out ({} of them thoughts)\n- cost: {money}\n",
        ui::count(u64::from(spent.calls), "model call"),
        grouped(spent.input),
        grouped(spent.cache_read),
        grouped(spent.cache_write),
        grouped(spent.output),
        grouped(spent.reasoning),
    )
}

/// What fills the window, cached or fresh, and what it costs.
pub fn context(agent: &Agent, parts: &[hermes_agent::prompt::PartSize]) -> String {
    let messages: Vec<Message> = agent.history().messages().cloned().collect();
    let tools = agent.tools().specs();
    let route = agent.caller().route();
    let report = ContextReport::new(&hermes_agent::context_report::Inputs {
        system: agent.system(),
        system_parts: parts,
        tools,
        messages: &messages,
        estimator: agent.estimator(),
        window: route.and_then(|route| route.window),
        last_usage: agent.newest_usage(),
        price: route.and_then(|route| route.price),
    });
    context_table(&report)
}

fn context_table(report: &ContextReport) -> String {
    let mut text = String::from("| what | tokens | share |\n|---|---:|---:|\n");
    for line in &report.lines {
        let share = (line.tokens * 100).checked_div(report.tokens).unwrap_or(0);
        let _ = writeln!(
            text,
            "| {} | {} | {share} % |",
            name_of(&line.filler, line.count),
            grouped(line.tokens)
        );
    }
    let _ = writeln!(text, "\n{}.", fill(report.tokens, report.window));
    let next = report.next;
    let money = |amount: Option<u64>| amount.map(|amount| MicroDollars(amount).to_string());
    let cost = match (money(next.micro_dollars), money(next.micro_dollars_uncached)) {
        (Some(now), Some(fresh)) if now != fresh => format!("costs {now} ({fresh} without the cache)"),
        (Some(now), _) => format!("costs {now}"),
        _ => "costs what nobody knows ('model.price')".to_owned(),
    };
    let _ = writeln!(
        text,
        "The next prompt {cost}: {} tokens from the cache, {} fresh. The counts are estimates.",
        grouped(next.cached),
        grouped(next.fresh)
    );
    text
}

fn name_of(filler: &Filler, count: usize) -> String {
    match filler {
        Filler::System(part) => format!("prompt: {part}"),
        Filler::ContextFile(path) => format!("prompt: {}", path.display()),
        Filler::Tool(name) => format!("tool `{name}`"),
        Filler::Summary => "summaries".to_owned(),
        Filler::User => ui::count(count as u64, "question"),
        Filler::Assistant => ui::count(count as u64, "answer"),
        Filler::Reasoning => "thoughts".to_owned(),
        Filler::ToolCalls => ui::count(count as u64, "call"),
        Filler::ToolResults(name) => format!("{} of `{name}`", ui::count(count as u64, "result")),
    }
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    crate::commands::model::grouped(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_agent::{Entry, RowId};
    use hermes_model::Part;

    fn history_of(messages: Vec<Message>) -> History {
        let entry = |(place, message)| Entry {
            row: RowId(place as i64),
            message,
            finish: None,
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        History { entries: messages.into_iter().enumerate().map(entry).collect() }
    }

    #[test]
    fn exchanges_hold_the_last_words_of_each_answer() {
        let call =
            hermes_model::ToolCall { id: "1".into(), name: "t".into(), ..hermes_model::ToolCall::default() };
        let history = history_of(vec![
            Message::user("a"),
            Message::Assistant(vec![Part::Text("first".into()), Part::Call(call.clone())]),
            Message::Tool(hermes_model::ToolResult::ok(&call, "r")),
            Message::assistant("second"),
            Message::user("b"),
        ]);
        let shown: Vec<(String, String)> =
            recent(&history, 10).into_iter().map(|e| (e.user, e.answer)).collect();
        assert_eq!(shown, [("a".into(), "second".into()), ("b".into(), String::new())]);
        assert_eq!(recent(&history, 1)[0].user, "b");
    }

    #[test]
    fn a_price_nobody_knows_is_not_called_free() {
        let mut facts = StatusFacts::default();
        facts.spent.calls = 1;
        facts.spent.unpriced = 10;
        assert!(usage(&facts).contains("not known"));
    }
}
