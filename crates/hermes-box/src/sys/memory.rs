//! Keeping a process that mostly waits small, and alive when memory runs out.

#![allow(unsafe_code)]

/// All threads share one heap. Each would get its own otherwise and keep what it once used, though most of them live for a moment.
pub(crate) fn stay_small() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it sets a parameter of the allocator; to be called while there is a single thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives what is not used back to the system.
pub(crate) fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the allocator may be asked this at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// How much more readily a command is killed than the agent when memory runs out, in thousandths of all memory.
const READINESS: i32 = 300;

/// When memory runs out this process and what it starts go before the agent. Where that cannot be said, nothing changes.
pub(crate) fn offer_to_the_killer() {
    const FILE: &str = "/proc/self/oom_score_adj";
    let Ok(now) = std::fs::read_to_string(FILE) else { return };
    if let Ok(now) = now.trim().parse::<i32>() {
        let _ = std::fs::write(FILE, (now + READINESS).min(1000).to_string());
    }
}
