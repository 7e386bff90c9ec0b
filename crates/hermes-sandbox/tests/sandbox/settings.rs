//! What the settings promise, seen from inside a real container.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::time::Duration;

use hermes_box::proto::exec::ExecRequest;
use hermes_guard::Secret;
use hermes_sandbox::config::{Filesystem, Network, Reuse, RunAs, Switch};
use hermes_sandbox::context::HostUser;
use hermes_sandbox::docker::errors::LimitKind;
use hermes_sandbox::managed;
use hermes_sandbox::notice::Notice;
use hermes_sandbox::scope::{Caller, Scope};
use hermes_testkit::{Engine, Image, need};

use crate::child;
use crate::fixture::{Fixture, out, sh, text};

fn fixture() -> Option<Fixture> {
    need("docker", Engine::get()).map(Fixture::container)
}

#[test]
fn variables_arrive_and_never_show_in_the_process_list() {
    let Some(mut fixture) = fixture() else { return };
    let values = [("PLAIN", "two words"), ("QUOTED", "it's \"#= fine"), ("MULTI", "one\ntwo")];
    fixture.config.container.env = values.map(|(n, v)| (n.to_owned(), Secret::new(v))).into();
    fixture.context.env.set("FROM_PROCESS", "p");
    fixture.context.dotenv.insert("FROM_FILE".into(), Secret::new("f"));
    fixture.config.forward_env = vec!["FROM_PROCESS".into(), "FROM_FILE".into(), "NOWHERE".into()];
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    for (name, value) in values {
        assert_eq!(out(&client, &format!("echo \"${name}\"")), value);
    }
    let mut request = ExecRequest::shell("s", "echo $FROM_PROCESS $FROM_FILE");
    request.env = sandbox.command_env();
    assert_eq!(text(&client.run(request).unwrap()), "p f");
    assert!(sandbox.take_notices().iter().any(|n| n.to_string().contains("NOWHERE")));
}

#[test]
fn limits_hold_or_are_reported() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.container.limits.disk_mb = Some(1024);
    fixture.config.container.limits.pids = Some(64);
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    let notices = sandbox.take_notices();
    let storm = sh(&client, "s", "for i in $(seq 200); do sleep 20 & done 2>&1 | tail -1; jobs -p | wc -l");
    assert!(text(&storm).contains("esource") || text(&storm).contains("fork"), "{}", text(&storm));
    // Whether a disk can be limited depends on the machine; silence is the only wrong answer.
    let told = notices.iter().any(|n| matches!(n, Notice::NotEnforced { limit: LimitKind::Disk, .. }));
    let enforced = Engine::get()
        .unwrap()
        .cli(["inspect", "--format", "{{.HostConfig.StorageOpt}}", &fixture.container_name()])
        .out()
        .contains("size");
    assert_ne!(told, enforced);
}

#[test]
fn there_is_no_network_when_it_is_off() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.container.network = Network::Off;
    let client = fixture.open().client().unwrap();
    assert_eq!(out(&client, "ls /sys/class/net"), "lo");
}

#[test]
fn privileges_are_few() {
    let Some(fixture) = fixture() else { return };
    let client = fixture.open().client().unwrap();
    assert_eq!(out(&client, "grep -E 'NoNewPrivs' /proc/self/status | tr -d '\\t'"), "NoNewPrivs:1");
    assert_ne!(sh(&client, "s", "mount -t tmpfs none /mnt").code(), 0);
    assert_ne!(sh(&client, "s", "mknod /opt/disk b 8 0").code(), 0);
    assert_ne!(
        sh(&client, "s", "echo x > /.hermes-box/bin/hermes-box").code(),
        0,
        "our program is read-only"
    );
}

#[test]
fn home_and_workspace_are_kept_on_the_host_or_in_memory() {
    let Some(mut fixture) = fixture() else { return };
    let client = fixture.open().client().unwrap();
    out(&client, "echo a > /root/a; echo b > /workspace/b");
    let kept = fixture.context.sandbox_dir.join("docker/default");
    assert_eq!(std::fs::read_to_string(kept.join("home/a")).unwrap(), "a\n");
    assert_eq!(std::fs::read_to_string(kept.join("workspace/b")).unwrap(), "b\n");
    fixture.config.container.filesystem = Filesystem::Ephemeral;
    fixture.config.scope = Scope::Shared("memory".into());
    let client = fixture.open().client().unwrap();
    assert_eq!(out(&client, "grep -c ' /root tmpfs\\| /workspace tmpfs' /proc/mounts"), "2");
}

