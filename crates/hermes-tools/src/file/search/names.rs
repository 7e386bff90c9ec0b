//! Files by name.

use hermes_box::client::Pending;
use hermes_box::proto::file::{Place, Resolved};
use hermes_box::proto::search::{GlobRequest, Order as Sorted, Skip};

use super::show::{Found, Shown};
use super::{Search, desk};
use crate::thread::Link;
use crate::tool::ToolOutput;

impl Search<'_> {
    pub(super) fn names(&self, resolving: Pending<Resolved>, link: &Link) -> Result<Found, ToolOutput> {
        let pattern = glob(&self.order.pattern);
        let request = GlobRequest {
            skip: skip(&pattern),
            pattern,
            order: Sorted::Newest,
            offset: self.order.offset,
            limit: self.order.limit,
            root: Place::from(self.order.path.as_str()),
        };
        let searching = self.room.files.begin_glob(request).map_err(|error| self.failed(&error))?;
        let steering = searching.steering();
        link.attach(move || steering.cancel());
        let start = resolving.wait().map_err(|error| desk::failed(&error))?;
        self.begin_at(&start)?;
        let result = searching.wait().map_err(|error| self.failed(&error))?;
        let given = result.files.len() as u64;
        let shown = Shown::new(&self.order.path, &result.root);
        let readable =
            |path: &std::path::Path| self.desk.policy().readable(path, start.home.as_deref()).is_ok();
        let files: Vec<(String, u64)> = (1..)
            .zip(&result.files)
            .filter(|(_, file)| readable(&file.path))
            .map(|(end, file)| (shown.name(&file.path), end))
            .collect();
        let mut found = Found::new(result.total, self.order.offset, given, result.completeness);
        found.truncated(u64::from(self.order.offset) + given < result.total);
        let hidden = given - files.len() as u64;
        found.omitted(hidden, hidden);
        found.unreadable(result.unreadable);
        found.files(files, self.most_chars);
        found.notes.clone_from(&self.room.notes);
        Ok(found)
    }
}

/// A bare name stands for everything that ends with it.
fn glob(pattern: &str) -> String {
    let is_glob = pattern.contains(['*', '?', '[', '{']);
    match (is_glob, pattern.contains('/')) {
        (true, _) => pattern.to_owned(),
        (false, false) => format!("*{pattern}"),
        (false, true) => format!("**/{}", pattern.trim_start_matches("./").trim_start_matches('/')),
    }
}

/// Whoever names a hidden file means it.
pub(super) fn skip(pattern: &str) -> Skip {
    let hidden = pattern.split('/').any(|part| part.starts_with('.') && part != "." && part != "..");
    if hidden { Skip::Ignored } else { Skip::HiddenAndIgnored }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_names_are_ends_of_names() {
        assert_eq!(glob("main.rs"), "*main.rs");
        assert_eq!(glob("*.rs"), "*.rs");
        assert_eq!(glob("./src/main.rs"), "**/src/main.rs");
        assert_eq!(skip("*.rs"), Skip::HiddenAndIgnored);
        assert_eq!(skip(".github/**"), Skip::Ignored);
        assert_eq!(skip("./src/*.rs"), Skip::HiddenAndIgnored);
    }
}
