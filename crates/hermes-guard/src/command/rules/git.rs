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
    let mirrors = call.texts().iter().any(|text| text.starts_with("remote.") && text.contains(".mirror="));
    if mirrors && sub(call, "push").is_some() {
        return true;
    }
    sub(call, "push").is_some_and(|push| {
        !push.short('n')
            && !push.has("--dry-run")
            && (push.short('f')
                || push.short('d')
                || push.long("force", 2)
                || push.long("delete", 1)
                || push.long("mirror", 1)
                || push.long("prune", 3)
                || push.long("force-with-lease", 6)
                || push.operands().iter().skip(1).any(|word| word.beginning().starts_with(['+', ':'])))
    })
}

/// Whether a path given to git stands for everything.
fn is_all(word: &Word) -> bool {
    matches!(word.text().as_deref(), Some("." | "./" | ":/" | "*" | ":/*" | ":(top)" | ".."))
}

fn resets_hard(call: &Call) -> bool {
    let everything = |sub: &Call| sub.operands().iter().any(|word| is_all(word));
    sub(call, "reset")
        .is_some_and(|reset| reset.long("hard", 2) || reset.long("merge", 2) || reset.long("keep", 2))
        || sub(call, "checkout")
            .is_some_and(|checkout| checkout.short('f') || checkout.long("force", 1) || everything(&checkout))
        || sub(call, "switch").is_some_and(|switch| {
            switch.short('f') || switch.long("force", 6) || switch.long("discard-changes", 2)
        })
        || sub(call, "restore").is_some_and(|restore| {
            let only_staged = restore.has_any(&["--staged", "-S"]) && !restore.has_any(&["--worktree", "-W"]);
            everything(&restore) && !only_staged
        })
        || sub(call, "read-tree").is_some_and(|tree| tree.has("--reset") && tree.short('u'))
        || sub(call, "checkout-index").is_some_and(|index| index.short('f') && index.short('a'))
        || sub(call, "rm").is_some_and(|rm| {
            let cached = rm.has("--cached");
            !cached && !rm.short('n') && (rm.short('r') || everything(&rm))
        })
        || sub(call, "submodule").is_some_and(|module| {
            module.has("deinit") && (module.short('f') || module.long("force", 1) || module.has("--all"))
        })
        || sub(call, "stash").is_some_and(|stash| stash.has_any(&["clear", "drop"]))
        || sub(call, "worktree")
            .is_some_and(|tree| tree.has("remove") && (tree.short('f') || tree.long("force", 1)))
        || by_others(call)
}

/// The same in other programs that keep versions.
fn by_others(call: &Call) -> bool {
    match call.name().as_deref() {
        Some("hg") => {
            call.has_any(&["update", "up", "revert"])
                && (call.short('C') || call.has_any(&["--clean", "--all", "-a"]))
                || call.has_any(&["strip", "purge"])
        }
        Some("svn") => {
            call.has("revert") && (call.short('R') || call.has("--recursive") || call.has("."))
                || call.has("cleanup") && call.has("--remove-unversioned")
        }
        Some("jj") => {
            call.path().get(1).is_some_and(|verb| matches!(verb.as_str(), "abandon" | "restore" | "undo"))
        }
        _ => false,
    }
}

fn cleans(call: &Call) -> bool {
    let unasked = call.texts().iter().any(|text| text.to_lowercase().starts_with("clean.requireforce=false"));
    sub(call, "clean").is_some_and(|clean| {
        (unasked || clean.short('f') || clean.long("force", 1))
            && !clean.short('n')
            && !clean.long("dry-run", 2)
    })
}

fn deletes_branch(call: &Call) -> bool {
    sub(call, "branch").is_some_and(|branch| {
        branch.short('D')
            // Moved by force, the branch is lost where it stood.
            || branch.short('f') || branch.short('M') || branch.short('C') || branch.long("force", 1)
            || (branch.short('d') || branch.long("delete", 3))
                && (branch.short('f') || branch.long("force", 1))
    })
}

fn rewrites(call: &Call) -> bool {
    sub(call, "filter-branch").is_some()
        || sub(call, "filter-repo").is_some()
        || call.is(&["bfg", "git-filter-repo"])
        || sub(call, "reflog").is_some_and(|log| log.has_any(&["expire", "delete"]))
        || sub(call, "update-ref").is_some_and(|refs| !refs.args().is_empty())
        || sub(call, "prune").is_some_and(|prune| !prune.short('n'))
        || sub(call, "gc").is_some_and(|gc| {
            gc.flags().any(|flag| {
                flag.strip_prefix("--prune=").is_some_and(|when| matches!(when, "now" | "all" | "0"))
            })
        })
}
