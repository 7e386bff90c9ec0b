//! Containers, clusters and what is rented elsewhere.

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::Call;

pub(super) const RULES: &[Rule] = &[
    dangerous("containers", "it stops or deletes containers, volumes or images", stops).words(2),
    dangerous("container-escape", "it gives a container the whole machine", escapes),
    dangerous("cloud", "it deletes or changes what runs on other machines", changes_cloud).beyond().words(2),
];

/// The first words that are no flags.
fn verbs(call: &Call) -> Vec<String> {
    call.operands().iter().take(5).filter_map(|word| word.text()).collect()
}

fn is_engine(call: &Call) -> bool {
    call.is(&["docker", "podman", "nerdctl", "docker-compose", "podman-compose"])
}

fn stops(call: &Call, _: &Context<'_>) -> bool {
    if !is_engine(call) {
        return false;
    }
    let verbs = verbs(call);
    let first = verbs.first().map_or("", String::as_str);
    let any = |wanted: &[&str]| verbs.iter().any(|verb| wanted.contains(&verb.as_str()));
    if call.is(&["docker-compose", "podman-compose"]) {
        return any(&["down", "stop", "kill", "rm", "restart"]);
    }
    match first {
        "stop" | "restart" | "kill" | "rm" | "rmi" | "pause" => true,
        "compose" | "stack" => any(&["down", "stop", "kill", "rm", "restart"]),
        "system" | "volume" | "container" | "image" | "network" | "builder" | "buildx" => {
            any(&["prune", "rm", "remove", "stop", "kill", "restart"])
        }
        // The value of a flag stood first: `docker -H x stop`.
        _ if call.texts().first().is_some_and(|text| text.starts_with('-')) => {
            verbs.get(1).is_some_and(|verb| matches!(verb.as_str(), "stop" | "restart" | "kill" | "rm"))
        }
        _ => false,
    }
}

/// Mounts that are the machine itself.
const WHOLE: &[&str] = &[
    "/",
    "/etc",
    "/root",
    "/home",
    "/var",
    "/usr",
    "/boot",
    "/proc",
    "/sys",
    "/dev",
    "/var/run/docker.sock",
    "/run/docker.sock",
];

fn escapes(call: &Call, _: &Context<'_>) -> bool {
    if !is_engine(call) || !verbs(call).iter().any(|verb| matches!(verb.as_str(), "run" | "create" | "exec"))
    {
        return false;
    }
    let texts = call.texts();
    let mounts = texts.iter().enumerate().filter_map(|(place, text)| match text.as_str() {
        "-v" | "--volume" | "--mount" => texts.get(place + 1).map(String::as_str),
        text => text
            .strip_prefix("--volume=")
            .or_else(|| text.strip_prefix("--mount="))
            .or_else(|| text.strip_prefix("-v").filter(|rest| rest.starts_with('/'))),
    });
    let whole = mounts.into_iter().any(|mount| {
        let by_option = mount
            .split(',')
            .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        let source = by_option.unwrap_or_else(|| mount.split(':').next().unwrap_or(mount));
        let source = if source.len() > 1 { source.trim_end_matches('/') } else { source };
        WHOLE.contains(&source)
    });
    let open =
        ["--privileged", "--pid=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN", "--userns=host", "--ipc=host"];
    whole || texts.iter().any(|text| open.contains(&text.as_str()))
}

fn changes_cloud(call: &Call, _: &Context<'_>) -> bool {
    let verbs = verbs(call);
    let any = |wanted: &[&str]| verbs.iter().any(|verb| wanted.contains(&verb.as_str()));
    match call.name().as_deref() {
        Some("kubectl" | "oc" | "k9s") => any(&["delete", "drain", "replace", "cordon"]),
        Some("helm") => any(&["uninstall", "delete", "rollback"]),
        Some("terraform" | "tofu" | "pulumi") => {
            any(&["destroy"])
                || call.flags().any(|flag| flag.starts_with("-auto-approve") || flag == "-destroy")
        }
        Some("aws") => {
            verbs.iter().any(|verb| verb.starts_with("delete-") || verb.starts_with("terminate-"))
                || verbs.first().is_some_and(|verb| verb == "s3") && any(&["rm", "rb"])
        }
        Some("gcloud" | "az" | "doctl" | "flyctl" | "fly" | "heroku") => {
            any(&["delete", "destroy", "purge", "apps:destroy"])
        }
        Some("gsutil") => any(&["rm", "rb"]),
        Some("gh") => verbs.get(1).is_some_and(|verb| verb == "delete"),
        Some("vagrant") => any(&["destroy"]),
        _ => false,
    }
}
