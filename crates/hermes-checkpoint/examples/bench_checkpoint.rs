//! What a snapshot of a directory costs, beside `git add -A` and a commit of the same directory.
//!
//! `cargo run --release -p hermes-checkpoint --example bench_checkpoint [FILES] [ROUNDS]`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints figures and stops at the first failure"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hermes_checkpoint::{Checkpoints, Git, Limits, Mine, Place, Taken, Wish};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let (files, rounds): (usize, usize) = (numbers.next().unwrap_or(5_000), numbers.next().unwrap_or(15));
    let dir = tempfile::tempdir().unwrap();
    let (work, plain) = (dir.path().join("work"), dir.path().join("plain.git"));
    make(&work, files);
    let git = Git::find(&std::env::var_os("PATH").unwrap_or_default()).unwrap();
    let checkpoints = Checkpoints::new(dir.path().join("checkpoints"), git, Limits::default(), None);
    let place = Place::host(&work);
    run(&plain, &work, &["init", "-q", "--bare"]);
    // So that no file is younger than the clocks' steps.
    std::thread::sleep(Duration::from_millis(300));

    println!("{files} files, {rounds} rounds, medians\n");
    let (first, _) = timed(|| checkpoints.take(&place, "first").unwrap());
    let (by_git, ()) = timed(|| commit(&plain, &work));
    row("first snapshot", first, by_git);

    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..rounds {
        let (time, taken) = timed(|| checkpoints.take(&place, "nothing").unwrap());
        assert_eq!(taken, Taken::Unchanged);
        ours.push(time);
        theirs.push(timed(|| commit(&plain, &work)).0);
    }
    row("nothing changed", median(&mut ours), median(&mut theirs));

    let mut looks = Vec::new();
    for round in 0..rounds {
        for file in 0..5 {
            fs::write(work.join(format!("d{file}/f{file}.txt")), format!("round {round} {file}\n")).unwrap();
        }
        let (time, taken) = timed(|| checkpoints.take(&place, "five").unwrap());
        assert!(matches!(taken, Taken::Made(_)));
        ours.push(time);
        theirs.push(timed(|| commit(&plain, &work)).0);
        looks.push(timed(|| checkpoints.look(&place).unwrap()).0);
    }
    row("five files changed", median(&mut ours.split_off(rounds)), median(&mut theirs.split_off(rounds)));
    println!("{:<24}{:>10.1} ms", "look after a turn", milliseconds(median(&mut looks)));
    let id = checkpoints.resolve(&place.key, "2").unwrap();
    let wish = Wish { id, only: None, mine: Mine::Overwrite };
    let (back, restored) = timed(|| checkpoints.restore(&place, &wish).unwrap());
    println!("{:<24}{:>10.1} ms ({} files)", "go back", milliseconds(back), restored.done.len());
}

fn make(work: &Path, files: usize) {
    for file in 0..files {
        let dir = work.join(format!("d{}", file % 200));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("f{file}.txt")), format!("file {file}\n").repeat(40)).unwrap();
    }
}

fn commit(git: &Path, work: &Path) {
    run(git, work, &["add", "-A"]);
    let message = ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "x"];
    run(git, work, &message);
}

fn run(git: &Path, work: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.env("GIT_DIR", git).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    if !args.contains(&"init") {
        command.env("GIT_WORK_TREE", work);
    }
    assert!(command.args(args).current_dir("/").status().unwrap().success());
}

fn timed<T>(does: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = does();
    (start.elapsed(), result)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn row(what: &str, ours: Duration, git: Duration) {
    let ratio = git.as_secs_f64() / ours.as_secs_f64();
    let (ours, git) = (milliseconds(ours), milliseconds(git));
    println!("{what:<24}{ours:>10.1} ms   git add + commit {git:>8.1} ms   {ratio:>6.1} times");
}
