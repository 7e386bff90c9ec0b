//! Looking a whole configuration over: what is wrong, what is unknown, what shadows what.

use super::load::{Origin, SettingError, Settings};
use super::spec::{Kind, Spec};
use super::table::{all, find, is_section};
use super::{nearest, value};
use crate::yaml;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Warning,
    /// The setting cannot be used.
    Error,
}

/// Something worth saying about the configuration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The key or variable it is about.
    pub key: String,
    /// Where it stands.
    pub place: String,
    /// What is the matter.
    pub problem: String,
    /// The command or change that mends it.
    pub fix: String,
}

/// Checks every value in every source.
pub fn check(settings: &Settings) -> Vec<Finding> {
    let mut findings: Vec<Finding> = all().flat_map(|spec| check_setting(settings, spec)).collect();
    findings.extend(unknown_keys(settings));
    findings.extend(env_file_problems(settings));
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.place.cmp(&b.place)));
    findings
}

fn check_setting(settings: &Settings, spec: &Spec) -> Vec<Finding> {
    let found: Vec<Result<_, SettingError>> = settings.candidates(spec).collect();
    let mut findings = Vec::new();
    for candidate in &found {
        match candidate {
            Err(e) => findings.push(wrong_value(e)),
            Ok(resolved) => findings.extend(deprecated(spec, &resolved.origin)),
        }
    }
    let origin_of = |c: &Result<super::Resolved, SettingError>| match c {
        Ok(resolved) => resolved.origin.clone(),
        Err(e) => e.origin.clone(),
    };
    if let [first, .., last] = found.as_slice() {
        findings.extend(shadowed(spec, &origin_of(first), &origin_of(last)));
    }
    findings
}

fn wrong_value(error: &SettingError) -> Finding {
    Finding {
        severity: Severity::Error,
        key: error.key.to_owned(),
        place: error.origin.to_string(),
        problem: format!("is {}, but must be {}", error.found, error.wanted),
        fix: match &error.origin {
            Origin::Env(variable) => format!("unset {variable} or give it a value that fits"),
            Origin::DotEnv { variable, .. } => format!("hermes config unset {variable}"),
            _ => format!("hermes config set {} VALUE", error.key),
        },
    }
}

fn deprecated(spec: &Spec, origin: &Origin) -> Option<Finding> {
    let Origin::File { spelled, .. } = origin else { return None };
    spec.was.contains(spelled).then(|| Finding {
        severity: Severity::Warning,
        key: (*spelled).to_owned(),
        place: origin.to_string(),
        problem: format!("is an old spelling of {}", spec.key),
        fix: format!("rename it to {}", spec.key),
    })
}

/// A value in config.yaml that a variable silently overrides is the commonest reason why "the setting does nothing".
fn shadowed(spec: &Spec, strongest: &Origin, weakest: &Origin) -> Option<Finding> {
    if !matches!(weakest, Origin::File { .. }) || matches!(strongest, Origin::Flag) {
        return None;
    }
    let fix = match strongest {
        Origin::DotEnv { variable, .. } => format!("hermes config unset {variable}"),
        Origin::Env(variable) => format!("unset {variable} where it is exported"),
        _ => return None,
    };
    Some(Finding {
        severity: Severity::Warning,
        key: spec.key.to_owned(),
        place: weakest.to_string(),
        problem: format!("has no effect: {strongest} overrides it"),
        fix,
    })
}

fn env_file_problems(settings: &Settings) -> Vec<Finding> {
    let sources = settings.sources();
    let finding = |p: &super::dotenv::Problem| Finding {
        severity: Severity::Warning,
        key: String::new(),
        place: format!("{}:{}", sources.env_file.display(), p.line),
        problem: format!("the line {}, so it is not read", p.what),
        fix: "write it as NAME=value".to_owned(),
    };
    let variable = |e: &super::dotenv::Entry| Finding {
        severity: Severity::Warning,
        key: e.name.clone(),
        place: format!("{}:{}", sources.env_file.display(), e.line),
        problem: "holds ${…}, which is taken as it stands here, but filled in by the Python program"
            .to_owned(),
        fix: "write the value out".to_owned(),
    };
    let referring = sources.dotenv.entries().iter().filter(|e| e.value.contains("${"));
    sources.dotenv.problems().iter().map(finding).chain(referring.map(variable)).collect()
}

fn unknown_keys(settings: &Settings) -> Vec<Finding> {
    let document = &settings.sources().document;
    let mut unknown = Vec::new();
    if let Some(root) = document.root() {
        collect_unknown(document, root, "", 0, &mut unknown);
    }
    let file = settings.sources().config_file.display().to_string();
    let finding = |(key, line): (String, usize)| {
        let close = nearest(&key, all().filter(|s| s.place == super::Place::File).map(|s| s.key));
        let fix = if find(&key).is_some_and(|s| s.key == key) {
            format!(
                "write it nested, a level a line (or: hermes config set {key} VALUE, and remove this line)"
            )
        } else if close.is_empty() {
            format!("hermes config unset {key}")
        } else {
            format!("did you mean {}?", close.join(" or "))
        };
        let problem = "is not a known setting, so nothing reads it".to_owned();
        Finding { severity: Severity::Warning, key, place: format!("{file}:{line}"), problem, fix }
    };
    unknown.into_iter().map(finding).collect()
}

fn collect_unknown(
    document: &yaml::Document,
    node: &yaml::Node,
    prefix: &str,
    depth: usize,
    unknown: &mut Vec<(String, usize)>,
) {
    for (name, child) in document.entries(node) {
        let key = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        if name.contains('.') {
            // Written in one line it is another key to every reader of YAML.
            unknown.push((key, child.line));
            continue;
        }
        let is_section = is_section(&key);
        let is_map = document.follow(child).is_some_and(|n| matches!(n.kind, yaml::Kind::Map(..)));
        let known =
            find(&key).is_some_and(|s| s.key == key || s.also.contains(&&*key) || s.was.contains(&&*key));
        if is_section && is_map && depth < 16 {
            collect_unknown(document, child, &key, depth + 1, unknown);
        } else if !(known || is_section && child.is_null()) {
            unknown.push((key, child.line));
        }
    }
}

/// Whether a value typed for a key below a free-form setting (`providers.mine.base_url`) may be set.
pub(super) fn tree_above(key: &str) -> Option<&'static Spec> {
    let mut parent = key;
    while let Some((above, _)) = parent.rsplit_once('.') {
        if let Some(spec) = find(above).filter(|s| s.key == above) {
            return matches!(spec.kind, Kind::Tree | Kind::Table | Kind::List).then_some(spec);
        }
        parent = above;
    }
    None
}

/// Reads a value typed for such a key as YAML would.
pub(super) fn free_value(text: &str) -> serde_json::Value {
    value::free(text)
}
