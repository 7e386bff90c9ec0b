//! The full arguments of `run`, as the engine gets them, and what must never be among them.

use std::path::Path;

use super::args::{Host, RunArgs, label_list, run};
use super::errors::LimitKind;
use super::image::Image;
use super::mounts::Mount;
use super::sample::identity;
use super::site::Site;
use super::spec::{AgentMounts, CreateSpec, Facts, PROGRAM_DIR, RUN_DIR, SpecError, build};
use super::targets::Absent;
use crate::config::{
    Filesystem, Limits, ManagedMount, MountKind, Network, Reuse, RunAs, SandboxConfig, Switch, WhenAbsent,
};
use crate::context::{self, Context};
use crate::notice::Notice;
use crate::scope::{Caller, Scope, ScopeKey};
use hermes_guard::Secret;
use hermes_home::{Home, Profile, Settings};

fn agent() -> AgentMounts {
    AgentMounts {
        program: Mount::bind("/home/u/.cache/hermes/box/abc", PROGRAM_DIR).read_only(),
        program_hash: "abc".into(),
        run: Some(Mount::bind("/home/u/.hermes/sandboxes/.boxes/x/run", RUN_DIR)),
    }
}

fn config() -> SandboxConfig {
    let mut config = SandboxConfig::default();
    config.container.image = "tiny:1".into();
    config
}

fn plain_image() -> Image {
    Image { id: "c9ea".into(), entrypoint: Vec::new(), user: String::new() }
}

fn built_with(config: &SandboxConfig, context: &Context, image: &Image) -> (CreateSpec, Vec<Notice>) {
    let identity = identity();
    let facts = Facts { identity: &identity, image: Some(image), agent: agent(), site: Site::Here };
    build(config, context, &facts).unwrap()
}

fn built(config: &SandboxConfig) -> CreateSpec {
    built_with(config, &context::sample(), &plain_image()).0
}

/// One option with its value a line.
fn shown(args: &RunArgs) -> String {
    let mut text = String::new();
    for arg in &args.args {
        let starts_line = arg.starts_with('-') || text.is_empty();
        text.push_str(if text.is_empty() {
            ""
        } else if starts_line {
            "\n"
        } else {
            " "
        });
        text.push_str(arg);
    }
    text
}

fn args_of(config: &SandboxConfig) -> String {
    shown(&run(&built(config), &Host::default()))
}

#[test]
fn everything_at_its_default() {
    insta::assert_snapshot!(args_of(&config()));
}

#[test]
fn memory_instead_of_kept_directories() {
    let mut config = config();
    config.container.filesystem = Filesystem::Ephemeral;
    config.container.reuse = Reuse::Never;
    insta::assert_snapshot!(args_of(&config));
}

#[test]
fn everything_set() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    let token = dir.path().join("token");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(&token, "").unwrap();
    let mut config = config();
    let container = &mut config.container;
    container.mount_cwd = Switch::On;
    container.run_as = RunAs::HostUser;
    container.network = Network::Off;
    container.volumes = vec!["/srv/data:/data:ro".into(), "cache:/var/cache".into(), "odd".into()];
    container.managed_mounts = vec![
        ManagedMount {
            source: token.clone(),
            target: "/root/.hermes/token".into(),
            kind: MountKind::File,
            absent: WhenAbsent::Skip,
        },
        ManagedMount {
            source: project.clone(),
            target: "/root/.hermes/x".into(),
            kind: MountKind::File,
            absent: WhenAbsent::Skip,
        },
    ];
    container.limits = Limits { cpus: Some(1.5), memory_mb: Some(512), disk_mb: Some(1024), pids: Some(64) };
    container.env = [("B", "two words"), ("A", "1"), ("PEM", "line 1\nline 2")]
        .map(|(name, value)| (name.to_owned(), Secret::new(value)))
        .into();
    container.extra_args = vec!["--gpus".into(), "all".into()];
    let context = Context { host_cwd: project, ..context::sample() };
    let (spec, notices) = built_with(&config, &context, &plain_image());
    let args = run(&spec, &Host::default());
    let text = shown(&args).replace(&dir.path().display().to_string(), "[dir]");
    // The label with the fields hashes paths that differ from run to run.
    let text: Vec<&str> = text.lines().filter(|line| !line.contains("hermes-fi")).collect();
    insta::assert_snapshot!(text.join("\n"));
    assert_eq!(String::from_utf8(args.env_file).unwrap(), "A=1\nB=two words\nHOME=/root\n");
    assert_eq!(args.inherited, [("PEM".to_owned(), Secret::new("line 1\nline 2"))]);
    assert_eq!(notices.len(), 2, "no volume, a file that is a directory: {notices:?}");
    assert!(matches!(spec.absent.as_slice(), [Absent::Refuse(SpecError::SourceMissing { .. })]));
}

