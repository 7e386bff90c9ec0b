//! What the scripted models of the board's tour say and call. Each profile has one of its own; what they do next depends
//! on what their tools really gave.

use serde_json::{Value, json};

use super::super::model::{Call, Step};

/// The card the tour begins with.
pub const TITLE: &str = "leap year script";
/// What it says.
pub const BODY: &str = "leap.sh YEAR should say whether it is a leap year. with a test and a readme pls";

/// Titles of the parts.
pub const CODE: &str = "Write leap.sh";
pub const CHECK: &str = "Write check.sh";
pub const README: &str = "Write README.md";

/// Names of the models.
pub const PLANNER: &str = "demo-planner";
pub const CODER: &str = "demo-coder";
pub const TESTER: &str = "demo-tester";
pub const WRITER: &str = "demo-writer";

/// The first version forgets that full centuries are different.
const FIRST_TRY: &str = "cat > leap.sh <<'EOF'\n\
    # says whether a year is a leap year\n\
    y=$1\n\
    if [ $((y % 4)) -eq 0 ]; then echo leap; else echo common; fi\n\
    EOF\n\
    sh leap.sh 2024; sh leap.sh 2023";

const SECOND_TRY: &str = "cat > leap.sh <<'EOF'\n\
    # says whether a year is a leap year\n\
    y=$1\n\
    if [ $((y % 400)) -eq 0 ]; then echo leap\n\
    elif [ $((y % 100)) -eq 0 ]; then echo common\n\
    elif [ $((y % 4)) -eq 0 ]; then echo leap\n\
    else echo common; fi\n\
    EOF\n\
    sh leap.sh 1900; sh leap.sh 2000; sh leap.sh 2024; sh leap.sh 2023";

const REVIEW: &str =
    "for y in 2024 2023 2000 1900; do echo \"$y $(sh leap.sh $y)\"; done; sed -n 1,9p leap.sh";

const WRITE_CHECK: &str = "cat > check.sh <<'EOF'\n\
    # leap.sh against years everybody agrees on\n\
    bad=0\n\
    while read year want; do\n\
      got=$(sh leap.sh \"$year\")\n\
      [ \"$got\" = \"$want\" ] || { echo \"$year: $got, not $want\"; bad=1; }\n\
    done <<'YEARS'\n\
    2024 leap\n\
    2023 common\n\
    2000 leap\n\
    1900 common\n\
    YEARS\n\
    [ $bad -eq 0 ] && echo 'all years are right'\n\
    exit $bad\n\
    EOF\n\
    sh check.sh";

const WRITE_README: &str = "{ echo '# leap'; echo; echo 'Says whether a year is a leap year.'; echo; \
    echo '    $ sh leap.sh 2024'; echo \"    $(sh leap.sh 2024)\"; echo '    $ sh leap.sh 1900'; \
    echo \"    $(sh leap.sh 1900)\"; } > README.md; cat README.md";

const LOOK_AT_ALL: &str = "ls; sh check.sh; grep -c leap README.md";

/// The answer to a request, in the form of chat completions.
pub fn next(request: &Value) -> Step {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let system = messages.first().and_then(|message| message["content"].as_str()).unwrap_or_default();
    if system.contains("You plan work on a task board") {
        return say(&plan().to_string());
    }
    let results: Vec<&str> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .filter_map(|message| message["content"].as_str())
        .collect();
    let Some(card) = results.first() else {
        return call("I read the card first.", "kanban_show", json!({}));
    };
    let done = results.len() - 1;
    match request["model"].as_str().unwrap_or_default() {
        CODER => coder(card, done),
        TESTER if is_about(card, CODE) => reviewer(&results, done),
        TESTER => worker(
            done,
            "A table of years is the test.",
            WRITE_CHECK,
            "check.sh runs leap.sh against four years that everybody agrees on.",
        ),
        WRITER => worker(
            done,
            "The examples come from the program itself.",
            WRITE_README,
            "README.md says what leap.sh does, with real examples.",
        ),
        _ => worker(
            done,
            "All parts are there; I look at them together.",
            LOOK_AT_ALL,
            "leap.sh, check.sh and README.md are there and fit together.",
        ),
    }
}

/// Whether a card that was shown has this title.
fn is_about(shown: &str, title: &str) -> bool {
    let shown: Value = serde_json::from_str(shown).unwrap_or_default();
    shown["task"]["title"] == title
}

