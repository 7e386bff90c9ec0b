//! Work and history that git would lose.

use super::{Rule, dangerous};
use crate::command::call::Call;
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    dangerous("git-push-force", "it overwrites or deletes history on a server", |call, _| {
        pushes_by_force(call)
    })
    .beyond()
    .words(2),
    dangerous("git-reset-hard", "it throws away changes that were not committed", |call, _| {
        resets_hard(call)
    })
    .words(2),
    dangerous("git-clean", "it deletes files that git does not know", |call, _| cleans(call)).words(2),
    dangerous("git-branch-delete", "it deletes a branch, merged or not", |call, _| deletes_branch(call))
        .words(2),
    dangerous("git-rewrite", "it rewrites history or removes what could bring it back", |call, _| {
        rewrites(call)
    })
    .words(2),
];

/// The command of git without the options before it: `git -C x push -f` is `push -f`.
pub(in crate::command) fn without_globals(call: &Call) -> Option<Call> {
    if !call.is(&["git"]) {
        return None;
    }
    let mut rest = call.args();
    while let Some((first, after)) = rest.split_first() {
        let text = first.text().unwrap_or_default();
        match text.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env" => {
                rest = after.get(1..).unwrap_or_default();
            }
            flag if flag.starts_with('-') => rest = after,
            _ => break,
        }
    }
    let mut words = vec![Word::known("git")];
    words.extend(rest.iter().cloned());
    Some(Call { words, ..call.clone() })
}

/// The subcommand as a call of its own, if it is this one.
fn sub(call: &Call, name: &str) -> Option<Call> {
    let call = without_globals(call)?;
    let words = call.words.get(1..)?.to_vec();
    (words.first()?.text().as_deref() == Some(name)).then_some(Call { words, ..call })
}

fn pushes_by_force(call: &Call) -> bool {
    sub(call, "push").is_some_and(|push| {
        push.short('f')
            || push.short('d')
            || push.long("force", 2)
            || push.long("delete", 1)
            || push.long("mirror", 1)
            || push.long("prune", 3)
            || push.long("force-with-lease", 6)
            || push.operands().iter().skip(1).any(|word| word.beginning().starts_with(['+', ':']))
    })
}

fn resets_hard(call: &Call) -> bool {
    sub(call, "reset").is_some_and(|reset| reset.long("hard", 2) || reset.long("merge", 2))
        || sub(call, "checkout").is_some_and(|checkout| {
            checkout.short('f')
                || checkout.long("force", 1)
                || checkout.operands().len() == 1 && checkout.has(".")
        })
        || sub(call, "restore")
            .is_some_and(|restore| restore.has(".") && !restore.has_any(&["--staged", "-S"]))
        || sub(call, "stash").is_some_and(|stash| stash.has_any(&["clear", "drop"]))
        || sub(call, "worktree")
            .is_some_and(|tree| tree.has("remove") && (tree.short('f') || tree.long("force", 1)))
}

fn cleans(call: &Call) -> bool {
    sub(call, "clean").is_some_and(|clean| {
        (clean.short('f') || clean.long("force", 1)) && !clean.short('n') && !clean.long("dry-run", 2)
    })
}

fn deletes_branch(call: &Call) -> bool {
    sub(call, "branch").is_some_and(|branch| {
        branch.short('D')
            || (branch.short('d') || branch.long("delete", 3))
                && (branch.short('f') || branch.long("force", 1))
    })
}

fn rewrites(call: &Call) -> bool {
    sub(call, "filter-branch").is_some()
        || sub(call, "filter-repo").is_some()
        || call.is(&["bfg", "git-filter-repo"])
        || sub(call, "reflog").is_some_and(|log| log.has_any(&["expire", "delete"]))
        || sub(call, "update-ref").is_some_and(|refs| refs.short('d'))
        || sub(call, "gc")
            .is_some_and(|gc| gc.flags().any(|flag| flag == "--prune=now" || flag == "--prune=all"))
}
