//! How the box program is called, in each of its places.

use std::time::Duration;

/// The socket's name in a directory shared with a container.
pub const SOCKET_NAME: &str = "box.sock";

/// As the first process of a container.
#[derive(Debug, Clone, Copy)]
pub struct First<'a> {
    /// Directory shared with the host, to listen in.
    pub run_dir: Option<&'a str>,
    /// The user of the host who may connect there, besides root and the agent's own.
    pub host_uid: u32,
    /// Where it keeps logs and long output.
    pub directory: &'a str,
    /// Where sessions begin.
    pub cwd: &'a str,
    /// Leave when unused for so long.
    pub idle_exit: Option<Duration>,
}

impl First<'_> {
    /// Its arguments. It always listens at the name of its container as well, where `exec` finds it
    /// whatever becomes of the socket.
    pub fn args(&self) -> Vec<String> {
        let mut args = words(["init", "--in-box"]);
        if let Some(dir) = self.run_dir {
            // The directory above it, on the host, lets nobody else in; inside, commands are refused.
            args.extend(words(["--socket", &format!("{dir}/{SOCKET_NAME}"), "--socket-mode", "0666"]));
            if self.host_uid != 0 {
                args.extend(words(["--allow-uid", &self.host_uid.to_string()]));
            }
        }
        args.extend(words(["--directory", self.directory, "--cwd", self.cwd, "--login"]));
        if let Some(limit) = self.idle_exit {
            args.extend(words(["--idle-exit", &limit.as_secs().to_string()]));
        }
        args
    }
}

/// As a guest in a container whose first process is another program's.
pub fn guest(directory: &str) -> Vec<String> {
    words(["daemon", "--in-box", "--directory", directory, "--login"])
}

/// As a bridge to the agent of the container it is started in.
pub fn connect_in_box() -> Vec<String> {
    words(["connect", "--in-box"])
}

/// A script that starts the agent of a directory unless it runs, and then is a bridge to it.
pub fn start_and_connect(program: &str, directory: &str, idle_exit: Duration) -> String {
    let program = quoted(program);
    // The home is only known on the other side.
    let directory =
        format!("\"${{XDG_STATE_HOME:-$HOME/.local/state}}\"{}", quoted(&format!("/hermes/{directory}")));
    let seconds = idle_exit.as_secs();
    format!(
        "d={directory}; umask 077; mkdir -p \"$d\" && \
         {program} daemon --detach --single --socket \"$d/{SOCKET_NAME}\" --directory \"$d\" --login \
         --idle-exit {seconds} && exec {program} connect --socket \"$d/{SOCKET_NAME}\""
    )
}

/// One word for a shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_survive_a_shell() {
        assert_eq!(quoted("a'b c"), "'a'\\''b c'");
    }

    #[test]
    fn the_first_process_listens_for_exec_even_without_a_shared_directory() {
        let first = First { run_dir: None, host_uid: 1000, directory: "/d", cwd: "/root", idle_exit: None };
        assert_eq!(first.args().join(" "), "init --in-box --directory /d --cwd /root --login");
    }
}
