//! The layer test: which crate may use which, that each explains itself, and where unsafe code may be.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// The one crate that may contain unsafe code.
const MAY_BE_UNSAFE: &str = "hermes-box";

#[test]
fn crates_use_only_lower_layers() {
    let problems = layer_problems(&metadata());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_crate_has_a_readme() {
    let metadata = metadata();
    for (name, dir) in crates(&metadata) {
        let text = fs::read_to_string(dir.join("README.md")).unwrap_or_default();
        assert!(
            !text.trim().is_empty(),
            "crate '{name}' has no README.md: say what it knows and what it must not know"
        );
    }
}

#[test]
fn unsafe_code_is_allowed_in_one_crate_only() {
    let metadata = metadata();
    let root = PathBuf::from(metadata["workspace_root"].as_str().unwrap());
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let lints = section(&workspace, "workspace.lints.rust").expect("the workspace has lints");
    assert!(
        lints.iter().any(|line| matches!(line.as_str(), r#"unsafe_code="deny""# | r#"unsafe_code="forbid""#)),
        "the workspace must deny unsafe_code"
    );
    for (name, dir) in crates(&metadata).into_iter().filter(|(name, _)| name != MAY_BE_UNSAFE) {
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
        let inherits =
            section(&manifest, "lints").is_some_and(|lines| lines.contains(&"workspace=true".to_owned()));
        assert!(inherits, "crate '{name}' must take the lints of the workspace (`[lints] workspace = true`)");
        for file in rust_files(&dir) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                !lifts_unsafe_ban(&text),
                "'{}' allows unsafe code; only '{MAY_BE_UNSAFE}' may",
                file.display()
            );
        }
    }
}

/// Every missing layer and every edge that does not lead down.
fn layer_problems(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().unwrap();
    let layers: BTreeMap<&str, Option<i64>> = packages
        .iter()
        .map(|package| (package["name"].as_str().unwrap(), package["metadata"]["hermes"]["layer"].as_i64()))
        .collect();
    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some(layer) = layers[name] else {
            problems.push(format!("crate '{name}' has no layer: add `[package.metadata.hermes] layer = N`"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let kind = dependency["kind"].as_str().unwrap_or("normal");
            let used = dependency["name"].as_str().unwrap();
            if let ("normal" | "build", Some(Some(below))) = (kind, layers.get(used))
                && *below >= layer
            {
                problems.push(format!(
                    "'{name}' (layer {layer}) -> '{used}' (layer {below}): a {kind} dependency must be on a lower layer"
                ));
            }
        }
    }
    problems
}

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata gives JSON")
}

fn crates(metadata: &Value) -> Vec<(String, PathBuf)> {
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 1, "the workspace has crates");
    packages
        .iter()
        .map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str().unwrap());
            (package["name"].as_str().unwrap().to_owned(), manifest.parent().unwrap().to_path_buf())
        })
        .collect()
}

/// The lines of one section of a manifest, without spaces and comments.
fn section(manifest: &str, name: &str) -> Option<Vec<String>> {
    let header = format!("[{name}]");
    let mut lines = manifest.lines().map(|line| {
        line.split('#').next().unwrap_or_default().chars().filter(|c| !c.is_whitespace()).collect::<String>()
    });
    lines.find(|line| *line == header)?;
    Some(lines.take_while(|line| !line.starts_with('[')).collect())
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// An attribute that allows, expects or only warns of unsafe code, also one written over several lines.
fn lifts_unsafe_ban(source: &str) -> bool {
    let lint = concat!("unsafe", "_code");
    source.match_indices(lint).any(|(at, _)| {
        let before = &source[..at];
        let attribute = before.rfind('[').map_or("", |start| &before[start..]);
        !attribute.contains(']') && ["allow(", "expect(", "warn("].iter().any(|word| attribute.contains(word))
    })
}

fn package(name: &str, layer: Option<i64>, dependencies: &[(&str, Option<&str>)]) -> Value {
    let dependencies: Vec<_> =
        dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
    json!({"name": name, "metadata": {"hermes": {"layer": layer}}, "dependencies": dependencies})
}

#[test]
fn a_wrong_edge_is_named() {
    let metadata = json!({"packages": [
        package("low", Some(0), &[("serde", None), ("mid", Some("dev"))]),
        package("mid", Some(10), &[("low", None), ("peer", Some("build"))]),
        package("peer", Some(10), &[("top", None)]),
        package("top", Some(20), &[("low", None), ("mid", Some("build"))]),
        package("new", None, &[]),
    ]});
    let problems = layer_problems(&metadata);
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("'mid' (layer 10) -> 'peer' (layer 10): a build dependency"));
    assert!(problems[1].contains("'peer' (layer 10) -> 'top' (layer 20)"));
    assert!(problems[2].contains("'new' has no layer"));
}

#[test]
fn attributes_that_lift_the_ban_are_found() {
    let lint = concat!("unsafe", "_code");
    assert!(lifts_unsafe_ban(&format!("#![allow({lint})]")));
    assert!(lifts_unsafe_ban(&format!("#[expect(\n    dead_code,\n    {lint},\n)]\nfn f() {{}}")));
    assert!(!lifts_unsafe_ban(&format!("#![deny({lint})]")));
    assert!(!lifts_unsafe_ban(&format!("#[allow(dead_code)]\n// {lint} is denied here\n")));
}
