//! Which toolsets are on: what was asked for, else what the settings say for the platform, else its usual ones.

use std::collections::BTreeSet;

use hermes_home::Settings;
use hermes_home::settings::{Origin as SettingOrigin, SettingError, nearest, table};
use serde_json::Value;

use super::table::Preset;
use super::{ALL, Kind, Toolset, basic, find, of_platform};
use crate::tool::Tool;

/// Why nothing can be chosen.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// A setting cannot be used.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// None of the names is a toolset.
    #[error("there is no toolset {}: `hermes tools list` shows them", quoted(.0))]
    NoneKnown(Vec<String>),
}

/// Who chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Whoever started the program.
    Asked,
    /// The setting `platform_toolsets`.
    PlatformSetting,
    /// The setting `toolsets`.
    Setting,
    /// Nobody.
    Preset,
}

/// Whether toolsets are switched on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// The toolsets that are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    origin: Origin,
    /// Basic toolsets all of whose tools are on.
    sets: BTreeSet<&'static str>,
    tools: BTreeSet<&'static str>,
    unknown: Vec<String>,
    /// Toolsets of others, such as servers and plugins, by name.
    others: BTreeSet<String>,
}

impl Selection {
    /// Chooses for a platform. `asked` counts if it names anything.
    pub fn new(settings: &Settings, platform: &str, asked: &[String]) -> Result<Self, SelectionError> {
        let asked: Vec<String> =
            asked.iter().flat_map(|names| names.split(',')).map(|name| name.trim().to_owned()).collect();
        let asked: Vec<String> = asked.into_iter().filter(|name| !name.is_empty()).collect();
        let (origin, names) = names(settings, platform, asked)?;
        let disabled = settings.get(&table::agent::DISABLED_TOOLSETS)?;
        Self::of(origin, &names, &disabled)
    }

    /// What is chosen for a platform by the settings or by default, before `agent.disabled_toolsets` takes away.
    pub fn saved(settings: &Settings, platform: &str) -> Result<Self, SelectionError> {
        let (origin, names) = names(settings, platform, Vec::new())?;
        Self::of(origin, &names, &[])
    }

    /// The names to save so that these toolsets are on or off besides. Names of others stay.
    pub fn names_with(&self, switch: Switch, sets: &[&'static Toolset]) -> Vec<String> {
        let mut names: BTreeSet<String> =
            self.sets().map(str::to_owned).chain(self.others.iter().cloned()).collect();
        for set in sets.iter().flat_map(|set| parts(set)) {
            match switch {
                Switch::On => names.insert(set.name.to_owned()),
                Switch::Off => names.remove(set.name),
            };
        }
        names.into_iter().collect()
    }

    /// With a toolset that has to be there, whatever was chosen.
    #[must_use]
    pub fn and(mut self, set: &'static Toolset) -> Self {
        self.tools.extend(set.all_tools());
        self.sets.extend(parts(set).into_iter().map(|part| part.name));
        self
    }

    fn of(origin: Origin, names: &[String], disabled: &[String]) -> Result<Self, SelectionError> {
        let (known, unknown): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| find(name).is_some());
        // Names in the settings may be those of servers and plugins; a name somebody just typed is a slip.
        if known.is_empty() && !names.is_empty() && origin == Origin::Asked {
            return Err(SelectionError::NoneKnown(names.to_vec()));
        }
        let of_names = |names: &mut dyn Iterator<Item = &str>| -> BTreeSet<&'static str> {
            names.filter_map(find).flat_map(Toolset::all_tools).collect()
        };
        let off = of_names(&mut disabled.iter().map(String::as_str));
        let tools: BTreeSet<&'static str> =
            of_names(&mut known.iter().map(|name| name.as_str())).difference(&off).copied().collect();
        let is_on = |set: &&Toolset| {
            let all = set.all_tools();
            !all.is_empty() && all.iter().all(|tool| tools.contains(tool))
        };
        let sets = basic().filter(is_on).map(|set| set.name).collect();
        let unknown: Vec<String> = unknown.into_iter().cloned().collect();
        let others =
            if origin == Origin::Asked { BTreeSet::new() } else { unknown.iter().cloned().collect() };
        Ok(Self { origin, sets, tools, unknown, others })
    }

    /// Who chose.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether a tool is on.
    pub fn has(&self, tool: &dyn Tool) -> bool {
        let name = tool.spec().name;
        self.has_tool(&name) || self.others.contains(tool.toolset())
    }

    /// Whether a tool of this name is on.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.contains(name)
    }

    /// Whether a basic toolset is on with all its tools.
    pub fn is_on(&self, set: &Toolset) -> bool {
        self.sets.contains(set.name)
    }

    /// Basic toolsets that are on, by name.
    pub fn sets(&self) -> impl Iterator<Item = &'static str> {
        self.sets.iter().copied()
    }

    /// What the user should know: names that mean nothing.
    pub fn notices(&self) -> Vec<String> {
        if self.origin != Origin::Asked {
            return Vec::new();
        }
        let notice = |name: &String| {
            let close = nearest(name, ALL.iter().map(|set| set.name));
            let hint = if close.is_empty() {
                String::new()
            } else {
                format!(": did you mean {}?", close.join(" or "))
            };
            format!("there is no toolset \"{name}\"{hint}")
        };
        self.unknown.iter().map(notice).collect()
    }
}