#[test]
fn a_supervisor_stays_first_and_gets_a_run_directory_it_can_use() {
    let image = Image { id: "c9ea".into(), entrypoint: vec!["/init".into()], user: String::new() };
    let (spec, _) = built_with(&config(), &context::sample(), &image);
    insta::assert_snapshot!(shown(&run(&spec, &Host::default())));
}

#[test]
fn what_cannot_be_enforced_is_left_out() {
    let host = Host { unenforceable: vec![LimitKind::Disk, LimitKind::Pids], keep_id: false };
    let text = shown(&run(&built(&config()), &host));
    assert!(text.contains("--cpus 1\n") && text.contains("--memory 5120m"));
    assert!(!text.contains("--storage-opt") && !text.contains("--pids-limit"));
}

#[test]
fn an_engine_without_root_keeps_the_users_ids() {
    let mut config = config();
    config.container.run_as = RunAs::HostUser;
    let host = Host { keep_id: true, ..Host::default() };
    let text = shown(&run(&built(&config), &host));
    assert!(text.contains("--user 1000:1000\n--userns keep-id"), "{text}");
    assert!(!text.contains("SETUID"), "no need to become anyone else");
}

#[test]
fn a_remote_engine_gets_a_volume_and_no_shared_directory() {
    let identity = identity();
    let agent = AgentMounts {
        program: Mount::volume("hermes-box-abc", PROGRAM_DIR).read_only(),
        run: None,
        ..agent()
    };
    let facts = Facts {
        identity: &identity,
        image: Some(&plain_image()),
        agent,
        site: Site::Elsewhere { endpoint: "tcp://far".into() },
    };
    let (spec, _) = build(&config(), &context::sample(), &facts).unwrap();
    let text = shown(&run(&spec, &Host::default()));
    assert!(text.contains("-v hermes-box-abc:/.hermes-box/bin:ro"), "{text}");
    assert!(!text.contains(&format!("{RUN_DIR}\n")) && text.contains("hermes-transport=exec"));
    let mounts: Vec<&str> = text.lines().filter(|line| line.starts_with("-v ")).collect();
    assert!(mounts.iter().all(|mount| !mount.contains("/home/u")), "no path of this machine: {mounts:?}");
}

#[test]
fn no_value_of_a_variable_is_ever_an_argument_or_shown() {
    let mut config = config();
    config.container.env =
        [("ONE", "hunter2"), ("TWO", "hunter2\nhunter2")].map(|(n, v)| (n.to_owned(), Secret::new(v))).into();
    let spec = built(&config);
    let args = run(&spec, &Host::default());
    assert!(args.args.iter().all(|arg| !arg.contains("hunter2")));
    assert!(!format!("{spec:?}").contains("hunter2"));
}

#[test]
fn the_users_own_arguments_come_last() {
    let mut config = config();
    config.container.extra_args = vec!["--gpus".into(), "all".into()];
    let args = run(&built(&config), &Host::default()).args;
    let image = args.iter().position(|arg| arg == "tiny:1").unwrap();
    assert_eq!(args[image - 2..image], ["--gpus", "all"]);
}

#[test]
fn the_three_labels_of_the_contract_are_there_and_equal_to_the_probes() {
    let labels = label_list(&built(&config()));
    let of_contract: Vec<_> = labels[..3].iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(of_contract, ["hermes-agent=1", "hermes-task-id=default", "hermes-profile=default"]);
    let probe = super::labels::probe_filters(&identity());
    for label in &of_contract {
        assert!(probe.contains(&format!("label={label}")));
    }
}

#[test]
fn an_unsafe_task_id_is_sanitised_in_the_label_and_harmless_on_disk() {
    let identity = super::identity::Identity { scope: ScopeKey::Task("../a b".into()), ..identity() };
    let facts = Facts { identity: &identity, image: None, agent: agent(), site: Site::Here };
    let (spec, _) = build(&config(), &context::sample(), &facts).unwrap();
    assert!(label_list(&spec).contains(&("hermes-task-id", ".._a_b".to_owned())));
    let super::spec::Writable::Kept { home, .. } = spec.writable else { panic!("kept by default") };
    assert!(home.starts_with("/home/u/.hermes/sandboxes/docker"));
    assert!(home.components().all(|part| part != std::path::Component::ParentDir));
}

#[test]
fn a_users_volume_at_the_workspace_replaces_ours() {
    for filesystem in [Filesystem::Persistent, Filesystem::Ephemeral] {
        let mut config = config();
        config.container.filesystem = filesystem;
        config.container.volumes = vec!["/srv/w:/workspace".into()];
        let text = args_of(&config);
        assert_eq!(text.matches("/workspace").count() - text.matches("hermes-fields").count(), 1, "{text}");
    }
}

#[test]
fn a_tasks_own_image_and_directory_win() {
    let caller = Caller {
        task: Some("t".into()),
        image: Some("other:2".into()),
        cwd: Some("/opt/x".into()),
        ..Caller::default()
    };
    let context = Context { caller: caller.clone(), ..context::sample() };
    let (spec, _) = built_with(&config(), &context, &plain_image());
    assert_eq!((spec.image.as_str(), spec.workdir.as_str()), ("other:2", "/opt/x"));
    assert_eq!(Scope::Profile.resolve(&caller), ScopeKey::Task("t".into()));
}

