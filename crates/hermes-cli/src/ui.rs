//! Talking to the person at the terminal: answers on stdout, everything else on stderr, exit codes that mean something.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Something went wrong while doing what was asked.
pub const FAILED: u8 = 1;
/// What was asked makes no sense.
pub const WRONG_USAGE: u8 = 2;

/// Writes an answer to stdout. A reader that went away (`| head`) ends the program quietly.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.is_empty() && !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Writes bytes as they are to stdout, for files somebody else wrote.
pub fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints a value as indented JSON.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    Ok(print(&serde_json::to_string_pretty(value)?)?)
}

/// A note on stderr; losing it must not fail the command.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A warning on stderr.
pub fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// What clap has to say: help and versions are answers, the rest is wrong usage.
pub fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(WRONG_USAGE) } else { ExitCode::SUCCESS }
}

/// Prints a failure and its causes, unless the reader of our output simply left.
pub fn failure(error: &anyhow::Error) -> ExitCode {
    let reader_left = error
        .chain()
        .any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe));
    if reader_left {
        return ExitCode::SUCCESS;
    }
    note(&format!("hermes: {}", describe(error)));
    let wrong_usage = error.chain().any(|e| e.downcast_ref::<WrongUsage>().is_some());
    ExitCode::from(if wrong_usage { WRONG_USAGE } else { FAILED })
}

/// Joins the chain of causes, leaving out those a wrapping message already repeats.
fn describe(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// A request that makes no sense: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUsage(pub String);

/// Asks a yes/no question on the terminal. Without a terminal the answer is no; Enter alone is no.
pub fn confirm(question: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    let answer = ask(&format!("{question} [y/N] "))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks for a line of text on the terminal.
pub fn ask(question: &str) -> io::Result<String> {
    // Not locked while waiting: who ends us on Ctrl-C writes there too.
    io::stderr().write_all(question.as_bytes())?;
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line)
}

/// Asks for a line that is not shown while it is typed. Ctrl-C puts the terminal back before it ends us.
pub fn ask_hidden(question: &str) -> io::Result<String> {
    let stdin = io::stdin();
    let shown = rustix::termios::tcgetattr(&stdin)?;
    let mut signals =
        signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM])?;
    let watching = signals.handle();
    let before = shown.clone();
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &before);
            note("");
            std::process::exit(128 + signal);
        }
    });
    let mut hidden = shown.clone();
    hidden.local_modes.remove(rustix::termios::LocalModes::ECHO);
    rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Flush, &hidden)?;
    let answer = ask(question);
    let restored = rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Flush, &shown);
    watching.close();
    note("");
    restored?;
    answer
}

/// `1 file`, `2 files`, `2 processes`.
pub fn count(number: u64, thing: &str) -> String {
    let ending = match (number, thing.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {thing}{ending}")
}

/// A number of bytes as people read it.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A path as a word for the shell, so that a command we suggest can be pasted.
pub fn shell_word(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Text from files and strangers: nothing in it may steer the terminal.
pub fn harmless(text: &str) -> String {
    let show = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(show).collect()
}

/// Lays out rows in columns as wide as their widest cell, two blanks apart.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |i: usize| {
        let cells = rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count());
        cells.chain([header.get(i).map_or(0, |h| h.chars().count())]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).map(|(c, w)| format!("{c:<w$}")).collect::<Vec<_>>().join("  ");
        format!("{}\n", padded.trim_end())
    };
    let mut text = line(&mut header.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}
