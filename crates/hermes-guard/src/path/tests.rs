//! What is refused where.
#![allow(clippy::unwrap_used, reason = "a failed test should stop")]

use super::*;

fn policy(view: View) -> PathPolicy {
    let hermes = HermesHome { root: "/data/hermes".into(), profile: "work".into() };
    PathPolicy { hermes, view, safe_roots: Vec::new() }
}

fn local() -> PathPolicy {
    policy(View::Host)
}

fn ask(policy: &PathPolicy, path: &str, access: Access) -> Result<(), Denied> {
    let trail =
        Trail { path: Path::new(path), links: &[], real: Path::new(path), home: Some(Path::new("/srv/me")) };
    policy.check(&trail, access, OtherProfiles::Refused)
}

#[track_caller]
fn refused(policy: &PathPolicy, access: Access, paths: &[&str]) {
    for path in paths {
        assert!(ask(policy, path, access).is_err(), "{path}");
    }
}

#[track_caller]
fn allowed(policy: &PathPolicy, access: Access, paths: &[&str]) {
    for path in paths {
        assert_eq!(ask(policy, path, access), Ok(()), "{path}");
    }
}

#[test]
fn devices_and_the_insides_of_processes_are_not_read() {
    let paths = [
        "/dev/zero",
        "/dev/stdin",
        "/dev/fd/0",
        "/proc/self/environ",
        "/proc/1/task/1/mem",
        "/proc/1/fd/0",
        "/proc/1/smaps_rollup",
        "/proc/kcore",
        "/tmp/../dev/random",
    ];
    refused(&local(), Access::Read, &paths);
    allowed(
        &local(),
        Access::Read,
        &["/proc/cpuinfo", "/proc/1/status", "/dev/shm/x", "/sys/class/net", "/devil"],
    );
}

#[test]
fn logins_are_not_shown_and_ordinary_files_are() {
    let secret = [
        "/w/.env",
        "/w/.env.production",
        "/w/.envrc",
        "/srv/me/.ssh/config",
        "/root/.aws/credentials",
        "/home/u/.config/gh/hosts.yml",
        "/w/server.key",
        "/data/hermes/auth.json",
        "/data/hermes/profiles/work/.env",
        "/data/hermes/profiles/other/mcp-tokens/x.json",
        "/data/hermes/skills/.hub/lock.json",
        "/home/u/.hermes/webhook_subscriptions.json",
        "/srv/me/.hermes/profiles/a/pairing/x",
    ];
    refused(&local(), Access::Read, &secret);
    let fine = [
        "/w/.env.example",
        "/w/src/pairing/mod.rs",
        "/w/.docker/nginx.conf",
        "/srv/me/.ssh/id_ed25519.pub",
        "/w/gcloud/deploy.sh",
        "/data/hermes/config.yaml",
        "/data/hermes/skills/a/SKILL.md",
        "/srv/me/.bashrc",
        "/etc/passwd",
    ];
    allowed(&local(), Access::Read, &fine);
}

#[test]
fn the_system_the_login_and_our_own_files_are_not_written() {
    let refused_paths = [
        "/etc/hosts",
        "/etc/sudoers.d/x",
        "/boot/grub",
        "/usr/lib/systemd/system/x.service",
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/proc/sys/kernel/x",
        "/dev/sda",
        "/srv/me/.bashrc",
        "/root/.ssh/authorized_keys",
        "/home/u/.netrc",
        "/srv/me/.config/gcloud/x",
        "/data/hermes/config.yaml",
        "/data/hermes/profiles/work/config.yaml",
        "/data/hermes/profiles/work/.env",
        "/data/hermes/state.db-wal",
        "/data/hermes/boards/x/kanban.db",
        "/srv/me/.hermes/auth.json",
    ];
    refused(&local(), Access::Write, &refused_paths);
    let fine = [
        "/w/.env",
        "/w/dotfiles/.bashrc",
        "/w/etc/hosts",
        "/w/config.yaml",
        "/etcetera",
        "/data/hermes/profiles/work/skills/a/SKILL.md",
        "/data/hermes/sandboxes/x/workspace/a",
        "/var/tmp/x",
    ];
    allowed(&local(), Access::Write, &fine);
}

