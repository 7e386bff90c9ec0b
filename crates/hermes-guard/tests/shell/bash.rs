//! Runs bash once for many cases.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory of its own below the target directory, gone with the value.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("shell-{}-{number}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// Writes each text to a file named by its number.
    pub fn with(texts: &[String]) -> Self {
        let scratch = Self::new();
        for (i, text) in texts.iter().enumerate() {
            std::fs::write(scratch.0.join(i.to_string()), text).unwrap();
        }
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The output of a script that bash runs in `scratch`, with a bare environment.
pub fn run(script: &str, scratch: &Scratch, arguments: &[String]) -> Vec<u8> {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", script, "bash"])
        .args(arguments)
        .current_dir(&scratch.0)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/home/someone")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    output.stdout
}

/// Which of these texts `bash -n` accepts. It counts as refused too if bash complains and says 0, as it does
/// for `[[ ]]`; warnings about here-documents are no complaints.
pub fn accepts(texts: &[String]) -> Vec<bool> {
    let scratch = Scratch::with(texts);
    let script = r#"for ((i = 0; i < $1; i++)); do
        e=$(bash -n "$i" 2>&1); s=$?
        # A warning names the delimiter it wanted, which may itself span lines.
        warned=
        while IFS= read -r line; do
            case $warned$line in
            *warning:*\'\) | *warning:*unterminated*) ;;
            *warning:*) warned=1 ;;
            1*\'\)) warned= ;;
            1* | '') ;;
            *) s=1 ;;
            esac
        done <<< "$e"
        [[ $s = 0 ]] && echo 1 || echo 0
    done"#;
    let out = run(script, &scratch, &[texts.len().to_string()]);
    String::from_utf8(out).unwrap().lines().map(|line| line == "1").collect()
}

/// What `declare -f` says of a function with each of these bodies; nothing where bash refuses it.
pub fn declared(bodies: &[String]) -> Vec<Option<String>> {
    let scratch = Scratch::with(bodies);
    let script = r#"for ((i = 0; i < $1; i++)); do
        unset -f f; t=$(<"$i"); PATH=
        eval "function f {"$'\n'"$t"$'\n'"}" && declare -f f
        printf '\0'
    done"#;
    let out = run(script, &scratch, &[bodies.len().to_string()]);
    let text = String::from_utf8(out).unwrap();
    let mut answers: Vec<Option<String>> =
        text.split('\0').map(|one| (!one.is_empty()).then(|| one.to_owned())).collect();
    answers.pop();
    answers
}

/// The arguments that each of these command lines gives to a command, in an empty directory. `setup` comes first.
pub fn arguments(setup: &str, words: &[String]) -> Vec<Vec<String>> {
    let scratch = Scratch::new();
    let mut script = format!("show() {{ printf '%s\\0' \"$#\" \"$@\"; }}\n{setup}\n");
    for word in words {
        writeln!(script, "(show {word}\n)").unwrap();
    }
    let out = run(&script, &scratch, &[]);
    let mut fields = out.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut answers = Vec::new();
    for _ in words {
        let count: usize = fields.next().unwrap().parse().unwrap();
        answers.push(fields.by_ref().take(count).collect());
    }
    answers
}
