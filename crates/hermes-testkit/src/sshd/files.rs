//! The files of a throw-away sshd: keys, settings of the server and of a client.

use std::fs::{self, File};
use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::{SshError, SshServer};

#[derive(Debug, Clone)]
pub(super) struct Files {
    dir: PathBuf,
}

impl Files {
    /// Makes the keys and writes all settings.
    pub(super) fn write(dir: &Path, keygen: &Path, port: u16, user: &str) -> Result<Self, SshError> {
        let files = Self { dir: dir.to_path_buf() };
        let failed = |action| move |error: io::Error| SshError::SetUp { action, reason: error.to_string() };
        for key in [files.host_key(), files.identity(), files.stranger()] {
            make_key(keygen, &key)?;
        }
        fs::create_dir(files.home()).map_err(failed("make a home"))?;
        let public =
            |key: PathBuf| fs::read_to_string(key.with_extension("pub")).map_err(failed("read a key"));
        let known = |key: &str| format!("[127.0.0.1]:{port} {key}");
        let texts = [
            (files.authorized_keys(), public(files.identity())?),
            (files.known_hosts(), known(&public(files.host_key())?)),
            (files.wrong_known_hosts(), known(&public(files.stranger())?)),
            (files.server_config(), files.server_settings()),
            (files.client_config(), files.client_settings(port, user)),
        ];
        for (path, text) in texts {
            fs::write(path, text).map_err(failed("write a file"))?;
        }
        Ok(files)
    }

    /// Starts an sshd that serves this one connection.
    pub(super) fn serve(&self, sshd: &Path, stream: &TcpStream) -> io::Result<Child> {
        let log = File::options().create(true).append(true).open(self.log())?;
        Command::new(sshd)
            .args(["-i", "-e", "-f"])
            .arg(self.server_config())
            // What the test run has in its environment is not for sessions.
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .stdin(OwnedFd::from(stream.try_clone()?))
            .stdout(OwnedFd::from(stream.try_clone()?))
            .stderr(log)
            .spawn()
    }

    pub(super) fn identity(&self) -> PathBuf {
        self.dir.join("identity")
    }

    pub(super) fn stranger(&self) -> PathBuf {
        self.dir.join("stranger")
    }

    pub(super) fn known_hosts(&self) -> PathBuf {
        self.dir.join("known_hosts")
    }

    pub(super) fn wrong_known_hosts(&self) -> PathBuf {
        self.dir.join("wrong_known_hosts")
    }

    pub(super) fn client_config(&self) -> PathBuf {
        self.dir.join("ssh_config")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.dir.join("sshd.log")
    }

    fn host_key(&self) -> PathBuf {
        self.dir.join("host_key")
    }

    fn authorized_keys(&self) -> PathBuf {
        self.dir.join("authorized_keys")
    }

    fn server_config(&self) -> PathBuf {
        self.dir.join("sshd_config")
    }

    fn server_settings(&self) -> String {
        format!(
            "HostKey {}\n\
             AuthorizedKeysFile {}\n\
             SetEnv HOME={}\n\
             PidFile none\n\
             UsePAM no\n\
             StrictModes no\n\
             PermitRootLogin prohibit-password\n\
             PasswordAuthentication no\n\
             KbdInteractiveAuthentication no\n\
             PubkeyAuthentication yes\n\
             AcceptEnv LANG LC_*\n\
             MaxSessions 100\n\
             PrintMotd no\n\
             PrintLastLog no\n\
             Subsystem sftp internal-sftp\n",
            self.host_key().display(),
            self.authorized_keys().display(),
            self.home().display()
        )
    }

    fn client_settings(&self, port: u16, user: &str) -> String {
        format!(
            "Host {}\n  HostName 127.0.0.1\n  Port {port}\n  User {user}\n  IdentityFile {}\n  \
             IdentitiesOnly yes\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n  \
             StrictHostKeyChecking yes\n  BatchMode yes\n",
            SshServer::ALIAS,
            self.identity().display(),
            self.known_hosts().display()
        )
    }
}

fn make_key(keygen: &Path, path: &Path) -> Result<(), SshError> {
    let output = Command::new(keygen)
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "hermes-test", "-f"])
        .arg(path)
        .output()
        .map_err(|error| SshError::SetUp { action: "run ssh-keygen", reason: error.to_string() })?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(SshError::SetUp { action: "make a key", reason })
}
