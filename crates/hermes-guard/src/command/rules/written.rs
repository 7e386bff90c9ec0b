//! Which files a call would change: those it is told to write, those it moves away, those an order in its words writes.

use super::code::{awk, sed, vim};
use super::without_globals;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::word::Word;

/// Which operands a program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    All,
    First,
    Second,
    Last,
    AfterFirst,
}

/// Programs that write what they are given, and which of it.
const WRITERS: &[(&[&str], Where)] = &[
    (
        &[
            "tee",
            "truncate",
            "touch",
            "ed",
            "ex",
            "sponge",
            "fallocate",
            "vim",
            "vi",
            "nvim",
            "nano",
            "emacs",
            "pico",
            "micro",
            "code",
            "sudoedit",
            "hx",
            "helix",
            "kak",
            "joe",
            "gedit",
            "kate",
            "subl",
            "xorriso",
            "unlzma",
            "gunzip",
            "bunzip2",
            "unxz",
            "unzstd",
            "script",
        ],
        Where::All,
    ),
    (&["zip", "link"], Where::First),
    (&["uniq", "xxd", "ddrescue", "dd_rescue", "mksquashfs"], Where::Second),
    (&["bmaptool", "qemu-img", "split", "csplit", "unrar", "objcopy"], Where::Last),
    // Whoever may read it is as good as its content.
    (&["chmod", "chown", "chattr", "setfacl"], Where::AfterFirst),
];

/// Options whose value is a file that is written, in programs where they mean nothing else.
const OUTPUTS: &[&str] = &[
    "-o",
    "-O",
    "--output",
    "--out",
    "--output-document",
    "--output-file",
    "--output-dir",
    "--outfile",
    "--out-file",
    "-out",
    "-keyout",
    "--keyout",
    "--directory-prefix",
    "--target",
    "--log-file",
    "--save-cookies",
    "--cookie-jar",
    "--dump-header",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--dest",
    "--append-output",
    "--output-directory",
    "-outdev",
    "--outdev",
];

/// Programs in which `-o` and `-O` are something else.
const NO_OUTPUTS: &[&str] = &[
    "ssh",
    "scp",
    "sftp",
    "sshfs",
    "mount",
    "ps",
    "ls",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "find",
    "bash",
    "sh",
    "zsh",
    "set",
    "git",
    "kubectl",
    "chmod",
    "rsync",
    "cp",
    "mv",
    "su",
    "sudo",
    "useradd",
    "unzip",
    "systemctl",
    "journalctl",
    "test",
    "[",
    "shopt",
    "lsblk",
    "fd",
    "df",
    "nmap",
    "stat",
    "rm",
    "docker",
    "podman",
    "id",
    "apt",
    "apt-get",
    "xargs",
    "rustfmt",
    "fzf",
    "pgrep",
    "pkill",
    "top",
    "nvim",
    "vim",
];

