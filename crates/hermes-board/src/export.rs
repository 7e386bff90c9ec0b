//! A board as one file, and a board from one. What comes in was written by a stranger: it is checked before anything of
//! it gets a name here, it comes in whole or not at all, and nothing of it is started by itself.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use hermes_store::rusqlite::{self, Connection, OpenFlags, params};
use hermes_store::{Database, OpenMode, Options, Synchronous};
use serde_json::{Map, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::board::{Board, Trouble};
use crate::boards;
use crate::card::Seconds;
use crate::error::BoardError;
use crate::place::Root;
use crate::schema::BoardSchema;
use crate::slug::Slug;
use crate::state::{Mode, State};

const MANIFEST: &str = "hermes-board.json";
const DESCRIPTION: &str = "board.json";
const DATABASE: &str = "kanban.db";
const FORMAT: i64 = 1;

/// Most entries of a file, and most bytes of what is in it.
const MOST_ENTRIES: usize = 100_000;
const MOST_BYTES: u64 = 8 << 30;
const MOST_SMALL: u64 = 1 << 20;

/// What went out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Cards.
    pub cards: i64,
    /// Files of theirs.
    pub attachments: usize,
    /// How large the file is.
    pub bytes: u64,
}

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The board.
    pub slug: Slug,
    /// Cards.
    pub cards: i64,
    /// Files of theirs.
    pub attachments: usize,
    /// Cards that somebody was working on elsewhere: they are ready again.
    pub released: usize,
    /// Cards that carry commands which would be run when they are finished.
    pub commands: i64,
    /// Cards that name directories of the machine they come from.
    pub directories: i64,
}

impl Board {
    /// Writes the board into one file. Who is told about its cards stays here.
    pub fn export(&mut self, to: &Path, now: Seconds) -> Result<Exported, BoardError> {
        if to.exists() {
            return Err(BoardError::Input(format!(
                "there is \"{}\" already: choose another name",
                to.display()
            )));
        }
        let dir = to.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let copy = self.db.snapshot(dir)?;
        let cards = without_subscriptions(copy.path())
            .map_err(|error| hermes_store::Error::explain(copy.path(), "copy", error))?;
        let partial = Scratch::file(dir, to)?;
        let attachments = self.write_archive(&partial.path, copy.path(), now)?;
        let bytes = std::fs::metadata(&partial.path).map_err(BoardError::file("read", &partial.path))?.len();
        // A name that somebody took meanwhile is not taken from them.
        std::fs::hard_link(&partial.path, to).map_err(BoardError::file("write", to))?;
        Ok(Exported { cards, attachments, bytes })
    }

    fn write_archive(&self, path: &Path, database: &Path, now: Seconds) -> Result<usize, BoardError> {
        let file = File::options().write(true).truncate(true).open(path);
        let mut zip = ZipWriter::new(file.map_err(BoardError::file("write", path))?);
        let wrong = |error: zip::result::ZipError| BoardError::File {
            doing: "write",
            path: path.to_owned(),
            source: io::Error::other(error),
        };
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(0o600)
            .large_file(true);
        let description = boards::describe(&self.root, &self.slug).to_json();
        let manifest = json!({ "format": FORMAT, "slug": self.slug.as_str(), "exported_at": now });
        for (name, value) in [(MANIFEST, manifest), (DESCRIPTION, description)] {
            zip.start_file(name, options).map_err(wrong)?;
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            zip.write_all(text.as_bytes()).map_err(BoardError::file("write", path))?;
        }
        let files = attachments(&self.root.attachments(&self.slug));
        let database = std::iter::once((DATABASE.to_owned(), database.to_owned()));
        for (name, from) in database.chain(files.iter().cloned()) {
            zip.start_file(name, options).map_err(wrong)?;
            let mut file = File::open(&from).map_err(BoardError::file("read", &from))?;
            io::copy(&mut file, &mut zip).map_err(BoardError::file("write", path))?;
        }
        let file = zip.finish().map_err(wrong)?;
        file.sync_all().map_err(BoardError::file("write", path))?;
        Ok(files.len())
    }
}

/// The copy without those who are told. What was deleted does not stay in it.
fn without_subscriptions(copy: &Path) -> rusqlite::Result<i64> {
    let db = Connection::open(copy)?;
    db.execute_batch("DELETE FROM kanban_notify_subs; VACUUM;")?;
    db.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0))
}

