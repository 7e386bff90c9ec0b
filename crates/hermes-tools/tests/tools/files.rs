//! The file tools on real files.

mod patching;
mod reading;
mod searching;
mod together;
mod writing;

use std::path::{Path, PathBuf};

use hermes_tools::file::{Patch, ReadFile, SearchFiles, WriteFile};
use hermes_tools::{Terminal, Tool, Workplace};
use serde_json::{Value, json};

use crate::fixture::{Fixture, Talk};

/// All file tools of one place, and a shell beside them.
pub struct Tools {
    pub read: Talk,
    pub write: Talk,
    pub patch: Talk,
    pub search: Talk,
    pub shell: Talk,
    /// A directory to work in.
    pub dir: PathBuf,
}

impl Tools {
    pub async fn new(fixture: &Fixture) -> Self {
        Self::with(fixture.place(), "conversation").await
    }

    pub async fn with(place: Workplace, session: &str) -> Self {
        let talk = |tool: Box<dyn Tool>| Talk {
            tool,
            session: session.into(),
            ..Talk::new(Terminal::new(place.clone()))
        };
        let mut tools = Self {
            read: talk(Box::new(ReadFile::new(place.clone()))),
            write: talk(Box::new(WriteFile::new(place.clone()))),
            patch: talk(Box::new(Patch::new(place.clone()))),
            search: talk(Box::new(SearchFiles::new(place.clone()))),
            shell: talk(Box::new(Terminal::new(place.clone()))),
            dir: PathBuf::new(),
        };
        let made = tools.sh("mkdir -p \"$HOME/w\" && cd \"$HOME/w\" && umask 022 && pwd -P").await;
        tools.dir = made.into();
        tools
    }

    /// Runs a command in the conversation's directory; what it printed.
    pub async fn sh(&self, command: &str) -> String {
        let result = self.shell.call(json!({ "command": command })).await;
        assert_eq!(result["exit_code"], 0, "{command}: {result}");
        result["output"].as_str().unwrap().to_owned()
    }

    /// A whole path.
    pub fn at(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }

    pub async fn put(&self, path: &str, content: &str) -> Value {
        self.write.call(json!({ "path": path, "content": content })).await
    }

    pub async fn get(&self, path: &str) -> Value {
        self.read.call(json!({ "path": path })).await
    }

    pub async fn replace(&self, path: &str, old: &str, new: &str) -> Value {
        self.patch
            .call(json!({ "mode": "replace", "path": path, "old_string": old, "new_string": new }))
            .await
    }
}

#[track_caller]
pub fn error(value: &Value) -> &str {
    value["error"].as_str().unwrap_or_else(|| panic!("no error: {value}"))
}

#[track_caller]
pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value}"))
}

/// Names in a directory of this machine.
pub fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
