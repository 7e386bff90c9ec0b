//! A home with a long past: a question reads no more of it than one with a short past.

use hermes_store::sessions::{NewMessage, NewSession, Role, SessionId, SessionStore};
use hermes_testkit::Hermes;
use jiff::Timestamp;

use super::support::{HERMES, Talk};

/// Fills the store with sessions of many messages each.
fn past(talk: &Talk, sessions: usize, each: usize) {
    let mut store = SessionStore::open(&talk.home.path().join("state.db")).unwrap();
    let at = Timestamp::now();
    // The newest conversation is a short one in every home, so that going on with it costs the same.
    for (number, each) in std::iter::repeat_n(each, sessions).chain([10]).enumerate() {
        let session =
            NewSession::new(SessionId::from(format!("20250101_{number:06}_aaaaaa").as_str()), "cli", at);
        store.create(&session).unwrap();
        let message = |place: usize| {
            NewMessage::new(
                if place.is_multiple_of(2) { Role::User } else { Role::Assistant },
                format!("message {place} of many"),
                at,
            )
        };
        store.append_all(&session.id, &(0..each).map(message).collect::<Vec<_>>()).unwrap();
    }
}

/// Bytes that reading calls brought in while a command ran, by the kernel's count.
fn bytes_read(talk: &Talk, args: &str) -> u64 {
    let script = format!("{HERMES} {args} > /dev/null && cat /proc/self/io && :");
    // The shell's own figure holds that of children it waited for.
    let script =
        script.replace("cat /proc/self/io", "while read -r line; do echo \"$line\"; done < /proc/$$/io");
    let done = Hermes::new("/bin/bash", &talk.home).args(["-c", &script]).run();
    let out = done.success().out();
    out.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[test]
fn the_start_does_not_grow_with_the_past() {
    let (short, long) = (Talk::with("always\nsay \"ok\""), Talk::with("always\nsay \"ok\""));
    past(&short, 1, 10);
    past(&long, 100, 1000);
    for args in ["-z go", "-z next -c"] {
        // The first run of a home reads what it will find in a cache later.
        bytes_read(&short, "-z warm");
        bytes_read(&long, "-z warm");
        let (few, many) = (bytes_read(&short, args), bytes_read(&long, args));
        assert!(many < few + 512 * 1024, "{args}: {few} bytes with a short past, {many} with a long one");
    }
}