/// The basic toolsets a toolset consists of: itself, or those whose tools it has.
fn parts(set: &'static Toolset) -> Vec<&'static Toolset> {
    if set.kind == Kind::Basic {
        return vec![set];
    }
    let has = set.all_tools();
    let is_part = |part: &&Toolset| {
        let tools = part.all_tools();
        !tools.is_empty() && tools.iter().all(|tool| has.contains(tool))
    };
    basic().filter(is_part).collect()
}

/// The names to go by.
fn names(
    settings: &Settings,
    platform: &str,
    asked: Vec<String>,
) -> Result<(Origin, Vec<String>), SettingError> {
    if !asked.is_empty() {
        return Ok((Origin::Asked, asked));
    }
    let by_platform = settings.get(&table::tools::PLATFORM_TOOLSETS)?;
    if let Some(names) = by_platform.get(platform).and_then(Value::as_array) {
        let names = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        return Ok((Origin::PlatformSetting, names));
    }
    let resolved = settings.resolve(&table::tools::TOOLSETS.spec)?;
    if resolved.origin != SettingOrigin::Default {
        return Ok((Origin::Setting, settings.get(&table::tools::TOOLSETS)?));
    }
    Ok((Origin::Preset, presets(platform)))
}

/// What is on for a platform when nobody chose: the basic toolsets it has, without those that wait to be wanted.
fn presets(platform: &str) -> Vec<String> {
    let has =
        of_platform(platform).or_else(|| of_platform("cli")).map(Toolset::all_tools).unwrap_or_default();
    let is_on = |set: &&Toolset| {
        let all = set.all_tools();
        set.preset == Preset::On && !all.is_empty() && all.iter().all(|tool| has.contains(tool))
    };
    basic().filter(is_on).map(|set| set.name.to_owned()).collect()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str], disabled: &[&str]) -> Result<Selection, SelectionError> {
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        Selection::of(Origin::Asked, &owned(names), &owned(disabled))
    }

    #[test]
    fn the_presets_are_those_of_the_platform() {
        let cli = presets("cli");
        let expected = [
            "web",
            "browser",
            "terminal",
            "file",
            "code_execution",
            "vision",
            "image_gen",
            "tts",
            "skills",
            "todo",
            "memory",
            "session_search",
            "clarify",
            "delegation",
            "cronjob",
            "messaging",
            "computer_use",
        ];
        assert_eq!(cli, expected);
        assert_eq!(presets("telegram"), expected);
        let api: Vec<&str> = expected
            .into_iter()
            .filter(|name| !["clarify", "computer_use", "messaging", "tts"].contains(name))
            .collect();
        assert_eq!(presets("api_server"), api);
        assert_eq!(presets("webhook"), ["web", "vision", "clarify"]);
    }

    #[test]
    fn composites_switch_on_what_they_hold() {
        let chosen = of(&["debugging"], &[]).unwrap();
        assert_eq!(chosen.sets().collect::<Vec<_>>(), ["file", "terminal", "web"]);
        let without = of(&["hermes-cli"], &["terminal"]).unwrap();
        assert!(!without.tools.contains("terminal") && without.tools.contains("todo"));
    }

    #[test]
    fn switching_keeps_everything_else() {
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let saved = names(&["web", "terminal", "my-server"]);
        let chosen = Selection::of(Origin::PlatformSetting, &saved, &[]).unwrap();
        let set = |name: &str| find(name).unwrap();
        assert_eq!(chosen.names_with(Switch::Off, &[set("web")]), ["my-server", "terminal"]);
        assert_eq!(chosen.names_with(Switch::On, &[set("video")]), ["my-server", "terminal", "video", "web"]);
        assert_eq!(chosen.names_with(Switch::Off, &[set("debugging")]), ["my-server"]);
    }

    #[test]
    fn slips_are_told_and_nothing_at_all_is_an_error() {
        let chosen = of(&["terminl", "web"], &[]).unwrap();
        assert_eq!(chosen.notices(), ["there is no toolset \"terminl\": did you mean terminal?"]);
        assert!(matches!(of(&["nonsense"], &[]), Err(SelectionError::NoneKnown(_))));
        assert_eq!(of(&[], &[]).unwrap().tools.len(), 0);
    }
}