#[test]
fn another_profile_needs_a_word() {
    let policy = local();
    for (path, owner) in [
        ("/data/hermes/skills/a/SKILL.md", "default"),
        ("/data/hermes/memories/MEMORY.md", "default"),
        ("/data/hermes/profiles/other/anything", "other"),
    ] {
        let found = ask(&policy, path, Access::Write).unwrap_err();
        assert_eq!(found, Denied::OtherProfile { path: path.into(), profile: owner.into() });
        let trail = Trail { path: Path::new(path), links: &[], real: Path::new(path), home: None };
        assert_eq!(policy.check(&trail, Access::Write, OtherProfiles::Allowed), Ok(()));
    }
    // Its logins stay closed all the same.
    let env = Path::new("/data/hermes/profiles/other/.env");
    let trail = Trail { path: env, links: &[], real: env, home: None };
    assert!(policy.check(&trail, Access::Write, OtherProfiles::Allowed).is_err());
}

#[test]
fn every_link_counts() {
    let links = [PathBuf::from("/srv/me/.ssh/link")];
    let trail = Trail {
        path: Path::new("/w/a"),
        links: &links,
        real: Path::new("/w/b"),
        home: Some(Path::new("/srv/me")),
    };
    assert!(local().check(&trail, Access::Write, OtherProfiles::Refused).is_err());
    let trail = Trail { links: &[], real: Path::new("/etc/shadow"), ..trail };
    assert!(local().check(&trail, Access::Write, OtherProfiles::Refused).is_err());
}

#[test]
fn rules_about_our_own_files_follow_mounts() {
    let mount = |host: &str, inside: &str| Mount { host: host.into(), inside: inside.into() };
    let boxed = policy(View::Elsewhere(vec![mount("/data", "/mnt"), mount("/srv/project", "/mnt/project")]));
    refused(
        &boxed,
        Access::Write,
        &["/mnt/hermes/config.yaml", "/mnt/hermes/skills/x", "/etc/passwd", "/root/.ssh/x"],
    );
    refused(&boxed, Access::Read, &["/mnt/hermes/.env"]);
    allowed(&boxed, Access::Write, &["/data/hermes/config.yaml", "/mnt/project/config.yaml", "/workspace/x"]);
}

#[test]
fn bounds_hold_for_where_a_path_leads() {
    let policy = PathPolicy { safe_roots: vec!["/w".into()], ..local() };
    allowed(&policy, Access::Write, &["/w/a", "/w"]);
    refused(&policy, Access::Write, &["/other", "/work"]);
    allowed(&policy, Access::Read, &["/other"]);
    let trail = Trail { path: Path::new("/w/l"), links: &[], real: Path::new("/x"), home: None };
    assert!(policy.check(&trail, Access::Write, OtherProfiles::Refused).is_err());
}

#[test]
fn what_runs_by_itself_and_our_own_records_are_not_written() {
    let paths = [
        "/srv/me/.gitconfig",
        "/srv/me/.config/systemd/user/a.service",
        "/srv/me/.config/autostart/a.desktop",
        "/srv/me/code/.git/hooks/pre-commit",
        "/srv/me/code/.git/config",
        "/data/hermes/profiles/work/approvals.json",
        "/data/hermes/profiles/work/SOUL.md",
        "/data/hermes/profiles/work/hooks/x.json",
    ];
    refused(&local(), Access::Write, &paths);
    allowed(
        &local(),
        Access::Write,
        &["/srv/me/code/.github/config", "/srv/me/code/hooks/x", "/srv/me/.local/bin/tool"],
    );
    refused(&local(), Access::Read, &["/etc/shadow", "/etc/sudoers.d/me"]);
    allowed(&local(), Access::Read, &["/etc/passwd"]);
}

#[test]
fn what_another_profile_keeps_is_not_shown() {
    let theirs = [
        "/data/hermes/profiles/other/memories/MEMORY.md",
        "/data/hermes/profiles/other/state.db",
        "/data/hermes/profiles/other/config.yaml",
        "/data/hermes/memories/USER.md",
        "/data/hermes/state.db-wal",
        "/data/hermes/sessions/x.json",
    ];
    refused(&local(), Access::Read, &theirs);
    let ours = [
        "/data/hermes/profiles/work/memories/MEMORY.md",
        "/data/hermes/profiles/work/state.db",
        "/data/hermes/skills/git/SKILL.md",
        "/data/hermes/kanban/boards/a/workspaces/state.db",
        "/w/profiles/other/memories/MEMORY.md",
    ];
    allowed(&local(), Access::Read, &ours);
    let told = ask(&local(), theirs[0], Access::Read).unwrap_err().to_string();
    assert!(told.contains("hermes -p other"), "{told}");
    // What a container sees under the same name is not ours.
    allowed(&policy(View::Elsewhere(Vec::new())), Access::Read, &theirs[..2]);
    let mount = Mount { host: "/data/hermes".into(), inside: "/h".into() };
    refused(&policy(View::Elsewhere(vec![mount])), Access::Read, &["/h/profiles/other/state.db"]);
}
