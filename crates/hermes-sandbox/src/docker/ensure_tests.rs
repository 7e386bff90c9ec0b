//! The lifecycle against a recorded engine: exactly which commands are given, and which are not.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::DockerBackend;
use super::errors::{EngineError, LimitKind};
use super::fake::FakeEngine;
use super::inspect::{Observed, State};
use super::labels;
use super::sample;
use crate::backend::{Backend, Dispose, Happened, Trust};
use crate::config::{DriftPolicy, Filesystem, Network, Reuse, SandboxConfig};
use crate::context::{self, Context};
use crate::error::SandboxError;
use crate::host::call::Output;
use crate::notice::{Lost, Notice};

const NEW_ID: &str = "0123456789abcdef0123456789abcdef";
const IMAGE: &str = r#"[{"Id":"sha256:c9ea","Config":{}}]"#;
const INFO: &str = r#"{"ID":"E","Driver":"overlay2","DriverStatus":[["Backing Filesystem","xfs"]],
    "MemoryLimit":true,"CpuCfsQuota":true,"PidsLimit":true}"#;

/// A home of its own for each test, and an engine that answers what every test needs.
struct Fixture {
    dir: tempfile::TempDir,
    config: SandboxConfig,
}

impl Fixture {
    fn new() -> Self {
        let mut config = SandboxConfig::default();
        config.container.image = "tiny:1".into();
        // The sweep is tested by itself.
        config.container.orphan_sweep = crate::config::Switch::Off;
        Self { dir: tempfile::tempdir().unwrap(), config }
    }

    fn context(&self) -> Context {
        let home = self.dir.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        Context {
            root: home.clone(),
            sandbox_dir: home.join("sandboxes"),
            home,
            cache_dir: self.dir.path().join("cache"),
            ..context::sample()
        }
    }

    /// A container of ours as this home would have made it.
    fn ours(&self, id: &str, state: State) -> Observed {
        let context = self.context();
        let identity = super::identity(&self.config, &context).unwrap();
        let image = super::image::Image { id: "c9ea".into(), entrypoint: Vec::new(), user: String::new() };
        let fields =
            super::wanted::fields(&self.config, &context, &identity, Some(&image), super::site::Site::Here)
                .unwrap();
        let mut one = sample::ours(id, state);
        one.name = identity.container_name();
        one.labels = labels::contract(&identity)
            .into_iter()
            .chain(labels::own(&identity))
            .chain([
                (labels::REUSE, labels::REUSE_SHARED.to_owned()),
                (labels::PROGRAM, "hash".to_owned()),
                (labels::TRANSPORT, "socket".to_owned()),
                (labels::FIELDS, fields.to_json()),
                (labels::FINGERPRINT, fields.fingerprint()),
            ])
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        one
    }

    fn backend(&self, engine: &Arc<FakeEngine>) -> DockerBackend {
        DockerBackend::with_engine(&self.config, &self.context(), engine.clone()).unwrap()
    }

    fn ensure(&self, engine: &Arc<FakeEngine>) -> Result<crate::backend::Ensured, SandboxError> {
        self.backend(engine).ensure(Trust::Engine, &mut |_| ())
    }
}

/// What most tests need answered; rules added before these come first.
fn usual(engine: FakeEngine) -> Arc<FakeEngine> {
    Arc::new(
        engine
            .say(&["image", "inspect"], IMAGE)
            .say(&["info"], INFO)
            .say(&["run"], &format!("{NEW_ID}\n"))
            .say(&["ps"], ""),
    )
}

/// An engine that has these containers.
fn having(containers: &[Observed]) -> FakeEngine {
    let ids: Vec<&str> = containers.iter().map(|one| one.id.as_str()).collect();
    FakeEngine::default()
        .say(&["ps"], &ids.join("\n"))
        .say(&["inspect", "container"], &sample::json(containers))
}

/// An engine whose containers change from look to look.
fn having_in_turn(states: &[&[Observed]]) -> FakeEngine {
    let lists: Vec<String> = states
        .iter()
        .map(|containers| containers.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join("\n"))
        .collect();
    let inspects: Vec<String> = states
        .iter()
        .filter(|containers| !containers.is_empty())
        .map(|containers| sample::json(containers))
        .collect();
    FakeEngine::default()
        .say_in_turn(&["ps"], &lists.iter().map(String::as_str).collect::<Vec<_>>())
        .say_in_turn(&["inspect", "container"], &inspects.iter().map(String::as_str).collect::<Vec<_>>())
}

