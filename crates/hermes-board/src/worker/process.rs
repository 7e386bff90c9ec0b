//! Processes: which one is which, whether it goes on, and who is below whom. All from `/proc`.

use std::collections::HashMap;
use std::io::Read;
use std::{fs, io};

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::dispatch::Liveness;
use crate::workers::Process;

impl Process {
    /// This process.
    pub fn current() -> io::Result<Self> {
        Self::find(std::process::id())?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The process that has this number now.
    pub fn find(pid: u32) -> io::Result<Option<Self>> {
        let seen = look(pid as i32).filter(|seen| !seen.is_dead());
        let boot_id = boot_id()?;
        Ok(seen.map(|seen| Self { pid, started_ticks: seen.start, boot_id }))
    }

    /// Whether it goes on.
    pub fn liveness(&self) -> Liveness {
        let same_start = boot_id().is_ok_and(|boot| boot == self.boot_id);
        match look(self.pid as i32) {
            Some(seen) if same_start && seen.start == self.started_ticks && !seen.is_dead() => {
                Liveness::Alive
            }
            _ => Liveness::Dead,
        }
    }

    /// Whether it began since this start of the machine, and on this machine.
    pub fn is_of_this_start(&self) -> bool {
        boot_id().is_ok_and(|boot| boot == self.boot_id)
    }

    /// Sends it a signal; a later process with its number never gets it.
    pub fn signal(&self, signal: Signal) -> Liveness {
        if self.liveness() == Liveness::Dead {
            return Liveness::Dead;
        }
        let seen = Seen { pid: self.pid as i32, start: self.started_ticks, ..Seen::default() };
        match seen.signal(signal) {
            Ok(()) => Liveness::Alive,
            Err(_) => Liveness::Dead,
        }
    }
}

/// Whether a process of which only the number is known goes on.
pub fn liveness_of_number(pid: i64) -> Liveness {
    match i32::try_from(pid).ok().filter(|pid| *pid > 0).and_then(look) {
        Some(seen) if !seen.is_dead() => Liveness::Alive,
        _ => Liveness::Dead,
    }
}

/// Sends a signal to a process of which only the number is known. Never to a whole group, and never to the first process.
pub fn signal_number(pid: i64, signal: Signal) -> Liveness {
    let found = i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(look);
    match found {
        Some(seen) if !seen.is_dead() && seen.signal(signal).is_ok() => Liveness::Alive,
        _ => Liveness::Dead,
    }
}

/// Which start of the machine this is.
fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// A process as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    pub pid: i32,
    pub parent: i32,
    /// Clock ticks after the machine started; together with the number it names a process for good.
    pub start: u64,
    state: u8,
}

impl Seen {
    /// Dead, and waiting for its parent to notice.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Sends a signal to exactly this one, never to a later one with the same number.
    pub fn signal(&self, signal: Signal) -> rustix::io::Result<()> {
        let pid = Pid::from_raw(self.pid).ok_or(rustix::io::Errno::SRCH)?;
        let handle = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => handle,
            Err(rustix::io::Errno::SRCH) => return Err(rustix::io::Errno::SRCH),
            // Kernels before 5.3, and sandboxes without the call.
            Err(_) => return rustix::process::kill_process(pid, signal),
        };
        match look(self.pid) {
            Some(now) if now.start == self.start => rustix::process::pidfd_send_signal(handle, signal),
            _ => Err(rustix::io::Errno::SRCH),
        }
    }
}

/// Looks at one process; nothing when there is no such.
pub(crate) fn look(pid: i32) -> Option<Seen> {
    let mut text = Vec::with_capacity(512);
    fs::File::open(format!("/proc/{pid}/stat")).ok()?.read_to_end(&mut text).ok()?;
    parse(pid, &text)
}

/// The name in the second field may hold anything, so fields are counted from its last parenthesis.
fn parse(pid: i32, text: &[u8]) -> Option<Seen> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(&text[end + 1..]).ok()?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some(Seen { pid, parent, start, state })
}

/// Everything below a process that goes on, without itself.
pub(crate) fn below(root: i32) -> Vec<Seen> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: Vec<Seen> = numbers.filter_map(look).collect();
    let mut found = among(root, &all);
    found.retain(|seen| !seen.is_dead());
    found
}

/// What of these is below a process.
fn among(root: i32, all: &[Seen]) -> Vec<Seen> {
    let mut children: HashMap<i32, Vec<Seen>> = HashMap::new();
    for seen in all {
        children.entry(seen.parent).or_default().push(*seen);
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        // Taking the entry out ends the walk even if a reused number made a circle.
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child.pid);
            found.push(child);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_confuse() {
        let line = b"42 (a ) 1 (b) S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 1\n";
        assert_eq!(parse(42, line), Some(Seen { pid: 42, parent: 7, start: 987_654, state: b'S' }));
    }

    #[test]
    fn a_process_is_told_from_a_later_one_with_its_number() {
        let me = Process::current().unwrap();
        assert_eq!(me.liveness(), Liveness::Alive);
        let earlier = Process { started_ticks: me.started_ticks - 1, ..me.clone() };
        assert_eq!(earlier.liveness(), Liveness::Dead);
        assert_eq!(earlier.signal(Signal::KILL), Liveness::Dead, "and it is not killed for the other");
        let before_the_restart = Process { boot_id: "another".into(), ..me };
        assert_eq!(before_the_restart.liveness(), Liveness::Dead);
    }

    #[test]
    fn the_dead_are_not_alive_although_nobody_noticed() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let process = Process::find(child.id()).unwrap().unwrap();
        assert!(below(std::process::id() as i32).iter().any(|seen| seen.pid == child.id() as i32));
        assert_eq!(process.signal(Signal::KILL), Liveness::Alive);
        hermes_testkit::wait_until(std::time::Duration::from_secs(20), "the child to be dead", || {
            process.liveness() == Liveness::Dead
        });
        assert_eq!(liveness_of_number(i64::from(child.id())), Liveness::Dead);
        child.wait().unwrap();
    }

    #[test]
    fn numbers_that_are_no_process_get_no_signal() {
        for number in [-1, 0, 1, i64::MAX] {
            assert_eq!(signal_number(number, Signal::TERM), Liveness::Dead);
        }
    }

    #[test]
    fn a_circle_of_reused_numbers_ends() {
        let seen = |pid, parent| Seen { pid, parent, start: 0, state: b'S' };
        assert_eq!(among(1, &[seen(2, 1), seen(3, 2), seen(2, 3)]).len(), 3);
    }
}