/// Files of cards, with their names in the archive. Links are left out, wherever they lead.
fn attachments(root: &Path) -> Vec<(String, PathBuf)> {
    let entries = |dir: &Path| -> Vec<(String, PathBuf, bool)> {
        let mut found: Vec<_> = std::fs::read_dir(dir)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let kind = entry.file_type().ok().filter(|kind| !kind.is_symlink())?;
                Some((entry.file_name().into_string().ok()?, entry.path(), kind.is_dir()))
            })
            .collect();
        found.sort();
        found
    };
    let mut files = Vec::new();
    for (card, dir, _) in entries(root).into_iter().filter(|(name, _, dir)| *dir && is_card(name)) {
        for (name, path, _) in entries(&dir).into_iter().filter(|(name, _, dir)| !*dir && is_name(name)) {
            files.push((format!("attachments/{card}/{name}"), path));
        }
    }
    files
}

/// Makes a board of a file, under its own name or another.
pub fn import(root: &Root, from: &Path, name: Option<&Slug>, now: Seconds) -> Result<Imported, BoardError> {
    let no = |why: &str| BoardError::Import { path: from.to_owned(), why: why.to_owned() };
    if root.overrides().attachments.is_some() || root.overrides().database.is_some() {
        return Err(no(
            "HERMES_KANBAN_DB or HERMES_KANBAN_ATTACHMENTS_ROOT is set: unset it, a board comes in whole",
        ));
    }
    let file = File::open(from).map_err(BoardError::file("read", from))?;
    let mut zip =
        ZipArchive::new(file).map_err(|error| no(&format!("it is no archive, or is cut off: {error}")))?;
    check(&mut zip).map_err(|why| no(&why))?;
    let manifest = small(&mut zip, MANIFEST).map_err(|why| no(&why))?;
    if manifest["format"] != FORMAT {
        return Err(no("it was written by a later version, or is no board"));
    }
    let slug = match name {
        Some(name) => name.clone(),
        None => Slug::parse(manifest["slug"].as_str().unwrap_or_default())?,
    };
    if slug.is_default() {
        return Err(no("it is the default board of another home: give it a name here with --as NAME"));
    }
    if boards::exists(root, &slug) {
        return Err(BoardError::BoardExists(slug));
    }
    let description = small(&mut zip, DESCRIPTION).map_err(|why| no(&why))?;
    let place = Scratch::dir(&root.boards_dir())?;
    let files = unpack(&mut zip, &place.path).map_err(|error| no(&error.to_string()))?;
    let database = place.path.join(DATABASE);
    refuse_hostile(&database).map_err(|why| no(&why))?;
    let home = root.attachments(&slug);
    let mut imported = adopt(root, &slug, &database, &home, now)?;
    imported.attachments = files;
    let mut text = serde_json::to_string_pretty(&described(description, &slug)).unwrap_or_default();
    text.push('\n');
    let file = place.path.join(DESCRIPTION);
    hermes_home::files::write_atomic(&file, text.as_bytes(), hermes_home::files::Access::Keep)?;
    let to = root.board_dir(&slug);
    std::fs::rename(&place.path, &to).map_err(BoardError::file("make", &to))?;
    place.keep();
    Ok(imported)
}

/// Names, numbers and kinds of entries, before anything is read.
fn check(zip: &mut ZipArchive<impl Read + Seek>) -> Result<(), String> {
    if zip.len() > MOST_ENTRIES {
        return Err(format!("it has more than {MOST_ENTRIES} entries"));
    }
    let mut seen = BTreeSet::new();
    let mut total = 0_u64;
    for index in 0..zip.len() {
        let entry = zip.by_index_raw(index).map_err(|error| error.to_string())?;
        let name = entry.name().map_err(|error| error.to_string())?.into_owned();
        if entry.encrypted() || entry.is_symlink() || entry.is_dir() || !is_wanted(&name) {
            return Err(format!("it holds {name:?}, which is no part of a board"));
        }
        if !seen.insert(name.clone()) {
            return Err(format!("it holds {name:?} twice"));
        }
        total = total.saturating_add(entry.size());
    }
    if total > MOST_BYTES {
        return Err("it unpacks to more than a board can be".to_owned());
    }
    Ok(())
}

