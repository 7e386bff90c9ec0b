//! What /proc knows about processes: who is whose child, and since when.

use std::collections::HashMap;
use std::fs;
use std::io::Read;

use rustix::process::{Pid, PidfdFlags, Signal};

/// A process as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// Clock ticks after boot; together with the number it names a process for good.
    pub(crate) start: u64,
    pub(crate) state: u8,
}

impl Process {
    /// Dead, and waiting for its parent to notice.
    pub(crate) fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Stopped by a signal or by whoever traces it.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }
}

/// Looks at one process; `None` when there is no such (or no /proc).
pub(crate) fn look(pid: i32) -> Option<Process> {
    let mut text = Vec::with_capacity(512);
    fs::File::open(format!("/proc/{pid}/stat")).ok()?.read_to_end(&mut text).ok()?;
    parse_stat(pid, &text)
}

/// How many children of a process with a single thread go on, without looking at every process there is.
pub(crate) fn count_children(pid: i32) -> u32 {
    let goes_on = |child: &&str| {
        let status = fs::read_to_string(format!("/proc/{child}/status"));
        status.is_ok_and(|status| !is_over(&status))
    };
    match fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) {
        Ok(children) => children.split_ascii_whitespace().filter(goes_on).count() as u32,
        // Kernels without that file.
        Err(_) => all().iter().filter(|process| process.parent == pid && !process.is_zombie()).count() as u32,
    }
}

/// Whether a process, by its `status` file, has ended or will not run another instruction: it is a zombie, or a signal
/// that ends it is on its way. One Ctrl-C reaches a shell and its command, and the shell may be the first to go.
fn is_over(status: &str) -> bool {
    /// Signals that do not end a process by themselves.
    const HARMLESS: [i32; 8] = [
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGSTOP,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
        libc::SIGURG,
        libc::SIGWINCH,
    ];
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::trim).unwrap_or_default()
    };
    let signals = |name: &str| u64::from_str_radix(field(name), 16).unwrap_or(0);
    let harmless = HARMLESS.iter().fold(0, |mask, signal| mask | 1_u64 << (signal - 1));
    let pending = signals("SigPnd") | signals("ShdPnd");
    let deadly = pending & !(signals("SigBlk") | signals("SigIgn") | signals("SigCgt") | harmless);
    field("State").starts_with(['Z', 'X']) || deadly != 0
}

/// Every process that can be seen.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(look).collect()
}

/// Everything below `root`, nearest first, without `root` itself.
pub(crate) fn descendants(root: i32) -> Vec<Process> {
    below(root, &all())
}

/// Everything in `processes` that is below `root`.
pub(crate) fn below(root: i32, processes: &[Process]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut found: Vec<Process> = Vec::new();
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

/// Sends a signal to exactly the process that was seen, never to a later one with the same number.
pub(crate) fn signal(process: &Process, number: Signal) -> rustix::io::Result<()> {
    let pid = Pid::from_raw(process.pid).ok_or(rustix::io::Errno::SRCH)?;
    let fd = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(fd) => fd,
        Err(rustix::io::Errno::SRCH) => return Err(rustix::io::Errno::SRCH),
        // Kernels before 5.3, and sandboxes without the call.
        Err(_) => return rustix::process::kill_process(pid, number),
    };
    match look(process.pid) {
        Some(now) if now.start == process.start => rustix::process::pidfd_send_signal(fd, number),
        _ => Err(rustix::io::Errno::SRCH),
    }
}

/// The name in the second field may hold anything, so fields are counted from its last parenthesis.
fn parse_stat(pid: i32, text: &[u8]) -> Option<Process> {
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&text[end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let start = fields.nth(15)?.parse().ok()?;
    Some(Process { pid, parent, session, start, state })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_has_ended_or_is_about_to_does_not_go_on() {
        let status = |state: &str, pending: &str, caught: &str| {
            format!(
                "Name:\tsleep\nState:\t{state}\nSigPnd:\t0000000000000000\nShdPnd:\t{pending}\n\
                 SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t{caught}\n"
            )
        };
        let (none, interrupt, child) = ("0000000000000000", "0000000000000002", "0000000000010000");
        assert!(!is_over(&status("S (sleeping)", none, none)));
        assert!(is_over(&status("Z (zombie)", none, none)));
        assert!(is_over(&status("S (sleeping)", interrupt, none)), "the interrupt will end it");
        assert!(!is_over(&status("S (sleeping)", interrupt, interrupt)), "it may want to go on");
        assert!(!is_over(&status("S (sleeping)", child, none)), "a child that ended is no reason to end");
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_confuse() {
        let line = b"42 (a ) 1 (b) S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 1\n";
        let process = parse_stat(42, line).unwrap();
        assert_eq!((process.parent, process.session, process.start), (7, 40, 987_654));
        assert!(!process.is_zombie());
    }

    #[test]
    fn this_process_is_found_below_its_parent() {
        let me = std::process::id() as i32;
        let parent = look(me).unwrap().parent;
        assert!(descendants(parent).iter().any(|process| process.pid == me));
    }

    #[test]
    fn a_circle_of_reused_numbers_ends() {
        let process = |pid, parent| Process { pid, parent, session: 0, start: 0, state: b'S' };
        let circle = [process(2, 1), process(3, 2), process(2, 3)];
        assert_eq!(below(1, &circle).len(), 3);
    }

    #[test]
    fn a_process_that_is_gone_is_not_signalled() {
        let mut child = std::process::Command::new("/bin/true").spawn().unwrap();
        let pid = child.id() as i32;
        let seen = Process { pid, parent: 0, session: 0, start: 1, state: b'S' };
        assert!(signal(&seen, Signal::KILL).is_err());
        assert!(child.wait().unwrap().success());
    }
}
