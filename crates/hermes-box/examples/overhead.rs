//! What a call costs: `cargo run --release -p hermes-box --example overhead -- path/to/hermes-box`.
//!
//! Prints medians in milliseconds of a plain shell and of the same command through an agent in this process and through one behind a
//! socket, then throughput, the time to attach, and reading and searching files.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that measures and prints")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes_box::client::{Client, ConnectOptions, Event};
use hermes_box::daemon::{self, Detached};
use hermes_box::local;
use hermes_box::proto::exec::{Capture, ExecRequest, Keep};
use hermes_box::proto::file::LinesRequest;
use hermes_box::proto::search::SearchRequest;
use hermes_box::server::{AgentOptions, ShimProgram};

const ROUNDS: usize = 300;

fn main() {
    hermes_box::daemon::main_if_invoked();
    let program = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("/proc/self/exe"), PathBuf::from);
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let env: BTreeMap<_, _> = std::env::vars_os().collect();
    let shim = ShimProgram(program.clone());
    let options = AgentOptions {
        directory: Some(directory.path().join("local")),
        shim: shim.clone(),
        ..AgentOptions::new(env.clone(), &home)
    };
    let local = local::serve_in_process(options).unwrap();
    let detached = Detached {
        program: shim,
        socket: directory.path().join("run/s"),
        directory: directory.path().join("daemon"),
        env,
        cwd: home.clone(),
        idle_exit: Duration::from_secs(5),
        login_files: None,
    };
    let remote = daemon::ensure(&detached, &ConnectOptions::default()).unwrap();
    // Turn by turn, so that whatever else the machine does falls on all alike.
    let mut times: [Vec<f64>; 5] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(timed(plain_shell));
        times[1].push(timed(|| run(&local, "true")));
        times[2].push(timed(|| run(&remote, "true")));
        times[3].push(timed(|| drop(attach(&detached))));
        times[4].push(timed(|| run(&attach(&detached), "true")));
    }
    let median: Vec<f64> = times.into_iter().map(median).collect();
    println!("bash -c true, started directly      {:8.3} ms", median[0]);
    println!("  through an agent in this process  {:8.3} ms  (+{:.3})", median[1], median[1] - median[0]);
    println!("  through an agent behind a socket  {:8.3} ms  (+{:.3})", median[2], median[2] - median[0]);
    println!("attach to a running agent           {:8.3} ms", median[3]);
    println!("attach and run the first command    {:8.3} ms", median[4]);
    for (name, client) in [("in this process", &local), ("behind a socket", &remote)] {
        println!("100 MB of output, {name}    {:8.0} MB/s streamed", throughput(client));
        println!("                                    {:8.0} MB/s collected", collected(client));
    }
    files(&home, &[("in this process", &local), ("behind a socket", &remote)]);
    remote.shutdown().unwrap();
}

fn timed(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn plain_shell() {
    let output = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
}

fn run(client: &Client, command: &str) {
    assert_eq!(client.run(ExecRequest::shell("bench", command)).unwrap().code(), 0);
}

fn attach(detached: &Detached) -> Client {
    daemon::connect_unix(&detached.socket, &[], &ConnectOptions::default()).unwrap()
}

fn throughput(client: &Client) -> f64 {
    let mut running = client.exec(ExecRequest::shell("bench", "head -c 100000000 /dev/zero")).unwrap();
    let (began, mut bytes) = (Instant::now(), 0);
    while let Some(event) = running.next_event().unwrap() {
        if let Event::Output { bytes: piece, .. } = event {
            bytes += piece.len();
        }
    }
    assert_eq!(bytes, 100_000_000);
    bytes as f64 / 1e6 / began.elapsed().as_secs_f64()
}

fn collected(client: &Client) -> f64 {
    let mut request = ExecRequest::shell("bench", "head -c 100000000 /dev/zero");
    request.capture = Capture::Collect(Keep { head: 10_000, tail: 10_000 });
    let began = Instant::now();
    assert_eq!(client.run(request).unwrap().stdout.total, 100_000_000);
    100.0 / began.elapsed().as_secs_f64()
}

fn files(home: &Path, clients: &[(&str, &Client)]) {
    let text: Vec<String> = (0..50_000).map(|n| format!("line {n} of a file that is long enough")).collect();
    let long = home.join("long");
    std::fs::write(&long, text.join("\n")).unwrap();
    let tree = home.join("tree");
    for n in 0..5000 {
        let directory = tree.join(format!("d{}", n / 100));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(format!("f{n}")), text[n * 10..n * 10 + 10].join("\n")).unwrap();
    }
    for (name, client) in clients {
        let lines = |first| LinesRequest { first, ..LinesRequest::new(long.clone()) };
        let read = (0..100).map(|_| timed(|| drop(client.files().read_lines(lines(40_000)).unwrap())));
        println!("500 of 50,000 lines, {name} {:8.3} ms", median(read.collect()));
        let search =
            || drop(client.files().search(SearchRequest::new(tree.clone(), "line 4999[0-9] ")).unwrap());
        println!("search 5,000 files, {name}  {:8.3} ms", median((0..20).map(|_| timed(search)).collect()));
    }
}