fn has_verb(engine: &FakeEngine, verb: &str) -> bool {
    engine.verbs().iter().any(|seen| seen == verb)
}

#[test]
fn a_running_container_is_used_without_run_or_start() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert_eq!(ensured.happened, Happened::Nothing);
    assert_eq!(engine.verbs(), ["ps", "inspect", "image"]);
    assert_eq!(
        engine.calls()[0].join(" "),
        "ps -a --no-trunc --filter label=hermes-agent=1 --filter label=hermes-task-id=default \
         --filter label=hermes-profile=default --format {{.ID}}"
    );
}

#[test]
fn a_stopped_container_is_started_and_not_run() {
    let fixture = Fixture::new();
    let exited = Observed { exit_code: 137, ..fixture.ours("a1", State::Exited) };
    let engine = usual(having_in_turn(&[&[exited], &[fixture.ours("a1", State::Running)]]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(engine.calls().contains(&vec!["start".into(), "a1".into()]));
    assert!(!has_verb(&engine, "run"));
    let Some(Notice::StateLost { lost: Lost::Processes, reason }) = ensured.happened.notice() else {
        panic!("{ensured:?}")
    };
    assert!(reason.contains("exit code 137"), "{reason}");
}

#[test]
fn an_out_of_memory_end_is_told_as_such() {
    let fixture = Fixture::new();
    let exited = Observed { oom_killed: true, exit_code: 137, ..fixture.ours("a1", State::Exited) };
    let engine = usual(having_in_turn(&[&[exited], &[fixture.ours("a1", State::Running)]]));
    let notice = fixture.ensure(&engine).unwrap().happened.notice().unwrap().to_string();
    assert!(notice.contains("ran out of memory"), "{notice}");
}

#[test]
fn one_that_would_not_start_gives_way_to_a_fresh_one() {
    let fixture = Fixture::new();
    for (code, stderr) in [(1, "Error response from daemon: driver failed"), (127, "exec: no such file")] {
        let engine = usual(having_in_turn(&[&[fixture.ours("a1", State::Exited)], &[]]).refuse(
            &["start"],
            code,
            stderr,
        ));
        let ensured = fixture.ensure(&engine).unwrap();
        let verbs = engine.verbs();
        let at = |verb: &str| verbs.iter().position(|seen| seen == verb).unwrap();
        assert!(at("start") < at("rm") && at("rm") < at("run"), "{verbs:?}");
        assert!(
            matches!(
                ensured.happened.notice(),
                Some(Notice::StateLost { lost: Lost::EverythingOffMounts, .. })
            ),
            "{ensured:?}"
        );
    }
}

#[test]
fn a_paused_container_is_resumed() {
    let fixture = Fixture::new();
    let engine =
        usual(having_in_turn(&[&[fixture.ours("a1", State::Paused)], &[fixture.ours("a1", State::Running)]]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(engine.calls().contains(&vec!["unpause".into(), "a1".into()]));
    assert_eq!(ensured.notices, [Notice::Unpaused]);
    assert_eq!(ensured.happened.notice(), None, "nothing is lost");
}

#[test]
fn opting_out_of_reuse_looks_at_nothing_that_is_there() {
    let mut fixture = Fixture::new();
    fixture.config.container.reuse = Reuse::Never;
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    assert!(!has_verb(&engine, "ps") && has_verb(&engine, "run"), "{:?}", engine.verbs());
    let name_of = |engine: &FakeEngine| {
        let run = engine.calls().into_iter().find(|call| call[0] == "run").unwrap();
        run[run.iter().position(|arg| arg == "--name").unwrap() + 1].clone()
    };
    let first = name_of(&engine);
    let second_engine = usual(FakeEngine::default());
    fixture.ensure(&second_engine).unwrap();
    assert_ne!(first, name_of(&second_engine), "nobody else can have this name");
}

#[test]
fn running_is_preferred_over_stopped() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Exited), fixture.ours("b2", State::Running)]));
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    assert_eq!(backend.place().unwrap().id, "b2");
    assert!(!has_verb(&engine, "start"));
}

#[test]
fn the_first_start_pulls_nothing_that_is_there_and_reports_no_loss() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default());
    let ensured = fixture.ensure(&engine).unwrap();
    assert_eq!(ensured.happened, Happened::Created);
    assert!(!has_verb(&engine, "pull"));
    assert_eq!(engine.verbs(), ["ps", "image", "info", "context", "run"]);
}

