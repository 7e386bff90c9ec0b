//! `write_file`.

use hermes_tools::gate::Waiting;
use hermes_tools::{Action, Gate, Verdict};
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::{Tools, error, names, text};
use crate::fixture::{Closed, Fixture, SECRET};

crate::everywhere!(
    new_files_follow_the_umask_and_old_ones_keep_what_they_are,
    line_ends_and_marks_stay,
    what_cannot_be_meant_is_refused,
    protected_places_are_not_written,
    stale_writes_are_told,
    data_that_cannot_be_read_is_not_written,
    programs_are_checked_after_the_write,
    nothing_is_written_without_consent,
);

async fn new_files_follow_the_umask_and_old_ones_keep_what_they_are(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    let made = tools.put("sub/deep/new", "hello\n").await;
    let path = tools.at("sub/deep/new");
    assert_eq!(
        made,
        json!({ "bytes_written": 6, "dirs_created": true, "resolved_path": path, "files_modified": [path] })
    );
    assert_eq!(tools.sh("stat -c %a sub/deep/new").await, "644");
    tools.sh("echo old > f; chmod 751 f; ln -s f link; echo old > h; ln h h2; echo x > o; chmod 600 o").await;
    assert!(tools.put("link", "via link\n").await["dirs_created"].is_null());
    assert_eq!(tools.sh("stat -c %a f; readlink link; cat f").await, "751\nf\nvia link");
    tools.put("h", "both\n").await;
    assert_eq!(tools.sh("cat h2; stat -c %h h").await, "both\n2", "other names of a file see it, too");
    if tools.sh("id -u").await == "0" {
        tools.sh("chown 1234:2345 o").await;
        tools.put("o", "mine\n").await;
        assert_eq!(tools.sh("stat -c %a:%u:%g o").await, "600:1234:2345");
    }
    tools.sh("ln -s sub/target dangling").await;
    tools.put("dangling", "t\n").await;
    assert_eq!(tools.sh("cat sub/target; readlink dangling").await, "t\nsub/target");
    assert_eq!(tools.sh("ls -A | grep -c hermes || true").await, "0", "no draft is left");
}

async fn line_ends_and_marks_stay(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("printf '\\357\\273\\277a\\r\\nb\\r\\n' > f").await;
    tools.put("f", "x\ny\n").await;
    assert_eq!(tools.sh("od -An -tx1 f").await.trim(), "ef bb bf 78 0d 0a 79 0d 0a");
    tools.put("f2", "x\r\ny\r\n").await;
    assert_eq!(tools.sh("od -An -tx1 f2").await.trim(), "78 0d 0a 79 0d 0a");
}

async fn what_cannot_be_meant_is_refused(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh(&format!("echo 'key = {SECRET}' > conf; mkdir d")).await;
    let shown = text(&tools.get("conf").await, "content").to_owned();
    let secret = shown.strip_prefix("1|").unwrap();
    assert!(error(&tools.put("conf", secret).await).contains("destroy the secret"));
    assert!(
        error(&tools.replace("conf", "key", "«redacted:known value»").await).contains("destroy the secret")
    );
    let numbered = tools.put("code", "1|a\n2|b\n3|c\n").await;
    assert!(error(&numbered).contains("without them"), "{numbered}");
    tools.sh("echo x > seen").await;
    tools.get("seen").await;
    let stub = text(&tools.get("seen").await, "message").to_owned();
    assert!(error(&tools.put("seen", &stub).await).contains("has not changed"));
    assert!(error(&tools.put("d", "x").await).contains("directory"));
    assert_eq!(tools.sh(&format!("grep -c '{SECRET}' conf; cat seen; ls")).await, "1\nx\nconf\nd\nseen");
}

async fn protected_places_are_not_written(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    tools.sh("mkdir -p ~/.ssh; ln -s ~/.ssh keys; ln -s /etc/hosts hosts; ln -s ~/.bashrc rc").await;
    for path in
        ["/etc/x", "~/.bashrc", "keys/authorized_keys", "hosts", "rc", "~/.hermes/config.yaml", "../.ssh/x"]
    {
        let refused = tools.put(path, "x").await;
        assert!(error(&refused).contains("is not written"), "{path}: {refused}");
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        let refused = tools.patch.call(json!({ "mode": "patch", "patch": patch })).await;
        assert!(refused["error"].is_string(), "{path}: {refused}");
    }
    assert_eq!(tools.sh("ls -A ~/.ssh; ls -d ~/.bashrc ~/.hermes /etc/x 2>/dev/null || true").await, "");
}

