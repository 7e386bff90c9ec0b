//! What fills the window, part by part, what of it is cached, and what the next call costs: `/context` and
//! `hermes prompt-size`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hermes_model::{Message, Part, Price, ToolSpec, Usage};
use serde::Serialize;

use crate::compaction::{Estimator, content_bytes, is_summary, message_bytes, part_bytes, tools_bytes};
use crate::prompt::{self, PartSize};

/// What the report is made from.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The system prompt as it is sent.
    pub system: &'a str,
    /// What it is made of, if that is known: a resumed conversation has only the text.
    pub system_parts: &'a [PartSize],
    /// The tools on offer.
    pub tools: &'a [ToolSpec],
    /// The conversation.
    pub messages: &'a [Message],
    /// Counts tokens.
    pub estimator: Estimator,
    /// The size of the window, when it is known.
    pub window: Option<u64>,
    /// What the provider counted for the last call.
    pub last_usage: Option<Usage>,
    /// What the model costs, when it is known.
    pub price: Option<Price>,
}

/// Something that fills the window. In this order it is sent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "name")]
pub enum Filler {
    /// A part of the system prompt, by name.
    System(String),
    /// A file of the project, in the system prompt.
    ContextFile(PathBuf),
    /// The description of a tool.
    Tool(String),
    /// Summaries of earlier messages.
    Summary,
    /// What the user said.
    User,
    /// What the model said.
    Assistant,
    /// What the model thought.
    Reasoning,
    /// Calls of tools.
    ToolCalls,
    /// Results of a tool.
    ToolResults(String),
}

/// How much of the window something takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// What it is.
    #[serde(flatten)]
    pub filler: Filler,
    /// How many of it there are.
    pub count: usize,
    /// Its bytes.
    pub bytes: u64,
    /// Its tokens, estimated.
    pub tokens: u64,
}

/// What fills the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextReport {
    /// Part by part.
    pub lines: Vec<Line>,
    /// All bytes.
    pub bytes: u64,
    /// All tokens, estimated.
    pub tokens: u64,
    /// The size of the window, when it is known.
    pub window: Option<u64>,
    /// What is expected of the next call.
    pub next: NextCall,
}

/// What is expected of the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct NextCall {
    /// Tokens the provider will find in its cache, if it kept what it had.
    pub cached: u64,
    /// Tokens that are new to it.
    pub fresh: u64,
    /// What the prompt costs, in millionths of a dollar, when the price is known. The answer comes on top.
    pub micro_dollars: Option<u64>,
    /// What it would cost with nothing in the cache.
    pub micro_dollars_uncached: Option<u64>,
}

impl ContextReport {
    /// Adds everything up.
    pub fn new(inputs: &Inputs<'_>) -> Self {
        let mut sums: BTreeMap<Filler, (usize, u64)> = BTreeMap::new();
        let mut order: Vec<Filler> = Vec::new();
        let mut add = |filler: Filler, bytes: u64| {
            if !sums.contains_key(&filler) {
                order.push(filler.clone());
            }
            let (count, sum) = sums.entry(filler).or_default();
            *count += 1;
            *sum += bytes;
        };
        system(inputs, &mut add);
        for tool in inputs.tools {
            add(Filler::Tool(tool.name.clone()), tools_bytes(std::slice::from_ref(tool)));
        }
        for message in inputs.messages {
            message_lines(message, &mut add);
        }
        let line = |filler: Filler| {
            let (count, bytes) = sums.get(&filler).copied().unwrap_or_default();
            Line { filler, count, bytes, tokens: inputs.estimator.tokens(bytes) }
        };
        // Within a kind the largest first: that is what people look for. The prompt stays in its own order.
        let mut lines: Vec<Line> = order.into_iter().map(line).collect();
        lines.sort_by_key(|line| (section(&line.filler), size_rank(line)));
        let bytes = lines.iter().map(|line| line.bytes).sum();
        let tokens = inputs.estimator.tokens(bytes);
        Self { lines, bytes, tokens, window: inputs.window, next: next_call(inputs, tokens) }
    }

    /// How full the window is, in percent, when its size is known.
    pub fn percent(&self) -> Option<u64> {
        self.window.filter(|window| *window > 0).map(|window| self.tokens * 100 / window)
    }
}

fn section(filler: &Filler) -> u8 {
    match filler {
        Filler::System(_) | Filler::ContextFile(_) => 0,
        Filler::Tool(_) => 1,
        _ => 2,
    }
}

fn size_rank(line: &Line) -> u64 {
    if section(&line.filler) == 0 { 0 } else { u64::MAX - line.bytes }
}

fn system(inputs: &Inputs<'_>, add: &mut impl FnMut(Filler, u64)) {
    let known: usize = inputs.system_parts.iter().map(|part| part.bytes).sum();
    if known != inputs.system.len() {
        return add(Filler::System("system prompt".to_owned()), inputs.system.len() as u64);
    }
    for PartSize { part, bytes } in inputs.system_parts {
        let filler = match part {
            prompt::Part::ContextFile(path) => Filler::ContextFile(path.clone()),
            other => Filler::System(name(other).to_owned()),
        };
        add(filler, *bytes as u64);
    }
}

