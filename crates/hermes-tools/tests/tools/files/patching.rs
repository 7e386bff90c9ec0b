//! `patch`.

use serde_json::json;

use super::{Tools, error, text};
use crate::fixture::{Fixture, SECRET};

crate::everywhere!(
    one_text_becomes_another,
    failures_help,
    several_files_change_together_or_not_at_all,
    form_and_secrets_stay,
    files_with_keys_are_changed_but_never_shown,
);

async fn one_text_becomes_another(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools
        .sh("printf 'fn a() {\\n    one();\\n    two();\\n}\\n' > f.txt; chmod 640 f.txt; ln -s f.txt l")
        .await;
    let done = tools.replace("l", "one();", "three();").await;
    assert_eq!((done["success"].as_bool(), &done["files_modified"]), (Some(true), &json!(["l"])));
    let diff = text(&done, "diff");
    assert!(diff.contains("-    one();\n+    three();\n") && diff.contains("@@ -1,4 +1,4 @@"), "{diff}");
    assert!(done["strategy"].is_null());
    // Other blanks are forgiven, and it is said.
    let done = tools.replace("f.txt", "three();\n  two();", "three();\nfour();").await;
    assert!(done["strategy"].is_string(), "{done}");
    assert_eq!(
        tools.sh("cat f.txt; stat -c %a f.txt; readlink l").await,
        "fn a() {\n    three();\n    four();\n}\n640\nf.txt"
    );
    tools.sh("printf 'a a\\na\\n' > many").await;
    assert!(error(&tools.replace("many", "a", "b").await).contains("3 times"));
    let all = json!({ "mode": "replace", "path": "many", "old_string": "a", "new_string": "b", "replace_all": true });
    assert_eq!(tools.patch.call(all).await["replacements"], 3);
    assert_eq!(tools.sh("cat many").await, "b b\nb");
}

async fn failures_help(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh(&format!("printf 'alpha beta\\ngamma delta\\nkey {SECRET}\\n' > f")).await;
    let near = tools.replace("f", "alpha betta gamma", "x").await;
    assert!(near["success"] == false && error(&near).contains("alpha beta"), "{near}");
    assert!(!near.to_string().contains(SECRET), "{near}");
    assert!(near["_hint"].is_null());
    tools.replace("f", "nothing like it", "x").await;
    let third = tools.replace("f", "nothing like it at all", "x").await;
    assert!(text(&third, "_hint").contains("3 edits"), "{third}");
    tools.replace("f", "alpha", "omega").await;
    assert!(tools.replace("f", "not there", "x").await["_hint"].is_null(), "one that worked ends the row");
    assert!(error(&tools.replace("gone", "a", "b").await).contains("no file"));
    assert!(error(&tools.patch.call(json!({ "mode": "replace", "path": "f" })).await).contains("old_string"));
    assert!(error(&tools.patch.call(json!({ "mode": "patch" })).await).contains("patch"));
    tools.sh("printf 'a\\377b\\n' > odd").await;
    assert!(error(&tools.replace("odd", "a", "c").await).contains("UTF-8"));
}

async fn several_files_change_together_or_not_at_all(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("printf 'one\\ntwo\\n' > a; chmod 755 a; echo b > b; printf 'x\\ny\\n' > c; chmod 700 c").await;
    let patch = |second: &str| {
        json!({ "mode": "patch", "patch": format!(
            "*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+three\n*** Delete File: b\n*** Move File: c -> d/e\n\
             *** Add File: n\n+new\n*** Update File: {second}\n@@\n-one\n+zero\n*** End Patch"
        ) })
    };
    let before = tools.sh("ls; cat a b c").await;
    let failed = tools.patch.call(patch("missing")).await;
    assert!(failed["success"] == false && error(&failed).contains("missing"), "{failed}");
    assert_eq!(tools.sh("ls; cat a b c").await, before, "nothing was written");
    let done = tools.patch.call(patch("a")).await;
    assert_eq!(done["success"], true, "{done}");
    assert_eq!(done["files_modified"], json!(["a", "c -> d/e"]));
    assert_eq!((&done["files_created"], &done["files_deleted"]), (&json!(["n"]), &json!(["b"])));
    assert_eq!(
        tools.sh("ls; cat a d/e n; stat -c %a a d/e").await,
        "a\nd\nn\nzero\nthree\nx\ny\nnew\n755\n700"
    );
}