/// The files a call would write to.
pub(in crate::command) fn written(call: &Call) -> Vec<Word> {
    let mut files = call.writes.clone();
    let Some(name) = call.name() else { return files };
    let name = name.as_str();
    let options = Options::of(call);
    let operands = call.operands();
    let all = || operands.iter().map(|word| (*word).clone());
    if let Some((_, place)) = WRITERS.iter().find(|(names, _)| names.contains(&name)) {
        match place {
            Where::All => files.extend(all().filter(|word| !vim::is_order(word))),
            Where::First => files.extend(all().next()),
            Where::Second => files.extend(all().nth(1)),
            Where::Last => files.extend(all().next_back()),
            Where::AfterFirst => files.extend(all().skip(1)),
        }
    }
    // Unpacked, a file loses its ending.
    for ending in [".gz", ".bz2", ".xz", ".zst", ".Z", ".lzma"] {
        let unpacked = || all().filter_map(|word| word.text()?.strip_suffix(ending).map(Word::known));
        if matches!(name, "gunzip" | "bunzip2" | "unxz" | "unzstd" | "gzip" | "xz" | "bzip2" | "zstd")
            && !call.short('c')
        {
            files.extend(unpacked());
        }
    }
    if !NO_OUTPUTS.contains(&name) {
        files.extend(outputs(call, &options));
    }
    files.extend(call.args().iter().filter_map(|word| word.without_prefix("of=")));
    match name {
        "cp" | "mv" | "install" | "ln" | "rsync" | "scp" => files.extend(copied(call, &options)),
        "sed" | "gsed" | "perl" | "ruby" => {
            if edits_in_place(call) {
                files.extend(all());
            }
            if matches!(name, "sed" | "gsed") {
                files.extend(sed::orders(call).writes.into_iter().map(Word::known));
            }
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            files.extend(awk::orders(call).writes.into_iter().map(Word::known));
            if call.has("inplace") {
                files.extend(all());
            }
        }
        "find" | "gfind" => {
            for flag in ["-fprintf", "-fprint", "-fprint0", "-fls"] {
                files.extend(call.value_of(&[flag]));
            }
        }
        "yq" if call.short('i') || call.long("inplace", 2) => files.extend(all()),
        "patch" => {
            // Without a name the text of the patch names the files.
            files.push(all().next().unwrap_or_else(|| Word::known(".")));
            files.extend(call.value_of(&["-d", "--directory"]));
        }
        "tar" | "bsdtar" => {
            let place = options.values(&["-C", "--directory", "--one-top-level"]).next().cloned();
            let place = place.or_else(|| call.value_of(&["-C", "--directory", "--one-top-level"]));
            if unpacks(call) {
                files.push(place.unwrap_or_else(|| Word::known(".")));
            } else {
                files.extend(place);
                files.extend(packed_into(call, &options));
            }
        }
        "unzip" => files.push(call.value_of(&["-d"]).unwrap_or_else(|| Word::known("."))),
        "cpio" if call.short('i') || call.short('p') || call.long("extract", 3) => {
            files.push(Word::known("."));
        }
        "7z" | "7za" | "7zz" => files.extend(call.value_of(&["-o"])),
        "aria2c" => files.extend(call.value_of(&["-d", "--dir"])),
        "wget" => files.extend(options.values(&["-P", "--directory-prefix"]).cloned()),
        "curl" => files.extend(options.values(&["-c", "-D"]).cloned()),
        "docker" | "podman" | "kubectl" if call.has("cp") => files.extend(all().next_back()),
        "ssh-keygen" => files.extend(call.value_of(&["-f"]).filter(|_| call.short('p'))),
        "pip" | "pip3" => files.extend(call.value_of(&["-t", "--target", "-d", "--dest", "--prefix"])),
        "python" | "python3" => files.extend(written_by_module(call)),
        "sqlite3" | "sqlite" | "duckdb" => files.extend(written_by_sqlite(call)),
        "git" => files.extend(changed_by_git(call)),
        _ => {}
    }
    if matches!(name, "vim" | "vi" | "nvim" | "ex" | "view") {
        files.extend(vim::orders(call).writes.into_iter().map(Word::known));
    }
    files
}

/// The values of options that name an output, in every spelling.
fn outputs(call: &Call, options: &Options) -> Vec<Word> {
    let mut files: Vec<Word> = options.values(OUTPUTS).cloned().collect();
    for (place, word) in call.args().iter().enumerate() {
        let text = word.beginning();
        let next = || call.args().get(place + 1).cloned();
        let is_cluster = text.len() > 2
            && text.starts_with('-')
            && !text.starts_with("--")
            && text[1..].chars().all(|c| c.is_ascii_alphanumeric())
            && text.ends_with(['o', 'O']);
        if OUTPUTS.contains(&text.as_str()) || is_cluster {
            files.extend(next());
        }
        if let Some(glued) =
            ["-o", "-O"].iter().find_map(|flag| word.without_prefix(flag)).filter(|rest| !rest.is_empty())
        {
            files.push(glued);
        }
    }
    files
}