#[test]
fn the_loser_of_a_race_attaches_to_the_winners_container() {
    let fixture = Fixture::new();
    let conflict = "docker: Error response from daemon: Conflict. The container name \"/x\" is already in use by container \"b2\".";
    let engine =
        usual(having_in_turn(&[&[], &[fixture.ours("b2", State::Running)]]).refuse(&["run"], 125, conflict));
    let backend = fixture.backend(&engine);
    let ensured = backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    assert_eq!(backend.place().unwrap().id, "b2");
    assert_eq!(ensured.happened.notice(), None);
    assert!(!has_verb(&engine, "rm"), "the winner's container is not touched");
}

#[test]
fn a_winner_that_died_before_starting_it_is_helped_out() {
    let fixture = Fixture::new();
    let engine = usual(having_in_turn(&[
        &[fixture.ours("b2", State::Created)],
        &[fixture.ours("b2", State::Running)],
    ]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(engine.calls().contains(&vec!["start".into(), "b2".into()]));
    assert_eq!(ensured.happened, Happened::Created, "it never ran, so nothing is lost");
}

#[test]
fn a_stranger_under_our_name_is_an_error_that_names_it() {
    let fixture = Fixture::new();
    let mut stranger = fixture.ours("s1", State::Running);
    stranger.labels.clear();
    let engine =
        usual(FakeEngine::default().say(&["inspect", "container"], &sample::json(&[stranger])).refuse(
            &["run"],
            125,
            "Conflict. The container name \"/x\" is already in use by container \"s1\".",
        ));
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(&error, SandboxError::NameOccupied { .. }), "{error}");
    assert!(!has_verb(&engine, "rm") && !has_verb(&engine, "stop"));
}

#[test]
fn a_failed_run_takes_away_what_it_made_by_id() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default().on(&["run"], |_| Output {
        code: 125,
        stdout: format!("{NEW_ID}\n").into_bytes(),
        stderr: "docker: Error response from daemon: something broke".into(),
    }));
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(error, SandboxError::Engine(EngineError::Failed { code: 125, .. })), "{error}");
    assert!(engine.calls().contains(&vec!["rm".into(), "-v".into(), NEW_ID.into()]));
}

#[test]
fn a_run_that_failed_without_an_id_removes_only_a_corpse_of_its_own() {
    let fixture = Fixture::new();
    let corpse = fixture.ours("c3", State::Created);
    let working = fixture.ours("c3", State::Running);
    for (there, removed) in [(corpse, true), (working, false)] {
        let engine =
            usual(FakeEngine::default().say(&["inspect", "container"], &sample::json(&[there])).refuse(
                &["run"],
                125,
                "docker: Error response from daemon: something broke",
            ));
        assert!(fixture.ensure(&engine).is_err());
        assert_eq!(has_verb(&engine, "rm"), removed);
    }
}

#[test]
fn a_limit_the_host_cannot_enforce_is_left_out_and_told() {
    let fixture = Fixture::new();
    let mut attempts = 0;
    let engine = usual(FakeEngine::default().on(&["run"], move |args| {
        attempts += 1;
        if attempts == 1 {
            assert!(args.contains(&"--storage-opt".to_owned()));
            let stderr =
                "--storage-opt is supported only for overlay over xfs with 'pquota' mount option".into();
            return Output { code: 125, stdout: Vec::new(), stderr };
        }
        assert!(!args.contains(&"--storage-opt".to_owned()));
        Output { stdout: NEW_ID.into(), ..Output::default() }
    }));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(
        ensured.notices.iter().any(|n| matches!(n, Notice::NotEnforced { limit: LimitKind::Disk, .. })),
        "{ensured:?}"
    );
}