/// Whether an entry is part of a board. Nothing else has a place, so no name can lead anywhere.
fn is_wanted(name: &str) -> bool {
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [name] => [MANIFEST, DESCRIPTION, DATABASE].contains(name),
        ["attachments", card, file] => is_card(card) && is_name(file),
        _ => false,
    }
}

fn is_card(name: &str) -> bool {
    name.strip_prefix("t_").is_some_and(|digits| {
        (8..=32).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit())
    })
}

fn is_name(name: &str) -> bool {
    let odd = |c: char| c.is_control() || c == '/' || c == '\\';
    !name.is_empty() && name.len() <= 255 && name != "." && name != ".." && !name.chars().any(odd)
}

fn small(zip: &mut ZipArchive<impl Read + Seek>, name: &str) -> Result<Value, String> {
    let entry = zip.by_name(name).map_err(|_| format!("it has no {name}: it is no board"))?;
    let mut text = String::new();
    entry.take(MOST_SMALL).read_to_string(&mut text).map_err(|error| format!("{name}: {error}"))?;
    match serde_json::from_str(&text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        _ => Err(format!("{name} is damaged")),
    }
}

/// Writes database and files; how many files there are. Sizes are counted as they come, not as they are said to be.
fn unpack(zip: &mut ZipArchive<impl Read + Seek>, to: &Path) -> io::Result<usize> {
    let mut left = MOST_BYTES;
    let mut files = 0;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(io::Error::other)?;
        let name = entry.name().map_err(io::Error::other)?.into_owned();
        if name == MANIFEST || name == DESCRIPTION {
            continue;
        }
        let path = to.join(&name);
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        let mut file = private(&path)?;
        let written = io::copy(&mut (&mut entry).take(left + 1), &mut file)?;
        left = left
            .checked_sub(written)
            .ok_or_else(|| io::Error::other("it unpacks to more than a board can be"))?;
        file.sync_all()?;
        files += usize::from(name != DATABASE);
    }
    Ok(files)
}

fn private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// A database that does something by itself when it is read or written is refused, and so are names of cards that would
/// lead elsewhere as names of directories.
fn refuse_hostile(path: &Path) -> Result<(), String> {
    if !path.is_file() {
        return Err(format!("it has no {DATABASE}: it is no board"));
    }
    let look = || -> rusqlite::Result<Result<(), String>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags)?;
        db.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
        let mut acting = db.prepare(
            "SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view') \
             OR (type = 'table' AND sql LIKE 'CREATE VIRTUAL%' AND name != 'hx_words')",
        )?;
        if let Some(name) = acting.query_map([], |row| row.get::<_, String>(0))?.next() {
            return Ok(Err(format!("its database acts by itself ({:?})", name?)));
        }
        let mut ids = db.prepare(
            "SELECT id FROM tasks WHERE id IS NULL OR id NOT GLOB 't_[0-9a-f]*' OR substr(id, 3) GLOB '*[^0-9a-f]*' \
             OR length(id) NOT BETWEEN 10 AND 34 LIMIT 1",
        )?;
        if ids.exists([])? {
            return Ok(Err("it has cards whose names are not those of cards".to_owned()));
        }
        let sound: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
        Ok(if sound == "ok" { Ok(()) } else { Err(format!("its database is damaged: {sound}")) })
    };
    look().map_err(|error| format!("its database is damaged: {error}"))?
}

/// What was true on another machine is not true here.
fn adopt(root: &Root, slug: &Slug, path: &Path, home: &Path, now: Seconds) -> Result<Imported, BoardError> {
    let options = Options { synchronous: Synchronous::Full, ..Options::default() };
    let db = Database::open_with(path, OpenMode::ReadWrite, &BoardSchema, options)?;
    let mut board = Board { db, root: root.clone(), slug: slug.clone() };
    let beside = path.parent().unwrap_or(path).join("attachments");
    let imported = board.write(|tx| {
        tx.execute_batch(
            "DROP TABLE IF EXISTS hx_words; DELETE FROM hx_board; DELETE FROM kanban_notify_subs; \
             UPDATE hx_workers SET ended_at = coalesce(ended_at, last_output_at, 0), stop = NULL; \
             UPDATE hx_cards SET editing_until = NULL, skip_reason = NULL; \
             UPDATE tasks SET workspace_path = NULL WHERE workspace_kind = 'scratch';",
        )?;
        let released = release(tx, now)?;
        move_attachments(tx, &beside, home)?;
        let count = |sql: &str| tx.query_row(sql, [], |row| row.get(0));
        Ok(Imported {
            slug: slug.clone(),
            cards: count("SELECT count(*) FROM tasks")?,
            attachments: 0,
            released,
            commands: count(
                "SELECT count(*) FROM hx_cards WHERE coalesce(acceptance, '') != '' OR reviewer LIKE 'command:%'",
            )?,
            directories: count("SELECT count(*) FROM tasks WHERE workspace_path IS NOT NULL")?,
        })
    })?;
    let reason = Some("imported".to_owned());
    board.set_state(&State {
        mode: Mode::Parked,
        by: Some("import".to_owned()),
        reason,
        since: Some(now),
    })?;
    Ok(imported)
}

