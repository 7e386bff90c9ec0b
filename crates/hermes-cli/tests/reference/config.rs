//! One home, two programs: what ours writes the Python program reads, and the other way round.
use hermes_testkit::TestHome;
use serde_json::Value;

use super::support::{ours, reference, their_script, theirs};

/// The Python program's own view of its settings and of one variable.
fn their_view(program: &std::path::Path, home: &TestHome, variable: &str) -> Value {
    let script = format!(
        "import json, os\nfrom hermes_cli.env_loader import load_hermes_dotenv\nload_hermes_dotenv()\n\
         from hermes_cli.config import load_config\nc = load_config()\n\
         print('VIEW ' + json.dumps({{'config': c, 'var': os.environ.get('{variable}')}}, default=str))\n"
    );
    let done = their_script(program, home, &script).run();
    done.success();
    let line = done.lines().into_iter().find_map(|l| l.strip_prefix("VIEW ").map(str::to_owned)).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn the_reference_reads_what_we_write() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    home.config("# kept\nmodel: some-model\n");
    for (key, value) in [
        ("terminal.timeout", "77"),
        ("terminal.docker_volumes", r#"["/a:/b:ro", "c: d"]"#),
        ("terminal.docker_env", r#"{"A": "1", "B": "yes"}"#),
        ("terminal.docker_network", "no"),
        ("display.skin", "it's # odd: 'x' \"y\""),
        ("compression.threshold", "0.75"),
        ("model.provider", "openrouter"),
        ("model.api_key", "sk-made-up $x \"q\" #1"),
        ("ANTHROPIC_API_KEY", "made-up key with 'quotes' and #hash"),
    ] {
        ours(&home, &["config", "set", key, value]).success();
    }
    let view = their_view(&program, &home, "ANTHROPIC_API_KEY");
    let config = &view["config"];
    assert_eq!(config["terminal"]["timeout"], 77);
    assert_eq!(config["terminal"]["docker_volumes"], serde_json::json!(["/a:/b:ro", "c: d"]));
    assert_eq!(config["terminal"]["docker_env"], serde_json::json!({"A": "1", "B": "yes"}));
    assert_eq!(config["terminal"]["docker_network"], false);
    assert_eq!(config["display"]["skin"], "it's # odd: 'x' \"y\"");
    assert_eq!(config["compression"]["threshold"], 0.75);
    assert_eq!(config["model"]["default"], "some-model");
    assert_eq!(config["model"]["provider"], "openrouter");
    assert_eq!(config["model"]["api_key"], "sk-made-up $x \"q\" #1");
    assert_eq!(view["var"], "made-up key with 'quotes' and #hash");
}

#[test]
fn we_read_what_the_reference_writes() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    for (key, value) in [
        ("terminal.timeout", "66"),
        ("display.compact", "true"),
        ("display.skin", "o'no: #x"),
        ("compression.threshold", "0.6"),
        ("OPENROUTER_API_KEY", "made-up-0123456789-abcdef"),
    ] {
        theirs(&program, &home, &["config", "set", key, value]).success();
    }
    ours(&home, &["config", "get", "terminal.timeout"]).stdout_is("66\n");
    ours(&home, &["config", "get", "display.compact"]).stdout_is("true\n");
    ours(&home, &["config", "get", "display.skin"]).stdout_is("o'no: #x\n");
    ours(&home, &["config", "get", "compression.threshold"]).stdout_is("0.6\n");
    ours(&home, &["config", "get", "OPENROUTER_API_KEY", "--reveal"])
        .stdout_is("made-up-0123456789-abcdef\n");
    ours(&home, &["config", "check", "--json"]).success();
}

/// A file with every default written out is what long-time users have: we must know every key in it.
#[test]
fn every_key_the_reference_knows_is_known_here() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    let script = "import yaml\nfrom hermes_cli.config import DEFAULT_CONFIG\n\
                  open('config.yaml', 'w').write(yaml.safe_dump(DEFAULT_CONFIG))\n";
    their_script(&program, &home, script).cwd(home.path()).run().success();
    let findings = ours(&home, &["config", "check", "--json"]);
    findings.success();
    assert_eq!(findings.json(), serde_json::json!([]));
}
