//! The scripts that run in the container. They use what the smallest shells know.

/// Goes on with the better of the shells there are.
pub const BEST_SHELL: &str = "s=sh; command -v bash >/dev/null 2>&1 && s=bash; exec \"$s\" -c \"$@\"";

/// A terminal's shell.
pub const SHELL: &str = "command -v bash >/dev/null 2>&1 && exec bash -l; exec sh -l";

/// The variable that marks everything a command starts. The command's shell has it from its own start: only that is what
/// others can see of its environment.
pub const MARK: &str = "HERMES_CALL";

/// Runs a command: token, session, directory, names of variables handed over, command line.
///
/// What a session carries is written by a trap, so that a command that says `exit` loses nothing. A directory that was named is
/// for this command alone.
pub const RUN: &str = r#"
hermes_call=$1 hermes_session=$2 hermes_cwd=$3 hermes_handed=$4 hermes_command=$5
hermes_apart=$3
if [ -n "$hermes_session" ]; then
  hermes_state="${TMPDIR:-/tmp}/.hermes-plain-$(id -u)"
  ( umask 077; mkdir -p "$hermes_state" ) 2>/dev/null
  hermes_state="$hermes_state/$hermes_session"
  for hermes_name in $hermes_handed; do
    eval "hermes_kept_$hermes_name=\$$hermes_name"
  done
  [ -r "$hermes_state.env" ] && . "$hermes_state.env" 2>/dev/null
  for hermes_name in $hermes_handed; do
    eval "export $hermes_name=\"\$hermes_kept_$hermes_name\""; unset "hermes_kept_$hermes_name"
  done
  [ -z "$hermes_cwd" ] && [ -r "$hermes_state.cwd" ] && hermes_cwd=$(cat "$hermes_state.cwd")
fi
case $hermes_cwd in
  '') ;;
  '~') cd || exit 126 ;;
  '~/'*) cd -- "$HOME/${hermes_cwd#'~/'}" || exit 126 ;;
  *) cd -- "$hermes_cwd" || exit 126 ;;
esac
hermes_save() {
  hermes_code=$?
  if [ -n "$hermes_session" ]; then
    unset HERMES_CALL
    ( umask 077; export -p > "$hermes_state.env.$$" && mv -f "$hermes_state.env.$$" "$hermes_state.env"
      [ -n "$hermes_apart" ] ||
        { pwd > "$hermes_state.cwd.$$" && mv -f "$hermes_state.cwd.$$" "$hermes_state.cwd"; } ) 2>/dev/null
  fi
  exit "$hermes_code"
}
trap hermes_save EXIT
HERMES_CALL=$hermes_call; export HERMES_CALL
set --
eval "$hermes_command"
"#;

/// Ends everything that carries a token: asks, waits so many seconds, kills.
pub const END: &str = r#"
marked() {
  for dir in /proc/[0-9]*; do
    { tr '\0' '\n' < "$dir/environ"; } 2>/dev/null | grep -qx "HERMES_CALL=$1" && echo "${dir#/proc/}"
  done
}
all=$(marked "$1"); [ -z "$all" ] && exit 0
kill -TERM $all 2>/dev/null
tries=$(( $2 * 10 ))
while [ "$tries" -gt 0 ]; do
  sleep 0.1 2>/dev/null || { sleep 1; tries=$(( tries - 9 )); }
  tries=$(( tries - 1 ))
  all=$(marked "$1"); [ -z "$all" ] && exit 0
done
for round in 1 2 3 4 5; do
  kill -KILL $all 2>/dev/null
  all=$(marked "$1"); [ -z "$all" ] && exit 0
done
exit 1
"#;

/// A session's name as part of a file name.
pub fn session_name(name: &str) -> String {
    if name.is_empty() {
        return String::new();
    }
    crate::digest::hex(&crate::digest::of_bytes(name.as_bytes()))[..24].to_owned()
}

/// What the engine said if it could not even run a shell; a command can say the same, which then is only a worse message.
pub fn no_shell(code: i32, stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let refused = matches!(code, 125..=128) && text.contains("OCI runtime exec failed");
    refused.then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::RUN;

    #[test]
    fn a_directory_for_one_command_moves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let run = |cwd: &str, command: &str| {
            let arguments = ["-c", RUN, "sh", "token", "session", cwd, "", command];
            let mut shell = std::process::Command::new("sh");
            let done = shell.args(arguments).current_dir("/usr").env("TMPDIR", dir.path()).output().unwrap();
            String::from_utf8(done.stdout).unwrap()
        };
        assert_eq!(run("", "pwd; A=1; export A; cd /"), "/usr\n");
        assert_eq!(run("/usr", "pwd; B=2; export B"), "/usr\n");
        assert_eq!(run("", "pwd; echo $A$B"), "/\n12\n");
    }
}