#[test]
fn settings_that_cannot_work_are_refused_before_any_engine_is_asked() {
    let identity = identity();
    let facts = || Facts { identity: &identity, image: None, agent: agent(), site: Site::Here };
    let refusal = |change: &dyn Fn(&mut SandboxConfig)| {
        let mut config = config();
        change(&mut config);
        build(&config, &context::sample(), &facts()).unwrap_err()
    };
    let bad_name = refusal(&|c| drop(c.container.env.insert("A B".into(), "x".into())));
    assert_eq!(bad_name, SpecError::BadEnvName("A B".into()));
    let bad_value = refusal(&|c| drop(c.container.env.insert("A".into(), "x\0".into())));
    assert_eq!(bad_value, SpecError::BadEnvValue("A".into()));
    for arg in ["--name", "--name=x", "--entrypoint=/bin/sh"] {
        let error = refusal(&|c| c.container.extra_args = vec![arg.into()]);
        assert_eq!(error, SpecError::ReservedArgument(arg.into()));
    }
}

/// What the settings of a home add to it: the arguments of `run` as the engine gets them.
#[test]
fn what_of_a_home_is_mounted() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(home.join("team-skills")).unwrap();
    for file in ["google_token.json", ".env", "auth.json", "config.yaml"] {
        std::fs::write(home.join(file), "").unwrap();
    }
    let yaml = "terminal:\n  backend: docker\n  docker_image: tiny:1\n  credential_files: [google_token.json, gone.json, .env, ../up]\n\
                skills:\n  external_dirs: [team-skills]\n";
    std::fs::write(home.join("config.yaml"), yaml).unwrap();
    let settings =
        Settings::load(&Home::at(&home, Profile::Default), &std::collections::BTreeMap::new()).unwrap();
    let config = crate::from_settings::config(&settings).unwrap();
    let (spec, notices) = built_with(&config, &context::sample(), &plain_image());
    let text = shown(&run(&spec, &Host::default())).replace(&home.display().to_string(), "[home]");
    let text: Vec<&str> = text.lines().filter(|line| !line.contains("hermes-fi")).collect();
    insta::assert_snapshot!(text.join("\n"));
    let told: Vec<String> =
        notices.iter().map(|n| n.to_string().replace(&home.display().to_string(), "[home]")).collect();
    insta::assert_snapshot!(told.join("\n"));
    let made =
        |absent: &Absent| matches!(absent, Absent::Make { access: super::targets::Access::Private, .. });
    assert!(spec.absent.iter().all(made), "{:?}", spec.absent);
}

#[test]
fn every_setting_that_matters_changes_the_fingerprint() {
    type Change = Box<dyn Fn(&mut SandboxConfig)>;
    let base = built(&config()).fields;
    let changes: Vec<(&str, Change)> = vec![
        ("image", Box::new(|c| c.container.image = "tiny:2".into())),
        ("user", Box::new(|c| c.container.run_as = RunAs::HostUser)),
        ("network", Box::new(|c| c.container.network = Network::Off)),
        ("limit:cpu", Box::new(|c| c.container.limits.cpus = Some(2.0))),
        ("limit:memory", Box::new(|c| c.container.limits.memory_mb = None)),
        ("limit:disk", Box::new(|c| c.container.limits.disk_mb = Some(1))),
        ("limit:process", Box::new(|c| c.container.limits.pids = Some(1))),
        ("mount:/data", Box::new(|c| c.container.volumes = vec!["/srv:/data".into()])),
        ("mount:/root", Box::new(|c| c.container.filesystem = Filesystem::Ephemeral)),
        ("env:A", Box::new(|c| drop(c.container.env.insert("A".into(), "1".into())))),
        ("extra-args", Box::new(|c| c.container.extra_args = vec!["--gpus=all".into()])),
    ];
    for (field, change) in changes {
        let mut config = config();
        change(&mut config);
        let differences = super::drift::differences(&base, &built(&config).fields);
        assert!(differences.iter().any(|d| d.field == field), "{field}: {differences:?}");
    }
    let moved = Image { id: "dead".into(), ..plain_image() };
    let (spec, _) = built_with(&config(), &context::sample(), &moved);
    assert_eq!(super::drift::differences(&base, &spec.fields)[0].field, "image-id");
}

#[test]
fn what_only_commands_care_about_does_not_change_it() {
    let base = built(&config()).fields;
    let mut config = config();
    config.cwd = Some("/opt".into());
    config.timeout *= 2;
    config.forward_env = vec!["X".into()];
    assert_eq!(built(&config).fields, base);
    let elsewhere = Context { host_cwd: Path::new("/other").into(), ..context::sample() };
    assert_eq!(built_with(&config, &elsewhere, &plain_image()).0.fields, base);
}
