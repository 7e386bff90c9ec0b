//! What comes after an answer: it stands, its tools run, or the model is asked again. A table over what was seen.

use hermes_model::{Answer, Finish, Part};

/// What is seen of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four things that are seen or not; none decides alone")]
pub struct Seen {
    /// Why it ended.
    pub end: End,
    /// Whether it says anything to the user.
    pub has_text: bool,
    /// Whether it calls tools.
    pub has_calls: bool,
    /// Whether it holds thoughts.
    pub has_thoughts: bool,
    /// Whether results of tools came right before it.
    pub after_tools: bool,
}

/// Why an answer ended, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is complete.
    Whole,
    /// The limit of the output cut it off.
    TooLong,
    /// The connection broke.
    Broken,
    /// A filter stepped in.
    Filtered,
}

impl Seen {
    /// Looks at an answer.
    pub fn of(answer: &Answer, after_tools: bool) -> Self {
        let end = match answer.finish {
            Finish::Length => End::TooLong,
            Finish::Interrupted => End::Broken,
            Finish::ContentFilter => End::Filtered,
            Finish::Stop | Finish::ToolCalls | Finish::Other(_) => End::Whole,
        };
        Self {
            end,
            has_text: !answer.text().trim().is_empty(),
            has_calls: answer.calls().next().is_some(),
            has_thoughts: answer.parts.iter().any(|part| matches!(part, Part::Reasoning(_))),
            after_tools,
        }
    }
}

/// What was tried already, since the last answer that brought the turn forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tries {
    /// Times the model was asked to go on where it was cut off.
    pub continued: u32,
    /// Times a call was cut off.
    pub cut_calls: u32,
    /// Answers without anything.
    pub empty: u32,
    /// Whether it was reminded that the results are there.
    pub reminded: bool,
    /// Whether another model was tried for empty answers.
    pub moved: bool,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The answer stands.
    Done,
    /// Its tools run.
    RunTools,
    /// It is kept, and the model asked to go on where it stopped.
    Continue,
    /// It is dropped, and the model asked the same again.
    Again,
    /// It is dropped, and the model reminded that the results are there.
    Remind,
    /// It is dropped, and the next model of the chain asked.
    OtherModel,
    /// The turn ends here.
    Stop(Stop),
}

/// Why a turn ends without a whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The text was cut off too often.
    CutText,
    /// A tool call was cut off twice.
    CutCall,
    /// The thoughts used up all the output.
    OnlyThoughts,
    /// A filter left nothing.
    Filtered,
    /// The model said nothing, again and again.
    Empty,
}

const MOST_CONTINUED: u32 = 3;
const MOST_EMPTY: u32 = 3;

/// Decides.
pub fn next(seen: Seen, tries: Tries) -> Next {
    match seen.end {
        End::TooLong if seen.has_calls => {
            if tries.cut_calls == 0 {
                Next::Again
            } else {
                Next::Stop(Stop::CutCall)
            }
        }
        End::TooLong if !seen.has_text && seen.has_thoughts => Next::Stop(Stop::OnlyThoughts),
        End::TooLong | End::Broken if seen.has_text => {
            if tries.continued < MOST_CONTINUED {
                Next::Continue
            } else {
                Next::Stop(Stop::CutText)
            }
        }
        End::Filtered if !seen.has_text && !seen.has_calls => Next::Stop(Stop::Filtered),
        _ if seen.has_calls => Next::RunTools,
        _ if seen.has_text => Next::Done,
        _ => after_nothing(seen, tries),
    }
}

/// A model that said nothing is reminded if it just got results, asked again, and then left for another one.
fn after_nothing(seen: Seen, tries: Tries) -> Next {
    if seen.after_tools && !tries.reminded {
        Next::Remind
    } else if tries.empty < MOST_EMPTY {
        Next::Again
    } else if !tries.moved {
        Next::OtherModel
    } else {
        Next::Stop(Stop::Empty)
    }
}

impl Stop {
    /// What the user is told.
    pub fn reason(self) -> &'static str {
        match self {
            Self::CutText => {
                "the answer was cut off by the output limit several times: raise 'model.max_tokens', or ask for less at once"
            }
            Self::CutCall => {
                "a tool call was cut off by the output limit and was not run: raise 'model.max_tokens', or ask for smaller steps"
            }
            Self::OnlyThoughts => {
                "the model used its whole output for thinking: lower 'agent.reasoning_effort' or raise 'model.max_tokens'"
            }
            Self::Filtered => {
                "the provider's filter held the answer back: say it differently, or choose another model"
            }
            Self::Empty => {
                "the model answered with nothing several times: try again, or choose another with `hermes model`"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Seen =
        Seen { end: End::Whole, has_text: true, has_calls: false, has_thoughts: false, after_tools: false };
    const NOTHING: Seen = Seen { has_text: false, ..TEXT };

    #[test]
    fn whole_answers_stand_and_calls_run() {
        assert_eq!(next(TEXT, Tries::default()), Next::Done);
        assert_eq!(next(Seen { has_calls: true, ..TEXT }, Tries::default()), Next::RunTools);
        assert_eq!(next(Seen { end: End::Filtered, ..TEXT }, Tries::default()), Next::Done);
    }

    #[test]
    fn text_that_was_cut_off_goes_on_three_times() {
        for end in [End::TooLong, End::Broken] {
            let seen = Seen { end, ..TEXT };
            assert_eq!(next(seen, Tries { continued: 2, ..Tries::default() }), Next::Continue);
            let last = next(seen, Tries { continued: 3, ..Tries::default() });
            assert_eq!(last, Next::Stop(Stop::CutText));
        }
    }

    #[test]
    fn a_call_that_was_cut_off_is_never_run() {
        let seen = Seen { end: End::TooLong, has_calls: true, ..TEXT };
        assert_eq!(next(seen, Tries::default()), Next::Again);
        let again = next(seen, Tries { cut_calls: 1, ..Tries::default() });
        assert_eq!(again, Next::Stop(Stop::CutCall));
    }

    #[test]
    fn thoughts_that_ate_everything_end_the_turn_at_once() {
        let seen = Seen { end: End::TooLong, has_thoughts: true, ..NOTHING };
        assert_eq!(next(seen, Tries::default()), Next::Stop(Stop::OnlyThoughts));
    }

    #[test]
    fn silence_is_met_with_a_reminder_then_again_then_elsewhere_then_an_end() {
        let quiet = Seen { after_tools: true, ..NOTHING };
        let mut tries = Tries::default();
        assert_eq!(next(quiet, tries), Next::Remind);
        tries.reminded = true;
        assert_eq!(next(quiet, tries), Next::Again);
        tries.empty = 3;
        assert_eq!(next(quiet, tries), Next::OtherModel);
        tries.moved = true;
        assert_eq!(next(quiet, tries), Next::Stop(Stop::Empty));
        assert_eq!(next(NOTHING, Tries::default()), Next::Again, "no reminder without results");
    }
}
