//! The settings.

use hermes_board::dispatch::Rules;
use hermes_home::settings::{Settings, Sources};
use hermes_home::yaml;

fn read(text: &str, env: &[(&str, &str)]) -> (Rules, Vec<String>) {
    let document = yaml::parse(text).unwrap();
    let settings = Settings::from_sources(Sources { document, ..Sources::default() });
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Rules::read(&settings, &env).unwrap()
}

#[test]
fn what_is_not_set_has_a_finite_cap() {
    let (rules, warnings) = read("", &[]);
    assert_eq!(Rules { fingerprint: String::new(), ..rules.clone() }, Rules::default());
    assert_eq!((rules.host_cap, warnings.len()), (Some(2), 0));
    assert_eq!(read("kanban: {max_in_progress_host: 0}", &[]).0.host_cap, None);
}

#[test]
fn a_cap_that_makes_no_sense_is_none() {
    for (value, warns) in [("0", 1), ("-1", 1), ("abc", 1), ("null", 0), ("3", 0)] {
        let (rules, warnings) = read(&format!("kanban: {{max_in_progress_per_profile: {value}}}"), &[]);
        assert_eq!(rules.per_profile, (value == "3").then_some(3), "{value}");
        assert_eq!(warnings.len(), warns, "{value}: {warnings:?}");
        assert!(warnings.iter().all(|warning| warning.contains("kanban.max_in_progress_per_profile")));
    }
}

#[test]
fn the_default_assignee_is_a_name_or_nobody() {
    assert_eq!(
        read("kanban: {default_assignee: ' Alpha '}", &[]).0.default_assignee.as_deref(),
        Some("alpha")
    );
    assert_eq!(read("kanban: {default_assignee: '   '}", &[]).0.default_assignee, None);
}

#[test]
fn the_environment_says_how_long() {
    let env = [
        ("HERMES_KANBAN_CLAIM_TTL_SECONDS", "60"),
        ("HERMES_KANBAN_CRASH_GRACE_SECONDS", "0"),
        ("HERMES_KANBAN_RATE_LIMIT_COOLDOWN_SECONDS", "soon"),
    ];
    let (rules, warnings) = read("", &env);
    assert_eq!((rules.claim_seconds, rules.crash_grace, rules.quota_cooldown), (60, 0, 300));
    assert_eq!(warnings.len(), 1);
    assert_eq!(read("", &[("HERMES_KANBAN_CLAIM_TTL_SECONDS", "0")]).0.claim_seconds, 900);
}

#[test]
fn other_settings_are_told_apart() {
    let usual = read("", &[]).0.fingerprint;
    assert_eq!(read("kanban: {max_spawn: 3}", &[]).0.fingerprint, usual, "that does not make a card better");
    assert_ne!(read("kanban: {failure_limit: 3}", &[]).0.fingerprint, usual);
    assert_ne!(read("model: {default: other/model}", &[]).0.fingerprint, usual);
}
