//! Where a path leads when every symbolic link on the way is followed, up to where nothing is any more.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many links as the system itself follows.
const MAX_LINKS: usize = 40;

/// The path without links, and the links that were followed. Parts that do not exist stay as they are named.
pub(super) fn follow(path: &Path) -> io::Result<(PathBuf, Vec<PathBuf>)> {
    let (mut real, mut links) = (PathBuf::from("/"), Vec::new());
    let mut ahead = steps(path);
    while let Some(step) = ahead.pop_front() {
        match step {
            Step::Root => real = PathBuf::from("/"),
            Step::Up => {
                real.pop();
            }
            Step::Into(name) => {
                real.push(name);
                let Ok(target) = fs::read_link(&real) else { continue };
                if links.len() == MAX_LINKS {
                    return Err(io::Error::from_raw_os_error(libc::ELOOP));
                }
                links.push(real.clone());
                real.pop();
                for step in steps(&target).into_iter().rev() {
                    ahead.push_front(step);
                }
            }
        }
    }
    Ok((real, links))
}

enum Step {
    Root,
    Up,
    Into(OsString),
}

fn steps(path: &Path) -> VecDeque<Step> {
    let step = |part: Component<'_>| match part {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Into(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(step).collect()
}
