//! Deleting profiles, and what keeps one from being deleted.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use hermes_testkit::{Hermes, Signal, wait_until};

use super::{alias_path, command, dir, entries, home_with, listed, profile, start_gateway};

#[test]
fn delete_asks_for_the_name() {
    let home = home_with(&["work"]);
    for answer in ["", "y\n", "wor\n"] {
        command(&home, &["delete", "work"]).stdin(answer).run().code(1).stderr_has("nothing was deleted");
        assert!(dir(&home, "work").is_dir());
    }
    command(&home, &["delete", "work"])
        .stdin("work\n")
        .run()
        .success()
        .stdout_has("deleted profile \"work\"");
    assert!(entries(&home).is_empty(), "{:?}", entries(&home));
}

#[test]
fn aliases_and_the_active_profile_go_with_it() {
    let home = home_with(&[]);
    profile(&home, &["create", "work"]).success();
    profile(&home, &["alias", "work", "--name", "wk"]).success();
    profile(&home, &["use", "work"]).success();
    let deleted = profile(&home, &["delete", "work", "-y"]);
    deleted.success().stdout_has(".local/bin/work").stdout_has(".local/bin/wk").stdout_has("now \"default\"");
    assert!(!alias_path(&home, "work").exists() && !alias_path(&home, "wk").exists());
    profile(&home, &[]).success().stdout_has("default");
}

/// Every state in which a delete of `work` can be cut short, made by hand.
#[test]
fn a_delete_that_was_cut_short_leaves_a_whole_profile_or_none() {
    for gone in [false, true] {
        let home = home_with(&["other"]);
        profile(&home, &["create", "work"]).success();
        profile(&home, &["alias", "other"]).success();
        home.write("profiles/.delete", "work");
        if gone {
            fs::rename(dir(&home, "work"), dir(&home, ".gone-0123456789abcdef")).unwrap();
        }
        profile(&home, &["describe", "default", "--text", "anything that changes something"]).success();
        assert_eq!(alias_path(&home, "work").exists(), !gone);
        assert!(alias_path(&home, "other").exists() && !dir(&home, ".delete").exists());
        profile(&home, &["create", "work"]).code(i32::from(!gone));
        profile(&home, &["describe", "default", "--text", "and once more"]).success();
        assert!(alias_path(&home, "work").exists(), "a new profile of that name keeps its alias");
    }
}

#[test]
fn default_missing_and_malformed_are_refused() {
    let home = home_with(&["work"]);
    let before = home.snapshot();
    profile(&home, &["delete", "default", "-y"]).code(1).stderr_has("cannot be deleted");
    profile(&home, &["delete", "gone", "-y"]).code(1).stderr_has("there is no profile");
    profile(&home, &["delete", "..", "-y"]).code(2).stderr_has("not a profile name");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_running_gateway_keeps_its_profile() {
    let home = home_with(&["work"]);
    let mut gateway = start_gateway(&home, &dir(&home, "work"));
    let refused = profile(&home, &["delete", "work", "-y"]);
    refused.code(1).stderr_has("is running").stderr_has(&gateway.pid().to_string());
    // The same number, but another process: this one started at another time.
    let record = format!(r#"{{"pid": {}, "start_time": 12345}}"#, gateway.pid());
    fs::write(dir(&home, "work").join("gateway.pid"), record).unwrap();
    gateway.signal(Signal::STOP);
    profile(&home, &["delete", "work", "-y"]).success();
}

/// A bare number is what older versions write, and any process may have that number by now.
#[test]
fn without_a_start_time_the_command_line_tells_a_gateway() {
    let home = home_with(&["work"]);
    let pid_file = dir(&home, "work").join("gateway.pid");
    let script = "exec -a '/usr/bin/hermes gateway run' sleep 600";
    let gateway = Hermes::new("/bin/bash", &home).args(["-c", script]).spawn();
    let named = || {
        fs::read_to_string(format!("/proc/{}/cmdline", gateway.pid())).unwrap().starts_with("/usr/bin/hermes")
    };
    wait_until(Duration::from_secs(30), "the process to have its name", named);
    fs::write(&pid_file, format!("{}\n", gateway.pid())).unwrap();
    profile(&home, &["delete", "work", "-y"]).code(1).stderr_has("is running");
    let stranger = Hermes::new("/bin/sleep", &home).arg("600").spawn();
    fs::write(&pid_file, format!("{}\n", stranger.pid())).unwrap();
    profile(&home, &["delete", "work", "-y"]).success();
}

#[test]
fn a_gateway_that_ended_is_no_obstacle() {
    let home = home_with(&["work"]);
    let mut gateway = start_gateway(&home, &dir(&home, "work"));
    gateway.kill9();
    profile(&home, &["delete", "work", "-y"]).success();
    assert_eq!(listed(&home), ["default"]);
}

#[test]
fn a_link_is_removed_and_what_it_leads_to_stays() {
    let home = home_with(&["work"]);
    let elsewhere = home.work_dir().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("precious"), "x").unwrap();
    symlink(&elsewhere, dir(&home, "afar")).unwrap();
    symlink("work", dir(&home, "again")).unwrap();
    symlink("nowhere", dir(&home, "broken")).unwrap();
    profile(&home, &["use", "work"]).success();
    for name in ["afar", "again", "broken"] {
        profile(&home, &["delete", name, "-y"]).success();
    }
    assert!(elsewhere.join("precious").exists());
    assert_eq!(entries(&home), ["work".to_owned()].into());
    assert_eq!(home.read("active_profile"), "work\n");
}

#[test]
fn links_inside_a_profile_are_not_followed() {
    let home = home_with(&["work"]);
    let elsewhere = home.work_dir().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("precious"), "x").unwrap();
    symlink(&elsewhere, dir(&home, "work").join("skills/shared")).unwrap();
    profile(&home, &["delete", "work", "-y"]).success();
    assert!(elsewhere.join("precious").exists());
}

#[test]
fn deleting_what_the_active_link_leads_to_resets_the_active_profile() {
    let home = home_with(&["work"]);
    symlink("work", dir(&home, "again")).unwrap();
    profile(&home, &["use", "again"]).success();
    profile(&home, &["delete", "work", "-y"]).success().stdout_has("now \"default\"");
    profile(&home, &[]).success().stdout_has("default");
}

#[test]
fn a_profiles_directory_elsewhere_is_fine_when_it_is_a_link_itself() {
    let home = home_with(&["work"]);
    let moved = home.work_dir().join("profiles");
    fs::rename(home.path().join("profiles"), &moved).unwrap();
    symlink(&moved, home.path().join("profiles")).unwrap();
    profile(&home, &["delete", "work", "-y"]).success();
    assert!(!moved.join("work").exists());
}