#[test]
fn changed_settings_replace_a_container_nobody_uses() {
    let mut fixture = Fixture::new();
    let stopped = fixture.ours("a1", State::Exited);
    fixture.config.container.volumes = vec!["/srv:/data".into()];
    let engine = usual(having_in_turn(&[&[stopped], &[]]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(has_verb(&engine, "rm") && has_verb(&engine, "run") && !has_verb(&engine, "start"));
    let recreated = ensured.notices.iter().find(|n| matches!(n, Notice::Recreated { .. })).unwrap();
    assert!(recreated.to_string().contains("mount:/data"), "{recreated}");
}

#[test]
fn with_warn_the_container_is_kept_and_the_difference_told() {
    let mut fixture = Fixture::new();
    fixture.config.container.on_drift = DriftPolicy::Warn;
    let running = fixture.ours("a1", State::Running);
    fixture.config.container.limits.cpus = Some(4.0);
    let engine = usual(having(&[running]));
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(!has_verb(&engine, "rm") && !has_verb(&engine, "run"));
    assert!(
        matches!(&ensured.notices[0], Notice::Drifted { differences, .. } if differences[0].field == "limit:cpu")
    );
}

#[test]
fn a_moved_image_tag_is_noticed() {
    let fixture = Fixture::new();
    let stopped = fixture.ours("a1", State::Exited);
    let engine = usual(
        having_in_turn(&[&[stopped], &[]])
            .say(&["image", "inspect"], r#"[{"Id":"sha256:feed","Config":{}}]"#),
    );
    let ensured = fixture.ensure(&engine).unwrap();
    assert!(
        ensured
            .notices
            .iter()
            .any(|n| matches!(n, Notice::Recreated { differences } if differences[0].field == "image-id"))
    );
}

#[test]
fn the_references_container_with_a_network_is_not_used_when_the_network_is_off() {
    let mut fixture = Fixture::new();
    let home = fixture.context().home;
    let mut theirs = sample::reference("r1", State::Running);
    theirs.mounts[0].source = home.join("sandboxes/docker/default/home");
    fixture.config.container.network = Network::Off;
    let engine = usual(having(&[theirs]));
    fixture.ensure(&engine).unwrap();
    assert!(has_verb(&engine, "run"), "ours is made beside it");
    assert!(!has_verb(&engine, "rm") && !has_verb(&engine, "stop"), "theirs is left alone");
}

#[test]
fn a_wedged_engine_is_asked_once() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default());
    engine.wedge();
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(error, SandboxError::Engine(EngineError::TimedOut { .. })), "{error}");
    assert_eq!(engine.calls().len(), 1, "one deadline, not one after the other");
}

#[test]
fn an_engine_whose_containers_vanish_for_ever_is_given_up_on() {
    let fixture = Fixture::new();
    let conflict = "Conflict. The container name \"/x\" is already in use by container \"b2\".";
    let engine = usual(having_in_turn(&[&[fixture.ours("a1", State::Dead)]]).refuse(&["run"], 125, conflict));
    let error = fixture.ensure(&engine).unwrap_err();
    assert!(matches!(error, SandboxError::NotStable { .. }), "{error}");
}

#[test]
fn cleanup_in_persist_mode_touches_nothing_and_drops_the_handle() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    let asked = engine.calls().len();
    backend.dispose(Dispose::Release).unwrap();
    assert!(backend.wait_for_cleanup(Duration::ZERO), "nothing is pending");
    assert_eq!(engine.calls().len(), asked);
    assert_eq!(backend.place(), None, "the next use looks again");
    backend.dispose(Dispose::Release).unwrap();
    assert_eq!(engine.calls().len(), asked, "a second time does nothing either");
}

#[test]
fn a_forced_removal_stops_and_removes_in_every_mode() {
    for filesystem in [Filesystem::Persistent, Filesystem::Ephemeral] {
        let mut fixture = Fixture::new();
        fixture.config.container.filesystem = filesystem;
        let engine = usual(having(&[fixture.ours("a1", State::Running)]));
        let backend = fixture.backend(&engine);
        backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
        backend.dispose(Dispose::Remove).unwrap();
        assert!(backend.wait_for_cleanup(Duration::from_secs(20)));
        let calls: Vec<String> = engine.calls().iter().map(|call| call.join(" ")).collect();
        assert_eq!(calls[calls.len() - 2..], ["stop -t 10 a1", "rm -f -v a1"]);
    }
}

#[test]
fn opting_out_stops_and_removes_whatever_the_filesystem() {
    for filesystem in [Filesystem::Persistent, Filesystem::Ephemeral] {
        let mut fixture = Fixture::new();
        fixture.config.container.reuse = Reuse::Never;
        fixture.config.container.filesystem = filesystem;
        let engine = usual(FakeEngine::default());
        let backend = fixture.backend(&engine);
        backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
        backend.dispose(Dispose::Release).unwrap();
        assert!(backend.wait_for_cleanup(Duration::from_secs(20)));
        let verbs = engine.verbs();
        assert_eq!(verbs[verbs.len() - 2..], ["stop", "rm"]);
    }
}

