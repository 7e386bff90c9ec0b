//! The place in one line, for the system prompt.

use hermes_sandbox::config::{BackendKind, Filesystem, Network, SandboxConfig, Switch};

use super::Workplace;

impl Workplace {
    /// Where commands run, in one line for the prompt. The same for a whole conversation; nobody is asked.
    pub fn describe(&self) -> String {
        let start = start(&self.0.config, &self.0.context.host_cwd.display().to_string());
        describe(&self.0.config, &start)
    }
}

fn describe(config: &SandboxConfig, start: &str) -> String {
    match config.backend {
        BackendKind::Local => format!("Commands run on the user's own machine, starting in {start}."),
        BackendKind::Ssh => {
            format!("Commands run on the machine \"{}\" through ssh, starting in {start}.", config.ssh.host)
        }
        BackendKind::Docker => {
            let container = &config.container;
            let network = if container.network == Network::Off { " without network" } else { "" };
            let kept = match container.filesystem {
                Filesystem::Persistent => "/root and /workspace are kept",
                Filesystem::Ephemeral => "nothing is kept when it goes",
            };
            format!(
                "Commands run in a container{network} (image {}), starting in {start}; {kept}.",
                container.image
            )
        }
    }
}

/// Where the first command starts, as far as it is known without asking.
fn start(config: &SandboxConfig, host_cwd: &str) -> String {
    match (&config.cwd, config.backend) {
        (Some(cwd), _) => cwd.clone(),
        (None, BackendKind::Local) => host_cwd.to_owned(),
        (None, BackendKind::Ssh) => "the home directory".to_owned(),
        (None, BackendKind::Docker) if config.container.mount_cwd == Switch::On => {
            format!("/workspace (the user's {host_cwd})")
        }
        (None, BackendKind::Docker) => "its working directory".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_backend_says_what_it_is() {
        let mut config = SandboxConfig::default();
        assert_eq!(
            describe(&config, &start(&config, "/home/u/x")),
            "Commands run on the user's own machine, starting in /home/u/x."
        );
        config.backend = BackendKind::Docker;
        config.container.image = "debian:12".into();
        config.container.network = Network::Off;
        config.cwd = Some("/srv".into());
        let text = describe(&config, &start(&config, "/home/u/x"));
        assert!(text.contains("without network (image debian:12), starting in /srv;"), "{text}");
        config.backend = BackendKind::Ssh;
        config.ssh.host = "far".into();
        assert!(describe(&config, "/srv").contains("\"far\""));
    }
}
