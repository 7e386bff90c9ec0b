//! Lines by content.

use std::path::Path;

use hermes_box::client::Pending;
use hermes_box::proto::file::{Place, Resolved};
use hermes_box::proto::search::{
    FileMatches, FoundLine, LineRole, SearchMode, SearchRequest, SearchResult, Skip,
};

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
        let page = self.page(&mut result, start.home.as_deref());
        let mut found = Found::new(result.total, self.order.offset, page.given, result.completeness);
        found.truncated(result.more);
        found.omitted(page.hidden, page.hidden_in_total);
        found.unreadable(result.unreadable);
        self.fill(&mut found, &result, &page.ends);
        found.notes.clone_from(&self.room.notes);
        Ok(found)
    }

    /// Takes out the files that may not be shown, and counts what pages are made of: lines, or files.
    fn page(&self, result: &mut SearchResult, home: Option<&Path>) -> Page {
        let mut page = Page::default();
        result.files.retain(|file| {
            let results = match self.order.what {
                What::Lines { .. } => matches(file).count() as u64,
                What::Files | What::Counts | What::Names => 1,
            };
            if self.desk.policy().readable(&file.path, home).is_ok() {
                page.ends.push(page.given);
                page.given += results;
                return true;
            }
            page.given += results;
            page.hidden += results;
            page.hidden_in_total += if self.order.what == What::Counts { file.count } else { results };
            false
        });
        page
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

    /// Fills in as much as the result has room for. `ends` are the results that come before each file.
    fn fill(&self, found: &mut Found, result: &SearchResult, ends: &[u64]) {
        let shown = Shown::new(&self.order.path, &result.root);
        let files = || result.files.iter().zip(ends);
        match self.order.what {
            What::Lines { .. } => {
                let hits = files().flat_map(|(file, end)| self.hits(&shown.name(&file.path), file, *end));
                found.matches(hits.collect(), self.most_chars);
            }
            What::Files | What::Names => {
                let names = files().map(|(file, end)| (shown.name(&file.path), end + 1));
                found.files(names.collect(), self.most_chars);
            }
            What::Counts => {
                let counts = files().map(|(file, end)| ((shown.name(&file.path), file.count), end + 1));
                found.counts(counts.collect(), self.most_chars);
            }
        }
    }

    /// The lines of one file, masked together: a key goes over several. `before` are the results that come before them.
    fn hits(&self, name: &str, file: &FileMatches, before: u64) -> Vec<Hit> {
        let text: Vec<String> =
            file.lines.iter().map(|line| String::from_utf8_lossy(&line.bytes).into_owned()).collect();
        let masked = self.desk.masked(&text.join("\n"), [name]);
        let mut end = before;
        let hit = |(line, text): (&FoundLine, &str)| {
            end += u64::from(line.role == LineRole::Match);
            Hit { path: name.to_owned(), line: line.number, content: cut(text), role: line.role, end }
        };
        file.lines.iter().zip(masked.split('\n')).map(hit).collect()
    }
}

/// What a page holds.
#[derive(Debug, Default)]
struct Page {
    /// Results, those that are not shown included.
    given: u64,
    /// Those that are not shown.
    hidden: u64,
    /// What these are in the total.
    hidden_in_total: u64,
    /// For each file that is shown, the results that come before it.
    ends: Vec<u64>,
}

fn matches(file: &FileMatches) -> impl Iterator<Item = &FoundLine> {
    file.lines.iter().filter(|line| line.role == LineRole::Match)
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
