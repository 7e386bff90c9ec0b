//! Files that belong to cards: given by people and workers, or left by finished work.

use std::io::Write;
use std::path::{Path, PathBuf};

use hermes_store::rusqlite::{self, OptionalExtension, Row, Transaction, params};
use serde_json::json;

use crate::act::{self, By};
use crate::board::Board;
use crate::card::{CardId, Seconds};
use crate::error::BoardError;
use crate::event::record;

/// Largest file that is kept.
pub const LARGEST: u64 = 25 * 1024 * 1024;
/// Longest name of a file, in characters.
const LONGEST_NAME: usize = 200;
/// Names tried for one file.
const MOST_TRIES: usize = 1000;

/// A file that belongs to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its number.
    pub id: i64,
    /// The card.
    pub card: CardId,
    /// Its name.
    pub filename: String,
    /// Where it is.
    pub stored_path: PathBuf,
    /// What it is.
    pub content_type: Option<String>,
    /// Its bytes.
    pub size: u64,
    /// Who gave it.
    pub uploaded_by: Option<String>,
    /// When.
    pub created_at: Seconds,
}

/// A file to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'a> {
    /// What it is called; made harmless.
    pub name: &'a str,
    /// What is in it.
    pub content: &'a [u8],
    /// What it is, if that is known.
    pub content_type: Option<&'a str>,
    /// Who gives it.
    pub uploaded_by: &'a str,
}

const COLUMNS: &str = "id, task_id, filename, stored_path, content_type, size, uploaded_by, created_at";

fn attachment(row: &Row<'_>) -> rusqlite::Result<Attachment> {
    let path: String = row.get(3)?;
    Ok(Attachment {
        id: row.get(0)?,
        card: row.get(1)?,
        filename: row.get(2)?,
        stored_path: path.into(),
        content_type: row.get(4)?,
        size: u64::try_from(row.get::<_, i64>(5)?).unwrap_or_default(),
        uploaded_by: row.get(6)?,
        created_at: row.get(7)?,
    })
}

impl Board {
    /// Keeps a file for a card. The file comes first and its row second, so that no row is without its file.
    pub fn attach(
        &mut self,
        id: &CardId,
        file: &NewFile<'_>,
        by: By,
        now: Seconds,
    ) -> Result<Attachment, BoardError> {
        let size = file.content.len() as u64;
        if size > LARGEST {
            return Err(too_large(file.name, size));
        }
        // A card that is not there gets no directory.
        self.card(id)?;
        let name = safe_name(file.name);
        let dir = self.root.attachments(&self.slug).join(id.as_str());
        let (stored, name) = keep(&dir, &name, file.content, Collision::Counted)?;
        let kept = self.write(|tx| {
            let card = act::card(tx, id)?;
            act::own(&card, by)?;
            let new = NewFile { name: &name, ..*file };
            let row = insert(tx, id, &new, &stored, size, now)?;
            let payload = json!({ "filename": name, "size": size, "by": file.uploaded_by });
            record(tx, id, card.current_run, "attached", &payload, now)?;
            Ok(row)
        });
        kept.inspect_err(|_| remove(&stored))
    }

    /// Keeps a copy of a file for a card.
    pub fn attach_file(
        &mut self,
        id: &CardId,
        path: &Path,
        by: &str,
        now: Seconds,
    ) -> Result<Attachment, BoardError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let size = std::fs::metadata(path).map_err(BoardError::file("read", path))?;
        if !size.is_file() {
            return Err(BoardError::Input(format!("\"{}\" is not a file", path.display())));
        }
        if size.len() > LARGEST {
            return Err(too_large(&name, size.len()));
        }
        let content = std::fs::read(path).map_err(BoardError::file("read", path))?;
        let content_type = media_type(&name);
        let file = NewFile { name: &name, content: &content, content_type, uploaded_by: by };
        self.attach(id, &file, By::Anybody, now)
    }

    /// The files of a card, the oldest first.
    pub fn attachments(&mut self, id: &CardId) -> Result<Vec<Attachment>, BoardError> {
        self.card(id)?;
        self.read(|tx| of(tx, id))
    }

    /// Takes a file away from its card.
    pub fn detach(&mut self, number: i64, now: Seconds) -> Result<Attachment, BoardError> {
        let gone = self.write(|tx| {
            let sql = format!("SELECT {COLUMNS} FROM task_attachments WHERE id = ?1");
            let found = tx.prepare(&sql)?.query_row([number], attachment).optional()?;
            let gone = found.ok_or_else(|| {
                BoardError::Input(format!(
                    "there is no attachment {number}: `hermes kanban attachments CARD` shows them"
                ))
            })?;
            tx.execute("DELETE FROM task_attachments WHERE id = ?1", [number])?;
            record(tx, &gone.card, None, "attachment_removed", &json!({ "filename": gone.filename }), now)?;
            Ok(gone)
        })?;
        remove(&gone.stored_path);
        Ok(gone)
    }
}