fn name(part: &prompt::Part) -> &'static str {
    match part {
        prompt::Part::Identity => "identity",
        prompt::Part::Guidance => "guidance",
        prompt::Part::Skills => "skills",
        prompt::Part::Environment => "environment",
        prompt::Part::Platform => "platform",
        prompt::Part::Instructions => "instructions",
        prompt::Part::ContextFile(_) => "project",
        prompt::Part::Memory => "memory",
        prompt::Part::UserProfile => "user profile",
        prompt::Part::Facts => "date and model",
    }
}

fn message_lines(message: &Message, add: &mut impl FnMut(Filler, u64)) {
    match message {
        Message::User(_) if is_summary(message) => add(Filler::Summary, message_bytes(message)),
        Message::User(content) => add(Filler::User, content_bytes(content)),
        Message::Tool(result) => {
            add(Filler::ToolResults(result.name.clone()), content_bytes(&result.content));
        }
        Message::Assistant(parts) => {
            for part in parts {
                let filler = match part {
                    Part::Text(_) => Filler::Assistant,
                    Part::Reasoning(_) => Filler::Reasoning,
                    Part::Call(_) => Filler::ToolCalls,
                };
                add(filler, part_bytes(part));
            }
        }
    }
}

/// What was sent last is in the cache of a provider that caches, and the next prompt begins with it.
fn next_call(inputs: &Inputs<'_>, tokens: u64) -> NextCall {
    let kept = inputs.last_usage.map_or(0, |usage| usage.cache_read + usage.cache_write);
    let cached = kept.min(tokens);
    let fresh = tokens - cached;
    let cost = |usage: Usage| inputs.price.map(|price| price.cost(&usage).0);
    NextCall {
        cached,
        fresh,
        micro_dollars: cost(Usage { input: fresh, cache_read: cached, ..Usage::default() }),
        micro_dollars_uncached: cost(Usage { input: tokens, ..Usage::default() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::Summary;
    use hermes_model::{Reasoning, ToolCall, ToolResult};
    use serde_json::json;

    const PRICE: Price =
        Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };

    fn report(messages: &[Message], last_usage: Option<Usage>) -> ContextReport {
        let prompt = prompt::build(&prompt::tests::parts());
        let tool = |name: &str, description: &str| ToolSpec {
            name: name.into(),
            description: description.into(),
            parameters: json!({}),
        };
        ContextReport::new(&Inputs {
            system: &prompt.text,
            system_parts: &prompt.parts,
            tools: &[tool("ls", "short"), tool("terminal", &"long ".repeat(100))],
            messages,
            estimator: Estimator::default(),
            window: Some(10_000),
            last_usage,
            price: Some(PRICE),
        })
    }

    fn conversation() -> Vec<Message> {
        let call = ToolCall {
            id: "c".into(),
            name: "terminal".into(),
            arguments: "{}".into(),
            ..ToolCall::default()
        };
        vec![
            Summary::new("earlier").message(),
            Message::user("u".repeat(400)),
            Message::Assistant(vec![
                Part::Reasoning(Reasoning { text: "r".repeat(200), ..Reasoning::default() }),
                Part::Call(call.clone()),
            ]),
            Message::Tool(ToolResult::ok(&call, "t".repeat(4_000))),
            Message::assistant("done"),
        ]
    }

    #[test]
    fn everything_has_a_line_and_lines_add_up() {
        let report = report(&conversation(), None);
        assert_eq!(report.lines.iter().map(|line| line.bytes).sum::<u64>(), report.bytes);
        let bytes =
            |filler: &Filler| report.lines.iter().find(|line| line.filler == *filler).map(|line| line.bytes);
        assert_eq!(bytes(&Filler::User), Some(400));
        assert_eq!(bytes(&Filler::Reasoning), Some(200));
        assert_eq!(bytes(&Filler::ToolResults("terminal".into())), Some(4_000));
        assert!(bytes(&Filler::Summary).is_some() && bytes(&Filler::System("guidance".into())).is_some());
        let tools: Vec<&Filler> =
            report.lines.iter().map(|line| &line.filler).filter(|filler| section(filler) == 1).collect();
        assert_eq!(tools, [&Filler::Tool("terminal".into()), &Filler::Tool("ls".into())]);
        assert!(report.percent().is_some_and(|percent| percent > 10));
    }

    #[test]
    fn a_cache_makes_the_next_call_cheaper() {
        let cold = report(&conversation(), None).next;
        assert_eq!((cold.cached, cold.micro_dollars), (0, cold.micro_dollars_uncached));
        let usage = Usage { input: 10, cache_read: 1_000, ..Usage::default() };
        let warm = report(&conversation(), Some(usage)).next;
        assert_eq!((warm.cached, warm.fresh), (1_000, cold.fresh - 1_000));
        assert!(warm.micro_dollars < cold.micro_dollars);
    }

    #[test]
    fn a_stored_prompt_is_one_line() {
        let report = ContextReport::new(&Inputs {
            system: "stored",
            system_parts: &[],
            tools: &[],
            messages: &[],
            estimator: Estimator::default(),
            window: None,
            last_usage: None,
            price: None,
        });
        assert_eq!((report.lines.len(), report.bytes, report.percent()), (1, 6, None));
        assert_eq!(report.next.micro_dollars, None);
    }
}
