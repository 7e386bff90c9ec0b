//! The throw-away sshd, tried with the system's ssh.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::time::Duration;

use hermes_testkit::{Hermes, SshServer, TestHome, need, wait_until};

const SOON: Duration = Duration::from_secs(20);

/// ssh by the alias of the client configuration.
fn ssh(home: &TestHome, server: &SshServer) -> Hermes {
    let command = Hermes::new("/usr/bin/ssh", home).limit(SOON);
    command.arg("-F").arg(server.client_config()).arg(SshServer::ALIAS)
}

/// ssh with everything on the command line.
fn plain_ssh(home: &TestHome, server: &SshServer, identity: &Path, known_hosts: &Path) -> Hermes {
    let known_hosts = format!("-oUserKnownHostsFile={}", known_hosts.display());
    Hermes::new("/usr/bin/ssh", home)
        .limit(SOON)
        .args(["-F", "none", "-oBatchMode=yes", "-oIdentitiesOnly=yes", &known_hosts, "-i"])
        .arg(identity)
        .args(["-p", &server.port().to_string(), "-l", server.user(), &server.host()])
}

#[test]
fn a_command_runs_as_the_user_in_a_home_of_its_own() {
    let Some(server) = need("an ssh server", SshServer::start()) else { return };
    let home = TestHome::new();
    let result = ssh(&home, &server).arg("cat; echo \"$USER $HOME\"; exit 3").stdin("input\n").run();
    result.code(3).stdout_is(&format!("input\n{} {}\n", server.user(), server.home().display()));
    assert_eq!(server.connections(), 1);
    let plain = plain_ssh(&home, &server, &server.identity(), &server.known_hosts());
    plain.arg("echo plain").run().success().stdout_is("plain\n");
}

#[test]
fn strangers_and_wrong_host_keys_are_refused() {
    let Some(server) = need("an ssh server", SshServer::start()) else { return };
    let home = TestHome::new();
    let stranger = plain_ssh(&home, &server, &server.stranger_identity(), &server.known_hosts());
    stranger.arg("true").run().code(255).stderr_has("Permission denied");
    let in_between = plain_ssh(&home, &server, &server.identity(), &server.wrong_known_hosts());
    in_between.arg("true").run().code(255).stderr_has("verification failed");
    assert!(server.log().contains("Connection"), "{}", server.log());
}

#[test]
fn connections_can_be_cut_and_made_again() {
    let Some(server) = need("an ssh server", SshServer::start()) else { return };
    let home = TestHome::new();
    let mut session = ssh(&home, &server).arg("echo ready; sleep 300").spawn();
    session.line_with("ready", SOON);
    server.cut_connections();
    session.wait(SOON).code(255);
    ssh(&home, &server).arg("echo again").run().success().stdout_is("again\n");
}

#[test]
fn dropping_ends_sessions_and_closes_the_port() {
    let Some(server) = need("an ssh server", SshServer::start()) else { return };
    let home = TestHome::new();
    let mut session = ssh(&home, &server).arg("echo ready; cat").spawn();
    session.line_with("ready", SOON);
    let address = (server.host(), server.port());
    drop(server);
    wait_until(SOON, "the session has ended", || !session.is_running());
    assert!(std::net::TcpStream::connect((address.0.as_str(), address.1)).is_err());
}
