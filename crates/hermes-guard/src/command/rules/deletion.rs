//! Deleting more than one thing, or something the system needs.

use super::{Rule, dangerous, hardline, without_globals};
use crate::command::Context;
use crate::command::call::{Call, Via};
use crate::command::options::Options;
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
    call.short('r') || call.short('R') || call.long("recursive", 1)
}

fn deletes_precious(call: &Call, sight: &Context<'_>) -> bool {
    let precious =
        |words: &[&Word]| words.iter().any(|word| is_precious_tree(word, call.cwd.as_deref(), sight));
    if call.via == Via::Remote {
        // Another machine has directories of the same names.
        return call.is(&["rm", "grm"]) && is_recursive(call) && precious(&call.operands());
    }
    match call.name().as_deref() {
        // A name that is only known when it runs, with the arguments of the worst: nobody writes that by accident.
        None => is_recursive(call) && call.short('f') && precious(&call.operands()),
        Some("rm" | "grm" | "srm") => {
            let operands = call.operands();
            // Nobody takes the last brake away for a directory whose name could be empty.
            let brakeless =
                call.long("no-preserve-root", 4) && operands.iter().any(|word| word.has_unknown());
            is_recursive(call) && (brakeless || precious(&operands)) || is_fed_precious(call, sight)
        }
        Some("shred" | "truncate") => all_of_precious(call, sight),
        Some("tar" | "bsdtar") if call.long("remove-files", 4) => precious(&call.operands()),
        Some("zip") if call.short('m') || call.long("move", 2) => precious(&call.operands()),
        Some("7z" | "7za" | "7zz") if call.has("-sdel") => precious(&call.operands()),
        Some("git") => cleans_precious(call, sight),
        Some("rimraf" | "trash" | "trash-put" | "del-cli" | "wipe") => precious(&call.operands()),
        Some("npx" | "bunx" | "pnpx") if call.has("rimraf") => precious(&call.operands()),
        Some("gio") if call.has_any(&["trash", "remove"]) => precious(&call.operands()),
        Some("rsync") if mirrors(call) => call.operands().last().is_some_and(|to| precious(&[to])),
        Some("find") => finds_to_delete(call) && is_unfiltered(call) && precious(&find_roots(call)),
        Some("mv") => {
            let options = Options::of(call);
            let mut sources: Vec<&Word> = options.operands.iter().collect();
            if !options.has(&["-t", "--target-directory"]) {
                sources.pop();
            }
            precious(&sources)
        }
        _ => false,
    }
}

/// `shred -u /etc/*`: every file of such a place.
fn all_of_precious(call: &Call, sight: &Context<'_>) -> bool {
    let operands = call.operands();
    operands.iter().any(|word| word.has_glob() && is_precious_tree(word, call.cwd.as_deref(), sight))
}

/// `git clean -fdx` where everything below a home or the root would be new to git.
fn cleans_precious(call: &Call, sight: &Context<'_>) -> bool {
    let Some(git) = without_globals(call) else { return false };
    if git.args().first().and_then(Word::text).as_deref() != Some("clean")
        || !(git.short('f') && git.short('d'))
        || git.short('n')
        || git.long("dry-run", 2)
    {
        return false;
    }
    let mut places: Vec<Word> = git.operands().iter().skip(1).map(|word| (*word).clone()).collect();
    if places.is_empty() {
        places.push(Options::of(call).values(&["-C"]).last().cloned().unwrap_or_else(|| Word::known(".")));
    }
    places.iter().any(|word| is_precious_tree(word, call.cwd.as_deref(), sight))
}

/// `find / | xargs rm`: whether the list of what is deleted is made from everything in such a place.
fn is_fed_precious(call: &Call, sight: &Context<'_>) -> bool {
    call.via == Via::Many
        && call.input.upstream.iter().any(|words| {
            let lister = Call { words: words.to_vec(), cwd: call.cwd.clone(), ..Call::default() };
            let roots = match lister.name().as_deref() {
                Some("find") if is_unfiltered(&lister) => find_roots(&lister),
                Some("ls") => lister.operands(),
                _ => Vec::new(),
            };
            roots.into_iter().any(|root| is_precious_tree(root, call.cwd.as_deref(), sight))
        })
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
            Some(Kept::System | Kept::ShellStart | Kept::Ours(_) | Kept::RawDisk)
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
        || call.is(&["gio"]) && call.has_any(&["trash", "remove"])
        || call.is(&["trash-put", "wipe"])
        || call.is(&["7z", "7za", "7zz"]) && call.has("-sdel")
        || empties_many(call)
}

/// Files whose content goes, although their names stay: many at once, or one that nothing is copied over.
fn empties_many(call: &Call) -> bool {
    let operands = call.operands();
    let many = call.via == Via::Many || operands.iter().any(|word| word.has_glob());
    let to_nothing =
        || call.value_of(&["-s", "--size"]).is_some_and(|word| word.text().as_deref() == Some("0"));
    call.is(&["truncate"]) && to_nothing() && many
        || call.is(&["cp"]) && operands.len() > 1 && operands[0].text().as_deref() == Some("/dev/null")
}

/// Whether `find` is told to delete what it finds.
fn finds_to_delete(call: &Call) -> bool {
    let runs = call.args().windows(2).any(|pair| {
        matches!(pair[0].text().as_deref(), Some("-exec" | "-execdir" | "-ok" | "-okdir"))
            && matches!(
                pair[1].text().as_deref(),
                Some("rm" | "/bin/rm" | "/usr/bin/rm" | "unlink" | "shred" | "truncate" | "cp")
            )
    });
    let by_shell = call.has_any(&["sh", "bash", "dash", "zsh"])
        && call.texts().iter().any(|text| text.starts_with("rm ") || text.contains(" rm "));
    call.has("-delete") || runs || by_shell
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
    // `-name '*'` filters nothing.
    let all = |pair: &[Word]| {
        pair[0].text().is_some_and(|text| FILTERS.contains(&text.as_str()))
            && !pair[1].text().is_some_and(|text| text.chars().all(|c| c == '*'))
    };
    !call.args().windows(2).any(all) && !call.has("-empty")
}

/// Where `find` begins: here, where nothing is said.
fn find_roots(call: &Call) -> Vec<&Word> {
    static HERE: std::sync::LazyLock<Word> = std::sync::LazyLock::new(|| Word::known("."));
    let is_option = |word: &&Word| matches!(word.text().as_deref(), Some("-L" | "-H" | "-P"));
    let is_root = |word: &&Word| !word.beginning().starts_with(['-', '(', '!']);
    let roots: Vec<&Word> = call.args().iter().skip_while(is_option).take_while(is_root).collect();
    if roots.is_empty() { vec![&HERE] } else { roots }
}

fn mirrors(call: &Call) -> bool {
    call.flags().any(|flag| flag.starts_with("--delete") || flag == "--del")
}

fn deletes_by_mirror(call: &Call, _: &Context<'_>) -> bool {
    // One that only shows what it would do deletes nothing.
    let only_shows = call.short('n') || call.long("dry-run", 2);
    let by_rclone = || {
        let verbs =
            ["sync", "purge", "delete", "deletefile", "rmdirs", "move", "moveto", "dedupe", "cleanup"];
        call.is(&["rclone"])
            && call
                .operands()
                .iter()
                .take(2)
                .any(|word| word.text().is_some_and(|text| verbs.contains(&text.as_str())))
    };
    !only_shows && (call.is(&["rsync"]) && mirrors(call) || by_rclone())
}

fn moves_into_nothing(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["mv"]) && call.operands().last().is_some_and(|to| to.text().as_deref() == Some("/dev/null"))
}
