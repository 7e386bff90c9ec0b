//! Aliases: commands in ~/.local/bin that run hermes with a profile.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use hermes_testkit::{Hermes, TestHome};

use super::{alias_path, command, dir, home_with, profile};

#[test]
fn an_alias_runs_hermes_with_its_profile_wherever_hermes_home_points() {
    let home = TestHome::new();
    profile(&home, &["create", "work"])
        .success()
        .stdout_has("`work` now runs")
        .stderr_has("not on your PATH");
    let path = alias_path(&home, "work");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    let run = Hermes::new(&path, &home).arg("profile").env_remove("HERMES_HOME").run();
    run.success().stdout_has("Active profile:  work").stdout_has("named with -p");
    let elsewhere = TestHome::new();
    let run = Hermes::new(&path, &home).arg("profile").env("HERMES_HOME", elsewhere.path()).run();
    run.success().stdout_has("~/.hermes/profiles/work");
}

#[test]
fn a_root_elsewhere_has_aliases_of_its_own() {
    let home = TestHome::new();
    let root = home.work_dir().join("it's a root");
    let there = |args: &[&str]| command(&home, args).env("HERMES_HOME", &root).run();
    profile(&home, &["create", "work"]).success();
    there(&["create", "work"]).success().stderr_has("already the alias of profile \"work\"");
    there(&["alias", "work", "--name", "other"]).success();
    let run = Hermes::new(alias_path(&home, "other"), &home).args(["profile", "show", "--json"]).run();
    assert_eq!(run.success().json()["path"], root.join("profiles/work").to_str().unwrap());
    assert_eq!(there(&["show", "work", "--json"]).success().json()["aliases"], serde_json::json!(["other"]));
    there(&["delete", "work", "-y"]).success();
    assert!(alias_path(&home, "work").exists() && !alias_path(&home, "other").exists());
}

#[test]
fn no_hint_when_the_directory_is_on_the_path() {
    let home = home_with(&["work"]);
    let path = format!("{}:/usr/bin:/bin", home.user_home().join(".local/bin").display());
    let made = command(&home, &["alias", "work"]).env("PATH", path).run();
    made.success().stderr_lacks("PATH");
}

#[test]
fn names_that_mean_something_else_are_refused() {
    let home = home_with(&["work", "other"]);
    let alias = |name: &str| profile(&home, &["alias", "work", "--name", name]);
    alias("ls").code(1).stderr_has("already a program");
    alias("config").code(1).stderr_has("is a hermes command");
    alias("export").code(1).stderr_has("word of the shell");
    alias("sudo").code(1).stderr_has("reserved");
    alias("../../.bashrc").code(2).stderr_has("not a profile name");
    profile(&home, &["alias", "gone"]).code(1).stderr_has("there is no profile");
    profile(&home, &["alias", "default"]).code(2).stderr_has("--name");
    profile(&home, &["alias", "other", "--name", "mine"]).success();
    alias("mine").code(1).stderr_has("alias of profile \"other\"");
    fs::write(alias_path(&home, "script"), "#!/bin/sh\necho mine\n").unwrap();
    alias("script").code(1).stderr_has("already a program");
    symlink("/bin/true", alias_path(&home, "link")).unwrap();
    alias("link").code(1).stderr_has("already a program");
    assert_eq!(fs::read_to_string(alias_path(&home, "script")).unwrap(), "#!/bin/sh\necho mine\n");
}

#[test]
fn a_profile_is_made_even_when_its_alias_cannot_be() {
    let home = TestHome::new();
    profile(&home, &["create", "config"]).success().stderr_has("no alias was made").stdout_lacks("now runs");
    assert!(dir(&home, "config").is_dir());
    assert!(!alias_path(&home, "config").exists());
}

#[test]
fn without_a_user_home_there_are_no_aliases_anywhere() {
    let home = TestHome::new();
    let made = command(&home, &["create", "work"]).env_remove("HOME").run();
    made.success().stderr_has("HOME is not set");
    command(&home, &["list"]).env_remove("HOME").run().success().stdout_has("work");
    assert_eq!(fs::read_dir(home.work_dir()).unwrap().count(), 0);
}

#[test]
fn only_what_hermes_made_is_removed() {
    let home = home_with(&["work", "other"]);
    profile(&home, &["alias", "work"]).success();
    profile(&home, &["alias", "work", "--name", "wk"]).success();
    profile(&home, &["alias", "other"]).success();
    let foreign = "#!/bin/sh\necho before\nexec hermes -p work \"$@\"\n";
    fs::write(alias_path(&home, "foreign"), foreign).unwrap();
    // As the reference writes it.
    fs::write(alias_path(&home, "theirs"), "#!/bin/sh\nexec hermes -p work \"$@\"\n").unwrap();
    profile(&home, &["alias", "work", "--remove", "--name", "foreign"])
        .code(1)
        .stderr_has("not an alias made by");
    profile(&home, &["alias", "work", "--remove", "--name", "other"])
        .code(1)
        .stderr_has("alias of profile \"other\"");
    profile(&home, &["alias", "work", "--remove", "--name", "nothing"]).code(1).stderr_has("has no alias");
    profile(&home, &["alias", "work", "--remove", "--name", "wk"]).success();
    assert!(!alias_path(&home, "wk").exists() && alias_path(&home, "work").exists());
    profile(&home, &["alias", "work", "--remove"]).success();
    for (name, there) in [("work", false), ("theirs", false), ("other", true), ("foreign", true)] {
        assert_eq!(alias_path(&home, name).exists(), there, "{name}");
    }
    profile(&home, &["alias", "work", "--remove"]).code(1).stderr_has("has no alias");
}
