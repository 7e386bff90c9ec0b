//! What a container made from today's settings would look like, without making one.

use super::drift::Fields;
use super::identity::Identity;
use super::image::Image;
use super::mounts::Mount;
use super::site::Site;
use super::spec::{self, AgentMounts, Facts, PROGRAM_DIR, SpecError};
use crate::config::SandboxConfig;
use crate::context::Context;

/// The fields to compare an existing container with. Without an image only its name is compared.
pub fn fields(
    config: &SandboxConfig,
    context: &Context,
    identity: &Identity,
    image: Option<&Image>,
    site: Site,
) -> Result<Fields, SpecError> {
    // How our program gets in is not part of the comparison.
    let agent =
        AgentMounts { program: Mount::volume("", PROGRAM_DIR), program_hash: String::new(), run: None };
    let facts = Facts { identity, image, agent, site };
    Ok(spec::build(config, context, &facts)?.0.fields)
}
