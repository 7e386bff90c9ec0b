//! What a chat does outside its screen: the clipboard, the user's editor, shortcuts, the history file.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::program::{self, Ran};
use crate::chat::editor::HistoryFile;
use crate::chat::message::Message;
use crate::chat::options::ChatOptions;

/// A shortcut may take this long.
const QUICK_DEADLINE: Duration = Duration::from_secs(30);
/// And print this much.
const QUICK_OUTPUT: u64 = 64 << 10;
/// A command of our own may ask a model.
const OWN_DEADLINE: Duration = Duration::from_mins(4);
const CLIPBOARD_DEADLINE: Duration = Duration::from_secs(3);
const LARGEST_IMAGE: u64 = 20 << 20;

/// Programs that put their input into the clipboard.
const COPIERS: &[(&str, &[&str])] = &[
    ("wl-copy", &[]),
    ("xclip", &["-selection", "clipboard"]),
    ("xsel", &["--clipboard", "--input"]),
    ("pbcopy", &[]),
];

/// Programs that print the picture in the clipboard.
const IMAGE_PASTERS: &[(&str, &[&str])] = &[
    ("wl-paste", &["--type", "image/png"]),
    ("xclip", &["-selection", "clipboard", "-t", "image/png", "-o"]),
    ("pngpaste", &["-"]),
];

#[derive(Debug)]
pub(super) struct Outside {
    cwd: PathBuf,
    search: String,
    own_program: Vec<OsString>,
    editor: Option<String>,
    history: Option<HistoryFile>,
    /// Pictures from the clipboard, until the chat ends.
    pictures: Option<tempfile::TempDir>,
    count: usize,
}

impl Outside {
    pub(super) fn new(options: &ChatOptions, history: Option<HistoryFile>) -> Self {
        Self {
            cwd: options.cwd.clone(),
            search: options.program_path.clone(),
            own_program: options.own_program.clone(),
            editor: options.editor.clone(),
            history,
            pictures: None,
            count: 0,
        }
    }

    /// Copies text; without a program for it, through the terminal itself, which works over ssh too.
    pub(super) fn copy(&self, text: &str, out: &mut impl Write) -> io::Result<&'static str> {
        for (name, args) in COPIERS {
            let Some(path) = program::find(name, &self.search) else { continue };
            let ran = program::run(Command::new(path).args(*args), text.as_bytes(), CLIPBOARD_DEADLINE, 0);
            if ran.is_ok_and(|r| r.status.is_some_and(|s| s.success())) {
                return Ok("copied");
            }
        }
        write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
        Ok("copied through the terminal, if it allows that")
    }

    /// Saves the picture in the clipboard to a file.
    pub(super) fn clipboard_image(&mut self) -> Result<PathBuf, String> {
        let mut tried = false;
        for (name, args) in IMAGE_PASTERS {
            let Some(path) = program::find(name, &self.search) else { continue };
            tried = true;
            let ran = program::run(Command::new(path).args(*args), b"", CLIPBOARD_DEADLINE, LARGEST_IMAGE);
            if let Ok(Ran { output, status: Some(status) }) = ran
                && status.success()
                && output.starts_with(b"\x89PNG")
            {
                return self.keep_picture(&output).map_err(|e| format!("cannot keep the picture: {e}"));
            }
        }
        Err(if tried {
            "there is no picture in the clipboard".into()
        } else {
            "no program here can read pictures from the clipboard: install wl-clipboard or xclip, or use /image PATH".into()
        })
    }

    fn keep_picture(&mut self, bytes: &[u8]) -> io::Result<PathBuf> {
        if self.pictures.is_none() {
            self.pictures = Some(tempfile::Builder::new().prefix("hermes-clipboard-").tempdir()?);
        }
        self.count += 1;
        let dir = self.pictures.as_ref().map_or(Path::new("."), tempfile::TempDir::path);
        let path = dir.join(format!("clipboard-{}.png", self.count));
        std::fs::write(&path, bytes)?;
        Ok(path)
    }

    /// Lets the user write in their editor. The terminal is theirs meanwhile.
    pub(super) fn edit(&self, text: &str) -> Result<String, String> {
        let editor = self.editor.clone().filter(|e| !e.trim().is_empty()).or_else(|| {
            let known = ["nano", "vim", "vi"].into_iter();
            known.filter(|n| program::find(n, &self.search).is_some()).map(str::to_owned).next()
        });
        let Some(editor) = editor else {
            return Err("there is no editor: set $EDITOR".into());
        };
        let failed = |e: io::Error| format!("cannot write the text for '{editor}': {e}");
        let mut file = tempfile::Builder::new().prefix("hermes-").suffix(".md").tempfile().map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        // Through a shell, because $EDITOR may carry arguments.
        let script = format!("{editor} \"$1\"");
        let status =
            Command::new("sh").args(["-c", &script, "sh"]).arg(file.path()).current_dir(&self.cwd).status();
        match status {
            Ok(status) if status.success() => std::fs::read_to_string(file.path())
                .map_err(|e| format!("cannot read what '{editor}' wrote: {e}")),
            Ok(status) => Err(format!("'{editor}' ended with {status}; your text is as it was")),
            Err(e) => Err(format!("cannot start '{editor}': {e}")),
        }
    }

    /// Runs a shortcut on a thread of its own.
    pub(super) fn run_quick(&self, name: String, command: String, sender: Sender<Message>) {
        let cwd = self.cwd.clone();
        std::thread::spawn(move || {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]).current_dir(cwd);
            let output = output_of(&mut shell, QUICK_DEADLINE);
            let _ = sender.send(Message::QuickDone { name, output });
        });
    }

    /// Runs this program itself on a thread of its own. The shell only joins what it prints; the words are not its to read.
    pub(super) fn run_own(&self, arguments: Vec<String>, sender: Sender<Message>) {
        let (cwd, own) = (self.cwd.clone(), self.own_program.clone());
        std::thread::spawn(move || {
            let name = arguments.first().cloned().unwrap_or_default();
            let output = if own.is_empty() {
                Err("this chat was not started by the program that has the command".to_owned())
            } else {
                let mut shell = Command::new("sh");
                shell.args(["-c", "exec \"$@\" 2>&1", "sh"]).args(own).args(arguments).current_dir(cwd);
                output_of(&mut shell, OWN_DEADLINE)
            };
            let _ = sender.send(Message::QuickDone { name, output });
        });
    }

    /// Keeps a line in the history file.
    pub(super) fn remember(&mut self, text: &str) -> Result<(), String> {
        let Some(file) = &self.history else { return Ok(()) };
        let time = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S.%6f").to_string();
        let kept = file.append(text, &time).map_err(|e| e.to_string());
        if kept.is_err() {
            // Said once is enough.
            self.history = None;
        }
        kept
    }
}

/// What a command prints, or what went wrong with it.
fn output_of(command: &mut Command, deadline: Duration) -> Result<String, String> {
    match program::run(command, b"", deadline, QUICK_OUTPUT) {
        Err(e) => Err(format!("cannot start it: {e}")),
        Ok(Ran { status: None, .. }) => {
            Err(format!("it took longer than {} seconds and was ended", deadline.as_secs()))
        }
        Ok(Ran { output, status: Some(status) }) => {
            let text = String::from_utf8_lossy(&output).into_owned();
            if status.success() { Ok(text) } else { Err(format!("{status}\n{text}")) }
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= chunk.len() { digit as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_has_its_padding() {
        assert_eq!(
            ["", "f", "fo", "foo", "foob"].map(|t| base64(t.as_bytes())),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }
}
