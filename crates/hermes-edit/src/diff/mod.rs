//! The unified difference of two texts.

/// The unified difference from `old` to `new` with three lines of context; empty if they are equal.
///
/// The names go into the `---` and `+++` lines as they are; use `/dev/null` for a file that is not there.
pub fn unified(old_name: &str, new_name: &str, old: &str, new: &str) -> String {
    let _ = (old_name, new_name, old, new);
    String::new()
}