#[test]
fn the_directory_we_were_started_in_becomes_the_workspace() {
    let Some(mut fixture) = fixture() else { return };
    std::fs::write(fixture.context.host_cwd.join("project-file"), "").unwrap();
    fixture.config.container.mount_cwd = Switch::On;
    let client = fixture.open().client().unwrap();
    assert_eq!(out(&client, "pwd; ls"), "/workspace\nproject-file");
}

#[test]
fn the_users_mounts_are_there() {
    let Some(mut fixture) = fixture() else { return };
    let data = fixture.dir().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("file"), "x").unwrap();
    fixture.config.container.volumes = vec![format!("{}:/data:ro", data.display()), "nonsense".into()];
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    assert_eq!(out(&client, "cat /data/file"), "x");
    assert_ne!(sh(&client, "s", "touch /data/new").code(), 0);
    assert!(sandbox.take_notices().iter().any(|n| matches!(n, Notice::MountSkipped { .. })));
}

#[test]
fn a_source_that_is_not_there_is_made_as_the_user_or_refused() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let user = 12_345;
    let mut fixture = Fixture::container(engine).for_user(user);
    let (ours, elsewhere) = (fixture.dir().join("user/new/data"), fixture.dir().join("elsewhere/typo"));
    let run = |fixture: &Fixture| {
        child::command(fixture, "echo works > /data/file; cat /data/file")
            .uid(user)
            .gid(user)
            .current_dir("/")
            .output()
            .unwrap()
    };
    fixture.config.container.volumes = vec![format!("{}:/data", elsewhere.display())];
    let output = run(&fixture);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains(&elsewhere.display().to_string()) && text.contains("docker_volumes"), "{text}");
    assert!(!elsewhere.exists() && fixture.containers().is_empty());
    fixture.config.container.volumes = vec![format!("{}:/data", ours.display())];
    let output = run(&fixture);
    assert!(child::said(&output).is_some_and(|said| said.ends_with("works")), "{output:?}");
    for made in [ours.as_path(), ours.parent().unwrap()] {
        let meta = std::fs::metadata(made).unwrap();
        assert_eq!((meta.uid(), meta.mode() & 0o777), (user, 0o755), "{}", made.display());
    }
}

#[test]
fn mounts_at_places_of_ours_are_refused_before_the_engine_is_asked() {
    let Some(mut fixture) = fixture() else { return };
    let source = fixture.dir().join("start").display().to_string();
    for target in ["/root", "/root/", "/.hermes-box", "/.hermes-box/run", "/tmp", "/"] {
        fixture.config.container.volumes = vec![format!("{source}:{target}")];
        let error = fixture.open().client().unwrap_err().to_string();
        assert!(error.contains("docker_volumes") && error.contains("choose"), "{target}: {error}");
    }
    assert!(fixture.containers().is_empty());
    fixture.config.container.volumes = vec![format!("{source}:/root/data")];
    assert_eq!(out(&fixture.open().client().unwrap(), "ls -d /root/data"), "/root/data");
}

