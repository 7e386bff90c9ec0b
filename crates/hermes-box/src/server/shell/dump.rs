//! What a shell leaves behind at its end: its directory, variables, functions, aliases and options.
//!
//! The shell writes it into a file in memory from its exit trap (see `script`), as sections that end with a zero byte.
//! The command could write there too; it can spoil its own session that way and nothing else.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::quote::parse_exports;
use super::state::Variables;

/// The most a shell may leave behind.
pub(crate) const MAX_DUMP: u64 = 4 * 1024 * 1024;

/// Sections, the end mark included.
const SECTIONS: usize = 10;
/// The last section.
const END: &[u8] = b"END";

/// Options that are carried. `errexit`, `nounset` and the like are not: a command that ends at the first failure of
/// another one is a trap.
const CARRIED_SET: &[&str] = &["allexport", "keyword", "noclobber", "noglob", "physical", "pipefail"];
const CARRIED_SHOPT: &[&str] = &[
    "assoc_expand_once",
    "autocd",
    "cdable_vars",
    "cdspell",
    "dirspell",
    "dotglob",
    "execfail",
    "extdebug",
    "extglob",
    "failglob",
    "globstar",
    "gnu_errfmt",
    "huponexit",
    "inherit_errexit",
    "lastpipe",
    "localvar_inherit",
    "localvar_unset",
    "nocaseglob",
    "nocasematch",
    "noexpand_translation",
    "nullglob",
    "shift_verbose",
    "varredir_close",
    "xpg_echo",
];

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dump {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) variables: Variables,
    pub(crate) functions: Vec<u8>,
    pub(crate) aliases: Vec<u8>,
    pub(crate) special: Vec<u8>,
    pub(crate) options: Vec<String>,
    pub(crate) umask: Option<u32>,
}

/// Why a dump cannot be used.
#[derive(Debug, PartialEq, Eq, Clone, Copy, thiserror::Error)]
pub(crate) enum Unusable {
    /// The shell wrote nothing: it was killed, or replaced itself by another program.
    #[error("the shell did not get to save it")]
    Nothing,
    /// The end is missing.
    #[error("there is too much of it")]
    Cut,
    /// It is not what a shell writes.
    #[error("what the shell saved cannot be read")]
    Garbled,
}

/// How much of a dump has arrived in `bytes`: complete once all its sections are there.
pub(crate) fn is_complete(bytes: &[u8]) -> bool {
    memchr::memchr_iter(0, bytes).count() >= SECTIONS
}

/// Reads a dump.
pub(crate) fn parse(bytes: &[u8]) -> Result<Dump, Unusable> {
    if bytes.first().is_none_or(|first| *first == 0) {
        return Err(Unusable::Nothing);
    }
    let mut sections = bytes.split(|byte| *byte == 0);
    let mut section = || sections.next().ok_or(Unusable::Cut);
    let (_status, cwd, _flags) = (section()?, section()?, section()?);
    let (set, shopt, umask) = (section()?, section()?, section()?);
    let (exports, functions, aliases) = (section()?, section()?, section()?);
    if section()? != END {
        return Err(Unusable::Cut);
    }
    let mut dump = Dump {
        cwd: (cwd.first() == Some(&b'/')).then(|| PathBuf::from(OsString::from_vec(cwd.to_vec()))),
        functions: functions.to_vec(),
        aliases: aliases.to_vec(),
        options: options(set, CARRIED_SET).chain(options(shopt, CARRIED_SHOPT)).collect(),
        umask: std::str::from_utf8(umask).ok().and_then(|text| u32::from_str_radix(text.trim(), 8).ok()),
        ..Dump::default()
    };
    for declared in parse_exports(exports).ok_or(Unusable::Garbled)? {
        if declared.special {
            dump.special.extend_from_slice(declared.statement);
            dump.special.push(b'\n');
        }
        if let Some(value) = declared.value {
            dump.variables.insert(OsString::from_vec(declared.name.to_vec()), OsString::from_vec(value));
        }
    }
    Ok(dump)
}

fn options<'a>(list: &'a [u8], carried: &'a [&str]) -> impl Iterator<Item = String> + 'a {
    list.split(|byte| *byte == b':')
        .filter_map(|name| std::str::from_utf8(name).ok())
        .filter(|name| carried.contains(name))
        .map(str::to_string)
}

/// The words that turn on an option.
pub(crate) fn option_command(name: &str) -> Option<String> {
    if CARRIED_SET.contains(&name) {
        Some(format!("set -o {name}\n"))
    } else if CARRIED_SHOPT.contains(&name) {
        Some(format!("shopt -s {name}\n"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sections(parts: [&[u8]; 9]) -> Vec<u8> {
        let mut bytes: Vec<u8> = parts.iter().flat_map(|part| [part, &b"\0"[..]].concat()).collect();
        bytes.extend_from_slice(b"END\0");
        bytes
    }

    #[test]
    fn sections_are_read() {
        let bytes = sections([
            b"3",
            b"/w",
            b"hB",
            b"braceexpand:errexit:pipefail",
            b"extglob:sourcepath",
            b"0077\n",
            b"declare -x A=\"1\"\ndeclare -ix N=\"2\"\n",
            b"f () \n{ \n    :\n}\n",
            b"alias l='ls'\n",
        ]);
        assert!(is_complete(&bytes) && !is_complete(&bytes[..bytes.len() - 1]));
        let dump = parse(&[bytes, vec![0; 100]].concat()).unwrap();
        assert_eq!(dump.cwd, Some(PathBuf::from("/w")));
        assert_eq!(dump.variables.len(), 2);
        assert_eq!(dump.special, b"declare -ix N=\"2\"\n");
        assert_eq!(dump.options, ["pipefail", "extglob"]);
        assert_eq!(dump.umask, Some(0o077));
        assert_eq!(dump.aliases, b"alias l='ls'\n");
    }

    #[test]
    fn a_dump_that_is_not_one_is_refused() {
        assert_eq!(parse(&[0; 64]), Err(Unusable::Nothing));
        assert_eq!(parse(b""), Err(Unusable::Nothing));
        assert_eq!(parse(b"0\0/w\0hB\0"), Err(Unusable::Cut));
        let garbled = sections([b"0", b"/", b"", b"", b"", b"22", b"echo pwned\n", b"", b""]);
        assert_eq!(parse(&garbled), Err(Unusable::Garbled));
    }
}
