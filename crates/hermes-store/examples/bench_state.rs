//! Measures the session store: `bench_state DB [MESSAGES]` fills a new file and searches it; `bench_state --search DB`
//! searches a file that is there. JSON on stdout, with the names that a measurement of another program can use as well.
#![allow(clippy::print_stdout, reason = "the result is printed")]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use hermes_store::sessions::{
    ListFilter, NewMessage, NewSession, Role, SearchQuery, SessionId, SessionStore, View,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

const QUERIES: [(&str, &str); 7] = [
    ("rare", "zebra"),
    ("medium", "w0042"),
    ("two_common", "docker deploy"),
    ("phrase", "\"zebra quagga\""),
    ("prefix", "w01*"),
    ("or", "zebra OR kanban"),
    ("substring_cjk", "漢字テスト"),
];
const RUNS: usize = 7;
const PER_SESSION: usize = 100;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match args[..] {
        ["--search", path] => looked_up(Path::new(path))?,
        [path] => filled(Path::new(path), 100_000)?,
        [path, count] => filled(Path::new(path), count.parse()?)?,
        _ => return Err("usage: bench_state DB [MESSAGES] | bench_state --search DB".into()),
    };
    println!("{result}");
    Ok(())
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn filled(path: &Path, count: usize) -> Outcome<Value> {
    if path.exists() {
        return Err("the file exists: this fills a new one".into());
    }
    let started = Instant::now();
    let mut store = SessionStore::open(path)?;
    let opening = started.elapsed();
    for session in 0..count / PER_SESSION {
        let mut new = NewSession::new(name(session), "cli", Timestamp::now());
        new.model = Some("fake-model".to_owned());
        store.create(&new)?;
    }
    let mut words: Vec<String> = (0..4000).map(|k| format!("w{k:04}")).collect();
    words.extend(["docker", "deploy", "kanban", "gateway", "refactor", "session"].map(str::to_owned));
    let mut dice = Dice(7);
    let mut each = Vec::with_capacity(count);
    let started = Instant::now();
    for number in 0..count {
        let mut text = (0..30).map(|_| words[dice.below(words.len())].as_str()).collect::<Vec<_>>().join(" ");
        if number % 5000 == 17 {
            text.push_str(" zebra quagga");
        }
        let role = if number % 2 == 0 { Role::User } else { Role::Assistant };
        let one = Instant::now();
        store.append(&name(number / PER_SESSION), &NewMessage::new(role, text, Timestamp::now()))?;
        each.push(one.elapsed().as_secs_f64());
    }
    let inserting = started.elapsed().as_secs_f64();
    each.sort_by(f64::total_cmp);
    let micros = |index: usize| (each[index.min(each.len() - 1)] * 1e6).round();
    let mut result = measured(&mut store, count)?;
    result.extend([
        ("n".to_owned(), json!(count)),
        ("open_s".to_owned(), json!(opening.as_secs_f64())),
        ("insert_s".to_owned(), json!(inserting)),
        ("inserts_per_s".to_owned(), json!((count as f64 / inserting).round())),
        (
            "insert_us".to_owned(),
            json!({"median": micros(count / 2), "p99": micros(count * 99 / 100), "max": micros(count)}),
        ),
    ]);
    Ok(Value::Object(result))
}

fn looked_up(path: &Path) -> Outcome<Value> {
    let started = Instant::now();
    let mut store = SessionStore::open(path)?;
    let opening = started.elapsed();
    let count = store.stats()?.messages as usize;
    let mut result = measured(&mut store, count)?;
    result.insert("open_s".to_owned(), json!(opening.as_secs_f64()));
    Ok(Value::Object(result))
}

fn name(session: usize) -> SessionId {
    SessionId::from(format!("bench-{session:05}"))
}

/// Searches, reads one session, and lists.
fn measured(store: &mut SessionStore, count: usize) -> Outcome<Map<String, Value>> {
    let mut searches = Map::new();
    for (label, text) in QUERIES {
        let query = SearchQuery { text: text.to_owned(), limit: Some(20), ..SearchQuery::default() };
        let mut hits = 0;
        let times = timed(|| {
            hits = store.search(&query)?.len();
            Ok(())
        })?;
        let (median, min, max) = (times[RUNS / 2], times[0], times[RUNS - 1]);
        searches.insert(
            label.to_owned(),
            json!({"median_ms": median, "min_ms": min, "max_ms": max, "hits": hits}),
        );
    }
    let middle = name(count / PER_SESSION / 2);
    let messages = timed(|| {
        black_box(store.messages(&middle, View::Active)?);
        Ok(())
    })?;
    let filter = ListFilter { limit: Some(20), ..ListFilter::default() };
    let list = timed(|| {
        black_box(store.list(&filter)?);
        Ok(())
    })?;
    let mut result = Map::new();
    result.insert("search".to_owned(), Value::Object(searches));
    result.insert("get_messages_100_ms".to_owned(), json!(messages[RUNS / 2]));
    result.insert("list_sessions_rich20_ms".to_owned(), json!(list[RUNS / 2]));
    Ok(result)
}

/// How long something takes, in milliseconds, from the shortest run to the longest.
fn timed(mut run: impl FnMut() -> Outcome<()>) -> Outcome<[f64; RUNS]> {
    let mut times = [0.0; RUNS];
    for time in &mut times {
        let started = Instant::now();
        run()?;
        *time = started.elapsed().as_secs_f64() * 1e3;
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}
