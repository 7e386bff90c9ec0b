//! Where the engine is: on this machine, where it sees our files, or elsewhere, where it does not.

use super::cli::{Engine, Request, deadline};
use super::info::{Flavour, Info};
use crate::context::Environment;

/// Where the engine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// On this machine.
    Here,
    /// On another one, or in a machine of its own.
    Elsewhere {
        /// How it is reached.
        endpoint: String,
    },
}

/// Finds out. When nothing says otherwise the engine is taken to be here.
pub fn find(engine: &dyn Engine, info: &Info) -> Site {
    let env = engine.command().env;
    match info.flavour {
        Flavour::Podman if info.remote => Site::Elsewhere {
            endpoint: env.text("CONTAINER_HOST").unwrap_or("podman's connection").to_owned(),
        },
        Flavour::Podman => Site::Here,
        Flavour::Docker => of_endpoint(&docker_endpoint(engine, &env)),
    }
}

/// The context decides unless the environment does; a context of its own name beats the host variable.
fn docker_endpoint(engine: &dyn Engine, env: &Environment) -> String {
    if let (Some(host), None) = (env.text("DOCKER_HOST"), env.text("DOCKER_CONTEXT")) {
        return host.to_owned();
    }
    let args = ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"];
    match engine.demand(&Request::new("asking for the context", "", deadline::LOOK, args)) {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(_) => String::new(),
    }
}

fn of_endpoint(endpoint: &str) -> Site {
    let elsewhere =
        ["tcp://", "ssh://", "http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme));
    if elsewhere { Site::Elsewhere { endpoint: endpoint.to_owned() } } else { Site::Here }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_this_machine_are_here() {
        for here in ["unix:///var/run/docker.sock", "", "npipe:////./pipe/docker"] {
            assert_eq!(of_endpoint(here), Site::Here);
        }
        for far in ["tcp://10.0.0.1:2375", "ssh://u@h"] {
            assert_eq!(of_endpoint(far), Site::Elsewhere { endpoint: far.into() });
        }
    }
}
