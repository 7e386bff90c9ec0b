//! The command line of `hermes-box`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use super::address::Address;
use super::detach::{self, Ready, Single};
use super::run::{self, DaemonOptions, Role};
use super::{ALREADY_RUNNING, NOBODY_THERE, TOKEN_VARIABLE, bridge};
use crate::proto::exec::SessionInit;
use crate::proto::hello::{BUILD, NEWEST, VERSION};
use crate::server::AgentOptions;
use crate::sys::{memory, secrets};

const USAGE: &str = "\
hermes-box: runs commands, jobs and file operations for hermes

usage:
  hermes-box init [options]      serve as the first process of a container
  hermes-box daemon [options]    serve as a process among others
  hermes-box serve --stdio       serve one client at standard input and output
  hermes-box connect [options]   be a bridge from standard input and output to a running agent
  hermes-box --version

options:
  --socket PATH      listen at (connect to) this socket
  --abstract NAME    listen at (connect to) this name
  --in-box           listen at (connect to) the name of this container and user
  --socket-mode OCT  permissions of the socket (0600)
  --allow-uid UID    serve this user too
  --directory DIR    keep state, logs and long output here
  --cwd DIR          begin sessions here (home directory)
  --shell PATH       the shell to use
  --login            begin sessions in a login shell
  --init-file FILE   read this file at the start of sessions (implies --login)
  --grace MS         time between TERM and KILL (2000)
  --idle-exit SECS   leave after so long without clients and jobs
  --token-stdin      clients must know what is read from standard input
  --single           leave if another agent serves at this socket
  --detach           go to the background once it serves

The variable HERMES_BOX_TOKEN, if set, is what clients must know; commands do not see it.
";

/// What the arguments mean.
#[derive(Debug, PartialEq, Eq)]
enum Verb {
    Init,
    Daemon,
    ServeStdio,
    Connect,
}

#[derive(Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "switches of a command line")]
struct Arguments {
    verb: Option<Verb>,
    addresses: Vec<Address>,
    socket_mode: Option<u32>,
    uids: Vec<u32>,
    directory: Option<PathBuf>,
    cwd: Option<PathBuf>,
    shell: Option<PathBuf>,
    login: bool,
    init_files: Vec<PathBuf>,
    grace: Option<Duration>,
    idle_exit: Option<Duration>,
    token_stdin: bool,
    single: bool,
    detach: bool,
}

/// Runs `hermes-box` with these arguments (without the program's name). Must be called before the process has other threads.
pub fn main(arguments: impl Iterator<Item = OsString>) -> i32 {
    let arguments: Vec<OsString> = arguments.collect();
    match arguments.first().and_then(|first| first.to_str()) {
        Some("--version" | "-V" | "version") => {
            return say(&format!("hermes-box {VERSION} ({BUILD}, protocol {NEWEST})\n"));
        }
        Some("--help" | "-h" | "help") | None => return say(USAGE),
        Some(_) => {}
    }
    match parse(arguments) {
        Err(problem) => complain(&format!("{problem}; `hermes-box --help` shows how it is used"), 2),
        Ok(arguments) => run(arguments),
    }
}

fn run(arguments: Arguments) -> i32 {
    // Commands of the same user must not look into this process.
    secrets::forbid_inspection();
    memory::stay_small();
    let result = match arguments.verb {
        Some(Verb::Connect) => return connect(&arguments.addresses),
        Some(Verb::ServeStdio) => run::run_stdio(agent_options(&arguments)),
        Some(Verb::Init) => daemon(arguments, Role::Init),
        Some(Verb::Daemon) | None => daemon(arguments, Role::Guest),
    };
    match result {
        Ok(()) => 0,
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            complain("another agent serves there already", ALREADY_RUNNING)
        }
        Err(error) => complain(&error.to_string(), 1),
    }
}

fn connect(addresses: &[Address]) -> i32 {
    let default = [Address::in_box()];
    let addresses = if addresses.is_empty() { &default } else { addresses };
    let owners = [rustix::process::geteuid().as_raw(), 0];
    let mut reason = String::new();
    for address in addresses {
        match address.connect(&owners) {
            Ok(socket) if is_ours(&socket) => {
                let ended = bridge::run(socket);
                return ended.map_or_else(|error| complain(&error.to_string(), 1), |()| 0);
            }
            Ok(_) => reason = "another user listens there".into(),
            Err(error) => reason = error.to_string(),
        }
    }
    complain(&reason, NOBODY_THERE)
}

/// A name without an owner could have been taken by anybody.
fn is_ours(socket: &std::os::unix::net::UnixStream) -> bool {
    super::peer::credentials(socket)
        .is_ok_and(|peer| peer.uid == 0 || peer.uid == rustix::process::geteuid().as_raw())
}

fn daemon(arguments: Arguments, role: Role) -> io::Result<()> {
    let token = take_token(arguments.token_stdin)?;
    let mut agent = agent_options(&arguments);
    agent.env.remove(OsStr::new(TOKEN_VARIABLE));
    let mut addresses = arguments.addresses;
    if addresses.is_empty() {
        addresses.push(Address::in_box());
    }
    let ready = if arguments.detach { detach::detach()? } else { Ready::nobody() };
    let only_one = addresses.iter().find_map(path_of).filter(|_| arguments.single);
    let single = only_one.map(|path| Single::claim(&path)).transpose()?;
    if let Some(None) = single {
        // Whoever started us finds the other one.
        ready.tell();
        return Ok(());
    }
    let sockets: Vec<PathBuf> = addresses.iter().filter_map(path_of).collect();
    let options = DaemonOptions {
        agent,
        addresses,
        socket_mode: arguments.socket_mode.unwrap_or(0o600),
        allowed_uids: arguments.uids,
        token,
        idle_exit: arguments.idle_exit,
        role,
    };
    // Not to keep a file system from being unmounted.
    std::env::set_current_dir("/")?;
    let detached = arguments.detach;
    run::run(options, move || {
        if detached {
            let _ = detach::silence();
        }
        ready.tell();
    })?;
    for socket in sockets {
        let _ = std::fs::remove_file(socket);
    }
    Ok(())
}

