//! The questions, at a real terminal.

use super::terminal::Terminal;
use super::{KEY, WRONG, openrouter};
use hermes_testkit::TestHome;
use hermes_testkit::model::{KeyFor, ModelServer};

#[test]
fn a_new_home_is_set_up_by_answering() {
    let home = TestHome::new();
    let server = openrouter(&home, "say \"unused\"", KeyFor::All);
    let mut terminal = Terminal::start(&home, &["setup"]);
    terminal.expect("No model is set up").expect("Which provider?").expect("q to leave:");
    terminal.line("openrouter").expect("Key for OpenRouter").line(WRONG);
    terminal.expect("refuses the key").expect("Key for OpenRouter").line(KEY);
    terminal.expect("Which model?").expect("alpha/one").expect("leave:").line("alpha");
    terminal.expect("2 of 3 match 'alpha'").expect("leave:").line("two");
    terminal.expect("(not set) → alpha/two").expect("Saved to");
    terminal.expect("Where do commands run?").expect("Enter for 1").line("").expect("ok:");
    terminal
        .expect("model     alpha/two of openrouter")
        .expect("commands  run on this machine")
        .expect("Ready.");
    assert!(terminal.end().success());
    assert!(!terminal.shown().contains(KEY) && !terminal.shown().contains(WRONG), "{}", terminal.shown());
    let (config, dotenv) = (home.read("config.yaml"), home.read(".env"));
    assert!(config.contains("default: alpha/two") && config.contains("backend: local"), "{config}");
    assert!(dotenv.contains(KEY) && !dotenv.contains(WRONG));
    assert_eq!(home.mode(".env"), 0o600);
    server.assert_no_problems();

    // A second time nothing is asked.
    let before = home.snapshot();
    let mut terminal = Terminal::start(&home, &["setup"]);
    terminal.expect("alpha/two of openrouter. Kept").expect("Commands run on this machine").expect("Ready.");
    assert!(terminal.end().success());
    let changed: Vec<_> =
        home.snapshot().into_iter().filter(|(path, entry)| before.get(path) != Some(entry)).collect();
    assert!(changed.iter().all(|(path, _)| path.starts_with("cache")), "{changed:?}");
}

#[test]
fn leaving_changes_nothing_wherever_it_happens() {
    let home = TestHome::new();
    let _server = openrouter(&home, "say \"unused\"", KeyFor::All);
    let unchanged = |home: &TestHome| {
        assert!(!home.path().join("config.yaml").exists());
        assert!(!home.read(".env").contains("API_KEY"));
    };

    let mut terminal = Terminal::start(&home, &["model"]);
    terminal.expect("leave:").line("q").expect("Nothing was changed");
    assert_eq!(terminal.end().code(), Some(1));
    unchanged(&home);

    let mut terminal = Terminal::start(&home, &["model"]);
    terminal.expect("leave:").line("openrouter").expect("Key for").line("");
    terminal.expect("Nothing was changed");
    assert_eq!(terminal.end().code(), Some(1));
    unchanged(&home);

    let mut terminal = Terminal::start(&home, &["model"]);
    terminal.expect("leave:").line("openrouter").expect("Key for").keys(&KEY[..9]).interrupt();
    assert_eq!(terminal.end().code(), Some(130));
    unchanged(&home);

    let mut terminal = Terminal::start(&home, &["model"]);
    terminal.expect("leave:").line("openrouter").expect("Key for").line(KEY);
    terminal.expect("Which model?").expect("leave:").keys("\u{4}").expect("Nothing was changed");
    assert_eq!(terminal.end().code(), Some(1));
    unchanged(&home);
}

#[test]
fn what_works_is_shown_and_replaced_only_after_a_yes() {
    let home = TestHome::new();
    let server = ModelServer::scripted("always\nsay \"OK\"");
    server.set_models(["first", "second"]);
    home.config_for(&server);
    let before = home.read("config.yaml");
    let choose = |answer: &str| {
        let mut terminal = Terminal::start(&home, &["model"]);
        terminal.expect("Which provider?").expect("custom").expect("leave:").line("custom");
        terminal.expect("Address, Enter for").line("").expect("Which model?").expect("leave:").line("second");
        terminal.expect("test-model → second").expect("Save this?").line(answer);
        (terminal.end(), terminal.shown())
    };
    let (ended, _) = choose("n");
    assert_eq!(ended.code(), Some(1));
    assert_eq!(home.read("config.yaml"), before);
    let (ended, shown) = choose("");
    assert!(ended.success(), "{shown}");
    assert!(home.read("config.yaml").contains("default: second"));
}

#[test]
fn a_server_that_does_not_answer_is_asked_for_again() {
    let home = TestHome::new();
    let server = ModelServer::scripted("say \"unused\"");
    server.set_models(["only"]);
    let mut terminal = Terminal::start(&home, &["model"]);
    terminal.expect("leave:").line("custom").expect("Address").line("nonsense").expect("is not an address");
    terminal.expect("Address").line("http://127.0.0.1:1/v1").expect("cannot be reached");
    terminal
        .expect("Address")
        .line(&server.openai_url())
        .expect("It offers one model: only")
        .expect("Saved to");
    assert!(terminal.end().success());
    assert!(home.read("config.yaml").contains("default: only"));
}

#[test]
fn fallbacks_are_chosen_from_lists_too() {
    let home = TestHome::new();
    let _server = openrouter(&home, "say \"unused\"", KeyFor::All);
    home.config("model: {default: m, provider: zai}\n");
    let mut terminal = Terminal::start(&home, &["fallback", "add"]);
    terminal.expect("leave:").line("openrouter").expect("Key for OpenRouter").line(KEY);
    terminal.expect("leave:").line("three").expect("beta/three of openrouter is number 1");
    assert!(terminal.end().success());
    let config = home.read("config.yaml");
    assert!(config.contains("beta/three") && config.contains("provider: zai"), "{config}");
    assert!(home.read(".env").contains(KEY));
}

#[test]
fn a_server_of_ones_own_may_want_a_key() {
    let home = TestHome::new();
    let server = ModelServer::scripted("say \"unused\"");
    server.set_models(["one", "two"]);
    server.require_key(KEY, KeyFor::All);
    let mut terminal = Terminal::start(&home, &["model"]);
    terminal.expect("leave:").line("custom").expect("Address").line(&server.openai_url());
    terminal.expect("wants a key").expect("Key for custom").line(KEY);
    terminal.expect("Which model?").expect("leave:").line("2").expect("Saved to");
    assert!(terminal.end().success());
    let config = home.read("config.yaml");
    assert!(config.contains("default: two") && config.contains("${HERMES_MODEL_API_KEY}"), "{config}");
    assert_eq!(home.read(".env"), format!("HERMES_MODEL_API_KEY={KEY}\n"));
}