async fn stale_writes_are_told(fixture: &Fixture) {
    let place = fixture.place();
    let tools = Tools::with(place.clone(), "one").await;
    let other = Tools::with(place, "two").await;
    tools.sh("seq 1 5 > f").await;
    let warning = |value: &serde_json::Value| value["warning"].as_str().unwrap_or_default().to_owned();
    assert!(warning(&tools.put("f", "a\n").await).contains("had not read it"));
    assert_eq!(warning(&tools.put("f", "b\n").await), "", "its own content is known");
    tools.sh("echo changed > f").await;
    assert!(warning(&tools.put("f", "c\n").await).contains("had changed"));
    tools.sh("seq 1 5 > f").await;
    tools.read.call(json!({ "path": "f", "limit": 2 })).await;
    assert!(warning(&tools.put("f", "d\n").await).contains("only a part"));
    tools.get("f").await;
    other.get("f").await;
    other.put("f", "theirs\n").await;
    assert!(warning(&tools.put("f", "mine\n").await).contains("another agent"));
}

async fn data_that_cannot_be_read_is_not_written(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    for (name, good, bad) in [
        ("a.json", "{\"a\": 1}\n", "{\"a\": 1,}\n"),
        ("a.yaml", "a: 1\n", "a: [1\n"),
        ("a.toml", "a = 1\n", "a = = 1\n"),
    ] {
        let written = tools.put(name, good).await;
        assert_eq!(written["lint"]["status"], "ok", "{written}");
        let refused = tools.put(name, bad).await;
        assert!(error(&refused).contains("nothing was written"), "{name}: {refused}");
        assert_eq!(tools.sh(&format!("cat {name}")).await, good.trim_end());
    }
    // What is broken already may be put right in steps.
    tools.sh("echo '{\"a\": [1,}' > b.json").await;
    let step = tools.put("b.json", "{\"a\": [1],}").await;
    assert_eq!(step["lint"]["status"], "error", "{step}");
}

async fn programs_are_checked_after_the_write(fixture: &Fixture) {
    let tools = Tools::new(fixture).await;
    let good = tools.put("a.sh", "echo hi\n").await;
    assert_eq!(good["lint"]["status"], "ok", "{good}");
    let bad = tools.put("a.sh", "if true; then\n").await;
    assert!(bad["bytes_written"] == 14 && bad["lint"]["status"] == "error", "{bad}");
    assert!(text(&bad["lint"], "output").contains("line"), "{bad}");
    let worse = tools.put("a.sh", "if true; then\necho 2\n").await;
    assert!(text(&worse["lint"], "message").contains("before"), "{worse}");
    // Other languages may not be installed here.
    for (name, broken) in [("a.py", "def f(:\n"), ("a.ts", "const x: = 1;\n"), ("a.go", "package (\n")] {
        let written = tools.put(name, broken).await;
        match written["lint"]["status"].as_str() {
            Some("skipped") => {
                assert!(text(&written["lint"], "message").contains("not installed"), "{written}");
            }
            Some("error") => assert!(!text(&written["lint"], "output").is_empty(), "{written}"),
            other => panic!("{other:?}: {written}"),
        }
    }
}

/// Says what it was asked.
struct Notes(Arc<Mutex<Vec<PathBuf>>>);

impl Gate for Notes {
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        if let Action::Write { paths, .. } = action {
            self.0.lock().unwrap().extend(paths.iter().cloned());
        }
        Box::pin(std::future::ready(Verdict::Allowed))
    }
}

async fn nothing_is_written_without_consent(fixture: &Fixture) {
    let mut tools = Tools::new(fixture).await;
    tools.sh("echo one > f; ln -s f l").await;
    tools.write.gate = Box::new(Closed);
    tools.patch.gate = Box::new(Closed);
    assert!(error(&tools.put("g", "x").await).contains("not today"));
    assert!(error(&tools.replace("f", "one", "two").await).contains("not today"));
    assert_eq!(tools.sh("ls; cat f").await, "f\nl\none");
    let asked: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
    tools.patch.gate = Box::new(Notes(Arc::clone(&asked)));
    tools.replace("l", "one", "two").await;
    assert_eq!(*asked.lock().unwrap(), [tools.dir.join("f")], "it is asked about the file itself");
}

#[tokio::test]
async fn bounds_the_user_set_hold() {
    let mut fixture = Fixture::local();
    let root = fixture.dir().join("user/w");
    fixture.options.files.safe_roots = vec![root];
    let tools = Tools::new(&fixture).await;
    tools.sh("ln -s .. out").await;
    assert!(tools.put("in", "x").await["error"].is_null());
    for path in ["../x", "out/x", "/var/tmp/hermes-never"] {
        assert!(error(&tools.put(path, "x").await).contains("HERMES_WRITE_SAFE_ROOT"), "{path}");
    }
    assert_eq!(names(&tools.dir), ["in", "out"]);
}
