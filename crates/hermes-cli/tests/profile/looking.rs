//! Which profile is active, what there is, and what one is like.

use std::fs;
use std::os::unix::fs::symlink;

use hermes_testkit::{Hermes, TestHome};

use super::{dir, home_with, listed, profile, start_gateway};

#[test]
fn it_says_which_profile_is_active_where_and_why() {
    let home = home_with(&["work", "other"]);
    profile(&home, &[])
        .success()
        .stdout_has("default")
        .stdout_has("no other was chosen")
        .stdout_has("~/.hermes");
    profile(&home, &["use", "work"]).success();
    profile(&home, &[]).success().stdout_has("work").stdout_has("chosen with `hermes profile use`");
    let flag = Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["-p", "other", "profile"]).run();
    flag.success().stdout_has("other").stdout_has("named with -p");
    let inside = super::command(&home, &[]).env("HERMES_HOME", dir(&home, "other")).run();
    inside.success().stdout_has("other").stdout_has("HERMES_HOME points to it");
}

#[test]
fn the_list_shows_model_description_alias_gateway_and_path() {
    let home = TestHome::new();
    home.config("model:\n  default: big-model\n  provider: somewhere\n");
    profile(&home, &["create", "work", "--description", "reviews: code #1"]).success();
    let gateway = start_gateway(&home, &dir(&home, "work"));
    let finished = profile(&home, &["list", "--json"]);
    let json = finished.success().json();
    assert_eq!((&json[0]["name"], &json[0]["active"]), (&"default".into(), &true.into()));
    assert_eq!((&json[0]["model"], &json[0]["provider"]), (&"big-model".into(), &"somewhere".into()));
    assert_eq!(json[1]["description"], "reviews: code #1");
    assert_eq!(json[1]["aliases"], serde_json::json!(["work"]));
    assert_eq!((&json[1]["gateway_running"], &json[1]["gateway_pid"]), (&true.into(), &gateway.pid().into()));
    assert_eq!(json[1]["path"], dir(&home, "work").to_str().unwrap());
    let text = profile(&home, &["list"]);
    text.success()
        .stdout_has("*  default  big-model")
        .stdout_has("running")
        .stdout_has("~/.hermes/profiles/work");
}

#[test]
fn show_has_more_about_one_profile() {
    let home = home_with(&["work"]);
    home.write("profiles/work/skills/a/SKILL.md", "a");
    home.write("profiles/work/skills/group/b/SKILL.md", "b");
    let json = profile(&home, &["show", "work", "--json"]).success().json();
    assert_eq!(json["skills"], 2);
    assert_eq!(json["files"], serde_json::json!([".env", "SOUL.md"]));
    profile(&home, &["show", "work"]).success().stdout_has("Skills:");
    profile(&home, &["show"]).success().stdout_has("default (active)");
    profile(&home, &["show", "gone"]).code(1).stderr_has("there is no profile \"gone\"");
}

#[test]
fn a_link_is_shown_as_one_and_as_the_same_directory() {
    let home = home_with(&["work"]);
    symlink("work", dir(&home, "again")).unwrap();
    symlink(home.work_dir(), dir(&home, "afar")).unwrap();
    symlink("nowhere", dir(&home, "broken")).unwrap();
    assert_eq!(listed(&home), ["default", "afar", "again", "work"]);
    let json = profile(&home, &["list", "--json"]).success().json();
    assert_eq!(json[2]["same_as"], "work");
    assert_eq!(json[1]["real_path"], home.work_dir().to_str().unwrap());
    profile(&home, &["list"]).success().stdout_has("again -> profile work");
}

#[test]
fn what_is_no_profile_is_not_listed() {
    let home = home_with(&["work"]);
    for name in [".new-abc", ".gone-1", "Upper", "default", "a b"] {
        fs::create_dir(dir(&home, name)).unwrap();
    }
    fs::write(dir(&home, "file"), "").unwrap();
    assert_eq!(listed(&home), ["default", "work"]);
}

