//! Pasted text: long ones are shown as a placeholder and sent whole; paths of pictures become attachments.

use std::path::{Path, PathBuf};

use super::completer::{Places, resolve};

/// From so many lines on a paste is shown as a placeholder.
const MANY_LINES: usize = 5;
/// From so many characters on too.
const MANY_CHARS: usize = 2000;

/// What a paste becomes.
#[derive(Debug, PartialEq, Eq)]
pub enum Pasted {
    /// Text in the input.
    Text(String),
    /// A placeholder in the input.
    Placeholder(String),
    /// Pictures.
    Images(Vec<PathBuf>),
}

/// The long pastes of the message being written.
#[derive(Debug, Clone, Default)]
pub struct Pastes {
    kept: Vec<(String, String)>,
    count: usize,
}

impl Pastes {
    /// Takes a paste in.
    pub fn add(&mut self, text: &str, places: &Places) -> Pasted {
        if let Some(images) = image_paths(text, places) {
            return Pasted::Images(images);
        }
        let lines = text.lines().count();
        if lines < MANY_LINES && text.chars().count() < MANY_CHARS {
            return Pasted::Text(text.to_owned());
        }
        self.count += 1;
        let size = if lines >= MANY_LINES {
            format!("{lines} lines")
        } else {
            format!("{} characters", text.chars().count())
        };
        let placeholder = format!("[pasted #{}: {size}]", self.count);
        self.kept.push((placeholder.clone(), text.to_owned()));
        Pasted::Placeholder(placeholder)
    }

    /// The text with every placeholder replaced by what it stands for.
    pub fn expand(&self, text: &str) -> String {
        // From the front, so that pasted text that looks like a placeholder stays as it is.
        let mut out = String::new();
        let mut rest = text;
        while let Some((at, placeholder, full)) = self.first_in(rest) {
            out.push_str(&rest[..at]);
            out.push_str(full);
            rest = &rest[at + placeholder.len()..];
        }
        out.push_str(rest);
        out
    }

    fn first_in(&self, text: &str) -> Option<(usize, &str, &str)> {
        let found = self
            .kept
            .iter()
            .filter_map(|(p, full)| Some((text.find(p.as_str())?, p.as_str(), full.as_str())));
        found.min_by_key(|(at, ..)| *at)
    }

    /// The message was sent; numbers go on.
    pub fn forget(&mut self) {
        self.kept.clear();
    }
}

/// Kinds of pictures models look at.
const IMAGE_ENDINGS: [&str; 6] = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];

/// Whether a path has the name of a picture.
pub fn is_image_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    IMAGE_ENDINGS.contains(&ending.as_str())
}

/// The pictures, when the text is nothing but paths of existing ones, as terminals paste dropped files.
fn image_paths(text: &str, places: &Places) -> Option<Vec<PathBuf>> {
    let text = text.trim();
    if text.is_empty() || text.len() > 4096 || text.contains('\n') {
        return None;
    }
    let is_image = |path: &PathBuf| is_image_name(path) && path.is_file();
    // A name with blanks may come without quotes.
    let whole = resolve(text, places);
    if is_image(&whole) {
        return Some(vec![whole]);
    }
    let paths: Vec<PathBuf> = shell_words(text)?.iter().map(|w| local_path(w, places)).collect();
    (!paths.is_empty() && paths.iter().all(is_image)).then_some(paths)
}

fn local_path(word: &str, places: &Places) -> PathBuf {
    match word.strip_prefix("file://") {
        Some(url) => PathBuf::from(percent_decoded(url)),
        None => resolve(word, places),
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(byte) = code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Words as a shell parts them: quotes and backslashes; nothing when a quote stays open.
fn shell_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => word.get_or_insert_default().push(chars.next()?),
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn nowhere() -> Places {
        Places { cwd: "/nonexistent".into(), user_home: "/nonexistent".into() }
    }

    #[test]
    fn long_pastes_are_placeholders_that_expand() {
        let mut pastes = Pastes::default();
        assert_eq!(pastes.add("short\ntext", &nowhere()), Pasted::Text("short\ntext".into()));
        let long = "line\n".repeat(9);
        assert_eq!(pastes.add(&long, &nowhere()), Pasted::Placeholder("[pasted #1: 9 lines]".into()));
        let wide = "[pasted #1: 9 lines]".repeat(150);
        assert_eq!(pastes.add(&wide, &nowhere()), Pasted::Placeholder("[pasted #2: 3000 characters]".into()));
        let sent = pastes.expand("a [pasted #2: 3000 characters] b [pasted #1: 9 lines]");
        assert_eq!(sent, format!("a {wide} b {long}"));
    }

    #[test]
    fn dropped_pictures_are_attached() {
        let dir = tempfile::tempdir().unwrap();
        let (plain, blank) = (dir.path().join("a.png"), dir.path().join("my cat.JPG"));
        std::fs::write(&plain, "x").unwrap();
        std::fs::write(&blank, "x").unwrap();
        let places = Places { cwd: dir.path().to_owned(), user_home: dir.path().to_owned() };
        let mut pastes = Pastes::default();
        let root = dir.path().display();
        for (text, expected) in [
            (format!("{root}/a.png"), vec![plain.clone()]),
            (format!("{root}/my\\ cat.JPG "), vec![blank.clone()]),
            (format!("'{root}/my cat.JPG' a.png"), vec![blank.clone(), plain.clone()]),
            (format!("file://{root}/my%20cat.JPG"), vec![blank.clone()]),
            ("my cat.JPG".into(), vec![blank.clone()]),
        ] {
            assert_eq!(pastes.add(&text, &places), Pasted::Images(expected), "{text}");
        }
        for text in ["missing.png", "see a.png", "it's a.png", "a.txt"] {
            assert_eq!(pastes.add(text, &places), Pasted::Text(text.into()));
        }
    }
}
