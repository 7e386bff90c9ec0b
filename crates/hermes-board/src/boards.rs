//! The boards there are: described, listed, made, switched, put away.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::card::Seconds;
use crate::error::BoardError;
use crate::place::Root;
use crate::slug::Slug;

/// What a board says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Its name on disk.
    pub slug: Slug,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// A sign for it.
    pub icon: String,
    /// A colour for it.
    pub color: String,
    /// Where its cards are worked on if they do not say.
    pub default_workdir: Option<String>,
    /// When it was made.
    pub created_at: Option<Seconds>,
    /// Whether it was put away without being moved.
    pub archived: bool,
    /// What else stands in its file.
    rest: Map<String, Value>,
}

impl Description {
    /// As it is kept in its file.
    pub fn to_json(&self) -> Value {
        let mut map = self.rest.clone();
        map.insert("slug".into(), json!(self.slug.as_str()));
        map.insert("name".into(), json!(self.name));
        map.insert("description".into(), json!(self.description));
        map.insert("icon".into(), json!(self.icon));
        map.insert("color".into(), json!(self.color));
        map.insert("default_workdir".into(), json!(self.default_workdir));
        map.insert("created_at".into(), json!(self.created_at));
        map.insert("archived".into(), json!(self.archived));
        map.remove("db_path");
        Value::Object(map)
    }
}

/// What is to be changed of a description. What is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// A name for people.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// A sign.
    pub icon: Option<String>,
    /// A colour.
    pub color: Option<String>,
    /// A directory; an empty one takes it away.
    pub default_workdir: Option<String>,
}

/// Reads what a board says of itself; what is missing or broken is made up.
pub fn describe(root: &Root, slug: &Slug) -> Description {
    let text = std::fs::read_to_string(root.description(slug)).unwrap_or_default();
    let map = match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let word = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    Description {
        slug: slug.clone(),
        name: word("name").filter(|name| !name.is_empty()).unwrap_or_else(|| slug.as_title()),
        description: word("description").unwrap_or_default(),
        icon: word("icon").unwrap_or_default(),
        color: word("color").unwrap_or_default(),
        default_workdir: word("default_workdir").filter(|dir| !dir.is_empty()),
        created_at: map.get("created_at").and_then(Value::as_i64),
        archived: map.get("archived").and_then(Value::as_bool).unwrap_or(false),
        rest: map,
    }
}

/// Whether there is such a board.
pub fn exists(root: &Root, slug: &Slug) -> bool {
    slug.is_default() || root.description(slug).exists() || root.own_database(slug).exists()
}

/// All boards, the default one first.
pub fn list(root: &Root, archived: crate::query::Archived) -> Vec<Description> {
    let mut slugs: Vec<Slug> = std::fs::read_dir(root.boards_dir())
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let slug = Slug::parse(&name).ok()?;
            (slug.as_str() == name && !slug.is_default() && exists(root, &slug)).then_some(slug)
        })
        .collect();
    slugs.sort();
    slugs.insert(0, Slug::default_board());
    let all = slugs.iter().map(|slug| describe(root, slug));
    all.filter(|board| archived == crate::query::Archived::Shown || !board.archived).collect()
}

/// The board in use: named, by the environment, by the pointer, or the default one. One that was named must exist: what
/// was meant for it must not land on another.
pub fn choose(root: &Root, named: Option<&str>) -> Result<Slug, BoardError> {
    if let Some(name) = named {
        let slug = Slug::parse(name)?;
        return if exists(root, &slug) { Ok(slug) } else { Err(BoardError::NoBoard(slug)) };
    }
    if let Some(name) = &root.overrides().board {
        let found = Slug::parse(name).ok().filter(|slug| exists(root, slug));
        return found.ok_or_else(|| BoardError::NoBoardInEnv(name.clone()));
    }
    Ok(current(root))
}

