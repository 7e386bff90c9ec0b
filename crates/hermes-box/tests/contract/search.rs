//! Finding files and lines.

use std::fs;
use std::path::Path;
use std::time::Duration;

use hermes_box::client::CallError;
use hermes_box::proto::fault::{Fault, FileErrorKind};
use hermes_box::proto::search::{
    Case, Completeness, GlobRequest, LineRole, Order, SearchMode, SearchRequest, SearchResult, Skip, Syntax,
};

use crate::world::World;

fn tree(world: &World) {
    let home = world.home();
    for (path, content) in [
        ("src/main.rs", "fn main() {\n    // needle one\n    call();\n}\n"),
        ("src/lib.rs", "pub mod a;\n// Needle two\n"),
        ("src/deep/a.rs", "// nothing\n"),
        ("docs/readme.md", "needle in the docs\nand another needle\n\nlast\n"),
        ("target/out.rs", "needle in what is ignored\n"),
        (".hidden/x.rs", "needle in what is hidden\n"),
        (".gitignore", "target/\n"),
    ] {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::write(home.join("binary"), b"needle\x00needle\n").unwrap();
}

fn names(world: &World, request: GlobRequest) -> Vec<String> {
    let result = world.client.files().glob(request).unwrap();
    result.files.iter().map(|found| relative(world, &found.path)).collect()
}

fn relative(world: &World, path: &Path) -> String {
    path.strip_prefix(world.home()).unwrap().to_str().unwrap().to_string()
}

fn lines(world: &World, result: &SearchResult) -> Vec<String> {
    let mut lines = Vec::new();
    for file in &result.files {
        for line in &file.lines {
            let mark = if line.role == LineRole::Match { ':' } else { '-' };
            let text = String::from_utf8_lossy(&line.bytes);
            lines.push(format!("{}{mark}{}{mark}{text}", relative(world, &file.path), line.number));
        }
    }
    lines
}

fn search(world: &World, change: impl FnOnce(&mut SearchRequest)) -> SearchResult {
    let mut request = SearchRequest::new(world.home(), "needle");
    change(&mut request);
    world.client.files().search(request).unwrap()
}

everywhere! {
    fn files_are_found_by_name(world: &World) {
        tree(world);
        let by_path = |pattern: &str| GlobRequest { order: Order::Path, ..GlobRequest::new(world.home(), pattern) };
        assert_eq!(names(world, by_path("*.rs")), ["src/deep/a.rs", "src/lib.rs", "src/main.rs"]);
        assert_eq!(names(world, by_path("src/*.rs")), ["src/lib.rs", "src/main.rs"]);
        assert_eq!(names(world, GlobRequest { skip: Skip::Ignored, ..by_path("x.rs") }), [".hidden/x.rs"]);
        assert_eq!(names(world, GlobRequest { skip: Skip::Hidden, ..by_path("out.rs") }), ["target/out.rs"]);
        assert_eq!(names(world, GlobRequest { skip: Skip::Nothing, ..by_path("") }).len(), 8);
        assert_eq!(names(world, GlobRequest { offset: 1, limit: 1, ..by_path("*.rs") }), ["src/lib.rs"]);
        let missing = world.client.files().glob(GlobRequest::new(world.home().join("none"), "*"));
        assert_eq!(missing.unwrap_err().file_kind(), Some(FileErrorKind::NotFound));
        assert!(matches!(world.client.files().glob(by_path("a[")), Err(CallError::Fault(Fault::Invalid(_)))));
    }

    fn the_last_changed_come_first(world: &World) {
        for (name, age) in [("old", 300), ("new", 100), ("middle", 200)] {
            let file = fs::File::create(world.home().join(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        let result = world.client.files().glob(GlobRequest { limit: 2, ..GlobRequest::new(world.home(), "*") }).unwrap();
        let found: Vec<_> = result.files.iter().map(|found| relative(world, &found.path)).collect();
        assert_eq!((found, result.total), (vec!["new".to_string(), "middle".to_string()], 3));
    }

    fn lines_are_found_by_content(world: &World) {
        tree(world);
        let result = search(world, |_| ());
        assert_eq!(lines(world, &result), [
            "docs/readme.md:1:needle in the docs",
            "docs/readme.md:2:and another needle",
            "src/main.rs:2:    // needle one",
        ]);
        assert_eq!((result.total, result.more, result.binary, result.completeness), (3, false, 1, Completeness::Complete));
        assert_eq!(search(world, |request| request.case = Case::Insensitive).total, 4);
        assert_eq!(search(world, |request| { request.case = Case::Smart; request.pattern = "Needle".into(); }).total, 1);
        assert_eq!(search(world, |request| request.globs = vec!["*.rs".into()]).total, 1);
        assert_eq!(search(world, |request| request.globs = vec!["docs/*".into(), "*.rs".into()]).total, 3);
        assert_eq!(search(world, |request| request.skip = Skip::Nothing).total, 5);
        assert_eq!(search(world, |request| request.pattern = r"^\w+ another".into()).total, 1);
        assert_eq!(search(world, |request| { request.pattern = "call()".into(); request.syntax = Syntax::Literal; }).total, 1);
        assert_eq!(search(world, |request| request.pattern = "absent".into()).total, 0);
    }

    fn context_comes_with_its_match(world: &World) {
        tree(world);
        let result = search(world, |request| { request.globs = vec!["main.rs".into()]; request.before = 1; request.after = 1; });
        assert_eq!(lines(world, &result), ["src/main.rs-1-fn main() {", "src/main.rs:2:    // needle one", "src/main.rs-3-    call();"]);
        let result = search(world, |request| { request.after = 1; request.offset = 1; request.limit = 1; });
        assert_eq!(lines(world, &result), ["docs/readme.md:2:and another needle", "docs/readme.md-3-"]);
        assert!(result.more);
    }

    fn files_and_counts_can_be_asked_for(world: &World) {
        tree(world);
        let found = |mode| {
            let result = search(world, |request| request.mode = mode);
            result.files.iter().map(|file| (relative(world, &file.path), file.count)).collect::<Vec<_>>()
        };
        assert_eq!(found(SearchMode::Files), [("docs/readme.md".to_string(), 1), ("src/main.rs".to_string(), 1)]);
        assert_eq!(found(SearchMode::Counts), [("docs/readme.md".to_string(), 2), ("src/main.rs".to_string(), 1)]);
        let part = search(world, |request| { request.mode = SearchMode::Files; request.limit = 1; });
        assert_eq!((part.files.len(), part.more, part.total), (1, true, 2));
        let part = search(world, |request| { request.mode = SearchMode::Counts; request.limit = 1; });
        assert_eq!((part.files.len(), part.more, part.total), (1, true, 3), "the total is of matches");
    }

    fn a_single_file_can_be_searched(world: &World) {
        tree(world);
        let result = search(world, |request| request.root = world.home().join(".hidden/x.rs").into());
        assert_eq!(lines(world, &result), [".hidden/x.rs:1:needle in what is hidden"]);
    }

    fn results_are_bounded_and_the_same_every_time(world: &World) {
        for n in 0..300 {
            fs::write(world.home().join(format!("f{n:03}")), format!("x{}\nhit\n", "y".repeat(2000)).repeat(3)).unwrap();
        }
        let ask = || search(world, |request| { request.pattern = "hit|x".into(); request.limit = 20; request.offset = 7; });
        let first = ask();
        assert_eq!(first.files.iter().map(|file| file.lines.len()).sum::<usize>(), 20);
        assert!(first.more);
        assert_eq!((first.total, first.completeness), (1800, Completeness::Complete), "the rest was counted");
        assert!(first.files[0].path.ends_with("f001"), "seven of six in each file are left out");
        let cut = &first.files[0].lines[1];
        assert_eq!((cut.bytes.len(), cut.length), (500, 2001));
        for _ in 0..5 {
            assert_eq!(ask().files, first.files);
        }
        assert_eq!(search(world, |request| { request.pattern = "hit".into(); request.limit = 5000; }).total, 900);
    }

    fn a_pattern_that_is_wrong_is_named(world: &World) {
        for pattern in ["(", "a\nb"] {
            let mut request = SearchRequest::new(world.home(), pattern);
            request.limit = 1;
            assert!(matches!(world.client.files().search(request), Err(CallError::Fault(Fault::Invalid(_)))), "{pattern}");
        }
    }

    fn time_is_limited_and_a_search_can_be_cancelled(world: &World) {
        for n in 0..50 {
            fs::write(world.home().join(format!("f{n}")), "a".repeat(200_000)).unwrap();
        }
        let result = search(world, |request| { request.pattern = "b".into(); request.time_limit_ms = 0; });
        assert_eq!(result.completeness, Completeness::TimedOut);
        // A tree that does not end within the test.
        let mut request = SearchRequest::new("/proc", "no such text anywhere, we hope");
        request.skip = Skip::Nothing;
        let pending = world.client.files().begin_search(request).unwrap();
        pending.steering().cancel();
        assert!(matches!(pending.wait(), Err(CallError::Fault(Fault::Cancelled))));
    }
}
