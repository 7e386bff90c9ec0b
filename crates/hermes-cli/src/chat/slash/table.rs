//! Every slash command of the chat.

use super::{Command, Group, When};

const fn command(
    name: &'static str,
    args: &'static str,
    help: &'static str,
    when: When,
    group: Group,
) -> Command {
    Command { name, aliases: &[], args, help, when, group, words: &[] }
}

impl Command {
    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn words(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }
}

use Group::{Facts, Model, Screen, Session, Work};
use When::{Always, Idle};

/// The table.
pub const COMMANDS: &[Command] = &[
    command("new", "[TITLE]", "starts a new session; this one stays stored", Idle, Session).also(&["reset"]),
    command("clear", "", "starts a new session on a clear screen", Idle, Session),
    command("resume", "[ID or TITLE]", "goes on with a stored session", Idle, Session).also(&["sessions"]),
    command("branch", "[TITLE]", "goes on in a copy of this session", Idle, Session).also(&["fork"]),
    command("title", "[TITLE]", "shows or sets the title of this session", Always, Session),
    command("history", "", "shows the conversation so far", Always, Session),
    command("save", "[PATH]", "writes the conversation to a JSON file", Always, Session),
    command("undo", "[N]", "takes back the last exchange, or the last N", Idle, Session),
    command("retry", "", "sends your last message again", Idle, Session),
    command(
        "rollback",
        "[N [FILE] [--force] | diff N]",
        "lists checkpoints of the files, or goes back to one",
        Idle,
        Session,
    )
    .words(&["diff", "--force"]),
    command(
        "compress",
        "[here N | FOCUS | --preview]",
        "replaces old messages in the window by a summary",
        Idle,
        Session,
    )
    .also(&["compact"])
    .words(&["here", "--preview"]),
    command("uncompact", "", "takes the last summary back", Idle, Session),
    command("quit", "[--delete]", "leaves; with --delete the session is deleted", Always, Session)
        .also(&["exit", "q!"])
        .words(&["--delete"]),
    command("stop", "", "interrupts the agent and ends background processes", Always, Work),
    command("queue", "TEXT", "sends TEXT when the running turn is over", Always, Work).also(&["q"]),
    command("steer", "TEXT", "gives the running turn guidance without interrupting it", Always, Work),
    command("busy", "[interrupt | queue | steer]", "what Enter does while the agent works", Always, Work)
        .words(&["interrupt", "queue", "steer"]),
    command("background", "PROMPT", "runs a prompt in a session of its own", Always, Work)
        .also(&["bg", "btw"]),
    command("agents", "", "lists what runs in the background", Always, Work).also(&["tasks"]),
    command(
        "kanban",
        "[COMMAND …]",
        "looks at the board and changes it, as `hermes kanban` does",
        Always,
        Work,
    )
    .words(&["list", "show", "create", "comment", "complete", "block", "unblock", "stats", "boards"]),
    command("model", "[NAME]", "shows the models or switches to one", Idle, Model),
    command(
        "reasoning",
        "[show | hide | LEVEL]",
        "shows or hides thoughts, sets how hard it thinks",
        Always,
        Model,
    )
    .words(&["show", "hide", "none", "minimal", "low", "medium", "high", "xhigh"]),
    command("yolo", "", "switches approvals off for this session, or on again", Always, Model),
    command("tools", "", "lists the tools that are on", Always, Model),
    command("toolsets", "", "lists the groups of tools", Always, Model),
    command("status", "", "shows the session, the model and what it took", Always, Facts),
    command("usage", "", "shows tokens and money", Always, Facts),
    command("context", "", "shows what fills the window, cached or fresh", Always, Facts),
    command("insights", "[DAYS]", "shows figures of the last days", Always, Facts),
    command("config", "", "shows the settings in force", Always, Facts),
    command("profile", "", "shows the profile in use", Always, Facts),
    command("help", "[COMMAND]", "lists commands and keys", Always, Facts).also(&["?"]),
    command("verbose", "[on | off]", "shows more of what tools print", Always, Screen).words(&["on", "off"]),
    command("statusbar", "[on | off]", "shows or hides the status line", Always, Screen)
        .also(&["sb"])
        .words(&["on", "off"]),
    command("copy", "[N]", "copies the last answer, or the Nth from the end", Always, Screen),
    command("image", "PATH", "attaches a picture to your next message", Always, Screen),
    command("paste", "", "attaches the picture in the clipboard", Always, Screen),
    command("redraw", "", "repaints the screen", Always, Screen),
];