#[test]
fn a_missing_active_profile_can_be_seen_and_mended() {
    let home = home_with(&["work"]);
    for bad in ["gone\n", "../../etc\n"] {
        fs::write(home.path().join("active_profile"), bad).unwrap();
        profile(&home, &[]).code(1).stderr_has("profile use default");
        profile(&home, &["list"]).success().stderr_has("warning").stdout_lacks("*");
        profile(&home, &["create", "x", "--clone"]).code(1);
        profile(&home, &["use", "work"]).success();
        profile(&home, &[]).success().stdout_has("work");
    }
}

#[test]
fn use_writes_the_file_the_reference_reads_and_default_removes_it() {
    let home = home_with(&["work"]);
    profile(&home, &["use", "work"]).success();
    assert_eq!(home.read("active_profile"), "work\n");
    profile(&home, &["use", "gone"]).code(1).stderr_has("there is no profile");
    profile(&home, &["use", "../x"]).code(2).stderr_has("not a profile name");
    assert_eq!(home.read("active_profile"), "work\n");
    profile(&home, &["use", "default"]).success();
    assert!(!home.path().join("active_profile").exists());
    let inside = super::command(&home, &["use", "default"]).env("HERMES_HOME", dir(&home, "work")).run();
    inside.success().stderr_has("HERMES_HOME");
}

#[test]
fn a_description_is_set_shown_and_removed_and_the_rest_of_the_file_stays() {
    let home = home_with(&["work"]);
    profile(&home, &["describe", "work"]).success().stderr_has("no description").stdout_is("");
    home.write(
        "profiles/work/profile.yaml",
        "# mine\nrole: x  # keep\ndescription: old\ndescription_auto: true\n",
    );
    profile(&home, &["describe", "work"]).success().stdout_has("old (written by a model)");
    profile(&home, &["describe", "work", "--text", " new: text "]).success();
    assert_eq!(
        home.read("profiles/work/profile.yaml"),
        "# mine\nrole: x  # keep\ndescription: \"new: text\"\ndescription_auto: false\n"
    );
    profile(&home, &["describe", "work"]).success().stdout_is("new: text\n");
    profile(&home, &["describe", "work", "--text", ""]).success().stdout_has("removed");
    profile(&home, &["describe", "work"]).success().stdout_is("");
    profile(&home, &["describe", "gone", "--text", "x"]).code(1).stderr_has("there is no profile");
    home.write("profiles/work/profile.yaml", "- a\n- list\n");
    profile(&home, &["describe", "work", "--text", "x"]).code(1).stderr_has("profile.yaml");
    assert_eq!(home.read("profiles/work/profile.yaml"), "- a\n- list\n");
}

#[test]
fn nothing_in_a_profile_steers_the_terminal() {
    let home = home_with(&["work"]);
    home.write("profiles/work/profile.yaml", "description: \"\\e[2J\\e]0;pwn\\a hi\"\n");
    home.write(
        "profiles/work/config.yaml",
        "model:\n  default: \"\\e[31mX\\nGateway: no\"\n  provider: \"p\\eq\"\n",
    );
    for args in [&["list"][..], &["show", "work"], &["describe", "work"]] {
        profile(&home, args).success().stdout_lacks("\u{1b}").stdout_lacks("\u{7}").stdout_has("pwn");
    }
    profile(&home, &["show", "work"]).success().stdout_has("\\u{1b}[31mX Gateway: no (p\\u{1b}q)");
    assert_eq!(profile(&home, &["show", "work", "--json"]).success().json()["provider"], "p\u{1b}q");
}

#[test]
fn pipes_in_the_place_of_files_are_not_waited_for() {
    let home = home_with(&["work"]);
    let pipe = |path: &std::path::Path| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    for name in ["gateway.pid", "gateway_state.json", "config.yaml", "profile.yaml"] {
        pipe(&dir(&home, "work").join(name));
    }
    let soon = std::time::Duration::from_secs(30);
    super::command(&home, &["list"]).limit(soon).run().success().stdout_has("work");
    pipe(&home.work_dir().join("pipe"));
    let refused = super::command(&home, &["import", "pipe"]).limit(soon).run();
    refused.code(1).stderr_has("not a regular file");
}
