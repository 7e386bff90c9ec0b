//! What is left of a script whose launcher did not live to clean up after it.

use std::path::Path;
use std::time::Duration;

use hermes_box::client::Client;
use hermes_box::proto::file::Depth;
use hermes_box::proto::info::LeftRunning;

/// What starts every launcher, and so how the box names what is left of one.
pub(super) const FIND_PYTHON: &str = include_str!("find_python.sh");

/// How often, and how long each time, processes that were told to end are waited for.
const MOST_LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(25);

/// Ends the processes that scripts of a session left running, and waits until they are gone.
pub(super) fn end(client: &Client, session: &str) {
    for _ in 0..MOST_LOOKS {
        let Ok(info) = client.info() else { return };
        let mut left = info.left_running.iter().filter(|left| is_of_script(left, session)).peekable();
        if left.peek().is_none() {
            return;
        }
        for left in left {
            // One that has ended meanwhile needs nothing.
            let _ = client.end_left_running(left.id);
        }
        std::thread::sleep(PAUSE);
    }
}

fn is_of_script(left: &LeftRunning, session: &str) -> bool {
    let begins = format!("sh -c {FIND_PYTHON}");
    left.session.as_deref() == Some(session) && left.command.starts_with(begins.as_bytes())
}

/// Removes the directory a launcher made for its script. Only one that is named like it: the name came from there.
pub(super) fn remove(client: &Client, directory: &Path) {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if directory.is_absolute() && name.starts_with("hermes_sandbox_") {
        // Usually it is gone already.
        let _ = client.files().remove(directory, Depth::Recursive);
    }
}
