//! `hermes sessions list`, `search` and `stats`.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ValueEnum;
use hermes_guard::Policy;
use hermes_store::sessions::{
    Archived, Children, Hit, ListFilter, Order, Role, SearchQuery, SessionStore, Sort,
};
use hermes_tools::masked;
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};

use super::filter::FilterArgs;
use super::{open_to_look, text};
use crate::app::App;
use crate::logging;
use crate::ui;

/// List conversations, the one used last first
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// How many
    #[arg(short = 'n', long, default_value_t = 20)]
    limit: usize,
    /// Which comes first
    #[arg(long, value_enum, default_value = "active")]
    sort: By,
    /// Also those of helpers
    #[arg(long)]
    children: bool,
    /// Also those that were put away
    #[arg(long)]
    archived: bool,
    #[command(flatten)]
    which: FilterArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What orders a list.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// Used last
    Active,
    /// Begun last
    Started,
}

impl Default for ListArgs {
    fn default() -> Self {
        let which = FilterArgs::default();
        Self { limit: 20, sort: By::Active, children: false, archived: false, which, json: false }
    }
}

/// Lists.
pub fn list(app: &App, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let filter = ListFilter {
        limit: Some(args.limit),
        order: match args.sort {
            By::Active => Order::LastActive,
            By::Started => Order::Started,
        },
        children: if args.children { Children::Show } else { Children::Hide },
        // Sessions that tools open for themselves are no conversations.
        exclude_sources: if args.which.source.is_none() { vec!["tool".to_owned()] } else { Vec::new() },
        ..args.which.filter(&Zoned::now(), shown(args.archived))?
    };
    let rows = match open_to_look(app)? {
        None => Vec::new(),
        Some(mut store) => store.list(&filter)?,
    };
    if args.json {
        let mut value: Value = rows.iter().map(text::json).collect();
        masked::value(&mut value, &logging::redactor(app), Policy::Log);
        ui::print_json(&value)?;
    } else if rows.is_empty() {
        ui::print(if args.which.is_wide() && args.which.source.is_none() {
            "No conversations yet: `hermes` starts one."
        } else {
            "No conversation fits."
        })?;
    } else {
        let table = text::table(&rows, Timestamp::now());
        ui::print(&logging::redactor(app).redact(&table, Policy::Log))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether what was put away is shown too.
pub fn shown(archived: bool) -> Archived {
    if archived { Archived::Show } else { Archived::Hide }
}

/// Find what was said, in all conversations
#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// Words, "phrases", beginnings*, joined by AND, OR, NOT
    #[arg(required = true)]
    words: Vec<String>,
    /// How many places
    #[arg(short = 'n', long, default_value_t = 10)]
    limit: usize,
    /// Which come first
    #[arg(long, value_enum, default_value = "fit")]
    sort: SearchSort,
    /// Only what these said: user, assistant, tool
    #[arg(long, value_delimiter = ',', default_value = "user,assistant")]
    role: Vec<String>,
    /// Only through this door
    #[arg(long)]
    source: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What orders places.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SearchSort {
    /// Those that fit best
    Fit,
    /// The newest
    Newest,
    /// The oldest
    Oldest,
}

/// Searches. Exit code 1 if nothing was found.
pub fn search(app: &App, args: SearchArgs) -> anyhow::Result<ExitCode> {
    let query = SearchQuery {
        text: args.words.join(" "),
        limit: Some(args.limit),
        sort: match args.sort {
            SearchSort::Fit => Sort::Fit,
            SearchSort::Newest => Sort::Newest,
            SearchSort::Oldest => Sort::Oldest,
        },
        roles: args.role.iter().map(|role| Role::from(role.as_str())).collect(),
        sources: args.source.into_iter().collect(),
        exclude_sources: vec!["tool".to_owned()],
        ..SearchQuery::default()
    };
    let hits = match open_to_look(app)? {
        None => Vec::new(),
        Some(mut store) => store.search(&query)?,
    };
    if args.json {
        let mut value: Value = hits.iter().map(hit_json).collect();
        masked::value(&mut value, &logging::redactor(app), Policy::Log);
        ui::print_json(&value)?;
    } else if hits.is_empty() {
        ui::note("nothing was found");
    } else {
        let now = Timestamp::now();
        let places = hits.iter().map(|hit| place(hit, now)).collect::<Vec<_>>().join("\n");
        ui::print(&logging::redactor(app).redact(&places, Policy::Log))?;
    }
    Ok(if hits.is_empty() { ExitCode::from(ui::FAILED) } else { ExitCode::SUCCESS })
}

fn place(hit: &Hit, now: Timestamp) -> String {
    let title = hit.title.as_deref().map(|title| format!(" · {}", text::line(title, 50))).unwrap_or_default();
    format!(
        "{}{title} · {} · {}\n  {}\n",
        ui::harmless(hit.session.as_str()),
        text::line(hit.role.as_str(), 12),
        text::ago(hit.timestamp, now),
        text::line(&hit.snippet, 300)
    )
}

fn hit_json(hit: &Hit) -> Value {
    json!({
        "session": hit.session.as_str(),
        "message": hit.message.0,
        "title": hit.title,
        "source": hit.source,
        "model": hit.model,
        "role": hit.role.as_str(),
        "timestamp": hit.timestamp.to_string(),
        "snippet": hit.snippet,
        "context": hit.context.iter().map(|line| json!({"role": line.role.as_str(), "text": line.text}))
            .collect::<Vec<_>>(),
    })
}

/// Show how much is kept, and how much room it takes
#[derive(Debug, clap::Args)]
pub struct StatsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Counts.
pub fn stats(app: &App, args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let path = app.home.path("state.db");
    let stats = open_to_look(app)?.map(|mut store: SessionStore| store.stats()).transpose()?;
    if args.json {
        ui::print_json(&json!({"path": path, "stats": stats}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(stats) = stats else {
        ui::print("No conversations yet: `hermes` starts one.")?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut text = String::new();
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<12}{value}");
    };
    line("sessions", format!("{} ({} put away)", stats.sessions, stats.archived));
    line("messages", stats.messages.to_string());
    line("summarised", stats.compacted.to_string());
    line("taken back", stats.taken_back.to_string());
    line("size", format!("{} ({} free)", ui::size(stats.bytes), ui::size(stats.free_bytes)));
    line("file", path.display().to_string());
    let cells = |s: &hermes_store::sessions::SourceCount| {
        vec![text::line(&s.source, 20), s.sessions.to_string(), s.messages.to_string()]
    };
    let rows: Vec<Vec<String>> = stats.sources.iter().map(cells).collect();
    if !rows.is_empty() {
        let _ = write!(text, "\n{}", ui::table(&["SOURCE", "SESSIONS", "MESSAGES"], &rows));
    }
    ui::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
