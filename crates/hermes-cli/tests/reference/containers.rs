//! Containers that one program made and the other uses.

use std::path::PathBuf;

use hermes_testkit::engine::Scope;
use hermes_testkit::{Engine, Finished, Hermes, Image, TestHome, need};
use serde_json::Value;

use super::support::{reference, their_script};

/// A profile of one home that both programs run commands in, on one engine.
struct Both {
    program: PathBuf,
    home: TestHome,
    /// Both look for containers by the profile's name, so no other test may have it.
    profile: String,
    engine: &'static Engine,
    scope: Scope,
    image: &'static str,
}

impl Both {
    fn new() -> Option<Self> {
        let program = reference()?;
        let engine = need("a container engine", Engine::get())?;
        let image = need("the test image", engine.image(Image::Base))?;
        let home = TestHome::new();
        let profile = format!("both{}", std::process::id());
        home.write(
            format!("profiles/{profile}/config.yaml"),
            format!("terminal:\n  backend: docker\n  docker_image: {image}\n  container_disk: 0\n"),
        );
        let scope = engine.scope().also(format!("label=hermes-profile={profile}"));
        Some(Self { program, home, profile, engine, scope, image })
    }

    fn ours(&self, args: &[&str]) -> Finished {
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &self.home)
            .envs(self.engine.env())
            .args(["-p", &self.profile, "sandbox"])
            .args(args)
            .run()
    }

    /// What their terminal tool answers to a command.
    fn theirs(&self, command: &str) -> Value {
        let script = "import sys\nfrom tools.terminal_tool import terminal_tool\n\
                      print('RESULT ' + terminal_tool(sys.argv[1]))\n";
        let done = their_script(&self.program, &self.home, script)
            .arg(command)
            .envs(self.engine.env())
            .env("HERMES_HOME", self.home.path().join("profiles").join(&self.profile))
            .env("TERMINAL_ENV", "docker")
            .env("TERMINAL_DOCKER_IMAGE", self.image)
            .env("TERMINAL_CONTAINER_DISK", "0")
            .run();
        done.success();
        let answer = done.lines().into_iter().find_map(|l| l.strip_prefix("RESULT ").map(str::to_owned));
        serde_json::from_str(&answer.unwrap_or_else(|| panic!("{}", done.out()))).unwrap()
    }
}

#[test]
fn we_use_a_container_the_reference_made() {
    let Some(both) = Both::new() else { return };
    let made = both.theirs("echo theirs > /opt/mark; hostname");
    assert_eq!(made["exit_code"], 0, "{made}");
    let host = made["output"].as_str().unwrap().trim().to_owned();
    let first = both.ours(&["exec", "--", "cat /opt/mark; hostname"]);
    first.success().stdout_is(&format!("theirs\n{host}\n")).stderr_has("made by another program");
    let job = both.ours(&["jobs", "start", "echo done; exit 4"]).success().out().trim().to_owned();
    both.ours(&["jobs", "wait", &job]).code(4);
    both.ours(&["exec", "--", "echo ours > /opt/mark"]).success();
    let again = both.theirs("cat /opt/mark; hostname");
    assert_eq!(again["output"].as_str().unwrap().trim(), format!("ours\n{host}"), "{again}");
    assert_eq!(both.scope.containers().len(), 1);
    both.ours(&["rm", "--force", &both.scope.containers()[0]]).success();
    assert!(both.scope.containers().is_empty());
}

#[test]
fn the_reference_uses_a_container_we_made() {
    let Some(both) = Both::new() else { return };
    let host =
        both.ours(&["exec", "--", "echo ours > /opt/mark; hostname"]).success().out().trim().to_owned();
    let found = both.theirs("cat /opt/mark; hostname; echo theirs > /opt/mark");
    assert_eq!(found["output"].as_str().unwrap().trim(), format!("ours\n{host}"), "{found}");
    both.ours(&["exec", "--", "cat /opt/mark; hostname"]).success().stdout_is(&format!("theirs\n{host}\n"));
    both.ours(&["stop", "--force"]).success();
    let restarted = both.theirs("cat /opt/mark; hostname");
    assert_eq!(restarted["output"].as_str().unwrap().trim(), format!("theirs\n{host}"), "{restarted}");
    assert_eq!(both.scope.containers().len(), 1);
}
