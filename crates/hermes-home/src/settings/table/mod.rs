//! The one table: every setting, by the part of the program that owns it.
#![allow(clippy::doc_markdown, reason = "the comments are shown to users, in plain text too")]

pub mod agent;
pub mod auxiliary;
pub mod context;
pub mod cron;
pub mod dashboard;
pub mod delegation;
pub mod display;
pub mod gateway;
pub mod kanban;
pub mod logging;
pub mod memory;
pub mod model;
pub mod other;
mod read_by_models;
pub mod safety;
pub mod secrets;
pub mod terminal;
pub mod tools;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::spec::Spec;

static PARTS: &[&[&Spec]] = &[
    model::TABLE,
    agent::TABLE,
    terminal::TABLE,
    safety::TABLE,
    tools::TABLE,
    context::TABLE,
    memory::TABLE,
    delegation::TABLE,
    display::TABLE,
    kanban::TABLE,
    cron::TABLE,
    gateway::TABLE,
    dashboard::TABLE,
    logging::TABLE,
    auxiliary::TABLE,
    other::TABLE,
    secrets::TABLE,
];

/// Every declared setting, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    PARTS.iter().flat_map(|part| part.iter().copied())
}

/// The setting with this key, spelled any way that is accepted, or set by this variable.
pub fn find(key: &str) -> Option<&'static Spec> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Spec>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index = HashMap::new();
        for spec in all() {
            for name in spec.was.iter().chain(spec.also).copied().chain(spec.env) {
                index.entry(name).or_insert(spec);
            }
        }
        // A real key wins over another setting's old spelling.
        index.extend(all().map(|spec| (spec.key, spec)));
        index
    });
    index.get(key).copied()
}

