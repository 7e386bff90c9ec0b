//! Precedence, types and changes of settings, on real files.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::table::{agent, display, model, safety, terminal};
use super::*;
use crate::{Home, Profile};

struct Fixture {
    dir: tempfile::TempDir,
    env: BTreeMap<OsString, OsString>,
}

impl Fixture {
    fn new(config: &str, dotenv: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config.yaml"), config).unwrap();
        fs::write(dir.path().join(".env"), dotenv).unwrap();
        Self { dir, env: BTreeMap::new() }
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    fn home(&self) -> Home {
        Home::at(self.dir.path(), Profile::Default)
    }

    fn settings(&self) -> Settings {
        Settings::load(&self.home(), &self.env).unwrap()
    }

    fn config(&self) -> String {
        fs::read_to_string(self.dir.path().join("config.yaml")).unwrap()
    }

    fn dotenv(&self) -> String {
        fs::read_to_string(self.dir.path().join(".env")).unwrap()
    }
}

#[test]
fn the_strongest_source_wins() {
    let fixture =
        Fixture::new("terminal:\n  timeout: 10\n", "TERMINAL_TIMEOUT=20\n").var("TERMINAL_TIMEOUT", "30");
    let settings = fixture.settings();
    assert_eq!(settings.get(&terminal::TIMEOUT), Ok(30));
    assert_eq!(settings.clone().with_flag(&terminal::TIMEOUT, json!(40)).get(&terminal::TIMEOUT), Ok(40));
    let explained = explain(&settings, find("terminal.timeout").unwrap());
    assert_eq!(explained.value, json!(30));
    let overrode: Vec<_> = explained.overrode.iter().map(|(v, _)| v.clone()).collect();
    assert_eq!(overrode, [json!(20), json!(10)]);
    assert!(explained.overrode[1].1.ends_with("config.yaml:2"));
    assert_eq!(Fixture::new("", "TERMINAL_TIMEOUT=20").settings().get(&terminal::TIMEOUT), Ok(20));
    assert_eq!(Fixture::new("", "").settings().get(&terminal::TIMEOUT), Ok(180));
    assert_eq!(Fixture::new("", "").var("TERMINAL_TIMEOUT", "").settings().get(&terminal::TIMEOUT), Ok(180));
}

#[test]
fn values_are_read_as_their_kind() {
    let text = "model: gpt\nmax_turns: 7\napprovals:\n  mode: off\nterminal:\n  docker_network: no\n  container_cpu: 2\n  \
                timeout: '90'\n  docker_volumes: [a:b, 1]\n  docker_env: {A: 1, B: yes}\n  cwd: 1:30\ndisplay:\n  compact: on\n";
    let settings = Fixture::new(text, "").settings();
    assert_eq!(settings.get(&model::DEFAULT), Ok("gpt".into()));
    assert_eq!(settings.get(&agent::MAX_TURNS), Ok(7));
    assert_eq!(settings.get(&safety::APPROVALS_MODE), Ok("off".into()));
    assert_eq!(settings.get(&terminal::DOCKER_NETWORK), Ok(false));
    assert_eq!(settings.get(&terminal::CONTAINER_CPU), Ok(2.0));
    assert_eq!(settings.get(&terminal::TIMEOUT), Ok(90));
    assert_eq!(settings.get(&terminal::DOCKER_VOLUMES), Ok(vec!["a:b".into(), "1".into()]));
    let env = settings.get(&terminal::DOCKER_ENV).unwrap();
    assert_eq!((env["A"].as_str(), env["B"].as_str()), ("1", "yes"));
    assert_eq!(settings.get(&terminal::CWD), Ok("1:30".into()));
    assert_eq!(settings.get(&display::COMPACT), Ok(true));
}

#[test]
fn variables_hold_json_where_a_list_is_wanted() {
    let fixture =
        Fixture::new("", "").var("TERMINAL_DOCKER_VOLUMES", r#"["a:b"]"#).var("TERMINAL_DOCKER_ENV", "nope");
    let settings = fixture.settings();
    assert_eq!(settings.get(&terminal::DOCKER_VOLUMES), Ok(vec!["a:b".into()]));
    let error = settings.get(&terminal::DOCKER_ENV).unwrap_err().to_string();
    assert!(error.contains("TERMINAL_DOCKER_ENV") && error.contains("mapping"), "{error}");
}

#[test]
fn a_wrong_type_names_file_line_key_found_and_wanted() {
    let settings = Fixture::new("terminal:\n  timeout: soon\n  docker_volumes: a:b\n", "").settings();
    let error = settings.get(&terminal::TIMEOUT).unwrap_err().to_string();
    for part in ["config.yaml:2", "terminal.timeout", "text (\"soon\")", "whole number, at least 1"] {
        assert!(error.contains(part), "{part} missing in {error}");
    }
    assert!(settings.get(&terminal::DOCKER_VOLUMES).unwrap_err().to_string().contains("a list of texts"));
    let findings = check(&settings);
    assert_eq!(findings.iter().filter(|f| f.severity == Severity::Error).count(), 2);
}

#[test]
fn unusable_files_are_refused_with_the_line() {
    let fails = |config: &str| {
        let fixture = Fixture::new(config, "");
        Settings::load(&fixture.home(), &fixture.env).unwrap_err().to_string()
    };
    assert!(fails("a: 1\na: 2\n").contains("line 2"), "{}", fails("a: 1\na: 2\n"));
    assert!(fails("- a\n").contains("the file is a list"));
    assert!(fails("x: 1\nagent: [1]\n").contains("line 2: agent is a list"));
    assert!(
        fails("security:\n  website_blocklist: yes\n")
            .contains("security.website_blocklist is a yes/no value")
    );
    assert!(fails("a:\n\tb: 1\n").contains("tab"));
    let fixture = Fixture::new("", "");
    fs::write(fixture.home().config_file(), b"a: \xff\xfe").unwrap();
    assert!(matches!(Settings::load(&fixture.home(), &fixture.env), Err(LoadError::NotText(_))));
}

#[test]
fn a_byte_order_mark_and_anchors_are_fine() {
    let settings = Fixture::new("\u{feff}x: &t 5\nterminal:\n  timeout: *t\n", "").settings();
    assert_eq!(settings.get(&terminal::TIMEOUT), Ok(5));
}

#[test]
fn variables_in_texts_are_expanded_and_unknown_ones_kept() {
    let fixture = Fixture::new("model:\n  base_url: ${HOST}/v1/${NOPE}\n  api_key: ${K}\n", "K=s3cret\n")
        .var("HOST", "http://h");
    let settings = fixture.settings();
    assert_eq!(settings.get(&model::BASE_URL), Ok("http://h/v1/${NOPE}".into()));
    assert_eq!(settings.get(&model::API_KEY), Ok(Some("s3cret".into())));
    assert!(settings.secret_values().contains(&"s3cret".to_owned()));
    assert!(!format!("{:?}", explain(&settings, find("model.api_key").unwrap())).contains("s3cret"));
}

#[test]
fn unknown_and_shadowed_settings_are_pointed_out() {
    let fixture = Fixture::new(
        "terminal:\n  timeuot: 3\n  backend: docker\nmax_turns: 4\n",
        "TERMINAL_ENV=local\nnot a line\n",
    );
    let findings = check(&fixture.settings());
    let about =
        |key: &str| findings.iter().find(|f| f.key == key).unwrap_or_else(|| panic!("{key}: {findings:?}"));
    assert!(about("terminal.timeuot").fix.contains("terminal.timeout"));
    assert!(
        about("terminal.backend").problem.contains("no effect")
            && about("terminal.backend").fix.contains("TERMINAL_ENV")
    );
    assert!(about("max_turns").fix.contains("agent.max_turns"));
    assert!(findings.iter().any(|f| f.place.ends_with(".env:2")));
    assert!(findings.iter().all(|f| f.severity == Severity::Warning));
}

#[test]
fn a_change_goes_to_the_file_it_belongs_to() {
    let fixture = Fixture::new("# mine\nmodel: gpt # best\n", "# keys\n");
    let home = fixture.home();
    set(&home, "terminal.timeout", "60").unwrap();
    set(&home, "OPENROUTER_API_KEY", "sk-or-1").unwrap();
    set(&home, "model.api_key", "sk-2").unwrap();
    set(&home, "model.default", "opus").unwrap();
    set(&home, "providers.box.base_url", "http://x/v1").unwrap();
    assert_eq!(
        fixture.config(),
        "# mine\nmodel:  # best\n  default: opus\n  api_key: \"${HERMES_MODEL_API_KEY}\"\nterminal:\n  timeout: 60\nproviders:\n  box:\n    base_url: http://x/v1\n"
    );
    assert_eq!(fixture.dotenv(), "# keys\nOPENROUTER_API_KEY=sk-or-1\nHERMES_MODEL_API_KEY=sk-2\n");
    assert_eq!(fixture.settings().get(&model::API_KEY), Ok(Some("sk-2".into())));
    unset(&home, "model.api_key").unwrap();
    unset(&home, "terminal.timeout").unwrap();
    unset(&home, "providers.box.base_url").unwrap();
    assert_eq!(fixture.config(), "# mine\nmodel:  # best\n  default: opus\n");
    assert_eq!(fixture.dotenv(), "# keys\nOPENROUTER_API_KEY=sk-or-1\n");
    assert!(unset(&home, "terminal.timeout").unwrap().is_none());
}

#[test]
fn bad_changes_are_refused_and_change_nothing() {
    let fixture = Fixture::new("a: 1 # x\n", "");
    let home = fixture.home();
    let refused = |key: &str, value: &str| set(&home, key, value).unwrap_err().to_string();
    assert!(refused("terminal.timeuot", "1").contains("terminal.timeout"));
    assert!(refused("terminal.timeout", "soon").contains("whole number"));
    assert!(refused("terminal", "x").contains("section"));
    assert!(refused("terminal.backend", "dokcer").contains("one of local, docker"));
    assert!(refused("LD_PRELOAD", "x").contains("no setting"));
    assert_eq!((fixture.config().as_str(), fixture.dotenv().as_str()), ("a: 1 # x\n", ""));
}

#[test]
fn every_default_can_be_set_and_read_back() {
    for spec in all().filter(|s| s.place == Place::File && !matches!(s.preset, Preset::Unset)) {
        let fixture = Fixture::new("", "");
        let text = shown(&spec.default());
        set(&fixture.home(), spec.key, &text).unwrap_or_else(|e| panic!("{}: {e}", spec.key));
        let read = fixture.settings().resolve(spec).unwrap();
        assert_eq!(read.value, spec.default(), "{}: {}", spec.key, fixture.config());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn random_files_never_panic(config in proptest::collection::vec(any::<u8>(), 0..300), dotenv in proptest::collection::vec(any::<u8>(), 0..100)) {
        let fixture = Fixture::new("", "");
        fs::write(fixture.home().config_file(), config).unwrap();
        fs::write(fixture.home().env_file(), dotenv).unwrap();
        if let Ok(settings) = Settings::load(&fixture.home(), &fixture.env) {
            let _ = check(&settings);
        }
    }
}
