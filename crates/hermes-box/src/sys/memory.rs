//! Keeping a process that mostly waits small.

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
