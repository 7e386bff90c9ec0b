//! Which calls of one answer run at the same time. Pure.

use std::path::Path;

use hermes_tools::Sharing;
use hermes_tools::tool::Access;

/// Most calls that run at once.
pub const MOST_AT_ONCE: usize = 8;

/// Cuts calls into groups. Groups run one after the other, the calls of a group at the same time. The order of calls
/// that could disturb each other is kept.
pub fn groups(calls: &[Sharing]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, sharing) in calls.iter().enumerate() {
        let fits = groups.last().is_some_and(|group| {
            group.len() < MOST_AT_ONCE && group.iter().all(|other| can_share(&calls[*other], sharing))
        });
        match groups.last_mut() {
            Some(group) if fits => group.push(place),
            _ => groups.push(vec![place]),
        }
    }
    groups
}

fn can_share(a: &Sharing, b: &Sharing) -> bool {
    match (a, b) {
        (Sharing::InOrder, _) | (_, Sharing::InOrder) => false,
        (Sharing::Freely, _) | (_, Sharing::Freely) => true,
        (Sharing::Files { paths: a, access: of_a }, Sharing::Files { paths: b, access: of_b }) => {
            (*of_a == Access::Read && *of_b == Access::Read)
                || !a.iter().any(|a| b.iter().any(|b| overlap(a, b)))
        }
    }
}

/// Whether one is the other, or lies in it.
fn overlap(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(path: &str, access: Access) -> Sharing {
        Sharing::Files { paths: vec![path.into()], access }
    }

    #[test]
    fn what_changes_nothing_runs_together() {
        let calls = vec![Sharing::Freely; 10];
        assert_eq!(groups(&calls), [(0..8).collect::<Vec<_>>(), vec![8, 9]]);
        assert!(groups(&[]).is_empty());
    }

    #[test]
    fn one_in_order_separates_what_is_around_it() {
        let calls = [Sharing::Freely, Sharing::Freely, Sharing::InOrder, Sharing::InOrder, Sharing::Freely];
        assert_eq!(groups(&calls), [vec![0, 1], vec![2], vec![3], vec![4]]);
    }

    #[test]
    fn a_file_is_not_written_while_another_call_uses_it() {
        use Access::{Read, Write};
        assert_eq!(groups(&[files("/a", Read), files("/a", Read)]), [vec![0, 1]]);
        assert_eq!(groups(&[files("/a", Read), files("/a", Write)]), [vec![0], vec![1]]);
        assert_eq!(groups(&[files("/a", Write), files("/a/b", Write)]), [vec![0], vec![1]], "it lies inside");
        assert_eq!(groups(&[files("/a", Write), files("/b", Write), files("/ab", Read)]), [vec![0, 1, 2]]);
    }
}