/// The board that is used when none is named. What does not exist is passed over.
pub fn current(root: &Root) -> Slug {
    let pointer = || std::fs::read_to_string(root.current_file()).ok();
    let usable = |name: String| Slug::parse(&name).ok().filter(|slug| exists(root, slug));
    let by_env = root.overrides().board.clone().and_then(usable);
    by_env.or_else(|| pointer().and_then(usable)).unwrap_or_else(Slug::default_board)
}

/// Makes a board.
pub fn create(root: &Root, slug: &Slug, change: &Change, now: Seconds) -> Result<Description, BoardError> {
    if !slug.is_default() && exists(root, slug) {
        return Err(BoardError::BoardExists(slug.clone()));
    }
    let description = write(root, slug, change, now)?;
    crate::board::Board::open(root, slug)?;
    Ok(description)
}

/// Changes what a board says of itself.
pub fn change(root: &Root, slug: &Slug, change: &Change, now: Seconds) -> Result<Description, BoardError> {
    if !exists(root, slug) {
        return Err(BoardError::NoBoard(slug.clone()));
    }
    write(root, slug, change, now)
}

fn write(root: &Root, slug: &Slug, change: &Change, now: Seconds) -> Result<Description, BoardError> {
    let path = root.description(slug);
    let before = describe(root, slug);
    let or = |new: &Option<String>, old: String| new.clone().unwrap_or(old);
    let after = Description {
        name: or(&change.name, before.name),
        description: or(&change.description, before.description),
        icon: or(&change.icon, before.icon),
        color: or(&change.color, before.color),
        default_workdir: change
            .default_workdir
            .clone()
            .or(before.default_workdir)
            .filter(|dir| !dir.is_empty()),
        created_at: Some(before.created_at.unwrap_or(now)),
        ..before
    };
    let mut text = serde_json::to_string_pretty(&after.to_json()).unwrap_or_default();
    text.push('\n');
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(BoardError::file("make", dir))?;
    }
    hermes_home::files::write_atomic(&path, text.as_bytes(), hermes_home::files::Access::Keep)?;
    Ok(describe(root, slug))
}

/// Makes a board the one that is used when none is named.
pub fn switch(root: &Root, slug: &Slug) -> Result<(), BoardError> {
    if !exists(root, slug) {
        return Err(BoardError::NoBoard(slug.clone()));
    }
    let path = root.current_file();
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(BoardError::file("make", dir))?;
    }
    let text = format!("{slug}\n");
    Ok(hermes_home::files::write_atomic(&path, text.as_bytes(), hermes_home::files::Access::Keep)?)
}

/// What becomes of a board that is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is kept elsewhere.
    Archive,
    /// It is gone.
    Delete,
}

/// Removes a board; where it went, if anywhere.
pub fn remove(root: &Root, slug: &Slug, how: Removal, now: Seconds) -> Result<Option<PathBuf>, BoardError> {
    if slug.is_default() {
        return Err(BoardError::DefaultStays);
    }
    if !exists(root, slug) {
        return Err(BoardError::NoBoard(slug.clone()));
    }
    let points_here =
        std::fs::read_to_string(root.current_file()).is_ok_and(|name| name.trim() == slug.as_str());
    let dir = root.board_dir(slug);
    let gone_to = match how {
        Removal::Delete => {
            std::fs::remove_dir_all(&dir).map_err(BoardError::file("remove", &dir))?;
            None
        }
        Removal::Archive => Some(put_away(root, slug, &dir, now)?),
    };
    if points_here {
        let file = root.current_file();
        std::fs::remove_file(&file).map_err(BoardError::file("remove", &file))?;
    }
    Ok(gone_to)
}

fn put_away(root: &Root, slug: &Slug, dir: &Path, now: Seconds) -> Result<PathBuf, BoardError> {
    let archive = root.archive_dir();
    std::fs::create_dir_all(&archive).map_err(BoardError::file("make", &archive))?;
    let name = format!("{slug}-{now}");
    let mut to = archive.join(&name);
    let mut n = 1;
    while to.exists() {
        to = archive.join(format!("{name}-{n}"));
        n += 1;
    }
    std::fs::rename(dir, &to).map_err(BoardError::file("move away", dir))?;
    Ok(to)
}
