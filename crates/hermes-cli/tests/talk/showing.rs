//! `hermes demo`: checked by itself, and gone afterwards.

use std::path::Path;

use hermes_testkit::{Engine, Finished, Hermes, Image, Signal, TestHome, need, wait_until};

use super::support::{HERMES, LIMIT};

fn nothing_left(home: &TestHome) {
    let names = |dir: &Path| -> Vec<String> {
        std::fs::read_dir(dir)
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    };
    assert_eq!(names(&home.temp_dir()), Vec::<String>::new());
    assert_eq!(names(&home.work_dir()), Vec::<String>::new());
    assert!(!home.path().join("state.db").exists(), "the user's own sessions are not touched");
    wait_until(LIMIT, "everything the demo started ends", || home.processes().is_empty());
}

fn is_good(done: &Finished) {
    done.success()
        .stdout_has("built-in script")
        .stdout_has("Checked without the agent")
        .stdout_has("hermes model");
    done.stderr_lacks("warning");
}

#[test]
fn on_this_machine_it_works_and_leaves_nothing() {
    let home = TestHome::new();
    let done = Hermes::new(HERMES, &home).args(["demo", "--local"]).run();
    is_good(&done);
    done.stdout_has("temporary directory of this machine");
    nothing_left(&home);
}

#[test]
fn settings_of_the_user_do_not_disturb_it() {
    let home = TestHome::new();
    home.config("model:\n  default: gone\n  provider: custom\n  base_url: http://127.0.0.1:9/v1\napprovals:\n  deny: ['*']\nterminal:\n  backend: ssh\n  ssh_host: nowhere.invalid\nbudget:\n  day:\n    tokens: 1\n");
    home.env_file("HERMES_INFERENCE_MODEL=gone\n");
    let done = Hermes::new(HERMES, &home)
        .args(["demo", "--local"])
        .env("TERMINAL_ENV", "ssh")
        .env("HERMES_INFERENCE_MODEL", "gone")
        .run();
    is_good(&done);
    nothing_left(&home);
}

#[test]
fn in_a_container_it_works_and_leaves_nothing() {
    let Some(engine) = need("a container engine", Engine::get()) else { return };
    let Some(image) = need("the test image", engine.image(Image::Base)) else { return };
    let home = TestHome::new();
    home.config(format!("terminal:\n  docker_image: {image}\n"));
    let containers = || {
        engine
            .cli([
                "ps",
                "--all",
                "--quiet",
                "--filter",
                &format!("label=hermes-home={}", home.temp_dir().display()),
            ])
            .lines()
    };
    let all = || engine.cli(["ps", "--all", "--format", "{{.Labels}}"]).out();
    let done = Hermes::new(HERMES, &home).envs(engine.env()).arg("demo").run();
    is_good(&done);
    done.stdout_has("container of");
    nothing_left(&home);
    assert!(containers().is_empty());
    assert!(!all().contains(&home.root().display().to_string()), "{}", all());
}

#[test]
fn interrupted_it_leaves_nothing_either() {
    let home = TestHome::new();
    let mut running = Hermes::new(HERMES, &home).args(["demo", "--local"]).spawn();
    running.line_with("terminal", LIMIT);
    running.signal(Signal::INT);
    running.wait(LIMIT).code(130);
    nothing_left(&home);
}

#[test]
fn it_can_be_kept() {
    let home = TestHome::new();
    let done = Hermes::new(HERMES, &home).args(["demo", "--local", "--keep"]).run();
    let out = done.success().out();
    let kept = out.lines().find_map(|line| line.strip_prefix("Kept: ")).unwrap();
    assert!(Path::new(kept).join("work/report.md").exists());
    done.stdout_lacks("removed now");
}