/// Nobody here works on what was worked on there.
fn release(tx: &rusqlite::Transaction<'_>, now: Seconds) -> Result<usize, Trouble> {
    let mut running = tx.prepare("SELECT id, current_run_id FROM tasks WHERE status = 'running'")?;
    let cards: Vec<(crate::card::CardId, Option<crate::card::RunId>)> =
        running.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (id, run) in &cards {
        crate::act::release(tx, id, crate::card::Status::Ready)?;
        let payload = json!({ "manual": true, "reason": "imported" });
        crate::event::record(tx, id, *run, "reclaimed", &payload, now)?;
    }
    tx.execute(
        "UPDATE task_runs SET status = 'reclaimed', outcome = 'reclaimed', ended_at = ?1, claim_lock = NULL, \
         claim_expires = NULL, worker_pid = NULL WHERE ended_at IS NULL",
        params![now],
    )?;
    tx.execute_batch("UPDATE tasks SET claim_lock = NULL, claim_expires = NULL, worker_pid = NULL")?;
    Ok(cards.len())
}

/// Files are where this home keeps them; what did not come along is not listed.
fn move_attachments(tx: &rusqlite::Transaction<'_>, here: &Path, home: &Path) -> Result<(), Trouble> {
    let mut statement = tx.prepare("SELECT id, task_id, stored_path FROM task_attachments")?;
    let rows: Vec<(i64, String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (number, card, stored) in rows {
        let name = stored.rsplit(['/', '\\']).next().filter(|name| is_name(name) && is_card(&card));
        match name.filter(|name| here.join(&card).join(name).is_file()) {
            Some(name) => {
                let path = home.join(&card).join(name).display().to_string();
                tx.execute(
                    "UPDATE task_attachments SET stored_path = ?2 WHERE id = ?1",
                    params![number, path],
                )?;
            }
            None => {
                tx.execute("DELETE FROM task_attachments WHERE id = ?1", [number])?;
            }
        }
    }
    Ok(())
}

/// A directory of another machine is none here.
fn described(mut description: Value, slug: &Slug) -> Value {
    let mut empty = Map::new();
    let map = description.as_object_mut().unwrap_or(&mut empty);
    map.insert("slug".to_owned(), json!(slug.as_str()));
    map.insert("archived".to_owned(), json!(false));
    map.remove("db_path");
    let here = map.get("default_workdir").and_then(Value::as_str).is_some_and(|dir| Path::new(dir).is_dir());
    if !here {
        map.insert("default_workdir".to_owned(), Value::Null);
    }
    description
}

/// Something that goes away again unless it is kept.
struct Scratch {
    path: PathBuf,
    kept: bool,
}

impl Scratch {
    fn named(dir: &Path, name: &str) -> Result<PathBuf, BoardError> {
        let mut bytes = [0; 4];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| BoardError::Input(format!("no random numbers: {error}")))?;
        Ok(dir.join(format!(".{name}-{:08x}", u32::from_be_bytes(bytes))))
    }

    fn file(dir: &Path, near: &Path) -> Result<Self, BoardError> {
        let name = near.file_name().and_then(|name| name.to_str()).unwrap_or("board");
        let path = Self::named(dir, name)?;
        private(&path).map_err(BoardError::file("write", &path))?;
        Ok(Self { path, kept: false })
    }

    fn dir(dir: &Path) -> Result<Self, BoardError> {
        let path = Self::named(dir, "import")?;
        hermes_home::files::create_private_dir(&path)?;
        Ok(Self { path, kept: false })
    }

    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let _ = if self.path.is_dir() {
            std::fs::remove_dir_all(&self.path)
        } else {
            std::fs::remove_file(&self.path)
        };
    }
}
