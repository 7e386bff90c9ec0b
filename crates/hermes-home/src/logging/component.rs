//! Parts of the program a reader can ask for, told apart by the first words of the logger's name.

use std::fmt;
use std::str::FromStr;

/// A part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// The always-on process and its chat platforms.
    Gateway,
    /// The loop that talks to the model.
    Agent,
    /// Tools and what they call.
    Tools,
    /// The command line.
    Cli,
    /// Scheduled jobs.
    Cron,
    /// Web pages and the full-screen terminal.
    Gui,
    /// Where commands run.
    Sandbox,
    /// The kanban board.
    Board,
}

/// A name that is not a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a component: use {list}", list = Component::ALL.map(Component::as_str).join(", "))]
pub struct UnknownComponent(String);

impl Component {
    /// Every component.
    pub const ALL: [Self; 8] = [
        Self::Gateway,
        Self::Agent,
        Self::Tools,
        Self::Cli,
        Self::Cron,
        Self::Gui,
        Self::Sandbox,
        Self::Board,
    ];

    /// The name a user types.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Agent => "agent",
            Self::Tools => "tools",
            Self::Cli => "cli",
            Self::Cron => "cron",
            Self::Gui => "gui",
            Self::Sandbox => "sandbox",
            Self::Board => "board",
        }
    }

    /// Whether a logger of this name belongs to the component.
    pub fn owns(self, logger: &str) -> bool {
        self.loggers().iter().any(|prefix| {
            logger.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// Names both programs write: ours are those of the crates, the others those of the reference's modules.
    fn loggers(self) -> &'static [&'static str] {
        match self {
            Self::Gateway => &["gateway", "hermes_plugins", "plugins.platforms"],
            Self::Agent => &["agent", "model", "run_agent", "model_tools", "batch_runner"],
            Self::Tools => &["tools", "mcp", "skills"],
            Self::Cli => &["cli", "hermes_cli"],
            Self::Cron => &["cron", "gateway.cron"],
            Self::Gui => &[
                "dashboard",
                "tui",
                "tui_gateway",
                "hermes_cli.web_server",
                "hermes_cli.pty_bridge",
                "uvicorn",
            ],
            Self::Sandbox => &["sandbox", "box", "tools.environments"],
            Self::Board => &["board", "hermes_cli.kanban"],
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Component {
    type Err = UnknownComponent;

    fn from_str(name: &str) -> Result<Self, UnknownComponent> {
        let wanted = name.to_ascii_lowercase();
        Self::ALL.into_iter().find(|c| c.as_str() == wanted).ok_or_else(|| UnknownComponent(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loggers_belong_by_whole_words() {
        assert!(Component::Gateway.owns("gateway") && Component::Gateway.owns("gateway.run"));
        assert!(!Component::Gateway.owns("gateways") && !Component::Gateway.owns("tools.gateway"));
        assert!(Component::Gui.owns("hermes_cli.web_server") && Component::Cli.owns("hermes_cli.web_server"));
    }

    #[test]
    fn names_are_read_back() {
        for component in Component::ALL {
            assert_eq!(component.as_str().parse(), Ok(component));
        }
        let error = "nope".parse::<Component>().map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("sandbox, board")));
    }
}
