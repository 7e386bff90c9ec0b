//! Code of languages other than the shell and Python, given in the line: nothing is understood, only whether it could start
//! programs, change files or load more code. Then texts in it are read as the commands they may be.

pub(super) mod javascript;

use super::script::Act;
use super::word::Word;

/// A family of interpreters that is told apart by how code is given to it.
pub(super) struct Language {
    /// The programs.
    pub(super) names: &'static [&'static str],
    /// Flags that are followed by code, or begin it.
    pub(super) flags: &'static [&'static str],
    /// Whether short flags are written together, so that `-lne` ends in one of these.
    pub(super) clustered: &'static str,
    /// What is to be thought of code in it.
    pub(super) trust: Trust,
}

/// What is to be thought of code in a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Its words tell.
    ByWords,
    /// It is read token by token.
    JavaScript,
    /// Too few write one-liners in it for its words to be known.
    None,
}

/// The languages.
pub(super) const LANGUAGES: &[Language] = &[
    language(&["perl"], &["-e", "-E"], "eE", Trust::ByWords),
    language(&["ruby", "jruby"], &["-e"], "e", Trust::ByWords),
    language(
        &["node", "nodejs", "bun", "tsx", "ts-node", "esno", "jiti"],
        &["-e", "--eval", "-p", "--print", "-pe"],
        "ep",
        Trust::JavaScript,
    ),
    language(&["deno"], &["eval"], "", Trust::JavaScript),
    language(&["php"], &["-r", "-B", "-R", "-E", "--run", "--execute"], "", Trust::ByWords),
    language(&["irb", "pry", "iex", "micropython", "bpython", "ptpython"], &["-e", "-c"], "", Trust::None),
    language(&["coffee", "kotlin", "rake"], &["-e"], "", Trust::None),
    language(&["crystal", "wp"], &["eval"], "", Trust::None),
    language(&["rails"], &["runner"], "", Trust::None),
    language(&["drush"], &["php-eval", "ev"], "", Trust::None),
    language(&["mix"], &["-e", "--eval"], "", Trust::None),
    language(&["nix"], &["--expr"], "", Trust::None),
    language(&["lua", "luajit", "lua5.1", "lua5.3", "lua5.4"], &["-e"], "", Trust::ByWords),
    language(&["julia", "rscript", "r"], &["-e", "-E", "--eval"], "", Trust::ByWords),
    language(&["osascript"], &["-e"], "", Trust::ByWords),
    language(&["guile", "tclsh", "wish"], &["-c"], "", Trust::None),
    language(&["sbcl", "emacs", "emacsclient", "octave"], &["--eval", "-eval", "-e"], "", Trust::None),
    language(&["erl"], &["-eval"], "", Trust::None),
    language(
        &["elixir", "ghc", "racket", "groovy", "scala", "swift", "clojure", "raku", "jshell"],
        &["-e", "--eval", "-R"],
        "",
        Trust::None,
    ),
];

const fn language(
    names: &'static [&'static str],
    flags: &'static [&'static str],
    clustered: &'static str,
    trust: Trust,
) -> Language {
    Language { names, flags, clustered, trust }
}

/// Words that start programs, change files, or reach what does. Compared whole and in small letters.
const REACHING: &[&str] = &[
    "system",
    "exec",
    "execute",
    "execve",
    "execvp",
    "execl",
    "execlp",
    "execsync",
    "execfile",
    "execfilesync",
    "popen",
    "popen2",
    "popen3",
    "spawn",
    "spawnsync",
    "child_process",
    "qx",
    "unlink",
    "unlinksync",
    "rmtree",
    "remove_tree",
    "rmsync",
    "rm_rf",
    "rm_r",
    "rm",
    "remove_dir",
    "removesync",
    "removedir",
    "rmdir",
    "rmdirsync",
    "eval",
    "evalfile",
    "dofile",
    "loadfile",
    "loadstring",
    "fileutils",
    "kernel",
    "writefile",
    "writefilesync",
    "appendfile",
    "appendfilesync",
    "createwritestream",
    "writetextfile",
    "file_put_contents",
    "fwrite",
    "fopen",
    "rename",
    "renamesync",
    "copyfile",
    "copyfilesync",
    "cpsync",
    "symlink",
    "symlinksync",
    "linksync",
    "link",
    "chmod",
    "chmodsync",
    "chown",
    "truncate",
    "truncatesync",
    "syscall",
    "fork",
    "kill",
    "dlopen",
    "binding",
    "constructor",
    "send",
    "__send__",
    "public_send",
    "instance_eval",
    "class_eval",
    "method",
    "load",
    "require_relative",
    "sysopen",
    "opendir",
    "passthru",
    "proc_open",
    "shell_exec",
    "pcntl_exec",
    "shell",
    "open3",
    "pty",
    "open",
    "io",
    "pathname",
    "removefile",
    "vm",
    "worker_threads",
    "cluster",
    "dgram",
    "net",
    "http",
    "https",
    "fs",
    "globalthis",
    "mainmodule",
    "deno",
    "process_ns",
    "ffi",
    "fiddle",
    "inline",
    "getattr",
    "run",
    "download",
    "socket",
    "sysread",
    "remove",
    "include",
    "import_module",
    "file.remove",
    "copy",
    "touch",
    "error_log",
    "call_user_func",
    "call_user_func_array",
    "array_map",
    "readpipe",
    "tie",
    "writelines",
    "sink",
    "source",
    "reopen",
    "autoload",
    "daemon",
    "mv",
    "cp",
];

