//! Containers: stopping and deleting them, and giving them the machine.

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::path::{Kept, Last, Route, is_precious_tree, kept};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    dangerous("containers", "it stops or deletes containers, volumes or images", stops).words(2),
    dangerous(
        "container-escape",
        "it gives a container the whole machine, or somebody's files to delete",
        escapes,
    ),
];

fn is_engine(call: &Call) -> bool {
    call.is(&["docker", "podman", "nerdctl", "docker-compose", "podman-compose"])
}

fn stops(call: &Call, _: &Context<'_>) -> bool {
    if call.is(&["colima", "minikube", "kind", "k3d", "multipass", "limactl", "orb"]) {
        return Options::of(call)
            .verbs()
            .iter()
            .take(2)
            .any(|verb| matches!(verb.as_str(), "delete" | "purge" | "stop"));
    }
    if !is_engine(call) {
        return false;
    }
    if inside_container(call)
        .is_some_and(|inner| inner.is(&["rm", "dropdb"]) && (inner.short('r') || inner.short('R')))
    {
        return true;
    }
    let verbs = Options::until(call, 3).verbs();
    let first = verbs.first().map_or("", String::as_str);
    let any = |wanted: &[&str]| verbs.iter().skip(1).any(|verb| wanted.contains(&verb.as_str()));
    if call.is(&["docker-compose", "podman-compose"]) {
        return verbs
            .iter()
            .take(2)
            .any(|verb| matches!(verb.as_str(), "down" | "stop" | "kill" | "rm" | "restart"));
    }
    match first {
        "stop" | "restart" | "kill" | "rm" | "rmi" | "pause" => true,
        "compose" | "stack" => any(&["down", "stop", "kill", "rm", "restart", "remove"]),
        "swarm" => any(&["leave"]),
        "system" | "volume" | "container" | "image" | "network" | "builder" | "buildx" | "service"
        | "secret" | "context" | "config" | "node" | "plugin" | "pod" | "machine" | "manifest" | "trust" => {
            any(&["prune", "rm", "remove", "stop", "kill", "restart", "reset", "delete", "disable"])
        }
        _ => false,
    }
}

/// The program that is run in a container that is there already: what it deletes is data somebody keeps.
pub(super) fn inside_container(call: &Call) -> Option<Call> {
    if !is_engine(call) {
        return None;
    }
    let place = Options::until(call, 2).verbs().iter().position(|verb| verb == "exec")?;
    let words = Options::until(call, place + 2).operands.get(place + 2..)?.to_vec();
    (!words.is_empty()).then(|| Call { words, input: call.input.clone(), ..Call::default() })
}

/// Mounts that are the machine itself.
const WHOLE: &[&[&str]] = &[
    &["etc"],
    &["root"],
    &["home"],
    &["var"],
    &["usr"],
    &["boot"],
    &["proc"],
    &["sys"],
    &["dev"],
    &["run"],
    &["var", "run"],
    &["var", "lib"],
    &["var", "run", "docker.sock"],
    &["run", "docker.sock"],
];

fn escapes(call: &Call, sight: &Context<'_>) -> bool {
    if !is_engine(call) {
        return false;
    }
    // Behind the image the words are another program's.
    let verbs = Options::until(call, 2).verbs();
    let place = verbs.iter().position(|verb| matches!(verb.as_str(), "run" | "create" | "exec"));
    let Some(place) = place.filter(|place| *place < 2) else { return false };
    let options = Options::until(call, place + 2);
    let inner =
        Call { words: options.operands.get(place + 2..).unwrap_or_default().to_vec(), ..Call::default() };
    let mounts: Vec<Word> = options.values(&["-v", "--volume", "--mount"]).filter_map(source).collect();
    let deletes =
        inner.is(&["rm", "shred", "find"]) && (inner.short('r') || inner.short('R') || inner.has("-delete"));
    mounts.iter().any(|mount| is_whole(mount, call, sight))
        || deletes
            && mounts
                .iter()
                .any(|mount| mount.beginning().starts_with(['/', '.', '~']) || mount.has_unknown())
        || opens(&options)
}

/// What is mounted: `source:target`, `type=bind,source=x,target=y`.
fn source(mount: &Word) -> Option<Word> {
    let text = mount.shown();
    let by_option =
        text.split(',').find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
    let source = match by_option {
        Some(source) => source,
        None if text.contains("type=") => return None,
        None => text.split(':').next()?,
    };
    if !source.contains('…') {
        return Some(Word::known(source));
    }
    let mut word = Word::unknown();
    word.push_text(source.trim_start_matches('…'));
    Some(word)
}

/// Whether a mount is the machine, a home, keys or files of ours.
fn is_whole(mount: &Word, call: &Call, sight: &Context<'_>) -> bool {
    // A name without a slash is a volume.
    if !mount.beginning().starts_with(['/', '.', '~']) {
        return false;
    }
    let Some(route) = Route::of(mount, call.cwd.as_deref()) else { return false };
    let matters = matches!(
        kept(mount, call.cwd.as_deref(), sight, Last::Followed),
        Some(Kept::Secret | Kept::Ours(_) | Kept::RawDisk)
    );
    route.text().as_deref() == Some("/")
        || WHOLE.iter().any(|place| route.may_be(place))
        || is_precious_tree(mount, call.cwd.as_deref(), sight)
        || matters
}

/// Options that take the walls away.
fn opens(options: &Options) -> bool {
    options.given.iter().any(|given| {
        let value = given.value.as_ref().map(Word::shown).unwrap_or_default().to_lowercase();
        match given.name.as_str() {
            "--privileged" => value != "false",
            "--cap-add" => matches!(
                value.trim_start_matches("cap_"),
                "all" | "sys_admin" | "sys_ptrace" | "sys_module" | "sys_rawio" | "dac_read_search"
            ),
            "--pid" | "--userns" | "--ipc" | "--uts" | "--cgroupns" => value == "host",
            "--security-opt" => {
                value.contains("unconfined")
                    || value.contains("label=disable")
                    || value.contains("label:disable")
            }
            "--device" => {
                let device = value.split(':').next().unwrap_or_default();
                ![
                    "/dev/dri",
                    "/dev/kvm",
                    "/dev/snd",
                    "/dev/video",
                    "/dev/tty",
                    "/dev/fuse",
                    "/dev/net/tun",
                    "/dev/nvidia",
                    "nvidia",
                ]
                .iter()
                .any(|known| device.starts_with(known))
            }
            _ => false,
        }
    })
}
