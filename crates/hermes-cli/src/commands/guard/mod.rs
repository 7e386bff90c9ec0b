//! `hermes guard`: what the rules for commands would say, without running anything.

use std::process::ExitCode;

use clap::Subcommand;
use hermes_guard::command::{self, Context, Finding, Judgement, Look, Questions, Reach};
use hermes_guard::shell;
use hermes_home::Settings;
use hermes_sandbox::config::BackendKind;
use hermes_tools::gate::ask::{Mode, Yolo};
use hermes_tools::gate::ledger::{self, Ledger};
use hermes_tools::workplace;
use serde_json::{Value, json};

use crate::app::App;
use crate::ui;

/// See what the rules for commands would say
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the decision about a command, the rule and how the command was read; nothing is run
    ///
    /// Exit code 0: it would run without a question; 1: it would be asked about or refused.
    #[command(after_help = "\
Examples:
  hermes guard explain 'git push --force'
  hermes guard explain 'cd / && rm -rf *' --json
  hermes guard explain - < setup.sh")]
    Explain {
        /// The command line, in quotes; `-` reads it from standard input
        command: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let Action::Explain { command, json } = &args.action;
    let command = if command == "-" { std::io::read_to_string(std::io::stdin())? } else { command.clone() };
    if command.trim().is_empty() {
        let wanted =
            "the command is empty: give a command line in quotes, or `-` to read it from standard input";
        return Err(ui::WrongUsage(wanted.to_owned()).into());
    }
    let explained = Explained::new(app, &command)?;
    if *json {
        ui::print_json(&explained.as_value())?;
    } else {
        ui::print(&explained.as_text())?;
    }
    Ok(if explained.judgement == Judgement::Allowed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A command and all there is to say about it.
struct Explained {
    judgement: Judgement,
    reach: Reach,
    look: Look,
    tree: Result<String, String>,
}

impl Explained {
    fn new(app: &App, line: &str) -> anyhow::Result<Self> {
        let settings: Settings = app.settings()?;
        let mode = Mode::from_settings(&settings, false)?;
        let place = hermes_sandbox::from_settings::config(&settings)?;
        let local = place.backend == BackendKind::Local;
        let home = app.user_home().display().to_string();
        let ours = app.home.dir().display().to_string();
        let cwd = std::env::current_dir().ok().map(|dir| dir.display().to_string());
        let follow = |path: &str| std::fs::canonicalize(path).ok().map(|path| path.display().to_string());
        let agreements = Ledger::new(app.home.clone());
        let allow = ledger::by_hand(&mode.allow, &agreements.records()?);
        let sight = Context {
            reach: workplace::reach_of(&place),
            questions: if mode.yolo == Yolo::On { Questions::Off } else { Questions::On },
            home: if local { &home } else { "" },
            hermes_home: if local { &ours } else { "" },
            cwd: cwd.as_deref().filter(|_| local),
            memory: None,
            sudo: mode.sudo,
            resolve: local.then_some(&follow),
            script: None,
            deny: &mode.deny,
            allow: &allow,
        };
        let here = sight.cwd.map(|dir| follow(dir).unwrap_or_else(|| dir.to_owned()));
        let agreed = |record: &ledger::Record| record.covers(line, here.as_deref());
        let judgement = match command::judge(line, &sight) {
            Judgement::Ask { .. } if agreements.standing()?.iter().any(agreed) => Judgement::Allowed,
            judgement => judgement,
        };
        Ok(Self {
            judgement,
            reach: sight.reach,
            look: command::look(line, &sight),
            tree: shell::parse(line).map(|script| shell::tree(&script)).map_err(|error| error.to_string()),
        })
    }

    fn decision(&self) -> &'static str {
        match self.judgement {
            Judgement::Allowed => "allow",
            Judgement::Ask { .. } => "ask",
            Judgement::Refused { .. } => "refuse",
        }
    }

    fn findings(&self) -> &[Finding] {
        match &self.judgement {
            Judgement::Allowed => &[],
            Judgement::Ask { findings } => findings,
            Judgement::Refused { finding } => std::slice::from_ref(finding),
        }
    }

    fn as_text(&self) -> String {
        let mut lines = vec![match self.judgement {
            Judgement::Allowed => "allow: it runs without a question".to_owned(),
            Judgement::Ask { .. } => "ask: it runs if you agree".to_owned(),
            Judgement::Refused { .. } => "refuse: it does not run, whoever agrees".to_owned(),
        }];
        if self.reach == Reach::Contained {
            lines.push(
                "  (commands run in a container: only what reaches out of it is asked about)".to_owned(),
            );
        }
        for finding in self.findings() {
            lines.push(format!("  {}: {}", finding.rule, finding.reason));
            lines.push(format!("    {}", ui::harmless(&finding.part).replace('\n', "\n    ")));
        }
        lines.push("would start:".to_owned());
        let mut started: Vec<String> = Vec::new();
        for call in self.look.calls.iter().filter(|call| !call.words.is_empty()) {
            let directory = call.cwd.as_deref().map(|dir| format!("  [in {dir}]")).unwrap_or_default();
            let line = format!("  {}{directory}", ui::harmless(&call.shown()).replace('\n', " ⏎ "));
            // The same program may be found in more than one way.
            if !started.contains(&line) {
                started.push(line);
            }
        }
        lines.append(&mut started);
        lines.push("read as:".to_owned());
        let tree = match &self.tree {
            Ok(tree) | Err(tree) => tree,
        };
        lines.push(format!("  {}", ui::harmless(tree.trim_end()).replace('\n', "\n  ")));
        lines.join("\n")
    }

    fn as_value(&self) -> Value {
        let finding = |finding: &Finding| {
            json!({
                "rule": finding.rule,
                "reason": finding.reason,
                "part": finding.part,
                "grant_prefix": finding.prefix,
            })
        };
        let calls = self.look.calls.iter().filter(|call| !call.words.is_empty());
        json!({
            "decision": self.decision(),
            "reach": if self.reach == Reach::Contained { "contained" } else { "host" },
            "findings": self.findings().iter().map(finding).collect::<Vec<_>>(),
            "starts": calls.map(|call| json!({ "command": call.shown(), "directory": call.cwd })).collect::<Vec<_>>(),
            "tree": self.tree.as_ref().ok(),
            "error": self.tree.as_ref().err(),
        })
    }
}
