//! The arguments every ssh command starts with, and the directory its shared connections live in.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::SshConfig;
use crate::context::{Context, HostUser};
use crate::digest;
use crate::files;

/// The system allows 104 bytes for the path of a socket on some machines, and ssh adds up to 18 of its own
/// while it makes one.
const LONGEST_CONTROL_PATH: usize = 104 - 18;

/// How strange host keys are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKeys {
    /// A host seen for the first time is believed, a changed key never is.
    AcceptNew,
    /// As the user's own configuration says, because it is stricter.
    AsConfigured,
}

/// Where ssh keeps a connection that later commands share.
pub fn control_path(config: &SshConfig, context: &Context) -> io::Result<PathBuf> {
    let key = format!("{}@{}:{}", config.user, config.host, config.port.unwrap_or(0));
    let name = &digest::hex(&digest::of_bytes(key.as_bytes()))[..16];
    let places = candidates(context);
    let fitting = places
        .iter()
        .find(|dir| dir.as_os_str().len() + 1 + name.len() <= LONGEST_CONTROL_PATH)
        .ok_or_else(|| io::Error::other("no directory has a path short enough for a socket"))?;
    own_directory(fitting, context.user)?;
    Ok(fitting.join(name))
}

fn candidates(context: &Context) -> Vec<PathBuf> {
    let runtime =
        context.env.get("XDG_RUNTIME_DIR").map(Path::new).filter(|dir| dir.is_absolute() && dir.is_dir());
    let mut places: Vec<PathBuf> = runtime.map(|dir| dir.join("hermes-ssh")).into_iter().collect();
    places.push(context.cache_dir.join("ssh"));
    places.push(Path::new("/tmp").join(format!("hermes-ssh-{}", context.user.uid)));
    places
}

/// Makes the directory, and refuses one that somebody else prepared for us.
fn own_directory(dir: &Path, user: HostUser) -> io::Result<()> {
    files::private_dir(dir)?;
    let meta = fs::symlink_metadata(dir)?;
    if !meta.is_dir() || meta.uid() != user.uid || meta.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("\"{}\" is not a directory of ours alone", dir.display())));
    }
    Ok(())
}

/// Options and destination, without a command.
pub fn arguments(config: &SshConfig, control_path: &Path, host_keys: HostKeys) -> Vec<String> {
    let mut args: Vec<String> = Vec::new();
    let mut option = |text: String| args.extend(["-o".to_owned(), text]);
    option(format!("ControlPath={}", control_path.display()));
    option("ControlMaster=auto".to_owned());
    option("ControlPersist=300".to_owned());
    option("BatchMode=yes".to_owned());
    if host_keys == HostKeys::AcceptNew {
        option("StrictHostKeyChecking=accept-new".to_owned());
    }
    option("ConnectTimeout=10".to_owned());
    // A network that went away is noticed within a minute, so that the next call can make a new connection.
    option("ServerAliveInterval=15".to_owned());
    option("ServerAliveCountMax=3".to_owned());
    for further in &config.options {
        option(further.clone());
    }
    if let Some(port) = config.port {
        args.extend(["-p".to_owned(), port.to_string()]);
    }
    if let Some(key) = &config.key {
        args.extend(["-i".to_owned(), key.display().to_string()]);
    }
    if !config.user.is_empty() {
        args.extend(["-l".to_owned(), config.user.clone()]);
    }
    args.extend(["--".to_owned(), config.host.clone()]);
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context;

    fn config() -> SshConfig {
        SshConfig { host: "build".into(), ..SshConfig::default() }
    }

    fn in_dir(dir: &Path) -> Context {
        Context { cache_dir: dir.into(), user: HostUser::current(), ..context::sample() }
    }

    #[test]
    fn little_is_said_so_that_the_users_configuration_counts() {
        let args = arguments(&config(), Path::new("/run/c"), HostKeys::AcceptNew).join(" ");
        assert_eq!(
            args,
            "-o ControlPath=/run/c -o ControlMaster=auto -o ControlPersist=300 -o BatchMode=yes \
             -o StrictHostKeyChecking=accept-new -o ConnectTimeout=10 -o ServerAliveInterval=15 \
             -o ServerAliveCountMax=3 -- build"
        );
    }

    #[test]
    fn what_is_set_is_said() {
        let config = SshConfig {
            user: "u".into(),
            port: Some(2222),
            key: Some("/k".into()),
            options: vec!["Compression=yes".into()],
            ..config()
        };
        let args = arguments(&config, Path::new("/run/c"), HostKeys::AsConfigured).join(" ");
        assert!(args.ends_with("-o Compression=yes -p 2222 -i /k -l u -- build"), "{args}");
        assert!(!args.contains("StrictHostKeyChecking"));
    }

    #[test]
    fn a_host_that_looks_like_an_option_is_still_a_host() {
        let config = SshConfig { host: "-oProxyCommand=evil".into(), ..SshConfig::default() };
        let args = arguments(&config, Path::new("/c"), HostKeys::AcceptNew);
        assert_eq!(args[args.len() - 2..], ["--", "-oProxyCommand=evil"]);
    }

    #[test]
    fn control_paths_are_short_private_and_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let one = control_path(&config(), &in_dir(dir.path())).unwrap();
        let two = control_path(&SshConfig { port: Some(2222), ..config() }, &in_dir(dir.path())).unwrap();
        assert_ne!(one, two);
        assert!(one.as_os_str().len() <= LONGEST_CONTROL_PATH);
        let deep = dir.path().join("x".repeat(120));
        let elsewhere = control_path(&config(), &in_dir(&deep)).unwrap();
        assert!(!elsewhere.starts_with(&deep) && elsewhere.as_os_str().len() <= LONGEST_CONTROL_PATH);
    }

    #[test]
    fn a_directory_that_others_can_enter_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("ssh");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(control_path(&config(), &in_dir(dir.path())).is_err());
    }
}
