//! Long, deep and broken texts.

use hermes_guard::shell::{MAX_DEPTH, MAX_LENGTH, Reason, Variables, parse, print, sites, trace, tree};
use proptest::prelude::*;

/// Everything that can be done with a text.
fn exercise(text: &str) {
    if let Ok(script) = parse(text) {
        parse(&print(&script)).unwrap();
        tree(&script);
        sites(&script);
        trace(&script, &mut Variables::new(), &mut |site, variables| {
            site.simple().words.iter().for_each(|word| drop(variables.resolve(word)));
            site.input(variables);
        });
    }
}

#[test]
fn the_length_is_bounded() {
    let text = "a".repeat(MAX_LENGTH);
    assert!(parse(&text).is_ok());
    assert_eq!(parse(&(text + "a")).unwrap_err().reason, Reason::TooLong);
    assert!(parse("a\0b").is_err());
}

#[test]
fn the_depth_is_bounded() {
    for (open, close) in [
        ("( ", ")"),
        ("{ ", ";}"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("${x:-", "}"),
        ("$((1+", "))"),
        ("if ", ";then b;fi"),
        ("<(", ")"),
        ("f() { ", ";}"),
        ("case a in b) ", ";; esac"),
        ("! [[ ( ", " ) ]]"),
    ] {
        let nested = |n: usize| format!("{}a{}", open.repeat(n), close.repeat(n));
        exercise(&format!("echo; {}", nested(8)));
        let error = parse(&nested(MAX_DEPTH + 1));
        assert!(error.is_err(), "{open}");
    }
    assert_eq!(parse(&"(".repeat(10_000)).unwrap_err().reason, Reason::TooDeep);
    assert_eq!(parse(&format!("[[ {}", "! ".repeat(10_000))).unwrap_err().reason, Reason::TooDeep);
    assert_eq!(parse(&"{".repeat(10_000)).unwrap_err().reason, Reason::TooDeep);
}

/// None of these may take long; a quadratic reader would need minutes.
#[test]
fn long_texts_of_every_token() {
    let tokens = [
        "a",
        " ",
        "a ",
        "a;",
        "a|",
        "a&&",
        "a\n",
        "(",
        "((",
        "((a)",
        "$((",
        "$(",
        "{",
        "{,",
        "{a,b}",
        "\"",
        "'",
        "`",
        "``",
        "\\",
        "\\\n",
        "$",
        "${",
        "${x",
        "$x",
        "[",
        "[]",
        "x[",
        "x=",
        "x=(",
        "<",
        "<<",
        "<<a\n",
        "<<a ",
        "<(",
        ">x ",
        "!",
        "! ",
        "#",
        "~",
        "*",
        "if ",
        "[[ a &&",
        "[[ a && ",
        "case a in a) ",
        "a)",
        "time ",
        "coproc ",
        "function f ",
        "f()",
        "for x in ",
        "é",
        "=",
        "{1..9}",
        "$'",
        "\"$(",
        "<<-E\n\t",
        "${x//",
        "${!",
        "for ((",
        "a=$(",
        "`\\`",
        "$[",
    ];
    for token in tokens {
        let text = token.repeat(3_000 / token.len());
        exercise(&text);
        exercise(&format!("echo {text}"));
        exercise(&format!("[[ a && {text}"));
        exercise(&format!("cat <<E\n{text}\nE\n"));
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        exercise(&text);
    }

    #[test]
    fn any_shell_like_text_is_survived(text in "[a-c \n;|&<>(){}\\[\\]$`'\"\\\\!#=~*?:/-]{0,60}") {
        exercise(&text);
    }

    #[test]
    fn errors_say_where(text in "[a-c \n;|&<>(){}$`'\"]{0,40}") {
        if let Err(error) = parse(&text) {
            prop_assert!(error.at <= text.len());
            prop_assert!(error.to_string().starts_with("cannot read the command"));
        }
    }
}