async fn form_and_secrets_stay(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh(&format!("printf '\\357\\273\\277key {SECRET}\\r\\nnext\\r\\n' > f")).await;
    let done = tools.replace("f", "next", "last").await;
    assert!(!done.to_string().contains(SECRET) && text(&done, "diff").contains("«redacted:"), "{done}");
    assert_eq!(
        tools.sh("tail -c 7 f | od -An -tx1; head -c 3 f | od -An -tx1").await,
        " 0a 6c 61 73 74 0d 0a\n ef bb bf"
    );
    tools.sh("echo '{\"a\": 1}' > x.json").await;
    let refused = tools.replace("x.json", "1}", "1").await;
    assert!(error(&refused).contains("nothing was written"), "{refused}");
}

async fn files_with_keys_are_changed_but_never_shown(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("printf 'NAME=ada\\nWORDS=quiet-lake-under-snow\\n' > .env; echo x > a").await;
    let moved = json!({ "mode": "patch", "patch": "*** Begin Patch\n*** Move File: .env -> notes.txt\n*** End Patch" });
    assert!(error(&tools.patch.call(moved).await).contains("logins or keys"));
    let several = "*** Begin Patch\n*** Update File: .env\n@@\n-NAME=ada\n+NAME=bob\n WORDS=quiet-lake-under-snow\n\
                   *** Update File: a\n@@\n-x\n+y\n*** End Patch";
    let done = tools.patch.call(json!({ "mode": "patch", "patch": several })).await;
    assert_eq!(done["success"], true, "{done}");
    let diff = text(&done, "diff");
    assert!(diff.contains("+y") && diff.contains("is not shown") && !diff.contains("quiet-lake"), "{diff}");
    let failed = tools.replace(".env", "NAME=bob\nWORDS=quiet-lake", "x").await;
    assert_eq!(failed["success"], true, "what is written down by name may be changed: {failed}");
    let failed = tools.replace(".env", "WORDS=quiet-lake-under-sand", "x").await;
    assert!(!failed.to_string().contains("under-snow"), "{failed}");
}

#[tokio::test]
async fn another_name_for_settings_is_no_way_around() {
    let fixture = Fixture::local();
    let tools = Tools::new(&fixture).await;
    let home = fixture.context.home.clone();
    std::fs::write(home.join("config.yaml"), "approvals: {mode: manual}\n").unwrap();
    std::fs::write(home.join(".env"), "WORDS=quiet-lake\n").unwrap();
    for (file, name) in [("config.yaml", "hard"), (".env", "hard-env")] {
        std::fs::hard_link(home.join(file), tools.at(name)).unwrap();
        std::os::unix::fs::symlink(home.join(file), tools.at(&format!("soft-{name}"))).unwrap();
    }
    for name in ["hard", "soft-hard", "hard-env", "soft-hard-env"] {
        let refused = tools.write.call(json!({ "path": name, "content": "approvals: {mode: off}\n" })).await;
        assert!(
            error(&refused).contains("Hermes itself") || error(&refused).contains("logins"),
            "{name}: {refused}"
        );
        let refused = tools.replace(name, "manual", "off").await;
        assert!(!error(&refused).is_empty(), "{name}: {refused}");
    }
    for name in ["hard-env", "soft-hard-env"] {
        let refused = tools.read.call(json!({ "path": name })).await;
        assert!(!refused.to_string().contains("quiet-lake"), "{name}: {refused}");
    }
    assert_eq!(std::fs::read_to_string(home.join("config.yaml")).unwrap(), "approvals: {mode: manual}\n");
}
