//! kill -9 of dispatchers, guards and workers at random moments, again and again: every card ends in a lawful state, no
//! card runs twice at once, and nothing is left.
//!
//! `HERMES_CRASH_ROUNDS=500` makes it long, `HERMES_CRASH_SEED` repeats a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hermes_board::Board;
use hermes_board::card::{Outcome, Status, WorkspaceKind};
use hermes_board::create::NewCard;
use hermes_board::state::{Mode, State};
use hermes_testkit::crash::Rng;
use hermes_testkit::{Process, Running, TestHome, wait_until};

use crate::support::{HERMES, LIMIT, board, cards, dispatcher, picture};

/// Rounds of the short version.
const SHORT: usize = 25;
/// Cards on the board.
const CARDS: usize = 200;

/// A worker in a shell. It holds a mark for its card as long as it lives and complains when another living one holds it.
/// What it does depends on the last digit of the card's name.
const WORKER: &str = r#"#!/bin/sh
card=$HERMES_KANBAN_TASK
state() { set -- $(sed 's/([^)]*)/x/' "/proc/$1/stat" 2>/dev/null); [ "${3:-Z}" = Z ] || echo "${22}"; }
me="$$ $(state $$)"
own=$MARKS/.$card.$$
echo "$me" > "$own"
until ln "$own" "$MARKS/$card" 2>/dev/null; do
  read -r pid ticks 2>/dev/null < "$MARKS/$card" || continue
  if [ "$(state "$pid")" = "$ticks" ]; then
    echo "$card: $me while $pid $ticks" >> "$MARKS/twice"
    break
  fi
  rm -f "$MARKS/$card"
done
rm -f "$own"
echo "$card" >> "$MARKS/began"
close() { "$UNDER_TEST" kanban "$@"; code=$?; rm -f "$MARKS/$card"; exit $code; }
case $card in
  *a) setsid sleep 600 < /dev/null > /dev/null 2>&1 & close complete "$card" --summary "left somebody behind" ;;
  *b) if [ ! -e "$MARKS/failed.$card" ]; then : > "$MARKS/failed.$card"; sleep 0.2; rm -f "$MARKS/$card"; exit 3; fi
      close complete "$card" --summary "better the second time" ;;
  *c) rm -f "$MARKS/$card"; exit 0 ;;
  *d) trap '' TERM; sleep 0.3 & sleep 0.6; close complete "$card" --summary "slow and stubborn" ;;
  *e) close block "$card" "somebody must decide" ;;
  *f) echo done > work.txt; git add work.txt 2>/dev/null && git -c user.name=w -c user.email=w@x commit -qm "work on $card" 2>/dev/null
      close complete "$card" --summary "committed" ;;
  *)  sleep 0.05; close complete "$card" --summary "done" ;;
esac
"#;

