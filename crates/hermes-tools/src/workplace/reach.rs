//! What commands of a place can harm.

use hermes_sandbox::config::{BackendKind, ContainerConfig, SandboxConfig, Switch};

use crate::gate::Reach;

/// A container keeps harm in unless it was given a way out: files of this machine that it may change, or rights over
/// the machine. Our own mounts are read-only and do not count.
pub fn of(config: &SandboxConfig) -> Reach {
    match config.backend {
        BackendKind::Local | BackendKind::Ssh => Reach::Host,
        BackendKind::Docker if is_open(&config.container) => Reach::Host,
        BackendKind::Docker => Reach::Contained,
    }
}

fn is_open(container: &ContainerConfig) -> bool {
    container.mount_cwd == Switch::On
        || container.volumes.iter().any(|volume| is_host_mount(volume))
        || opens_up(&container.extra_args)
}

/// Whether a mount leads to files of this machine and may be written to: `/src:/work`, not `cache:/x` or `/src:/x:ro`.
fn is_host_mount(volume: &str) -> bool {
    let mut parts = volume.split(':');
    let source = parts.next().unwrap_or_default();
    let read_only = parts.nth(1).is_some_and(|options| options.split(',').any(|option| option == "ro"));
    source.starts_with(['/', '~', '.', '$']) && !read_only
}

fn opens_up(arguments: &[String]) -> bool {
    const FLAGS: [&str; 10] = [
        "-v",
        "--volume",
        "--mount",
        "--privileged",
        "--pid",
        "--ipc",
        "--userns",
        "--device",
        "--cap-add",
        "--security-opt",
    ];
    arguments.iter().any(|argument| {
        let name = argument.split('=').next().unwrap_or(argument);
        FLAGS.contains(&name) || argument.starts_with("-v/")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(change: impl FnOnce(&mut ContainerConfig)) -> Reach {
        let mut config = SandboxConfig { backend: BackendKind::Docker, ..SandboxConfig::default() };
        change(&mut config.container);
        of(&config)
    }

    #[test]
    fn a_container_with_a_way_out_contains_nothing() {
        assert_eq!(reach(|_| {}), Reach::Contained);
        assert_eq!(reach(|c| c.mount_cwd = Switch::On), Reach::Host);
        for volume in ["/src:/work", "~/x:/x", "./a:/a", "/src:/x:rw"] {
            assert_eq!(reach(|c| c.volumes = vec![volume.into()]), Reach::Host, "{volume}");
        }
        for volume in ["cache:/cache", "/src:/x:ro", "/src:/x:ro,z"] {
            assert_eq!(reach(|c| c.volumes = vec![volume.into()]), Reach::Contained, "{volume}");
        }
        for argument in ["--privileged", "-v/:/host", "--mount=type=bind,src=/,dst=/x", "--pid=host"] {
            assert_eq!(reach(|c| c.extra_args = vec![argument.into()]), Reach::Host, "{argument}");
        }
        assert_eq!(reach(|c| c.extra_args = vec!["--memory=1g".into()]), Reach::Contained);
    }

    #[test]
    fn other_machines_are_hosts_too() {
        for backend in [BackendKind::Local, BackendKind::Ssh] {
            assert_eq!(of(&SandboxConfig { backend, ..SandboxConfig::default() }), Reach::Host);
        }
    }
}