fn plan() -> Value {
    json!({
        "fanout": true,
        "rationale": "the test and the description need the program, not each other",
        "tasks": [
            {"title": CODE, "assignee": "coder", "parents": [],
             "body": "`sh leap.sh YEAR` prints \"leap\" or \"common\". Done when that is right for every year since 1583."},
            {"title": CHECK, "assignee": "tester", "parents": [0],
             "body": "`sh check.sh` runs leap.sh against years everybody agrees on. Done when it exits with 0, and with 1 should leap.sh be wrong."},
            {"title": README, "assignee": "writer", "parents": [0],
             "body": "What leap.sh does, with examples that were really run. Done when README.md is there."},
        ],
    })
}

fn coder(card: &str, done: usize) -> Step {
    let again = card.contains("1900");
    match (done, again) {
        (0, false) => run("Every fourth year, then.", FIRST_TRY),
        (0, true) => run("The reviewer is right: full centuries are different.", SECOND_TRY),
        (1, false) => complete("leap.sh says leap or common; tried with 2024 and 2023."),
        (1, true) => complete("leap.sh knows full centuries now; tried with 1900, 2000, 2024 and 2023."),
        _ => say("The card is closed."),
    }
}

fn reviewer(results: &[&str], done: usize) -> Step {
    match done {
        0 => run("I try years that are easy to get wrong.", REVIEW),
        1 if results.last().is_some_and(|printed| printed.contains("1900 leap")) => call(
            "1900 was no leap year.",
            "kanban_block",
            json!({"reason": "1900 is no leap year: a full century is one only if 400 divides it."}),
        ),
        1 => complete("Right for 2024, 2023, 2000 and 1900."),
        _ => say("The review is done."),
    }
}

/// One command, then the end.
fn worker(done: usize, words: &str, command: &str, summary: &str) -> Step {
    match done {
        0 => run(words, command),
        1 => complete(summary),
        _ => say("The card is closed."),
    }
}

fn say(words: &str) -> Step {
    Step { say: words.to_owned(), call: None }
}

fn call(words: &str, name: &'static str, arguments: Value) -> Step {
    Step { say: words.to_owned(), call: Some(Call { name, arguments }) }
}

fn run(words: &str, command: &str) -> Step {
    call(words, "terminal", json!({ "command": command }))
}

fn complete(summary: &str) -> Step {
    call("That is it.", "kanban_complete", json!({ "summary": summary }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(title: &str, comments: &str) -> Value {
        json!({"role": "tool", "content": json!({"task": {"title": title}, "comments": [comments]}).to_string()})
    }

    fn next_call(model: &str, messages: &[Value]) -> Option<(&'static str, Value)> {
        next(&json!({"model": model, "messages": messages})).call.map(|call| (call.name, call.arguments))
    }

    #[test]
    fn the_plan_can_be_read() {
        let request = json!({"model": PLANNER, "messages": [{"role": "system", "content": "You plan work on a task board."}]});
        let proposal = hermes_board::triage::proposal::read(&next(&request).say);
        assert!(
            matches!(proposal, Ok(hermes_board::triage::proposal::Proposal::Split(split)) if split.parts.len() == 3)
        );
    }

    #[test]
    fn everybody_reads_the_card_first() {
        for model in [CODER, TESTER, WRITER, PLANNER] {
            assert_eq!(next_call(model, &[]).map(|call| call.0), Some("kanban_show"));
        }
    }

    #[test]
    fn the_coder_listens_to_the_review() {
        let first = next_call(CODER, &[shown(CODE, "")]).map(|call| call.1.to_string());
        let second = next_call(CODER, &[shown(CODE, "1900 is no leap year")]).map(|call| call.1.to_string());
        assert!(first.is_some_and(|command| !command.contains("% 400")));
        assert!(second.is_some_and(|command| command.contains("% 400")));
    }

    #[test]
    fn the_tester_tells_a_review_from_work() {
        let printed = |text: &str| json!({"role": "tool", "content": text});
        let review = |text: &str| next_call(TESTER, &[shown(CODE, ""), printed(text)]).map(|call| call.0);
        assert_eq!(review("1900 leap"), Some("kanban_block"));
        assert_eq!(review("1900 common"), Some("kanban_complete"));
        let work = next_call(TESTER, &[shown(CHECK, "")]).map(|call| call.1.to_string());
        assert!(work.is_some_and(|command| command.contains("check.sh")));
    }
}
