//! What bash accepts we accept, what it refuses we refuse.
//!
//! Known differences; in each we refuse what `bash -n` lets pass:
//! 1. Bash looks into backquotes, and into the expansions of a here-document, only when it runs them. We look
//!    at once, because the guard must see those commands.
//! 2. Bash takes anything between balanced brackets after `$((` and `<((` and complains when it runs it. We want
//!    arithmetic or commands.
//! 3. `for ((` without `))`, and `[[` that ends early, are refused by bash without a word and with status 0.
//! 4. Inside `$( )`, bash lets the body of a here-document come after the closing bracket. We do not: a reader
//!    could not tell where the text ends.
//! 5. Limits: NUL, nesting deeper than `MAX_DEPTH`, more than `MAX_LENGTH` bytes.

use hermes_guard::shell::{Reason, parse};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::bash;
use super::grammar::{nearly_script, script};

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_shrink_iters: 40, ..Config::default() }
}

/// Whether the text holds one of the constructs of the known differences 1 to 4.
fn may_differ(text: &str) -> bool {
    let joined = text.replace("\\\n", "");
    ["`", "<<", "$((", "<((", ">((", "for", "[["].iter().any(|mark| joined.contains(mark))
}

proptest! {
    #![proptest_config(config(3))]

    #[test]
    fn scripts_of_the_grammar_are_accepted(scripts in prop::collection::vec(script(), 40)) {
        for (text, accepted) in scripts.iter().zip(bash::accepts(&scripts)) {
            prop_assert!(accepted, "bash refuses {text:?}");
            if let Err(error) = parse(text) {
                prop_assert_eq!(error.reason, Reason::TooDeep, "we refuse {:?}", text);
            }
        }
    }

    #[test]
    fn other_texts_are_judged_as_bash_does(texts in prop::collection::vec(nearly_script(), 120)) {
        for (text, accepted) in texts.iter().zip(bash::accepts(&texts)) {
            match (parse(text), accepted) {
                (Ok(_), false) => prop_assert!(false, "bash refuses, we accept {text:?}"),
                (Err(error), true) => {
                    prop_assert!(may_differ(text), "bash accepts, we say {error} to {text:?}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn parentheses_of_a_loop_are_counted() {
    let text = "for ((i ((0; i < 3; i++)); do echo; done".to_owned();
    assert_eq!(bash::accepts(std::slice::from_ref(&text)), [false]);
    assert!(parse(&text).is_err());
}

#[test]
fn known_differences_are_refused() {
    let texts = [
        "echo `if`",
        "cat <<E\n$(if)\nE\n",
        "cat <<E\n`\nE\n",
        "echo $((1+(2))-f)",
        "for ((i=0;i<3;i++)do a; done",
        "[[ ]]",
        "[[ a && ]]",
        "echo $(cat <<E)\nx\nE\n",
    ]
    .map(str::to_owned);
    assert_eq!(bash::accepts(&texts), [true; 8]);
    for text in &texts {
        assert!(parse(text).is_err(), "{text:?}");
    }
}
