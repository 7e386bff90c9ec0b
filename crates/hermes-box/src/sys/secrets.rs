//! Keeping what this process knows from other processes of the same user.

#![allow(unsafe_code)]

use std::ffi::CStr;

unsafe extern "C" {
    static environ: *mut *mut libc::c_char;
}

/// Others of the same user can no longer read this process's memory, environment or descriptors, nor attach to it.
pub(crate) fn forbid_inspection() {
    // SAFETY: it changes an attribute of this process and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
}

/// Takes a variable out of the environment and wipes it where the kernel shows it (`/proc/self/environ`). To be called while this
/// process has a single thread.
pub(crate) fn take_variable(name: &str) -> Option<Vec<u8>> {
    // SAFETY: with a single thread nobody else looks at or changes the environment. The strings the list points to are this
    // process's own memory and end with a zero byte; each is overwritten within its length.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let bytes = CStr::from_ptr(*entry).to_bytes();
            if let Some(value) = bytes.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
            {
                let (value, length) = (value.to_vec(), bytes.len());
                std::ptr::write_bytes((*entry).cast::<u8>(), b'x', length);
                // What is left is no longer a variable of that name; take its place out of the list as well.
                let mut next = entry;
                while !(*next).is_null() {
                    *next = *next.add(1);
                    next = next.add(1);
                }
                return Some(value);
            }
            entry = entry.add(1);
        }
        None
    }
}
