//! Notices when a model runs in circles: the same failing call again, one tool that keeps failing, the same look at the
//! same thing.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// After how many times something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After {
    /// The same call failed.
    pub same_failure: u32,
    /// The same tool failed.
    pub tool_failures: u32,
    /// A call that changes nothing gave the same again.
    pub same_result: u32,
}

/// What is done about circles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// When the model is told, if at all.
    pub warn: Option<After>,
    /// When the turn ends, if ever.
    pub stop: Option<After>,
}

impl Default for Rules {
    fn default() -> Self {
        let warn = After { same_failure: 2, tool_failures: 3, same_result: 2 };
        Self { warn: Some(warn), stop: None }
    }
}

/// One call that was run.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments, as text.
    pub arguments: &'a str,
    /// How it went.
    pub went: Went,
    /// What it gave.
    pub result: &'a str,
    /// Whether it changes anything.
    pub effect: Effect,
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    /// It worked.
    Well,
    /// It failed.
    Badly,
    /// It was not let through: the tool has nothing to do with it.
    Refused,
}

/// Whether a call changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Looks,
    /// It may change something, so that the same call can mean something else.
    Acts,
}

/// What to say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    Fine,
    /// The model is told.
    Warn(String),
    /// The turn ends.
    Stop(String),
}

/// The counts of one turn.
#[derive(Debug, Default)]
pub struct Guardrails {
    failures: HashMap<[u8; 32], u32>,
    /// How many messages in a row a tool has failed in, and the last of them.
    by_tool: HashMap<String, (u32, u64)>,
    message: u64,
    results: HashMap<[u8; 32], ([u8; 32], u32)>,
}

impl Guardrails {
    /// The calls of another message follow. Those of one message know nothing of each other's failures, so that a tool
    /// fails once in it, however many of them do.
    pub fn next_message(&mut self) {
        self.message += 1;
    }

    /// Counts a call and says what to do about it.
    pub fn count(&mut self, ran: &Ran<'_>, rules: &Rules) -> Advice {
        let call = digest(&[ran.tool, ran.arguments]);
        if ran.went != Went::Well {
            let same = bump(self.failures.entry(call).or_default());
            let tool = if ran.went == Went::Badly { self.tool_failed(ran.tool) } else { 0 };
            return failure_advice(ran.tool, same, tool, rules);
        }
        self.failures.remove(&call);
        self.by_tool.remove(ran.tool);
        if ran.effect == Effect::Acts {
            // Whatever was looked at before may be different now.
            self.results.clear();
            return Advice::Fine;
        }
        let result = digest(&[ran.result]);
        let seen = self.results.entry(call).or_insert((result, 0));
        *seen = if seen.0 == result { (result, seen.1 + 1) } else { (result, 1) };
        repeat_advice(ran.tool, seen.1, rules)
    }

    fn tool_failed(&mut self, tool: &str) -> u32 {
        let (count, last) = self.by_tool.entry(tool.to_owned()).or_insert((0, 0));
        if *count == 0 || *last != self.message {
            (*count, *last) = (*count + 1, self.message);
        }
        *count
    }
}

fn failure_advice(tool: &str, same: u32, of_tool: u32, rules: &Rules) -> Advice {
    let reached = |after: After| same >= after.same_failure || of_tool >= after.tool_failures;
    if rules.stop.is_some_and(reached) {
        return Advice::Stop(format!(
            "'{tool}' failed {} times in a row ({same} times with the same arguments)",
            of_tool.max(same)
        ));
    }
    match rules.warn {
        Some(after) if same >= after.same_failure => Advice::Warn(format!(
            "This same call has now failed {same} times. Running it unchanged will fail again: change the arguments or go another way."
        )),
        Some(after) if of_tool >= after.tool_failures => Advice::Warn(format!(
            "'{tool}' has failed {of_tool} times in a row. Look at the errors before the next try, or go another way."
        )),
        _ => Advice::Fine,
    }
}

fn repeat_advice(tool: &str, times: u32, rules: &Rules) -> Advice {
    if rules.stop.is_some_and(|after| times >= after.same_result) {
        return Advice::Stop(format!("'{tool}' was asked {times} times for the same and gave the same"));
    }
    if rules.warn.is_some_and(|after| times >= after.same_result) {
        return Advice::Warn(format!(
            "This is the same result as before, {times} times now: nothing has changed in between. Use what you have."
        ));
    }
    Advice::Fine
}

fn bump(count: &mut u32) -> u32 {
    *count += 1;
    *count
}

fn digest(texts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(arguments: &'static str, went: Went, effect: Effect) -> Ran<'static> {
        Ran { tool: "t", arguments, went, result: "r", effect }
    }

    #[test]
    fn the_same_failure_twice_is_worth_a_word() {
        let mut rails = Guardrails::default();
        let rules = Rules::default();
        let fails = ran("a", Went::Badly, Effect::Acts);
        assert_eq!(rails.count(&fails, &rules), Advice::Fine);
        assert!(matches!(rails.count(&fails, &rules), Advice::Warn(text) if text.contains("2 times")));
        rails.count(&ran("a", Went::Well, Effect::Acts), &rules);
        assert_eq!(rails.count(&fails, &rules), Advice::Fine, "a success starts the count again");
    }

    #[test]
    fn one_tool_that_keeps_failing_is_worth_a_word() {
        let mut rails = Guardrails::default();
        let rules = Rules::default();
        let each = ["a", "b", "c"].map(|arguments| {
            rails.next_message();
            rails.count(&ran(arguments, Went::Badly, Effect::Acts), &rules)
        });
        assert!(matches!(&each, [Advice::Fine, Advice::Fine, Advice::Warn(_)]), "{each:?}");
    }

    #[test]
    fn calls_of_one_message_and_refusals_are_no_row_of_failures() {
        let rules = Rules::default();
        let mut rails = Guardrails::default();
        for arguments in ["a", "b", "c", "d"] {
            let failed = ran(arguments, Went::Badly, Effect::Acts);
            assert_eq!(rails.count(&failed, &rules), Advice::Fine, "{arguments}");
        }
        let mut rails = Guardrails::default();
        for arguments in ["a", "b", "c", "d"] {
            rails.next_message();
            let refused = ran(arguments, Went::Refused, Effect::Acts);
            assert_eq!(rails.count(&refused, &rules), Advice::Fine, "{arguments}");
        }
        let again = rails.count(&ran("a", Went::Refused, Effect::Acts), &rules);
        assert!(matches!(again, Advice::Warn(_)), "the very same call again is a circle");
    }

    #[test]
    fn looking_again_is_noticed_unless_something_was_done_in_between() {
        let mut rails = Guardrails::default();
        let rules = Rules::default();
        let looks = ran("a", Went::Well, Effect::Looks);
        assert_eq!(rails.count(&looks, &rules), Advice::Fine);
        rails.count(&ran("x", Went::Well, Effect::Acts), &rules);
        assert_eq!(rails.count(&looks, &rules), Advice::Fine);
        assert!(matches!(rails.count(&looks, &rules), Advice::Warn(_)));
    }

    #[test]
    fn the_turn_ends_only_where_that_is_wanted() {
        let stop = After { same_failure: 2, tool_failures: 9, same_result: 9 };
        let rules = Rules { stop: Some(stop), ..Rules::default() };
        let mut rails = Guardrails::default();
        let fails = ran("a", Went::Badly, Effect::Acts);
        rails.count(&fails, &rules);
        assert!(matches!(rails.count(&fails, &rules), Advice::Stop(_)));
    }
}
