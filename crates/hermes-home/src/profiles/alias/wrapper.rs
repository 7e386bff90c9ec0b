//! The text of an alias: a small shell script that runs hermes with one profile.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What an alias runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapper {
    /// The program, as one word of shell.
    pub program: String,
    /// The profile's name.
    pub profile: String,
    /// The root the profile belongs to.
    pub root: WrapperRoot,
}

/// Which root an alias names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrapperRoot {
    /// None: whatever `HERMES_HOME` says when it runs. The reference writes these.
    Unsaid,
    /// `~/.hermes`.
    Standard,
    /// Another directory.
    At(PathBuf),
}

const STANDARD: &str = "\"$HOME/.hermes\"";

impl Wrapper {
    /// The script.
    pub fn render(&self) -> String {
        let home = match &self.root {
            WrapperRoot::Unsaid => String::new(),
            WrapperRoot::Standard => format!("export HERMES_HOME={STANDARD}\n"),
            WrapperRoot::At(root) => format!("export HERMES_HOME={}\n", quote(&root.to_string_lossy())),
        };
        let Self { program, profile, .. } = self;
        format!("#!/bin/sh\n# An alias made by `hermes profile`.\n{home}exec {program} -p {profile} \"$@\"\n")
    }

    /// Reads a script of ours or of the reference; `None` for anything else, also for one that someone added to.
    pub fn parse(text: &str) -> Option<Self> {
        let body = text.strip_prefix("#!/bin/sh\n")?;
        let mut lines = body.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        let mut line = lines.next()?;
        let mut root = WrapperRoot::Unsaid;
        if let Some(home) = line.strip_prefix("export HERMES_HOME=") {
            root =
                if home == STANDARD { WrapperRoot::Standard } else { WrapperRoot::At(unquote(home)?.into()) };
            line = lines.next()?;
        }
        let (program, profile) = line.strip_prefix("exec ")?.strip_suffix(" \"$@\"")?.rsplit_once(" -p ")?;
        let unquoted = unquote(program)?;
        let is_hermes = Path::new(&unquoted).file_name().is_some_and(|n| n.as_bytes().starts_with(b"hermes"));
        if !is_hermes || lines.next().is_some() {
            return None;
        }
        Some(Self { program: program.to_owned(), profile: profile.to_owned(), root })
    }
}

/// How an alias calls this program: by name when the search path leads to it, by its full path otherwise.
pub fn program_word(exe: &Path, search_path: &[PathBuf]) -> String {
    let first = search_path.iter().map(|dir| dir.join("hermes")).find(|p| p.is_file());
    let found = first.and_then(|p| p.canonicalize().ok());
    if found.is_some() && found == exe.canonicalize().ok() {
        return "hermes".to_owned();
    }
    quote(&exe.to_string_lossy())
}

/// Writes text as one word of shell.
fn quote(text: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"_./@%+=:,-".contains(b);
    if !text.is_empty() && OsStr::new(text).as_bytes().iter().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Reads one word of shell that has no expansions in it.
fn unquote(word: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => text.push_str(&until(&mut chars, '\'')?),
            '"' => text.push_str(&until(&mut chars, '"').filter(|t| !t.contains(['$', '`', '\\']))?),
            '\\' => text.push(chars.next()?),
            c if c.is_ascii_alphanumeric() || "_./@%+=:,-".contains(c) => text.push(c),
            _ => return None,
        }
    }
    Some(text).filter(|t| !t.is_empty())
}

fn until(chars: &mut std::str::Chars<'_>, end: char) -> Option<String> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            c if c == end => return Some(text),
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_the_reference_writes_is_read() {
        let plain = Wrapper::parse("#!/bin/sh\nexec hermes -p coder \"$@\"\n").unwrap();
        assert_eq!((plain.profile.as_str(), &plain.root), ("coder", &WrapperRoot::Unsaid));
        let quoted = "#!/bin/sh\nexec '/opt/my '\"'\"'apps/hermes' -p coder \"$@\"\n";
        assert_eq!(Wrapper::parse(quoted).unwrap().profile, "coder");
    }

    #[test]
    fn anything_else_is_not_ours() {
        for text in [
            "",
            "#!/bin/bash\nexec hermes -p coder \"$@\"\n",
            "#!/bin/sh\necho hi\nexec hermes -p coder \"$@\"\n",
            "#!/bin/sh\nexec hermes -p coder \"$@\"\nrm -rf /\n",
            "#!/bin/sh\nexec $(evil)/hermes -p coder \"$@\"\n",
            "#!/bin/sh\nexec vim -p coder \"$@\"\n",
            "#!/bin/sh\nhermes -p coder chat\n",
        ] {
            assert_eq!(Wrapper::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_reference_recognises_ours() {
        let wrapper =
            Wrapper { program: "hermes".into(), profile: "coder".into(), root: WrapperRoot::Standard };
        let text = wrapper.render();
        let after = text.split("hermes -p ").nth(1).unwrap();
        assert_eq!(after.split_whitespace().next(), Some("coder"));
    }

    proptest! {
        #[test]
        fn a_written_wrapper_is_read_back(program in "/[ -~]{0,20}/hermes", root in "/[ -~]{1,20}", profile in "[a-z0-9][a-z0-9_-]{0,10}") {
            let wrapper = Wrapper { program: quote(&program), profile, root: WrapperRoot::At(root.into()) };
            prop_assert_eq!(Wrapper::parse(&wrapper.render()), Some(wrapper));
        }
    }
}