#[test]
fn what_of_a_home_is_mounted_is_there_and_read_only() {
    let Some(mut fixture) = fixture() else { return };
    let home = fixture.context.home.clone();
    std::fs::create_dir_all(home.join("skills/one")).unwrap();
    std::fs::write(home.join("skills/one/SKILL.md"), "how to\n").unwrap();
    for (name, text) in [("token.json", "t\n"), (".env", "OPENAI_API_KEY=made-up\n"), ("auth.json", "{}\n")] {
        std::fs::write(home.join(name), text).unwrap();
    }
    let files: Vec<String> = ["token.json", "gone.json", ".env"].map(str::to_owned).to_vec();
    let (mounts, left_out) = managed::mounts(&managed::Wishes {
        home: &home,
        user_home: None,
        credential_files: &files,
        external_skills: &[],
    });
    fixture.config.container.managed_mounts = mounts;
    fixture.config.container.left_out = left_out;
    let sandbox = fixture.open();
    let client = sandbox.client().unwrap();
    assert_eq!(
        out(&client, "cd /root/.hermes; cat token.json skills/one/SKILL.md; ls -A"),
        "t\nhow to\ncache\nskills\ntoken.json"
    );
    assert_ne!(sh(&client, "s", "echo x > /root/.hermes/token.json").code(), 0);
    assert_ne!(sh(&client, "s", "touch /root/.hermes/skills/new").code(), 0);
    let told: Vec<String> = sandbox.take_notices().iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|n| n.contains("gone.json")) && told.iter().any(|n| n.contains(".env")),
        "{told:?}"
    );
    std::fs::create_dir_all(home.join("cache/images")).unwrap();
    std::fs::write(home.join("cache/images/later"), "seen\n").unwrap();
    assert_eq!(out(&client, "cat /root/.hermes/cache/images/later"), "seen", "what comes later is seen too");
    let next = fixture.open();
    assert_eq!(next.client().unwrap().agent().instance, client.agent().instance, "none of it is drift");
}

#[test]
fn commands_run_as_the_host_user_when_asked() {
    let Some(mut fixture) = fixture() else { return };
    let user = HostUser { uid: 12_345, gid: 12_345 };
    fixture.config.container.run_as = RunAs::HostUser;
    fixture.context.user = user;
    // As that user would have made them.
    let kept = fixture.context.sandbox_dir.join("docker/default");
    for dir in ["home", "workspace"] {
        std::fs::create_dir_all(kept.join(dir)).unwrap();
        chown(kept.join(dir), Some(user.uid), Some(user.gid)).unwrap();
    }
    let client = fixture.open().client().unwrap();
    assert_eq!(
        out(
            &client,
            "id -u; id -g; echo $HOME; echo hi > ~/file; grep CapEff /proc/self/status | tr -d '\\t'"
        ),
        "12345\n12345\n/root\nCapEff:0000000000000000"
    );
    assert_eq!(std::fs::metadata(kept.join("home/file")).unwrap().uid(), 12_345);
}

#[test]
fn a_task_with_its_own_image_gets_its_own_container() {
    let Some(mut fixture) = fixture() else { return };
    let shared = fixture.open().client().unwrap();
    assert_eq!(sh(&shared, "s", "command -v bash").code(), 0);
    let busybox = Engine::get().unwrap().image(Image::Busybox).unwrap();
    fixture.context.caller =
        Caller { task: Some("a task/1".into()), image: Some(busybox.into()), ..Caller::default() };
    let own = fixture.open().client().unwrap();
    assert_ne!(sh(&own, "s", "command -v bash").code(), 0);
    assert_ne!(own.agent().instance, shared.agent().instance);
    assert_eq!(fixture.containers().len(), 2);
}

#[test]
fn an_image_with_nothing_in_it_still_has_our_agent() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.container.image = Engine::get().unwrap().image(Image::Empty).unwrap().into();
    let client = fixture.open().client().unwrap();
    let exit = client.run(ExecRequest::argv(["/.hermes-box/bin/hermes-box", "--version"])).unwrap();
    assert_eq!(exit.code(), 0);
}

#[test]
fn each_session_has_its_own_place_when_the_scope_says_so() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.scope = Scope::Session;
    let mut instances = Vec::new();
    for session in ["one", "two", "one"] {
        fixture.context.caller.session = Some(session.into());
        instances.push(fixture.open().client().unwrap().agent().instance);
    }
    assert_eq!(instances[0], instances[2]);
    assert_ne!(instances[0], instances[1]);
}

#[test]
fn a_container_of_one_process_is_not_found_by_others_and_goes_with_it() {
    let Some(mut fixture) = fixture() else { return };
    fixture.config.container.reuse = Reuse::Never;
    let (one, two) = (fixture.open(), fixture.open());
    assert_ne!(one.client().unwrap().agent().instance, two.client().unwrap().agent().instance);
    assert_eq!(fixture.containers().len(), 2);
    for sandbox in [&one, &two] {
        sandbox.dispose(hermes_sandbox::backend::Dispose::Release).unwrap();
        assert!(sandbox.wait_for_cleanup(Duration::from_mins(1)));
    }
    assert!(fixture.containers().is_empty());
}