fn path_of(address: &Address) -> Option<PathBuf> {
    match address {
        Address::Path(path) => Some(path.clone()),
        Address::Abstract(_) => None,
    }
}

fn agent_options(arguments: &Arguments) -> AgentOptions {
    let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let home = env.get(OsStr::new("HOME")).map(PathBuf::from).filter(|home| home.is_dir());
    let cwd = arguments.cwd.clone().or(home).unwrap_or_else(|| "/".into());
    let mut options = AgentOptions::new(env, cwd);
    options.env.remove(OsStr::new(TOKEN_VARIABLE));
    options.directory.clone_from(&arguments.directory);
    options.shell.clone_from(&arguments.shell);
    if arguments.login || !arguments.init_files.is_empty() {
        options.init = SessionInit::Login { files: arguments.init_files.clone() };
    }
    if let Some(grace) = arguments.grace {
        options.grace = grace;
    }
    options
}

/// The token from where commands cannot read it: standard input, or a variable that is wiped from this process.
fn take_token(from_stdin: bool) -> io::Result<Option<Vec<u8>>> {
    let from_variable = secrets::take_variable(TOKEN_VARIABLE);
    if !from_stdin {
        return Ok(from_variable.filter(|token| !token.is_empty()));
    }
    let mut token = Vec::new();
    io::stdin().take(4096).read_to_end(&mut token)?;
    while token.last() == Some(&b'\n') {
        token.pop();
    }
    if token.is_empty() {
        return Err(io::Error::other("no token at standard input"));
    }
    Ok(Some(token))
}

fn parse(arguments: Vec<OsString>) -> Result<Arguments, String> {
    let mut parsed = Arguments::default();
    let mut words = arguments.into_iter();
    let verb = words.next().unwrap_or_default();
    parsed.verb = Some(match verb.as_bytes() {
        b"init" => Verb::Init,
        b"daemon" => Verb::Daemon,
        b"serve" => Verb::ServeStdio,
        b"connect" => Verb::Connect,
        _ => return Err(format!("'{}' is not known", verb.display())),
    });
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("'{}' needs a value", word.display()));
        match word.as_bytes() {
            b"--stdio" => {}
            b"--socket" => parsed.addresses.push(Address::Path(value()?.into())),
            b"--abstract" => parsed.addresses.push(Address::Abstract(value()?)),
            b"--in-box" => parsed.addresses.push(Address::in_box()),
            b"--socket-mode" => {
                let text = value()?;
                let mode = text.to_str().and_then(|text| u32::from_str_radix(text, 8).ok());
                parsed.socket_mode = Some(mode.ok_or_else(|| format!("'{}' is not a mode", text.display()))?);
            }
            b"--allow-uid" => parsed.uids.push(number(&value()?)? as u32),
            b"--directory" => parsed.directory = Some(value()?.into()),
            b"--cwd" => parsed.cwd = Some(value()?.into()),
            b"--shell" => parsed.shell = Some(value()?.into()),
            b"--login" => parsed.login = true,
            b"--init-file" => parsed.init_files.push(value()?.into()),
            b"--grace" => parsed.grace = Some(Duration::from_millis(number(&value()?)?)),
            b"--idle-exit" => parsed.idle_exit = Some(Duration::from_secs(number(&value()?)?)),
            b"--token-stdin" => parsed.token_stdin = true,
            b"--single" => parsed.single = true,
            b"--detach" => parsed.detach = true,
            _ => return Err(format!("'{}' is not known", word.display())),
        }
    }
    Ok(parsed)
}

fn number(text: &OsStr) -> Result<u64, String> {
    let number =
        text.to_str().and_then(|text| text.parse().ok()).filter(|number| u32::try_from(*number).is_ok());
    number.ok_or_else(|| format!("'{}' is not a number", text.display()))
}

fn say(text: &str) -> i32 {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn complain(problem: &str, code: i32) -> i32 {
    let _ = writeln!(io::stderr(), "hermes-box: {problem}");
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Arguments, String> {
        parse(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn arguments_are_understood() {
        let parsed =
            words("init --socket /run/a --in-box --idle-exit 9 --init-file ~/.profile --allow-uid 7");
        let expected = Arguments {
            verb: Some(Verb::Init),
            addresses: vec![Address::Path("/run/a".into()), Address::in_box()],
            idle_exit: Some(Duration::from_secs(9)),
            init_files: vec!["~/.profile".into()],
            uids: vec![7],
            ..Arguments::default()
        };
        assert_eq!(parsed, Ok(expected));
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (line, problem) in [
            ("launch", "'launch' is not known"),
            ("daemon --socket", "'--socket' needs a value"),
            ("daemon --grace soon", "'soon' is not a number"),
            ("daemon --socket-mode 9", "'9' is not a mode"),
        ] {
            assert_eq!(words(line), Err(problem.to_string()));
        }
    }
}