/// Signs that do, where words do not tell.
const SIGNS: &[&str] = &[
    "`",
    "%x",
    "&{",
    "&$",
    "->can",
    "/ee",
    "*{",
    "bun.write",
    "bun.file",
    "bun.$",
    "file.write",
    "file.delete",
    "file.new",
    "file.rename",
    "dir.delete",
    "dir.unlink",
    "do shell script",
    "do \"",
    "do '",
    "require \"./",
    "require './",
    "process.env\n",
    "use lib",
    "<<",
    "\"|",
    "'|",
    "|\"",
    "|'",
    "file.remove",
    "process.spawn",
    "file=\"",
    "file = \"",
    "write(\"/",
    "write(\"~",
    "to delete",
    "to shut down",
    "to restart",
    "file.copy",
];

/// Modules that only compute, or read.
const MODULES: &[&str] = &[
    "path",
    "os",
    "util",
    "url",
    "crypto",
    "assert",
    "events",
    "querystring",
    "buffer",
    "string_decoder",
    "perf_hooks",
    "zlib",
    "json",
    "csv",
    "time",
    "date",
    "set",
    "pp",
    "digest",
    "base64",
    "bigdecimal",
    "strict",
    "warnings",
    "utf8",
    "feature",
    "posix",
    "list::util",
    "data::dumper",
    "json::pp",
    "encode",
    "mime::base64",
    "time::local",
    "time::hires",
    "scalar::util",
    "bytes",
    "integer",
    "bigint",
    "statistics",
    "dates",
    "linearalgebra",
    "printf",
    "random",
    "open",
    "yaml",
    "uri::escape",
    "digest::sha",
    "digest::md5",
    "html::entities",
    "datetime",
    "unicode::normalize",
    "text::wrap",
    "text::csv",
    "time::piece",
    "math::bigint",
    "math::trig",
    "constant",
    "locale",
    "charnames",
    "vars",
    "securerandom",
    "ostruct",
    "erb",
    "optparse",
    "benchmark",
    "prime",
    "matrix",
];

/// What the code may do.
pub(super) fn acts(code: &str, trust: Trust) -> Vec<Act> {
    if code.contains("fork while") || code.contains("while fork") {
        return vec![Act::Multiply];
    }
    let lower = code.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let reaching = |word: &&str| REACHING.contains(word) && (*word != "open" || !only_opens_to_read(&lower));
    let word = lower.split(|c: char| !is_word(c)).find(reaching);
    let sign = SIGNS.iter().find(|sign| lower.contains(**sign));
    let secret = lower.split(['"', '\'', '`', ' ', '<', '(', ')', ',', ';']).any(names_secret)
        || lower.contains("/proc/") && lower.contains("environ");
    if trust == Trust::JavaScript && !javascript::reaches(code) {
        return Vec::new();
    }
    if trust == Trust::ByWords
        && !calls_a_value(&lower)
        && word.is_none()
        && sign.is_none()
        && !secret
        && modules(&lower).all(is_known)
    {
        return Vec::new();
    }
    let mut acts = vec![Act::Unknown];
    acts.extend(texts_as_commands(code, &lower));
    acts
}

/// Perl's `open(F, "<", "x")`, and nothing else by this name.
fn only_opens_to_read(lower: &str) -> bool {
    lower.split("open").skip(1).all(|rest| {
        let mode = rest.split_once(',').map_or("", |(_, rest)| rest.trim_start());
        ["\"<\"", "'<'", "\"<:utf8\"", "'<:utf8'", "q(<)"].iter().any(|reads| mode.starts_with(reads))
    })
}

/// `("sys"."tem")("ls")`, `$f("ls")`: what is called is only known when it runs.
fn calls_a_value(lower: &str) -> bool {
    let variable = lower.split('$').skip(1).any(|rest| {
        let name = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').count();
        name > 0 && rest.chars().nth(name) == Some('(')
    });
    lower.contains(")(") || variable
}

fn names_secret(text: &str) -> bool {
    !text.is_empty() && crate::is_secret_path(std::path::Path::new(text))
}

