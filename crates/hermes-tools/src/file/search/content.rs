//! Lines by content.

use std::collections::BTreeMap;

use hermes_box::client::Pending;
use hermes_box::proto::file::{Place, Resolved};
use hermes_box::proto::search::{FileMatches, LineRole, SearchMode, SearchRequest, SearchResult, Skip};

use super::show::{Found, Hit, Shown};
use super::{Search, What, desk, names};
use crate::thread::Link;
use crate::tool::ToolOutput;

/// Characters of a line that are shown.
const LINE: usize = 500;
/// Bytes of a line that are looked at: what is masked or cut in the middle of a secret must have been whole.
const LOOKED_AT: u32 = 4 * LINE as u32 + 4096;
/// How long a search may take.
const TIME_LIMIT_MS: u64 = 60_000;

impl Search<'_> {
    pub(super) fn content(&self, resolving: Pending<Resolved>, link: &Link) -> Result<Found, ToolOutput> {
        let searching = self.room.files.begin_search(self.request()).map_err(|error| self.failed(&error))?;
        let steering = searching.steering();
        link.attach(move || steering.cancel());
        let start = resolving.wait().map_err(|error| desk::failed(&error))?;
        self.begin_at(&start)?;
        let mut result = searching.wait().map_err(|error| self.failed(&error))?;
        let (mut given, mut hidden) = (0, 0);
        let lines = matches!(self.order.what, What::Lines { .. });
        let count = |file: &FileMatches| if lines { matches(file).count() as u64 } else { 1 };
        result.files.retain(|file| {
            let readable = self.desk.policy().readable(&file.path, start.home.as_deref()).is_ok();
            given += count(file);
            hidden += if readable { 0 } else { count(file) };
            readable
        });
        let mut found = Found::new(result.total, self.order.offset, given, result.completeness);
        if result.more {
            found.stopped();
        }
        found.truncated(result.more);
        found.omitted(hidden);
        found.unreadable(result.unreadable);
        self.fill(&mut found, &result);
        found.notes.clone_from(&self.room.notes);
        Ok(found)
    }

    fn request(&self) -> SearchRequest {
        let (mode, context) = match self.order.what {
            What::Lines { context } => (SearchMode::Lines, context),
            What::Counts => (SearchMode::Counts, 0),
            What::Files | What::Names => (SearchMode::Files, 0),
        };
        SearchRequest {
            globs: self.order.glob.iter().cloned().collect(),
            skip: self.order.glob.as_deref().map_or(Skip::HiddenAndIgnored, names::skip),
            mode,
            before: context,
            after: context,
            offset: self.order.offset,
            limit: self.order.limit,
            max_line: LOOKED_AT,
            time_limit_ms: TIME_LIMIT_MS,
            ..SearchRequest::new(Place::from(self.order.path.as_str()), &self.order.pattern)
        }
    }

    fn fill(&self, found: &mut Found, result: &SearchResult) {
        let shown = Shown::new(&self.order.path, &result.root);
        match self.order.what {
            What::Lines { .. } => {
                let hits =
                    result.files.iter().flat_map(|file| self.hits(&shown.name(&file.path), file)).collect();
                found.matches(hits);
            }
            What::Files | What::Names => {
                found.files = Some(result.files.iter().map(|file| shown.name(&file.path)).collect());
            }
            What::Counts => {
                let counts: BTreeMap<String, u64> =
                    result.files.iter().map(|file| (shown.name(&file.path), file.count)).collect();
                found.counts = Some(counts);
            }
        }
    }

    /// The lines of one file, masked together: a key goes over several.
    fn hits(&self, name: &str, file: &FileMatches) -> Vec<Hit> {
        let text: Vec<String> =
            file.lines.iter().map(|line| String::from_utf8_lossy(&line.bytes).into_owned()).collect();
        let masked = self.desk.masked(&text.join("\n"), [name]);
        let hit = |(line, text): (&hermes_box::proto::search::FoundLine, &str)| Hit {
            path: name.to_owned(),
            line: line.number,
            content: cut(text),
            role: line.role,
        };
        file.lines.iter().zip(masked.split('\n')).map(hit).collect()
    }
}

fn matches(file: &FileMatches) -> impl Iterator<Item = &hermes_box::proto::search::FoundLine> {
    file.lines.iter().filter(|line| line.role == LineRole::Match)
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
