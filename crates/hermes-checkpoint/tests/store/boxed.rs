//! The same in a box, through its agent.

use std::sync::Arc;

use hermes_checkpoint::{BoxTree, Key, Mine, Place, Taken, Wish};
use hermes_sandbox::config::SandboxConfig;
use hermes_sandbox::context::{Context, Environment, HostUser};
use hermes_sandbox::sandbox::Sandbox;
use hermes_sandbox::scope::Caller;

use crate::support::Bench;

fn boxed(bench: &Bench) -> Place {
    let home = bench.base.parent().unwrap().to_path_buf();
    let context = Context {
        root: home.clone(),
        home: home.clone(),
        profile: "default".to_owned(),
        caller: Caller::default(),
        sandbox_dir: home.join("sandboxes"),
        cache_dir: home.join("cache"),
        machine: "test".to_owned(),
        user: HostUser::current(),
        host_cwd: bench.work.clone(),
        env: Environment::current(),
        dotenv: std::collections::BTreeMap::new(),
        private_env: Vec::new(),
    };
    let client = Sandbox::open(&SandboxConfig::default(), &context).unwrap().client().unwrap();
    let key = Key::Box { place: "a-container".to_owned(), dir: bench.work.clone() };
    Place { key, tree: Arc::new(BoxTree::new(client, bench.work.clone())) }
}

#[test]
fn a_box_goes_back_like_a_host() {
    let bench = Bench::new();
    let place = boxed(&bench);
    bench.write("src/a", "1");
    bench.write("run", "#!");
    bench.chmod("run", 0o755);
    bench.link("link", "src/a");
    bench.write(".gitignore", "skip\n");
    bench.write("skip/x", "1");
    let before = bench.tree();
    let Taken::Made(id) = bench.checkpoints.take(&place, "before").unwrap() else { panic!("no snapshot") };
    assert!(!bench.git(&["ls-tree", "-r", &id.to_string()]).contains("skip/"));
    bench.write("src/a", "2");
    bench.remove("run");
    bench.remove("link");
    bench.link("link", "nowhere");
    bench.write("new/file", "2");
    bench.checkpoints.look(&place).unwrap();
    let restored = bench.checkpoints.restore(&place, &Wish { id, only: None, mine: Mine::Keep }).unwrap();
    assert!(restored.failed.is_empty() && restored.left.is_empty(), "{restored:?}");
    assert_eq!(bench.tree(), before);
}

#[test]
fn a_box_and_a_host_never_meet_in_the_store() {
    let bench = Bench::new();
    let place = boxed(&bench);
    bench.write("a", "1");
    bench.checkpoints.take(&place, "in the box").unwrap();
    assert!(bench.checkpoints.list(&bench.place.key).unwrap().is_empty());
    bench.made();
    assert_eq!(bench.checkpoints.list(&place.key).unwrap()[0].reason, "in the box");
    let status = bench.checkpoints.status().unwrap();
    assert_eq!(status.projects.len(), 2);
    assert!(status.projects.iter().any(|project| project.place.as_deref() == Some("a-container")));
    // The reference looks only here.
    assert_eq!(std::fs::read_dir(bench.base.join("store/projects")).unwrap().count(), 1);
}
