//! Renaming profiles: directory, aliases and the active profile move together.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use hermes_testkit::TestHome;

use super::{alias_path, dir, entries, home_with, profile, start_gateway};

#[test]
fn the_directory_its_aliases_and_the_active_profile_move() {
    let home = TestHome::new();
    profile(&home, &["create", "old"]).success();
    profile(&home, &["alias", "old", "--name", "short"]).success();
    profile(&home, &["use", "old"]).success();
    home.write("profiles/old/mark", "x");
    let renamed = profile(&home, &["rename", "old", "new"]);
    renamed.success().stdout_has("the active profile is now \"new\"").stdout_has("alias: new, short");
    assert_eq!(entries(&home), ["new".to_owned()].into());
    assert!(
        dir(&home, "new").join("mark").exists()
            && !fs::symlink_metadata(dir(&home, "new")).unwrap().is_symlink()
    );
    assert!(!alias_path(&home, "old").exists());
    for alias in ["new", "short"] {
        assert!(fs::read_to_string(alias_path(&home, alias)).unwrap().contains(" -p new "), "{alias}");
    }
    profile(&home, &[]).success().stdout_has("new");
}

#[test]
fn refusals_change_nothing() {
    let home = home_with(&["a", "b"]);
    let _gateway = start_gateway(&home, &dir(&home, "b"));
    let before = home.snapshot();
    profile(&home, &["rename", "a", "b"]).code(1).stderr_has("already exists");
    profile(&home, &["rename", "gone", "c"]).code(1).stderr_has("there is no profile");
    profile(&home, &["rename", "default", "c"]).code(1).stderr_has("cannot be renamed");
    profile(&home, &["rename", "a", "default"]).code(2).stderr_has("reserved");
    profile(&home, &["rename", "a", "../c"]).code(2).stderr_has("not a profile name");
    profile(&home, &["rename", "b", "c"]).code(1).stderr_has("is running");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_rename_that_fails_half_way_is_taken_back() {
    let home = TestHome::new();
    profile(&home, &["create", "old"]).success();
    profile(&home, &["use", "old"]).success();
    // In the way of whoever writes the active profile.
    fs::create_dir(home.path().join(".active_profile.hermes-write")).unwrap();
    let before = home.snapshot();
    profile(&home, &["rename", "old", "new"]).code(1).stderr_has("cannot write in");
    assert_eq!(home.snapshot(), before);
    assert!(alias_path(&home, "old").exists() && !alias_path(&home, "new").exists());
    fs::remove_dir(home.path().join(".active_profile.hermes-write")).unwrap();
    profile(&home, &["rename", "old", "new"]).success();
}

#[test]
fn a_rename_whose_alias_cannot_be_written_changes_nothing() {
    let home = TestHome::new();
    profile(&home, &["create", "old"]).success();
    profile(&home, &["alias", "old", "--name", "a-short-one"]).success();
    profile(&home, &["use", "old"]).success();
    fs::create_dir_all(alias_path(&home, ".new.hermes-alias")).unwrap();
    let aliases = || -> BTreeMap<_, _> {
        let entries = fs::read_dir(alias_path(&home, "")).unwrap().map(|e| e.unwrap().path());
        entries.map(|path| (path.clone(), fs::read_to_string(path).ok())).collect()
    };
    let before = (home.snapshot(), aliases());
    profile(&home, &["rename", "old", "new"]).code(1).stderr_has("cannot write the alias");
    assert_eq!((home.snapshot(), aliases()), before);
    fs::remove_dir(alias_path(&home, ".new.hermes-alias")).unwrap();
    profile(&home, &["rename", "old", "new"]).success();
    assert_eq!(aliases().len(), 2, "{:?}", aliases());
}

/// The disk was full when someone came to finish it.
#[test]
fn a_rename_cut_short_waits_until_its_alias_can_be_written() {
    let home = TestHome::new();
    profile(&home, &["create", "old"]).success();
    home.write("profiles/.rename.json", r#"{"from":"old","to":"new","alias_moves":true}"#);
    symlink("old", dir(&home, "new")).unwrap();
    fs::create_dir_all(alias_path(&home, ".new.hermes-alias")).unwrap();
    profile(&home, &["describe", "default", "--text", "works all the same"]).success();
    for args in [&["rename", "old", "other"][..], &["delete", "new", "-y"]] {
        profile(&home, args).code(1).stderr_has("cannot write the alias");
    }
    fs::remove_dir(alias_path(&home, ".new.hermes-alias")).unwrap();
    profile(&home, &["describe", "default", "--text", "finishes it"]).success();
    assert_eq!(entries(&home), ["new".to_owned()].into());
    assert!(!alias_path(&home, "old").exists() && alias_path(&home, "new").exists());
}

#[test]
fn an_alias_whose_new_name_is_taken_goes_and_says_why() {
    let home = TestHome::new();
    profile(&home, &["create", "old"]).success();
    profile(&home, &["rename", "old", "config"]).success().stderr_has("is a hermes command");
    assert!(!alias_path(&home, "old").exists() && !alias_path(&home, "config").exists());
    assert!(dir(&home, "config").is_dir());
}

#[test]
fn a_link_keeps_leading_to_the_same_place() {
    let home = home_with(&["work"]);
    symlink("work", dir(&home, "again")).unwrap();
    profile(&home, &["rename", "again", "more"]).success();
    assert_eq!(fs::read_link(dir(&home, "more")).unwrap(), std::path::Path::new("work"));
    assert_eq!(entries(&home), ["more".to_owned(), "work".to_owned()].into());
}

/// Every state in which a rename from `old` to `new` can be cut short, made by hand.
#[test]
fn a_rename_that_was_cut_short_works_meanwhile_and_is_finished_by_the_next_change() {
    for stage in 0..5 {
        let home = TestHome::new();
        profile(&home, &["create", "old"]).success();
        profile(&home, &["use", "old"]).success();
        home.write("profiles/old/mark", "x");
        home.write("profiles/.rename.json", r#"{"from":"old","to":"new","alias_moves":true}"#);
        if stage >= 1 {
            symlink("old", dir(&home, "new")).unwrap();
        }
        if stage >= 2 {
            home.write("active_profile", "new\n");
        }
        if stage >= 3 {
            let text = fs::read_to_string(alias_path(&home, "old")).unwrap().replace(" -p old ", " -p new ");
            fs::write(alias_path(&home, "new"), text).unwrap();
        }
        if stage == 4 {
            fs::remove_file(dir(&home, "new")).unwrap();
            fs::rename(dir(&home, "old"), dir(&home, "new")).unwrap();
            symlink("old", dir(&home, "old")).unwrap();
        }
        profile(&home, &[]).success();
        profile(&home, &["describe", "default", "--text", "anything that changes something"]).success();
        assert_eq!(entries(&home), ["new".to_owned()].into(), "stage {stage}");
        assert!(dir(&home, "new").join("mark").exists());
        assert_eq!(home.read("active_profile"), "new\n", "stage {stage}");
        assert!(!alias_path(&home, "old").exists() && alias_path(&home, "new").exists(), "stage {stage}");
        profile(&home, &[]).success().stdout_has("new");
    }
}