/// What copies and moves write: the target, what comes to lie in it, and what is taken away.
fn copied(call: &Call, options: &Options) -> Vec<Word> {
    let mut files = Vec::new();
    let mut sources: Vec<Word> = options.operands.clone();
    let target = options.values(&["-t", "--target-directory"]).next().cloned();
    let hard = call.is(&["ln"]) && !call.short('s') && !call.long("symbolic", 2)
        || call.is(&["cp"]) && (call.short('l') || call.long("link", 2));
    let dir = match target {
        Some(dir) => Some(dir),
        None if sources.len() > 1 => sources.pop(),
        None => None,
    };
    if hard || call.is(&["mv"]) {
        files.extend(sources.iter().cloned());
    }
    if let Some(dir) = dir {
        // Into a directory: the names stay.
        for source in &sources {
            if let Some(name) = source.split_slashes().last().filter(|name| !name.is_empty()) {
                let mut file = dir.clone();
                file.push_text("/");
                file.push_word(name);
                files.push(file);
            }
        }
        files.push(dir);
    }
    files
}

fn edits_in_place(call: &Call) -> bool {
    call.flags().any(|flag| {
        if let Some(long) = flag.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            return name.len() > 1 && "in-place".starts_with(name);
        }
        // `-I` is a directory for perl and ruby; what follows an `i` is only the ending of a copy.
        let letters = flag[1..].chars().take_while(char::is_ascii_alphanumeric);
        let before_value = letters.take_while(|c| !matches!(c, 'e' | 'E' | 'I' | 'M' | 'm' | 'f'));
        before_value.into_iter().any(|c| c == 'i')
    })
}

/// The archive that `tar` makes.
fn packed_into(call: &Call, options: &Options) -> Option<Word> {
    let by_option = options.values(&["-f", "--file"]).next().cloned();
    by_option.or_else(|| {
        // `tar cf x y`, written without a dash.
        let first = call.texts().first().cloned()?;
        (!first.starts_with('-') && first.contains('f')).then(|| call.args().get(1).cloned()).flatten()
    })
}

/// `.output x`, `.backup x` and their like.
fn written_by_sqlite(call: &Call) -> Vec<Word> {
    const VERBS: &[&str] = &[".output", ".once", ".backup", ".save", ".clone", ".log", ".archive", ".trace"];
    let input = call.input.text.iter().flat_map(|text| text.lines());
    let texts = call.texts();
    let lines = texts.iter().flat_map(|text| text.lines()).chain(input);
    lines
        .filter_map(|line| line.trim().split_once(char::is_whitespace))
        .filter(|(verb, _)| verb.len() > 1 && VERBS.iter().any(|known| known.starts_with(verb)))
        .filter_map(|(_, rest)| rest.split_whitespace().last().map(Word::known))
        .collect()
}

/// Modules of Python that write where they are told.
fn written_by_module(call: &Call) -> Vec<Word> {
    let module = call.value_of(&["-m"]).and_then(|word| word.text()).unwrap_or_default();
    match module.as_str() {
        "pip" => call.value_of(&["-t", "--target", "-d", "--dest", "--prefix"]).into_iter().collect(),
        "venv" | "virtualenv" => call.operands().last().map(|word| (*word).clone()).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The directory whose files git would change, and the files it is told to write.
fn changed_by_git(call: &Call) -> Vec<Word> {
    let Some(plain) = without_globals(call) else { return Vec::new() };
    let mut files: Vec<Word> = plain.value_of(&["--output", "--output-directory"]).into_iter().collect();
    let path = plain.path();
    let verb = path.get(1).map_or("", String::as_str);
    if matches!(verb, "archive" | "format-patch") {
        files.extend(plain.value_of(&["-o"]));
    }
    files.extend(match verb {
        "apply" | "am" | "checkout" | "restore" | "pull" | "reset" | "stash" => {
            let tree = call.env.iter().find_map(|text| text.strip_prefix("GIT_WORK_TREE=")).map(Word::known);
            call.value_of(&["-C", "--work-tree"]).or(tree).or_else(|| Some(Word::known(".")))
        }
        "clone" => plain.operands().get(2).map(|word| (*word).clone()),
        "worktree" if plain.has("add") => plain.operands().get(2).map(|word| (*word).clone()),
        _ => None,
    });
    files
}

/// Whether an archive is unpacked.
pub(super) fn unpacks(call: &Call) -> bool {
    call.texts().first().is_some_and(|text| !text.starts_with("--") && text.contains('x'))
        || call.has_any(&["-x", "--extract", "--get"])
        || call.short('x')
}
