//! Putting the box program where only a shell can be reached: another machine, or a container that another
//! program made.
//!
//! Two small scripts for `sh`. The first looks around; the second takes the program from its input. Both
//! are the same for every place, and say what they found in lines of `name=value`.

use std::collections::BTreeMap;

use crate::program::{FILE_NAME, Program};

/// What a place looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The system, such as `Linux`.
    pub system: String,
    /// The processor, such as `x86_64`.
    pub machine: String,
    /// Where the program is, if it is there and whole.
    pub program: Option<String>,
}

/// A line that marks the beginning of our own output, whatever a login script printed before.
const MARK: &str = "hermes-box-survey";

/// Directories to try, in this order. The home comes first; the others are for places where it cannot hold
/// programs.
const PLACES: &str = "\"${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/hermes\" /var/lib/hermes-box /opt/hermes-box \
                      /usr/local/lib/hermes-box /var/cache/hermes-box";

/// The script that looks around.
pub fn survey_script(program: Program) -> String {
    let (hash, size) = (program.hash(), program.bytes().len());
    let short = program.short_hash();
    format!(
        "{HASH_FUNCTION}\n\
         echo {MARK}; echo \"system=$(uname -s)\"; echo \"machine=$(uname -m)\"\n\
         for dir in {PLACES}; do\n\
         file=\"$dir/box/{short}/{FILE_NAME}\"\n\
         if [ -x \"$file\" ] && [ \"$(wc -c < \"$file\" | tr -d ' ')\" = {size} ]; then\n\
         case \"$(hash_of \"$file\")\" in {hash}|unknown) echo \"program=$file\"; break;; esac\n\
         fi; done\n"
    )
}

/// The script that takes the program from its input. It tries to run it before it counts as there: a
/// directory may forbid running programs.
pub fn upload_script(program: Program) -> String {
    let (hash, size) = (program.hash(), program.bytes().len());
    let short = program.short_hash();
    format!(
        "{HASH_FUNCTION}\n\
         umask 077; echo {MARK}\n\
         temp=$(mktemp 2>/dev/null || echo \"/tmp/.hermes-box-$$\"); trap 'rm -f \"$temp\"' EXIT\n\
         cat > \"$temp\" || {{ echo \"error=the program could not be written to $temp\"; exit 1; }}\n\
         [ \"$(wc -c < \"$temp\" | tr -d ' ')\" = {size} ] || {{ echo \"error=the program arrived cut off\"; exit 1; }}\n\
         case \"$(hash_of \"$temp\")\" in {hash}|unknown) ;; *) echo \"error=the program arrived damaged\"; exit 1;; esac\n\
         for dir in {PLACES}; do\n\
         target=\"$dir/box/{short}\"; new=\"$target/.new-$$\"\n\
         mkdir -p \"$target\" 2>/dev/null && cp \"$temp\" \"$new\" 2>/dev/null || continue\n\
         if chmod 500 \"$new\" && \"$new\" --version >/dev/null 2>&1; then\n\
         mv -f \"$new\" \"$target/{FILE_NAME}\" && {{ echo \"program=$target/{FILE_NAME}\"; exit 0; }}\n\
         fi\n\
         rm -f \"$new\"; rmdir \"$target\" \"$dir/box\" \"$dir\" 2>/dev/null\n\
         done\n\
         echo \"error=no directory can hold and run the program\"; exit 1\n"
    )
}

/// Not every system has the same command for it, and some have none.
const HASH_FUNCTION: &str = "hash_of() { if command -v sha256sum >/dev/null 2>&1; then sha256sum \"$1\" | cut -c1-64; \
     elif command -v shasum >/dev/null 2>&1; then shasum -a 256 \"$1\" | cut -c1-64; else echo unknown; fi; }";

/// Reads what a survey printed.
pub fn read_survey(output: &str) -> Option<Survey> {
    let mut found = lines_after_mark(output)?;
    Some(Survey {
        system: found.remove("system").unwrap_or_default(),
        machine: found.remove("machine").unwrap_or_default(),
        program: found.remove("program"),
    })
}

/// Reads what an upload printed: where the program is, or why it is nowhere.
pub fn read_upload(output: &str) -> Result<String, String> {
    let mut found = lines_after_mark(output).unwrap_or_default();
    match found.remove("program") {
        Some(path) => Ok(path),
        None => Err(found.remove("error").unwrap_or_else(|| "the upload ended early".to_owned())),
    }
}

fn lines_after_mark(output: &str) -> Option<BTreeMap<String, String>> {
    let mut lines = output.lines();
    lines.find(|line| line.trim() == MARK)?;
    Some(
        lines
            .filter_map(|line| line.trim().split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    )
}

/// What this build runs on, in the words of `uname`.
pub fn our_system() -> (&'static str, &'static str) {
    ("Linux", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;

    fn sh(script: &str, home: &Path, input: &[u8]) -> String {
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .env("HOME", home)
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // The script may leave before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input);
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    #[test]
    fn the_program_arrives_once_and_is_found_again() {
        let home = tempfile::tempdir().unwrap();
        let program = Program::embedded();
        let survey = || read_survey(&sh(&survey_script(program), home.path(), b"")).unwrap();
        let before = survey();
        assert_eq!((before.system.as_str(), before.machine.as_str()), our_system());
        assert_eq!(before.program, None);
        let path = read_upload(&sh(&upload_script(program), home.path(), program.bytes())).unwrap();
        assert!(Path::new(&path).starts_with(home.path()));
        assert_eq!(survey().program, Some(path.clone()));
        assert_eq!(std::fs::read(&path).unwrap(), program.bytes());
        assert_eq!(std::fs::read_dir(Path::new(&path).parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_cut_off_upload_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let program = Program::embedded();
        let half = &program.bytes()[..program.bytes().len() / 2];
        assert!(read_upload(&sh(&upload_script(program), home.path(), half)).is_err());
        assert_eq!(read_survey(&sh(&survey_script(program), home.path(), b"")).unwrap().program, None);
    }

    #[test]
    fn a_damaged_program_is_not_found() {
        let home = tempfile::tempdir().unwrap();
        let program = Program::embedded();
        let path = read_upload(&sh(&upload_script(program), home.path(), program.bytes())).unwrap();
        let mut damaged = program.bytes().to_vec();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, damaged).unwrap();
        Command::new("chmod").args(["500", &path]).status().unwrap();
        assert_eq!(read_survey(&sh(&survey_script(program), home.path(), b"")).unwrap().program, None);
    }

    #[test]
    fn chatter_before_our_lines_does_not_matter() {
        let noisy = format!("Welcome!\nprogram=/evil\n{MARK}\nsystem=Linux\nmachine=x86_64\n");
        assert_eq!(read_survey(&noisy).unwrap().program, None);
        assert_eq!(read_survey("Welcome!\n"), None);
    }
}