/// The files of a card.
pub(crate) fn of(db: &rusqlite::Connection, id: &CardId) -> rusqlite::Result<Vec<Attachment>> {
    let sql = format!("SELECT {COLUMNS} FROM task_attachments WHERE task_id = ?1 ORDER BY created_at, id");
    db.prepare_cached(&sql)?.query_map([id], attachment)?.collect()
}

pub(crate) fn insert(
    tx: &Transaction<'_>,
    id: &CardId,
    file: &NewFile<'_>,
    stored: &Path,
    size: u64,
    now: Seconds,
) -> rusqlite::Result<Attachment> {
    tx.execute(
        "INSERT INTO task_attachments (task_id, filename, stored_path, content_type, size, uploaded_by, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            id,
            file.name,
            stored.to_string_lossy(),
            file.content_type,
            i64::try_from(size).unwrap_or(i64::MAX),
            file.uploaded_by,
            now
        ],
    )?;
    Ok(Attachment {
        id: tx.last_insert_rowid(),
        card: id.clone(),
        filename: file.name.to_owned(),
        stored_path: stored.to_owned(),
        content_type: file.content_type.map(str::to_owned),
        size,
        uploaded_by: Some(file.uploaded_by.to_owned()),
        created_at: now,
    })
}

/// How a name is changed that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collision {
    /// `name (1).ext`
    Counted,
    /// `name_1.ext`
    Numbered,
}

/// Writes a file under a free name of a directory; where, and under which name.
pub(crate) fn keep(
    dir: &Path,
    name: &str,
    content: &[u8],
    collision: Collision,
) -> Result<(PathBuf, String), BoardError> {
    std::fs::create_dir_all(dir).map_err(BoardError::file("make", dir))?;
    let (stem, ext) = match name.rsplit_once('.') {
        Some((stem, ext)) if !stem.is_empty() => (stem, format!(".{ext}")),
        _ => (name, String::new()),
    };
    for n in 0..MOST_TRIES {
        let name = match (n, collision) {
            (0, _) => name.to_owned(),
            (n, Collision::Counted) => format!("{stem} ({n}){ext}"),
            (n, Collision::Numbered) => format!("{stem}_{n}{ext}"),
        };
        let path = dir.join(&name);
        match std::fs::File::create_new(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(BoardError::file("make", path)(error)),
            Ok(mut file) => {
                let written = file.write_all(content).and_then(|()| file.sync_all());
                return match written {
                    Ok(()) => Ok((path, name)),
                    Err(error) => {
                        remove(&path);
                        Err(BoardError::file("write", path)(error))
                    }
                };
            }
        }
    }
    Err(BoardError::Input(format!("there are too many files called \"{name}\" already")))
}

/// A name without directories, control characters or leading dots, and not too long.
pub fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).find(|part| !part.trim().is_empty()).unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control()).collect();
    let kept: String = kept.trim().trim_start_matches('.').chars().take(LONGEST_NAME).collect();
    // The system counts bytes.
    let mut end = kept.len().min(LONGEST_NAME);
    while !kept.is_char_boundary(end) {
        end -= 1;
    }
    let kept = kept[..end].trim();
    if kept.is_empty() { "attachment".to_owned() } else { kept.to_owned() }
}

fn too_large(name: &str, size: u64) -> BoardError {
    BoardError::Input(format!(
        "\"{name}\" has {size} bytes, and at most {LARGEST} are kept: link to it instead"
    ))
}

pub(crate) fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), %error, "a file that belongs to no card any more stays");
    }
}

/// What a file is, by its name.
pub fn media_type(name: &str) -> Option<&'static str> {
    let (_, ext) = name.rsplit_once('.')?;
    Some(match ext.to_ascii_lowercase().as_str() {
        "txt" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_harmless() {
        for (given, kept) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\a\\x.txt", "x.txt"),
            ("...hidden", "hidden"),
            ("a\u{7}\nb.txt", "ab.txt"),
            ("dir/", "dir"),
            ("..", "attachment"),
            ("", "attachment"),
        ] {
            assert_eq!(safe_name(given), kept, "{given:?}");
        }
        assert_eq!(safe_name(&"ä".repeat(300)).len(), 200);
    }
}
