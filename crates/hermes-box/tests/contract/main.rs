//! What every agent must do, whether it runs inside of this process or as a program behind a socket.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "tests")]
#![allow(
    clippy::format_collect,
    clippy::items_after_statements,
    reason = "what is short reads best in a test"
)]

/// Makes a test for every kind of agent.
macro_rules! everywhere {
    ($($(#[$meta:meta])* fn $name:ident($world:ident: &World) $body:block)*) => {$(
        mod $name {
            use super::*;
            fn check($world: &World) $body

            $(#[$meta])*
            #[test]
            fn in_process() {
                check(&World::in_process());
            }

            $(#[$meta])*
            #[test]
            fn daemon() {
                let world = World::daemon();
                check(&world);
                world.client.shutdown().unwrap();
            }
        }
    )*};
}

mod changes;
mod exec;
mod files;
mod hostile;
mod jobs;
mod preparing;
mod search;
mod shells;
mod terminal;
#[path = "../common/world.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod world;