#[test]
fn nothing_is_lost_or_doubled_when_anything_is_killed() {
    let rounds = number("HERMES_CRASH_ROUNDS").unwrap_or(SHORT as u64) as usize;
    let seed = number("HERMES_CRASH_SEED").unwrap_or(0x1eaf);
    let mut town = Town::new();
    let mut rng = Rng::seeded(seed);
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    let mut daemon = town.daemon();
    let began = Instant::now();
    for round in 0..rounds {
        std::thread::sleep(rng.duration(&(Duration::ZERO..Duration::from_millis(250))));
        let victim = match rng.next_u64() % 3 {
            0 => {
                daemon.kill9();
                daemon = town.daemon();
                Some("dispatcher")
            }
            1 => town.kill(&mut rng, " attend --run ", "guard"),
            _ => town.kill(&mut rng, "worker.sh", "worker"),
        };
        *tally.entry(victim.unwrap_or("nobody")).or_default() += 1;
        town.check(round, seed);
        town.top_up(rounds);
    }
    let killed: usize = tally.iter().filter(|(who, _)| **who != "nobody").map(|(_, count)| count).sum();
    assert!(killed * 2 >= rounds, "most kills must hit somebody: {tally:?}");
    if rounds > SHORT {
        town.wait_until_all_is_done();
    }
    town.close(daemon);
    town.check_the_end(rounds, seed);
    let cards = cards(&mut town.board);
    let attempts: usize = cards.iter().map(|card| town.board.details(&card.id).unwrap().attempts.len()).sum();
    #[allow(clippy::print_stdout, reason = "the result of a long run")]
    {
        println!(
            "{rounds} rounds in {:.0} s, seed {seed}: killed {tally:?}; {} cards, {attempts} attempts, {} of them began to work",
            began.elapsed().as_secs_f64(),
            cards.len(),
            town.began()
        );
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.trim().parse().ok()
}

/// A board with workers in a shell.
struct Town {
    home: TestHome,
    board: Board,
    marks: PathBuf,
    repository: PathBuf,
    made: usize,
}

impl Town {
    fn new() -> Self {
        let home = TestHome::new();
        // Failing costs nothing here, or cards would be given up for being killed.
        home.config(
            "kanban:\n  max_in_progress_host: 6\n  failure_limit: 1000000\n  infrastructure_failure_limit: 1000000\n  \
             retry_backoff_seconds: 0\n  dispatch_interval_seconds: 1\n",
        );
        for name in ["alpha", "beta", "gamma"] {
            home.write(format!("profiles/{name}/config.yaml"), "");
        }
        let marks = home.temp_dir().join("marks");
        std::fs::create_dir_all(&marks).unwrap();
        let script = home.temp_dir().join("worker.sh");
        std::fs::write(&script, WORKER).unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let repository = home.work_dir().join("repository");
        std::fs::create_dir_all(&repository).unwrap();
        git(&repository, &["init", "-q", "-b", "main"]);
        git(
            &repository,
            &["-c", "user.name=t", "-c", "user.email=t@x", "commit", "-q", "--allow-empty", "-m", "begin"],
        );
        let mut board = board(&home);
        board.set_state(&State { mode: Mode::Active, ..State::default() }).unwrap();
        let mut town = Self { home, board, marks, repository, made: 0 };
        town.make(CARDS);
        town
    }

    /// Makes cards; every third has a worktree.
    fn make(&mut self, count: usize) {
        for _ in 0..count {
            let at = self.made;
            self.made += 1;
            let mut new = NewCard::new(format!("card {at}"));
            new.assignee = Some(["alpha", "beta", "gamma"][at % 3].to_owned());
            if at.is_multiple_of(3) {
                new.workspace_kind = WorkspaceKind::Worktree;
                new.workspace_path = Some(self.repository.display().to_string());
            }
            self.board.create(&new, now()).unwrap();
        }
    }

    /// A long run must not run out of work.
    fn top_up(&mut self, rounds: usize) {
        if rounds <= SHORT {
            return;
        }
        let open = cards(&mut self.board).iter().filter(|card| is_open(card.status)).count();
        if open < CARDS / 4 {
            self.make(CARDS / 2);
        }
    }

    fn daemon(&self) -> Running {
        let script = self.home.temp_dir().join("worker.sh");
        dispatcher(
            &self.home,
            &[
                ("HERMES_BIN", script.to_str().unwrap()),
                ("MARKS", self.marks.to_str().unwrap()),
                ("UNDER_TEST", HERMES),
                ("HERMES_KANBAN_CRASH_GRACE_SECONDS", "0"),
            ],
        )
    }

    /// Kills one of the processes with this word in their command, if there is one.
    fn kill<'a>(&self, rng: &mut Rng, word: &str, name: &'a str) -> Option<&'a str> {
        let found: Vec<Process> =
            self.home.processes().into_iter().filter(|process| process.command.contains(word)).collect();
        let victim = found.get((rng.next_u64() % found.len().max(1) as u64) as usize)?;
        victim.kill();
        Some(name)
    }

    /// What must always hold.
    #[track_caller]
    fn check(&mut self, round: usize, seed: u64) {
        let twice = std::fs::read_to_string(self.marks.join("twice")).unwrap_or_default();
        assert_eq!(twice, "", "round {round}, seed {seed}: cards ran twice at once");
        if let Some(problem) = problems(&mut self.board).into_iter().next() {
            panic!("round {round}, seed {seed}: {problem}\n{}", picture(&self.home, &mut self.board));
        }
    }

    fn wait_until_all_is_done(&mut self) {
        let deadline = Instant::now() + Duration::from_mins(20);
        loop {
            let open = cards(&mut self.board).iter().filter(|card| is_open(card.status)).count();
            if open == 0 {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "cards are open still\n{}",
                picture(&self.home, &mut self.board)
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Nothing new is started, what runs ends, and the dispatcher goes.
    fn close(&mut self, mut daemon: Running) {
        self.board.set_state(&State { mode: Mode::Paused, ..State::default() }).unwrap();
        let deadline = Instant::now() + LIMIT;
        while cards(&mut self.board).iter().any(|card| card.status == Status::Running) {
            assert!(Instant::now() < deadline, "cards run still\n{}", picture(&self.home, &mut self.board));
            std::thread::sleep(Duration::from_millis(50));
        }
        // Guards may have a last word to write.
        let home = &self.home;
        wait_until(LIMIT, "every guard ends", || {
            home.processes().iter().all(|process| !process.command.contains(" attend --run "))
        });
        daemon.signal(hermes_testkit::Signal::TERM);
        daemon.wait(LIMIT).success();
    }

    #[track_caller]
    fn check_the_end(&mut self, rounds: usize, seed: u64) {
        self.check(rounds, seed);
        let left = self.home.processes();
        assert!(left.is_empty(), "processes are left: {left:?}");
        let workers = self.board.workers().unwrap();
        assert!(workers.is_empty(), "workers are not known to have ended: {workers:?}");
        let worktrees = git(&self.repository, &["worktree", "list", "--porcelain"]);
        for card in cards(&mut self.board) {
            let details = self.board.details(&card.id).unwrap();
            let completed =
                details.attempts.iter().filter(|attempt| attempt.outcome == Some(Outcome::Completed)).count();
            assert_eq!(completed, usize::from(card.status == Status::Done), "{}", card.id);
            if card.status == Status::Done {
                let dir = self.repository.join(".worktrees").join(card.id.as_str());
                assert!(!dir.exists(), "the worktree of {} is left", card.id);
                assert!(!worktrees.contains(card.id.as_str()), "git still knows a worktree of {}", card.id);
                let scratch = self.home.path().join("kanban/workspaces").join(card.id.as_str());
                assert!(!scratch.exists(), "the directory of {} is left", card.id);
            }
            // What was committed is there.
            if card.status == Status::Done
                && card.id.as_str().ends_with('f')
                && card.workspace_kind == WorkspaceKind::Worktree
            {
                let log = git(&self.repository, &["log", "--all", "--format=%s"]);
                assert!(log.contains(&format!("work on {}", card.id)), "the commit of {} is lost", card.id);
            }
        }
    }

    fn began(&self) -> usize {
        std::fs::read_to_string(self.marks.join("began")).unwrap_or_default().lines().count()
    }
}

fn is_open(status: Status) -> bool {
    matches!(status, Status::Todo | Status::Ready | Status::Running | Status::Scheduled)
}

/// What is unlawful about a board at any moment.
fn problems(board: &mut Board) -> Vec<String> {
    let mut problems = Vec::new();
    for card in cards(board) {
        let details = board.details(&card.id).unwrap();
        let card = &details.card;
        let open: Vec<_> = details.attempts.iter().filter(|attempt| attempt.ended_at.is_none()).collect();
        let lawful = match card.status {
            Status::Running => {
                open.len() == 1 && card.current_run == Some(open[0].id) && card.claim_lock.is_some()
            }
            _ => open.is_empty() && card.current_run.is_none() && card.claim_lock.is_none(),
        };
        if !lawful {
            problems.push(format!("{card:?} has the open attempts {open:?}"));
        }
    }
    problems
}

fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[track_caller]
fn git(dir: &Path, args: &[&str]) -> String {
    let ended = Command::new("git").args(args).current_dir(dir).output().unwrap();
    assert!(ended.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8_lossy(&ended.stdout).into_owned()
}