#[test]
fn cleanup_without_a_container_does_nothing_and_fails_at_nothing() {
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default().refuse(&["run"], 125, "no"));
    let backend = fixture.backend(&engine);
    assert!(backend.ensure(Trust::Engine, &mut |_| ()).is_err());
    let asked = engine.calls().len();
    backend.dispose(Dispose::Release).unwrap();
    assert!(backend.wait_for_cleanup(Duration::ZERO));
    assert_eq!(engine.calls().len(), asked);
}

#[test]
fn a_recorded_container_is_believed_without_asking() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    let asked = engine.calls().len();
    let next_process = fixture.backend(&engine);
    next_process.ensure(Trust::Records, &mut |_| ()).unwrap();
    assert_eq!(next_process.place().unwrap().id, "a1");
    assert_eq!(engine.calls().len(), asked);
}

#[test]
fn a_record_made_with_other_settings_is_not_believed() {
    let mut fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    let asked = engine.calls().len();
    fixture.config.container.on_drift = DriftPolicy::Warn;
    fixture.config.container.limits.pids = Some(7);
    let ensured = fixture.backend(&engine).ensure(Trust::Records, &mut |_| ()).unwrap();
    assert!(engine.calls().len() > asked);
    assert!(matches!(&ensured.notices[0], Notice::Drifted { .. }));
}

#[test]
fn a_container_that_was_removed_by_hand_is_a_told_loss() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    fixture.ensure(&engine).unwrap();
    let empty = usual(FakeEngine::default());
    let ensured = fixture.ensure(&empty).unwrap();
    assert!(matches!(
        ensured.happened.notice(),
        Some(Notice::StateLost { lost: Lost::EverythingOffMounts, .. })
    ));
}

#[test]
fn an_agent_that_does_not_answer_is_restarted_once_and_then_replaced() {
    let fixture = Fixture::new();
    let engine = usual(having(&[fixture.ours("a1", State::Running)]));
    let backend = fixture.backend(&engine);
    backend.ensure(Trust::Engine, &mut |_| ()).unwrap();
    let first = backend.ensure(Trust::Nothing, &mut |_| ()).unwrap();
    assert!(matches!(first.happened.notice(), Some(Notice::StateLost { lost: Lost::Processes, .. })));
    assert!(has_verb(&engine, "restart") && !has_verb(&engine, "rm"));
    let second = backend.ensure(Trust::Nothing, &mut |_| ()).unwrap();
    assert!(matches!(
        second.happened.notice(),
        Some(Notice::StateLost { lost: Lost::EverythingOffMounts, .. })
    ));
    assert_eq!(engine.verbs().iter().filter(|verb| *verb == "restart").count(), 1);
    assert!(has_verb(&engine, "rm"));
}

#[test]
fn the_programs_and_directories_a_stopped_container_needs_are_put_back() {
    let fixture = Fixture::new();
    let gone = fixture.dir.path().join("cache/box/0123456789abcdef");
    let mut stopped = fixture.ours("a1", State::Exited);
    stopped.mounts = vec![super::inspect::SeenMount {
        source: gone.clone(),
        target: super::spec::PROGRAM_DIR.into(),
        kind: "bind".into(),
        volume: None,
    }];
    let engine = usual(having_in_turn(&[&[stopped], &[fixture.ours("a1", State::Running)]]));
    fixture.ensure(&engine).unwrap();
    assert!(crate::host::find::is_executable(&gone.join("hermes-box")));
}

#[test]
fn two_homes_with_the_same_profile_name_mean_two_containers() {
    let (one, two) = (Fixture::new(), Fixture::new());
    let engine = usual(FakeEngine::default());
    let names: Vec<String> =
        [&one, &two].iter().map(|fixture| fixture.backend(&engine).identity().container_name()).collect();
    assert_ne!(names[0], names[1]);
    let engine = usual(having(&[one.ours("a1", State::Running)]));
    two.ensure(&engine).unwrap();
    assert!(has_verb(&engine, "run"), "the other home's container is not taken");
}

#[test]
fn directories_for_the_container_are_ours_before_the_engine_makes_them_as_root() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    let engine = usual(FakeEngine::default());
    fixture.ensure(&engine).unwrap();
    let kept = fixture.context().sandbox_dir.join("docker/default");
    for dir in [kept.join("home"), kept.join("workspace")] {
        assert!(dir.is_dir(), "{}", dir.display());
    }
    let name = fixture.backend(&engine).identity().container_name();
    let run = fixture.context().sandbox_dir.join(".boxes").join(&name).join("run");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&run), mode(run.parent().unwrap())), (0o1777, 0o700));
}
