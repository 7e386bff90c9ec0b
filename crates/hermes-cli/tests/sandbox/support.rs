//! Homes whose commands run here or in a container, and everything they made removed afterwards.

use hermes_testkit::engine::Scope;
use hermes_testkit::{Engine, Finished, Hermes, Image, TestHome, need};

/// The binary under test.
pub const HERMES: &str = env!("CARGO_BIN_EXE_hermes");

/// A home whose commands run in containers of the test engine.
pub struct Containers {
    pub home: TestHome,
    pub engine: &'static Engine,
    scope: Scope,
}

impl Containers {
    /// A fresh home, or `None` after a skip line.
    pub fn new() -> Option<Self> {
        let engine = need("a container engine", Engine::get())?;
        let image = need("the test image", engine.image(Image::Base))?;
        let home = TestHome::new();
        home.config(format!("terminal:\n  backend: docker\n  docker_image: {image}\n  container_disk: 0\n"));
        let scope = engine.scope().also(format!("label=hermes-home={}", home.path().display()));
        Some(Self { home, engine, scope })
    }

    /// `hermes sandbox ARGS`, ready to run.
    pub fn command(&self, args: &[&str]) -> Hermes {
        Hermes::new(HERMES, &self.home).envs(self.engine.env()).arg("sandbox").args(args)
    }

    /// Runs `hermes sandbox ARGS`.
    pub fn sandbox(&self, args: &[&str]) -> Finished {
        self.command(args).run()
    }

    /// Names of the containers this home made.
    pub fn containers(&self) -> Vec<String> {
        self.scope.containers()
    }
}

/// Runs `hermes sandbox ARGS` on a home whose commands run on this machine.
pub fn here(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(HERMES, home).arg("sandbox").args(args).run()
}
