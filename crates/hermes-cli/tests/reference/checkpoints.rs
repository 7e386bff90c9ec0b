//! One store of snapshots, two programs: what one saved the other lists, compares and restores.

use std::fs;
use std::path::Path;

use hermes_checkpoint::{Checkpoints, Git, Limits, Mine, Place, Taken, Wish};
use hermes_testkit::TestHome;
use serde_json::Value;

use super::support::{ours, reference, their_script, theirs};

/// What the Python program does with a manager `m` and the directory `w`.
fn their_manager(program: &Path, home: &TestHome, steps: &str) -> Value {
    let script = format!(
        "import json, os\nfrom tools.checkpoint_manager import CheckpointManager\n\
         m = CheckpointManager(enabled=True, max_snapshots=3)\nw = os.getcwd()\n{steps}"
    );
    let done = their_script(program, home, &script).run();
    serde_json::from_str(done.success().out().lines().last().unwrap_or_default()).unwrap()
}

fn our_checkpoints(home: &TestHome) -> Checkpoints {
    let git = Git::find(&std::env::var_os("PATH").unwrap()).unwrap();
    let limits = Limits { snapshots: 3, ..Limits::default() };
    Checkpoints::new(home.path().join("checkpoints"), git, limits, None)
}

#[test]
fn either_lists_and_restores_what_the_other_saved() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    let file = home.work_dir().join("a.txt");
    let place = Place::host(&home.work_dir());
    let checkpoints = our_checkpoints(&home);

    fs::write(&file, "1\n").unwrap();
    let Taken::Made(first) = checkpoints.take(&place, "ours, first").unwrap() else { panic!("no snapshot") };
    fs::write(&file, "2\n").unwrap();
    fs::write(home.work_dir().join("new.txt"), "n\n").unwrap();
    let told = their_manager(
        &program,
        &home,
        "took = m.ensure_checkpoint(w, 'theirs, second')\nprint(json.dumps([took, m.list_checkpoints(w)]))",
    );
    assert_eq!(told[0], true);
    let reasons: Vec<&str> =
        told[1].as_array().unwrap().iter().map(|s| s["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["theirs, second", "ours, first"]);
    assert_eq!(told[1][1]["hash"], first.to_string());
    let listed = serde_json::to_value(checkpoints.list(&place.key).unwrap()).unwrap();
    assert_eq!(listed, told[1], "both say the same of both");

    // Nothing has changed since theirs: ours agrees with what their git made of it.
    assert_eq!(checkpoints.take(&place, "nothing new").unwrap(), Taken::Unchanged);

    fs::write(&file, "3\n").unwrap();
    let Taken::Made(third) = checkpoints.take(&place, "ours, third").unwrap() else { panic!("no snapshot") };
    let told = their_manager(&program, &home, &format!("print(json.dumps(m.restore(w, '{first}')))"));
    assert_eq!(told["success"], true, "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");
    let wish = Wish { id: third, only: None, mine: Mine::Overwrite };
    checkpoints.restore(&place, &wish).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "3\n");
}

#[test]
fn chains_stay_whole_when_both_throw_away() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    let file = home.work_dir().join("a.txt");
    let place = Place::host(&home.work_dir());
    let checkpoints = our_checkpoints(&home);
    for turn in 0..5 {
        fs::write(&file, format!("{turn}\n")).unwrap();
        checkpoints.take(&place, &format!("ours {turn}")).unwrap();
    }
    // Theirs sees three, adds one, and throws one away with a clean-up of its own.
    fs::write(&file, "theirs\n").unwrap();
    let told = their_manager(
        &program,
        &home,
        "m.ensure_checkpoint(w, 'theirs')\nprint(json.dumps([c['reason'] for c in m.list_checkpoints(w)]))",
    );
    assert_eq!(told, serde_json::json!(["theirs", "ours 4", "ours 3"]));
    fs::write(&file, "last\n").unwrap();
    checkpoints.take(&place, "ours again").unwrap();
    let reasons: Vec<String> =
        checkpoints.list(&place.key).unwrap().into_iter().map(|snapshot| snapshot.reason).collect();
    assert_eq!(reasons, ["ours again", "theirs", "ours 4"]);
    let id = checkpoints.resolve(&place.key, "3").unwrap();
    checkpoints.restore(&place, &Wish { id, only: None, mine: Mine::Overwrite }).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "4\n");
}

#[test]
fn their_commands_work_on_our_store() {
    let Some(program) = reference() else { return };
    let home = TestHome::new();
    fs::write(home.work_dir().join("a.txt"), "1\n").unwrap();
    let place = Place::host(&home.work_dir());
    our_checkpoints(&home).take(&place, "ours").unwrap();
    let dir = place.key.dir().display().to_string();
    let status = theirs(&program, &home, &["checkpoints", "status"]);
    status.success().stdout_has("Projects:        1").stdout_has("live");
    ours(&home, &["checkpoints", "status"]).success().stdout_has(&dir);
    theirs(&program, &home, &["checkpoints", "prune"]).success().stdout_has("Errors:          0");
    ours(&home, &["checkpoints", "list"]).success().stdout_has("ours");
    theirs(&program, &home, &["checkpoints", "clear", "-f"]).success();
    ours(&home, &["checkpoints", "list"]).success().stdout_has("There are no checkpoints");
}
