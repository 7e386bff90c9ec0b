//! An engine on another machine: it sees none of our files and shares no directory with us.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;

use hermes_sandbox::notice::Notice;
use hermes_testkit::{Engine, need};

use crate::fixture::{Fixture, out};

/// Makes an engine's socket reachable over the network, as a remote engine is.
fn over_network(socket: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let socket = socket.to_path_buf();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = UnixStream::connect(&socket) else { continue };
            join(near, far);
        }
    });
    address
}

/// A stream that can be had twice, once to read from and once to write to.
trait Duplex: Read + Write + Send + Sized + 'static {
    fn twin(&self) -> io::Result<Self>;
    fn end_writing(&self);
}

impl Duplex for TcpStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end_writing(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

impl Duplex for UnixStream {
    fn twin(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end_writing(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

/// Passes everything on, both ways.
fn join(near: impl Duplex, far: impl Duplex) {
    let (near_in, far_in) = (near.twin().unwrap(), far.twin().unwrap());
    pour(near_in, far);
    pour(far_in, near);
}

fn pour(mut from: impl Duplex, mut to: impl Duplex) {
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        to.end_writing();
    });
}

/// Another socket for the same engine, with permissions of its own.
pub fn open_door(door: &Path, socket: &Path) {
    let listener = UnixListener::bind(door).unwrap();
    let socket = socket.to_path_buf();
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let Ok(far) = UnixStream::connect(&socket) else { continue };
            join(near, far);
        }
    });
}

fn socket_of(engine: &Engine) -> PathBuf {
    let host = engine.env().find(|(name, _)| *name == "DOCKER_HOST").map(|(_, value)| value.to_owned());
    let host = host.unwrap_or_else(|| "unix:///var/run/docker.sock".to_owned());
    host.strip_prefix("unix://").unwrap().into()
}

#[test]
fn the_program_travels_in_a_volume_and_the_engine_is_the_way_in() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let mut fixture = Fixture::container(engine);
    fixture.context.env.set("DOCKER_HOST", over_network(&socket_of(engine)));
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    assert!(sandbox.take_notices().iter().any(|notice| matches!(notice, Notice::KeptByEngine { .. })));
    out(&client, "echo kept > /root/kept");
    let mounts = engine.cli(["inspect", "--format", "{{json .Mounts}}", &fixture.container_name()]).json();
    for mount in mounts.as_array().unwrap() {
        assert_eq!(mount["Type"], "volume", "nothing of this machine is mounted there: {mount}");
    }
    engine.cli(["rm", "-f", &fixture.container_name()]).success();
    assert_eq!(out(&sandbox.client().unwrap(), "cat /root/kept"), "kept", "what is to be kept is in volumes");
    let next = fixture.open().client().unwrap();
    assert_eq!(out(&next, "echo works"), "works");
    let name = fixture.container_name();
    engine.cli(["rm", "-f", &name]).success();
    engine.cli(["volume", "rm", &format!("{name}-home"), &format!("{name}-workspace")]).success();
}
