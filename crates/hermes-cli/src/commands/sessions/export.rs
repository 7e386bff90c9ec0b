//! `hermes sessions export`: conversations in a file, one line of JSON each or as a document.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::ValueEnum;
use hermes_guard::{Policy, Redactor};
use hermes_store::sessions::{Archived, Children, ListFilter, SessionError, SessionId, SessionStore, View};
use hermes_tools::masked;
use jiff::Zoned;
use serde_json::Value;

use super::filter::FilterArgs;
use super::open_to_look;
use crate::app::App;
use crate::logging;
use crate::ui;

/// Write conversations to a file
///
/// As JSON each conversation is one line with every column of the store under its name, as the Python program
/// writes it. Keys and passwords are masked, unless --secrets is given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file; `-` is stdout
    #[arg(default_value = "-")]
    output: PathBuf,
    /// Only this one: its id, the beginning of its id, or its title
    #[arg(long, visible_alias = "session", value_name = "SESSION")]
    session_id: Option<String>,
    /// How to write it
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// Also what was summarised or taken back
    #[arg(long)]
    all: bool,
    /// Write keys and passwords as they are, for a copy that can be restored
    #[arg(long)]
    secrets: bool,
    /// Replace the file if there is one
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    which: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line of JSON per conversation
    Jsonl,
    /// A document to read
    Md,
}

/// Exports.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let Some(mut store) = open_to_look(app)? else {
        if let Some(name) = &args.session_id {
            return Err(SessionError::NoSession { name: name.clone() }.into());
        }
        ui::note("there are no conversations yet: nothing was written");
        return Ok(ExitCode::SUCCESS);
    };
    let ids = chosen(&mut store, args)?;
    let redactor = (!args.secrets).then(|| logging::redactor(app));
    let how = How {
        view: if args.all { View::All } else { View::Active },
        format: args.format,
        redactor: redactor.as_ref(),
    };
    if args.output.as_os_str() == "-" {
        write_all(&mut store, &ids, &how, &mut BufWriter::new(io::stdout().lock()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = args.output.display();
    let mut options = OpenOptions::new();
    // Only its owner may read it: there is no telling what was talked about.
    options.write(true).mode(0o600);
    if args.force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let file = options.open(&args.output).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            anyhow::anyhow!("{shown} exists already: choose another name, or give --force")
        }
        _ => anyhow::Error::new(error).context(format!("could not write {shown}")),
    })?;
    write_all(&mut store, &ids, &how, &mut BufWriter::new(file))
        .with_context(|| format!("could not write {shown}"))?;
    ui::note(&format!("wrote {} to {shown}", ui::count(ids.len() as u64, "conversation")));
    Ok(ExitCode::SUCCESS)
}

fn chosen(store: &mut SessionStore, args: &Args) -> anyhow::Result<Vec<SessionId>> {
    if let Some(name) = &args.session_id {
        return Ok(vec![store.resolve(name)?]);
    }
    let filter = ListFilter { children: Children::Show, ..args.which.filter(&Zoned::now(), Archived::Show)? };
    Ok(store.list(&filter)?.into_iter().map(|row| row.id).collect())
}

/// How conversations are written.
struct How<'a> {
    view: View,
    format: Format,
    /// Masks secrets; nothing leaves them as they are.
    redactor: Option<&'a Redactor>,
}

fn write_all(
    store: &mut SessionStore,
    ids: &[SessionId],
    how: &How<'_>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for id in ids {
        let mut session = store.export(id, how.view)?;
        if let Some(redactor) = how.redactor {
            masked::value(&mut session, redactor, Policy::Log);
        }
        match how.format {
            Format::Jsonl => writeln!(out, "{session}")?,
            Format::Md => out.write_all(document(&session).as_bytes())?,
        }
    }
    Ok(out.flush()?)
}

/// A conversation as a document.
fn document(session: &Value) -> String {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let id = text(session, "id");
    let title = session["title"].as_str().unwrap_or(&id);
    let mut page = format!("# {title}\n\nSession `{id}`, model `{}`\n\n", text(session, "model"));
    for message in session["messages"].as_array().into_iter().flatten() {
        let role = text(message, "role");
        let tool = message["tool_name"].as_str().map(|name| format!(" ({name})")).unwrap_or_default();
        let _ = writeln!(page, "## {role}{tool}\n");
        let words = match &message["content"] {
            Value::String(words) => words.clone(),
            Value::Array(parts) => {
                parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n")
            }
            _ => String::new(),
        };
        match role.as_str() {
            // Results are shown as they are, between fences that nothing in them can close.
            "tool" => {
                let fence = fence(&words);
                let _ = writeln!(page, "{fence}\n{}\n{fence}\n", words.trim_end());
            }
            _ if !words.trim().is_empty() => {
                let _ = writeln!(page, "{}\n", words.trim_end());
            }
            _ => {}
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let fence = fence(arguments);
            let name = call["function"]["name"].as_str().unwrap_or("tool");
            let _ = writeln!(page, "Calls `{name}`:\n\n{fence}json\n{arguments}\n{fence}\n");
        }
    }
    page
}

fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
