//! Tools by name: every toolset there is, also those whose tools are not part of this program yet, and which are on.

mod selection;
mod table;

pub use selection::{Origin, Selection, SelectionError, Switch};
pub use table::{ALL, Kind, Toolset};

use std::collections::BTreeSet;

/// Whether this program has the tool.
fn is_here(tool: &&'static str) -> bool {
    crate::catalog::NAMES.contains(tool) || crate::catalog::OF_THE_AGENT.contains(tool)
}

/// The toolset of this name.
pub fn find(name: &str) -> Option<&'static Toolset> {
    let name = match name {
        "all" | "*" => "hermes-gateway",
        name => name,
    };
    ALL.iter().find(|set| set.name == name)
}

/// The toolsets a user switches on and off, in the order they are shown.
pub fn basic() -> impl Iterator<Item = &'static Toolset> {
    ALL.iter().filter(|set| set.kind == Kind::Basic)
}

/// The platforms that have settings of their own.
pub fn platforms() -> impl Iterator<Item = &'static str> {
    table::PLATFORMS.iter().map(|(platform, _)| *platform)
}

/// The toolset that is on for a platform when nobody chose.
pub fn of_platform(platform: &str) -> Option<&'static Toolset> {
    table::PLATFORMS.iter().find(|(name, _)| *name == platform).and_then(|(_, set)| find(set))
}

impl Toolset {
    /// All its tools, those of the toolsets it includes as well.
    pub fn all_tools(&self) -> BTreeSet<&'static str> {
        let mut tools: BTreeSet<&'static str> = self.tools.iter().copied().collect();
        if self.core == table::Core::Yes {
            tools.extend(table::CORE);
        }
        for name in self.without {
            tools.remove(name);
        }
        // The table is checked to have no circles.
        tools.extend(self.includes.iter().filter_map(|name| find(name)).flat_map(Toolset::all_tools));
        tools
    }

    /// Its tools that this program has.
    pub fn here(&self) -> Vec<&'static str> {
        self.all_tools().into_iter().filter(is_here).collect()
    }

    /// Its tools that this program does not have.
    pub fn missing(&self) -> Vec<&'static str> {
        self.all_tools().into_iter().filter(|tool| !is_here(tool)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_includes_exist() {
        let names: BTreeSet<&str> = ALL.iter().map(|set| set.name).collect();
        assert_eq!(names.len(), ALL.len());
        for set in ALL {
            for name in set.includes {
                let included = find(name).unwrap();
                assert!(included.includes.is_empty(), "{name} must not include others: circles");
            }
        }
        for (platform, set) in table::PLATFORMS {
            assert!(find(set).is_some(), "{platform}");
        }
    }

    #[test]
    fn composites_hold_what_they_are_made_of() {
        let tools = |name: &str| find(name).unwrap().all_tools();
        assert_eq!(
            tools("safe"),
            BTreeSet::from(["image_generate", "vision_analyze", "web_extract", "web_search"])
        );
        assert!(tools("debugging").is_superset(&tools("file")));
        assert!(tools("hermes-cli").contains("terminal") && tools("hermes-gateway").contains("yb_send_dm"));
        assert!(!tools("hermes-acp").contains("clarify") && tools("hermes-acp").contains("terminal"));
        assert!(!tools("hermes-webhook").contains("terminal"));
        assert!(tools("all").contains("terminal"));
    }

    #[test]
    fn what_is_not_built_is_said_to_be_missing() {
        assert_eq!(find("terminal").unwrap().here(), ["process", "terminal"]);
        assert_eq!(find("web").unwrap().missing(), Vec::<&str>::new());
        assert_eq!(find("skills").unwrap().missing(), ["skill_manage"]);
        assert_eq!(find("tts").unwrap().here(), Vec::<&str>::new());
        assert_eq!(find("tts").unwrap().missing(), ["text_to_speech"]);
    }
}