/// Whether settings are declared below this key.
pub fn is_section(key: &str) -> bool {
    all().any(|s| s.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

/// The sections in order, each with its settings.
pub fn sections() -> Vec<(&'static str, Vec<&'static Spec>)> {
    let mut sections: Vec<(&'static str, Vec<&'static Spec>)> = Vec::new();
    for spec in all() {
        match sections.iter_mut().find(|(name, _)| *name == spec.section()) {
            Some((_, specs)) => specs.push(spec),
            None => sections.push((spec.section(), vec![spec])),
        }
    }
    sections
}

/// What this version of the program reads. Everything else is kept as written for the programs that share the home,
/// and `explain` says so: a setting that does nothing must not look as if it did.
const READ: &[&str] = &[
    "logging.",
    "security.redact_secrets",
    "skills.external_dirs",
    "skills.disabled",
    "skills.platform_disabled",
    "skills.template_vars",
    "terminal.",
    "HERMES_DOCKER_BINARY",
    "agent.tool_use_enforcement",
    "agent.task_completion_guidance",
    "agent.parallel_tool_call_guidance",
    "agent.verify_guidance",
    "agent.environment_probe",
    "agent.environment_hint",
    "agent.system_prompt",
    "timezone",
    "memory.memory_enabled",
    "memory.user_profile_enabled",
    "memory.memory_char_limit",
    "memory.user_char_limit",
    "memory.write_approval",
    "approvals.mode",
    "approvals.timeout",
    "approvals.deny",
    "command_allowlist",
    "HERMES_YOLO_MODE",
    "toolsets",
    "platform_toolsets",
    "agent.disabled_toolsets",
    "tool_output.",
    "file_read_max_chars",
    "HERMES_WRITE_SAFE_ROOT",
    "security.allow_private_urls",
    "security.website_blocklist.",
    "web.",
    "TAVILY_API_KEY",
    "TAVILY_BASE_URL",
    "EXA_API_KEY",
    "PARALLEL_API_KEY",
    "FIRECRAWL_API_KEY",
    "FIRECRAWL_API_URL",
    "BRAVE_SEARCH_API_KEY",
    "SEARXNG_URL",
    "model.supports_vision",
    "auxiliary.vision.provider",
    "auxiliary.vision.model",
    "auxiliary.vision.base_url",
    "auxiliary.vision.api_key",
    "auxiliary.vision.timeout",
    "auxiliary.vision.download_timeout",
    "auxiliary.triage_specifier.provider",
    "auxiliary.triage_specifier.model",
    "auxiliary.triage_specifier.base_url",
    "auxiliary.triage_specifier.api_key",
    "auxiliary.triage_specifier.timeout",
    "auxiliary.kanban_decomposer.provider",
    "auxiliary.kanban_decomposer.model",
    "auxiliary.kanban_decomposer.base_url",
    "auxiliary.kanban_decomposer.api_key",
    "auxiliary.kanban_decomposer.timeout",
    "compression.enabled",
    "compression.threshold",
    "compression.target_ratio",
    "compression.protect_last_n",
    "compression.protect_first_n",
    "agent.max_turns",
    "tool_loop_guardrails.",
    "auxiliary.compression.provider",
    "auxiliary.compression.model",
    "auxiliary.compression.base_url",
    "auxiliary.compression.api_key",
    "auxiliary.title_generation.enabled",
    "auxiliary.title_generation.provider",
    "auxiliary.title_generation.model",
    "auxiliary.title_generation.base_url",
    "auxiliary.title_generation.api_key",
    "auxiliary.approval.provider",
    "auxiliary.approval.model",
    "auxiliary.approval.base_url",
    "auxiliary.approval.api_key",
    "auxiliary.approval.timeout",
    "display.busy_input_mode",
    "display.show_reasoning",
    "display.reasoning_full",
    "display.tool_progress",
    "display.show_cost",
    "display.bell_on_complete",
    "quick_commands",
    "delegation.",
    "checkpoints.",
    "code_execution.",
    "kanban.default_assignee",
    "kanban.orchestrator_profile",
    "kanban.auto_promote_children",
    "kanban.auto_decompose",
    "kanban.auto_decompose_per_tick",
    "kanban.failure_limit",
    "kanban.infrastructure_failure_limit",
    "kanban.quota_limit",
    "kanban.retry_backoff_seconds",
    "kanban.retry_backoff_max_seconds",
    "kanban.max_in_progress",
    "kanban.max_in_progress_host",
    "kanban.max_in_progress_per_profile",
    "kanban.max_spawn",
    "kanban.dispatch_interval_seconds",
    "kanban.dispatch_stale_timeout_seconds",
    "kanban.worker_log_rotate_bytes",
    "kanban.worker_log_backup_count",
    "kanban.diagnostics.",
];

/// What of these sections is not read yet.
const UNREAD: &[&str] = &[
    "terminal.persistent_shell",
    "terminal.sudo_password",
    "terminal.singularity_image",
    "terminal.modal_image",
    "terminal.modal_mode",
    "terminal.daytona_image",
];

/// Whether anything in this version reads the setting.
pub fn is_read(spec: &Spec) -> bool {
    let covers =
        |known: &str| if known.ends_with('.') { spec.key.starts_with(known) } else { known == spec.key };
    READ.iter().chain(read_by_models::KEYS).any(|known| covers(known)) && !UNREAD.contains(&spec.key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::settings::{Kind, Place, Preset};
    use std::collections::BTreeSet;

    #[test]
    fn keys_and_variables_are_unique() {
        let mut seen = BTreeSet::new();
        for spec in all() {
            assert!(seen.insert(spec.key), "{} is declared twice", spec.key);
        }
        let mut variables = BTreeSet::new();
        for variable in all().filter_map(|s| s.env) {
            assert!(variables.insert(variable), "{variable} is declared twice");
        }
    }

    #[test]
    fn every_setting_is_described_in_one_line() {
        for spec in all() {
            let doc = spec.doc.trim();
            assert!(doc.len() > 8 && !doc.contains('\n'), "{}: {doc:?}", spec.key);
            assert!(doc.ends_with('.') || doc.ends_with(')'), "{}: {doc:?}", spec.key);
        }
    }

    #[test]
    fn defaults_fit_their_kind() {
        for spec in all() {
            let fits = matches!(
                (spec.kind, spec.preset),
                (_, Preset::Unset)
                    | (Kind::Flag, Preset::Flag(_))
                    | (Kind::Float(..), Preset::Float(_))
                    | (Kind::Text | Kind::Tree, Preset::Text(_))
                    | (Kind::List, Preset::List(_))
                    | (Kind::Table, Preset::Empty)
            ) || matches!((spec.kind, spec.preset), (Kind::Choice(o), Preset::Text(t)) if o.contains(&t))
                || matches!((spec.kind, spec.preset), (Kind::Int(min, max), Preset::Int(i)) if (min..=max).contains(&i));
            assert!(fits, "{}: {:?} does not fit {:?}", spec.key, spec.preset, spec.kind);
        }
    }

    #[test]
    fn a_setting_of_the_environment_is_named_like_its_variable() {
        for spec in all().filter(|s| s.place == Place::EnvOnly) {
            assert_eq!(spec.env, Some(spec.key));
        }
    }

    #[test]
    fn no_key_is_a_section_of_another() {
        let keys: Vec<&str> = all().map(|s| s.key).collect();
        for key in &keys {
            let inside = format!("{key}.");
            let other = keys.iter().find(|k| k.starts_with(&inside));
            assert!(other.is_none(), "{key} holds a value, yet {} lies below it", other.unwrap());
        }
    }
}
