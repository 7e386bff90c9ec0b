//! Measures what a sandbox costs: `cargo run --release -p hermes-sandbox --example bench -- IMAGE [HERMES]`.
//!
//! Prints one line a measure: name, median and unit. IMAGE must have bash; HERMES is the program whose start with a
//! first command is measured. `scripts/bench-sandbox` runs it beside the Python program and prints ratios.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and stops at the first failure"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes_box::client::{Client, Event};
use hermes_box::proto::exec::ExecRequest;
use hermes_box::proto::file::LinesRequest;
use hermes_box::proto::search::SearchRequest;
use hermes_home::{Home, Profile, Settings};
use hermes_sandbox::context::Environment;
use hermes_sandbox::from_settings;
use hermes_sandbox::sandbox::Sandbox;
use hermes_sandbox::scope::Caller;

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(image) = args.next() else {
        println!("usage: bench IMAGE [HERMES]");
        return;
    };
    let hermes = args.next();
    let dir = tempfile::Builder::new().prefix("hermes-bench-").tempdir_in("/var/tmp").unwrap();
    let bash = median(200, || {
        let mut child = Command::new("bash").args(["-c", "true"]).stdout(Stdio::null()).spawn().unwrap();
        child.wait().unwrap();
    });
    show("bash -c true, started directly", bash);

    let local = open(dir.path(), "local", &image);
    let client = local.client().unwrap();
    fill(dir.path());
    measure(&client, "local", dir.path());

    let boxed = open(dir.path(), "docker", &image);
    let started = Instant::now();
    let client = boxed.client().unwrap();
    show("container, made and first reached", started.elapsed());
    let workspace = dir.path().join("home/sandboxes/docker/default/workspace");
    fill(&workspace);
    measure(&client, "container", Path::new("/workspace"));
    throughput(&client, "container");
    if let Some(hermes) = hermes {
        attach(dir.path(), &hermes, &image);
    }
    drop(client);
    boxed.dispose(hermes_sandbox::backend::Dispose::Remove).unwrap();
    boxed.wait_for_cleanup(Duration::from_secs(30));
}

/// Calls, a read of 500 from 50,000 lines, and a search through 5,000 files.
fn measure(client: &Client, name: &str, dir: &Path) {
    let run = || client.run(ExecRequest::shell("bench", "true")).unwrap();
    run();
    show(&format!("{name}, a command"), median(300, || assert_eq!(run().code(), 0)));
    let read = || client.files().read_lines(LinesRequest::new(dir.join("long.txt"))).unwrap();
    show(&format!("{name}, 500 of 50,000 lines"), median(200, || assert_eq!(read().lines.len(), 500)));
    let search = || client.files().search(SearchRequest::new(dir.join("tree"), "needle-[0-9]+")).unwrap();
    show(&format!("{name}, search of 5,000 files"), median(30, || assert_eq!(search().total, 10)));
}

/// 100 MB through the stream.
fn throughput(client: &Client, name: &str) {
    let started = Instant::now();
    let mut running =
        client.exec(ExecRequest::shell("bench", "dd if=/dev/zero bs=1M count=100 2>/dev/null")).unwrap();
    let mut total = 0;
    while let Some(event) = running.next_event().unwrap() {
        if let Event::Output { bytes, .. } = event {
            total += bytes.len();
        }
    }
    assert_eq!(total, 104_857_600);
    println!("{name}, output\t{:.0}\tMB/s", 104.857_6 / started.elapsed().as_secs_f64());
}

/// A new process: start, find the container, first command, end.
fn attach(dir: &Path, hermes: &str, image: &str) {
    let config = format!("terminal:\n  backend: docker\n  docker_image: {image}\n  container_disk: 0\n");
    std::fs::write(dir.join("home/config.yaml"), config).unwrap();
    let run = || {
        let mut child = Command::new(hermes)
            .args(["sandbox", "exec", "--", "true"])
            .env("HERMES_HOME", dir.join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        assert!(child.wait().unwrap().success());
    };
    run();
    show("new process, first command in the container", median(50, run));
}

fn open(dir: &Path, backend: &str, image: &str) -> Sandbox {
    let root = dir.join("home");
    std::fs::create_dir_all(&root).unwrap();
    let home = Home::at(&root, Profile::Default);
    let text = format!("terminal:\n  backend: {backend}\n  docker_image: {image}\n  container_disk: 0\n");
    std::fs::write(root.join("config.yaml"), text).unwrap();
    let settings = Settings::load(&home, &std::env::vars_os().collect()).unwrap();
    let config = from_settings::config(&settings).unwrap();
    let context = from_settings::context(
        &home,
        &settings,
        Environment::current(),
        dir.to_path_buf(),
        Caller::default(),
    )
    .unwrap();
    Sandbox::open(&config, &context).unwrap()
}

fn fill(dir: &Path) {
    std::fs::create_dir_all(dir.join("tree")).unwrap();
    let line = |i: usize| format!("line {i} of a long file with some words in it\n");
    std::fs::write(dir.join("long.txt"), (0..50_000).map(line).collect::<Vec<_>>().concat()).unwrap();
    for i in 0..5000 {
        let sub = dir.join(format!("tree/{}", i / 100));
        std::fs::create_dir_all(&sub).unwrap();
        let needle = if i % 500 == 0 { format!("needle-{i}\n") } else { String::new() };
        std::fs::write(
            sub.join(format!("f{i}.txt")),
            format!("{}{needle}", "some text in here\n".repeat(40)),
        )
        .unwrap();
    }
}

fn median(times: usize, mut run: impl FnMut()) -> Duration {
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let started = Instant::now();
            run();
            started.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken[times / 2]
}

fn show(name: &str, taken: Duration) {
    println!("{name}\t{:.3}\tms", taken.as_secs_f64() * 1000.0);
}
