//! The labels a container carries: three that are an agreed contract, and ours beside them.

use std::collections::BTreeMap;

use super::identity::Identity;

/// Marks every container of this family of programs; its value is always `1`.
pub const AGENT: &str = "hermes-agent";
/// The sanitised task id.
pub const TASK: &str = "hermes-task-id";
/// The sanitised profile name.
pub const PROFILE: &str = "hermes-profile";
/// The full identity, as a hash.
pub const KEY: &str = "hermes-key";
/// The home it belongs to.
pub const HOME: &str = "hermes-home";
/// The machine and installation that made it, as a hash.
pub const MACHINE: &str = "hermes-machine";
/// `kind:id` of the scope.
pub const SCOPE: &str = "hermes-scope";
/// The hash of the create request.
pub const FINGERPRINT: &str = "hermes-fingerprint";
/// The fields the fingerprint was made of, as JSON.
pub const FIELDS: &str = "hermes-fields";
/// Whether the next process may find it again: `shared` or `single`.
pub const REUSE: &str = "hermes-reuse";
/// Content hash of the box program it was started with.
pub const PROGRAM: &str = "hermes-program";
/// The engine's transport: `socket` where a directory is shared with the container, else `exec`.
pub const TRANSPORT: &str = "hermes-transport";
/// Why our program cannot run in it, if it cannot.
pub const PLAIN: &str = "hermes-plain";

/// Value of [`REUSE`] for a container that every process may find.
pub const REUSE_SHARED: &str = "shared";
/// Value of [`REUSE`] for a container of one process.
pub const REUSE_SINGLE: &str = "single";

/// Longest label value of the contract.
const MAX_VALUE: usize = 63;

/// Makes a label value out of any text: one underscore for each character that is not allowed,
/// at most 63 characters, never empty.
pub fn sanitise(value: &str) -> String {
    let clean: String = value
        .chars()
        .take(MAX_VALUE)
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' })
        .collect();
    if clean.is_empty() { "unknown".to_owned() } else { clean }
}

/// The three labels of the contract.
pub fn contract(identity: &Identity) -> [(&'static str, String); 3] {
    [(AGENT, "1".to_owned()), (TASK, sanitise(identity.scope.id())), (PROFILE, sanitise(&identity.profile))]
}

/// Our own labels that follow from the identity alone.
pub fn own(identity: &Identity) -> [(&'static str, String); 4] {
    [
        (KEY, identity.key()),
        (HOME, identity.home.display().to_string()),
        (MACHINE, identity.machine_hash()),
        (SCOPE, format!("{}:{}", identity.scope.kind(), identity.scope.id())),
    ]
}

/// The filters that find every container the contract calls ours, as engine arguments.
pub fn probe_filters(identity: &Identity) -> Vec<String> {
    contract(identity)
        .into_iter()
        .flat_map(|(name, value)| ["--filter".to_owned(), format!("label={name}={value}")])
        .collect()
}

/// A label map as it comes from the engine.
pub type Labels = BTreeMap<String, String>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_values_stay_as_they_are() {
        for value in ["default", "task-1", "a.b_c-D9"] {
            assert_eq!(sanitise(value), value);
        }
    }

    #[test]
    fn every_other_character_becomes_one_underscore() {
        assert_eq!(sanitise("emoji-😀-here"), "emoji-_-here");
        assert_eq!(sanitise("a/b c:d"), "a_b_c_d");
        assert_eq!(sanitise("../../etc"), ".._.._etc");
        assert_eq!(sanitise("x=y\n"), "x_y_");
    }

    #[test]
    fn values_are_cut_at_63_and_never_empty() {
        assert_eq!(sanitise(&"é".repeat(100)), "_".repeat(63));
        assert_eq!(sanitise(""), "unknown");
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_a_legal_value(text in ".*") {
            let value = sanitise(&text);
            proptest::prop_assert!(!value.is_empty() && value.len() <= MAX_VALUE);
            proptest::prop_assert!(value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)));
            proptest::prop_assert_eq!(sanitise(&value), value);
        }
    }
}