/// The modules that the code loads, quotes taken away.
fn modules(lower: &str) -> impl Iterator<Item = &str> {
    let words = ["require", "import", "from", "use", "using"];
    let tokens = move |text: &'_ str| {
        let text = text.trim_start_matches([' ', '(', '"', '\'', '{', '\t']);
        let end = text.find(['"', '\'', ')', ';', ' ', '\n', '}', ',']);
        end.unwrap_or(text.len())
    };
    words.into_iter().flat_map(move |word| {
        lower.match_indices(word).filter_map(move |(at, _)| {
            let before = lower[..at].chars().next_back();
            let after = &lower[at + word.len()..];
            let alone = before
                .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '$' | '-' | '/'))
                && after.starts_with([' ', '(', '"', '\'', '{', '\t']);
            let text = after.trim_start_matches([' ', '(', '"', '\'', '{', '\t']);
            alone.then(|| &text[..tokens(after)])
        })
    })
}

/// Whether a module only computes, or reads.
pub(super) fn is_known(module: &str) -> bool {
    let module = module.strip_prefix("node:").unwrap_or(module);
    let is_data = std::path::Path::new(module).extension().is_some_and(|extension| extension == "json");
    // `use 5.010`, `use v5.36`
    let is_version = module.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    MODULES.contains(&module) || is_data || is_version
}

/// Texts in code that runs things are what it may run: as a command line, as a program with arguments, as what is deleted.
fn texts_as_commands(code: &str, lower: &str) -> Vec<Act> {
    const MOST: usize = 50;
    let texts = quoted(code);
    let mut acts = Vec::new();
    let trees = ["rm_rf", "rm_r", "rmtree", "rmsync", "remove_tree", "removesync", "recursive", "rmdir"];
    let deletes = trees.iter().any(|word| lower.contains(word));
    for (at, text) in texts.iter().enumerate().take(MOST) {
        let path = text.trim_end();
        if path.contains(' ') {
            acts.push(Act::Line(text.clone()));
        }
        if matches!(path.rsplit('/').next(), Some("rm" | "mkfs" | "dd" | "shred" | "reboot" | "shutdown")) {
            acts.push(Act::Words(texts[at..].iter().take(12).map(Word::known).collect()));
        }
        if deletes && path.starts_with(['/', '~']) {
            acts.push(Act::DeleteTree(Word::known(path)));
        }
    }
    acts
}

/// What stands between quotes.
fn quoted(code: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = code.chars();
    while let Some(c) = rest.next() {
        if !matches!(c, '"' | '\'' | '`') {
            continue;
        }
        let mut text = String::new();
        while let Some(next) = rest.next() {
            match next {
                '\\' => text.extend(rest.next()),
                end if end == c => break,
                other => text.push(other),
            }
        }
        texts.push(text);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_liners_that_only_compute_are_let_through() {
        for code in [
            "console.log(1)",
            "console.log(require('./package.json').version)",
            "console.log(require(\"path\").join('a','b'), process.version, process.argv.length)",
            "print if /x/",
            "s/a/b/g",
            "use strict; use List::Util qw(sum); print sum(1,2)",
            "use v5.36; say 1",
            "$s += $F[2]; END { print $s }",
            "require 'json'; puts JSON.parse('{}')",
            "puts 1 + 2",
            "open(F,\"<\",\"a.txt\"); print scalar(<F>)",
            "echo PHP_VERSION;",
            "print(1 + 1)",
            "println(sum(1:10))",
            "JSON.stringify({a: [1,2]})",
        ] {
            assert_eq!(acts(code, Trust::ByWords), [], "{code}");
        }
        for code in ["function f(){} f()", "console.log('https://x')", "require('fs').readFileSync('a')"] {
            assert_eq!(acts(code, Trust::JavaScript), [], "{code}");
        }
        assert!(acts("require('chi'+'ld_process')", Trust::JavaScript).contains(&Act::Unknown));
    }

    #[test]
    fn what_could_do_more_is_not() {
        for code in [
            "system('ls')",
            "open F, '>', 'x'",
            "('sys'.'tem')('ls')",
            "$f='sys'.'tem'; $f('ls')",
            "copy('a','b')",
            "File.write('x', 'y')",
            "&{'sys'.'tem'}('ls')",
            "process.kill(-1)",
            "use Socket;",
            "Deno.removeSync('x')",
            "print `ls`",
        ] {
            assert!(acts(code, Trust::ByWords).contains(&Act::Unknown), "{code}");
        }
        assert_eq!(acts("1", Trust::None), [Act::Unknown]);
        let found = acts("system('rm -rf /')", Trust::ByWords);
        assert!(found.contains(&Act::Line("rm -rf /".into())), "{found:?}");
    }
}
