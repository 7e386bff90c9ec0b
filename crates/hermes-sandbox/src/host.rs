//! Running commands of this machine: the engine's command and ssh.

pub mod call;
pub mod find;
pub mod stream;
