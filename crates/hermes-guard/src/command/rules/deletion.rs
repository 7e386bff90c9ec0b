//! Deleting more than one thing, or something the system needs.

use super::{Rule, dangerous, hardline};
use crate::command::Context;
use crate::command::call::{Call, Via};
use crate::command::path::{Kept, Last, is_precious_tree, kept};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    hardline("delete-system", "it deletes the system, a system directory or a whole home", deletes_precious),
    dangerous("delete-recursive", "it deletes a directory with everything in it", deletes_tree),
    dangerous("delete-system-file", "it deletes a file the system or a shell needs", deletes_system_file),
    dangerous("delete-many", "it deletes every file a search or a list names", deletes_many),
    dangerous("delete-mirror", "it deletes files that are missing in the source", deletes_by_mirror),
    dangerous("delete-into-nothing", "it moves files where nothing is kept", moves_into_nothing),
];

/// Programs that delete the files they are given.
pub(super) fn is_remover(call: &Call) -> bool {
    call.is(&["rm", "unlink", "rmdir", "shred", "srm", "trash", "del", "grm"])
}

fn is_recursive(call: &Call) -> bool {
    call.short('r') || call.short('R') || call.long("recursive", 3)
}

fn deletes_precious(call: &Call, sight: &Context<'_>) -> bool {
    let precious =
        |words: &[&Word]| words.iter().any(|word| is_precious_tree(word, call.cwd.as_deref(), sight));
    if call.via == Via::Remote {
        // Another machine has directories of the same names.
        return call.is(&["rm", "grm"]) && is_recursive(call) && precious(&call.operands());
    }
    match call.name().as_deref() {
        Some("rm" | "grm" | "srm") => is_recursive(call) && precious(&call.operands()),
        Some("find") => finds_to_delete(call) && is_unfiltered(call) && precious(&find_roots(call)),
        Some("mv") => {
            let operands = call.operands();
            operands.len() > 1 && precious(&operands[..operands.len() - 1])
        }
        _ => false,
    }
}

fn deletes_tree(call: &Call, _: &Context<'_>) -> bool {
    let by_rm = call.is(&["rm", "grm", "srm"]) && (is_recursive(call) || hidden_flags(call));
    by_rm || call.is(&["rimraf", "del-cli"]) || call.is(&["npx"]) && call.has("rimraf")
}

/// Flags that are not known may be any.
fn hidden_flags(call: &Call) -> bool {
    call.args().first().is_some_and(Word::is_blank) && call.args().len() > 1
}

fn deletes_system_file(call: &Call, sight: &Context<'_>) -> bool {
    let matters = |word: &&Word| {
        matches!(
            kept(word, call.cwd.as_deref(), sight, Last::Itself),
            Some(Kept::System | Kept::ShellStart | Kept::Ours | Kept::RawDisk)
        ) || is_precious_tree(word, call.cwd.as_deref(), sight)
    };
    is_remover(call) && call.operands().iter().any(matters)
}

fn deletes_many(call: &Call, _: &Context<'_>) -> bool {
    (is_remover(call) && call.via == Via::Many)
        || (call.is(&["find"]) && call.has("-delete"))
        || (call.is(&["tar", "bsdtar"]) && call.has("--remove-files"))
        || (call.is(&["zip"]) && (call.short('m') || call.has("--move")))
        || (call.is(&["fd", "fdfind"])
            && call.has_any(&["-x", "-X", "--exec", "--exec-batch"])
            && call.has("rm"))
}

/// Whether `find` is told to delete what it finds.
fn finds_to_delete(call: &Call) -> bool {
    let runs = call.args().windows(2).any(|pair| {
        matches!(pair[0].text().as_deref(), Some("-exec" | "-execdir" | "-ok" | "-okdir"))
            && matches!(
                pair[1].text().as_deref(),
                Some("rm" | "/bin/rm" | "/usr/bin/rm" | "unlink" | "shred")
            )
    });
    call.has("-delete") || runs
}

/// Whether `find` takes everything it meets.
fn is_unfiltered(call: &Call) -> bool {
    const FILTERS: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-mtime",
        "-mmin",
        "-newer",
        "-size",
        "-user",
        "-empty",
        "-perm",
        "-inum",
        "-samefile",
        "-lname",
        "-atime",
        "-ctime",
    ];
    !call.has_any(FILTERS)
}

/// Where `find` begins.
fn find_roots(call: &Call) -> Vec<&Word> {
    let is_root = |word: &&Word| !word.beginning().starts_with(['-', '(', '!']);
    call.args().iter().skip_while(|word| !is_root(word)).take_while(is_root).collect()
}

fn deletes_by_mirror(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["rsync"]) && call.flags().any(|flag| flag.starts_with("--delete") || flag == "--del")
        || call.is(&["rclone"])
            && call.path().get(1).is_some_and(|verb| matches!(verb.as_str(), "sync" | "purge" | "delete"))
}

fn moves_into_nothing(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["mv"]) && call.operands().last().is_some_and(|to| to.text().as_deref() == Some("/dev/null"))
}
