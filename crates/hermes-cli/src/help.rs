//! The overview that `hermes --help` prints: commands in groups, so that a newcomer finds the room.

use std::fmt::Write as _;

use clap::Command;

/// Every command belongs to one group; a test below holds that.
const GROUPS: &[(&str, &[&str])] = &[
    ("Work", &["chat", "demo", "sandbox", "kanban", "sessions", "insights", "checkpoints"]),
    ("Models", &["setup", "model", "fallback", "auth", "tools", "prompt-size"]),
    ("Home", &["status", "config", "profile", "memory", "skills"]),
    ("When something is wrong", &["doctor", "logs", "dump"]),
    ("Keeping it safe", &["approvals", "guard", "backup", "import"]),
    ("This program", &["version", "completion", "help"]),
];

/// Replaces clap's flat list of commands by the grouped one.
pub fn with_groups(command: Command) -> Command {
    let mut command = command;
    command.build();
    let overview = overview(&command);
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{overview}\nOptions:\n{{options}}{{after-help}}"
    ))
}

fn overview(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {name:<12}{}", about.unwrap_or_default());
        }
        text.push('\n');
    }
    text.trim_end_matches('\n').to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let mut command = crate::args::Cli::command();
        command.build();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut real: Vec<&str> =
            command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name).collect();
        listed.sort_unstable();
        real.sort_unstable();
        assert_eq!(listed, real);
    }

    #[test]
    fn every_command_and_flag_is_described() {
        fn check(command: &Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            assert!(command.get_about().is_some(), "{path} has no description");
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_some(), "{path}: {} has no description", arg.get_id());
            }
            for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
                check(sub, &path);
            }
        }
        check(&crate::args::Cli::command(), "");
    }
}
