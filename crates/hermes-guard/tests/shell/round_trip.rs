//! What we print is the same script to bash, and to us.

use hermes_guard::shell::{parse, print};
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::bash;
use super::grammar::script;

/// Inside `$( )` bash remembers whether `;` or the end of a line divided two commands, which is all the same.
fn plain(declared: Option<&String>) -> Option<Vec<&str>> {
    Some(declared?.split([';', ' ', '\n']).filter(|word| !word.is_empty()).collect())
}

proptest! {
    #![proptest_config(Config { cases: 3, failure_persistence: None, max_shrink_iters: 40, ..Config::default() })]

    #[test]
    fn bash_sees_the_same_function(scripts in prop::collection::vec(script(), 60)) {
        let scripts: Vec<String> = scripts.into_iter().filter(|text| parse(text).is_ok()).collect();
        let printed: Vec<String> = scripts.iter().map(|text| print(&parse(text).unwrap())).collect();
        let before = bash::declared(&scripts);
        let after = bash::declared(&printed);
        prop_assert!(before.iter().all(Option::is_some), "{scripts:?}");
        for ((text, printed), (before, after)) in scripts.iter().zip(&printed).zip(before.iter().zip(&after)) {
            prop_assert_eq!(plain(before.as_ref()), plain(after.as_ref()), "{} became {}", text, printed);
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 150, failure_persistence: None, ..Config::default() })]

    #[test]
    fn printing_twice_changes_nothing(text in script()) {
        let Ok(script) = parse(&text) else { return Ok(()) };
        let once = print(&script);
        let again = parse(&once);
        prop_assert!(again.is_ok(), "{text:?} became {once:?}: {again:?}");
        prop_assert_eq!(print(&again.unwrap()), once);
    }

    #[test]
    fn spans_lie_inside_the_text(text in script()) {
        let Ok(script) = parse(&text) else { return Ok(()) };
        for site in hermes_guard::shell::sites(&script) {
            let span = site.command.span;
            prop_assert!(span.start < span.end && span.end <= text.len());
            prop_assert!(!span.of(&text).starts_with([' ', '\n', ';']), "{:?}", span.of(&text));
            for word in &site.simple().words {
                prop_assert!(span.start <= word.span.start && word.span.end <= span.end);
                prop_assert!(!word.span.of(&text).is_empty());
            }
        }
    }
}
