//! The first words on a stream: who we are, which protocol we speak, and whether we may.

use super::wire::{wire_enum, wire_struct};

/// The first bytes of every hello, so that a stranger on the stream is noticed at once.
pub const MAGIC: u64 = u64::from_le_bytes(*b"hermesbx");
/// The oldest protocol this build still speaks.
pub const OLDEST: u16 = 1;
/// The newest protocol this build speaks.
pub const NEWEST: u16 = 3;
/// The first protocol with [`super::call::Call::Resolve`].
pub const RESOLVES: u16 = 2;
/// The first protocol with [`super::call::Call::Change`].
pub const CHANGES: u16 = 3;
/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What distinguishes two builds of one version; the embedding build sets it.
pub const BUILD: &str = match option_env!("HERMES_BOX_BUILD") {
    Some(build) => build,
    None => "dev",
};

wire_struct! {
    /// What a client says first. Its layout is the same in every version of the protocol.
    #[derive(Clone, PartialEq, Eq)]
    pub struct Hello {
        /// [`MAGIC`].
        pub magic: u64,
        /// Oldest protocol the client speaks.
        pub oldest: u16,
        /// Newest protocol the client speaks.
        pub newest: u16,
        /// The client's version, for people.
        pub version: String,
        /// The client's build, for people.
        pub build: String,
        /// What proves that the client comes from outside, when the agent asks for it.
        pub token: Option<Vec<u8>>,
    }
}

impl std::fmt::Debug for Hello {
    // By hand, so that the token never ends up in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hello")
            .field("oldest", &self.oldest)
            .field("newest", &self.newest)
            .field("version", &self.version)
            .field("build", &self.build)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .finish_non_exhaustive()
    }
}

impl Hello {
    /// The hello of this build.
    pub fn ours(token: Option<Vec<u8>>) -> Self {
        Self {
            magic: MAGIC,
            oldest: OLDEST,
            newest: NEWEST,
            version: VERSION.into(),
            build: BUILD.into(),
            token,
        }
    }
}

wire_struct! {
    /// What the agent answers when it accepts.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Welcome {
        /// [`MAGIC`].
        pub magic: u64,
        /// The protocol that will be spoken.
        pub protocol: u16,
        /// The agent's version.
        pub version: String,
        /// The agent's build.
        pub build: String,
        /// The agent's process, as it sees itself.
        pub pid: u32,
        /// Different for every start of an agent: tells a restarted one from the one we knew.
        pub instance: u64,
    }
}

wire_enum! {
    /// Why an agent does not accept a client.
    #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
    pub enum Refusal {
        /// No protocol that both speak.
        #[error("it speaks protocol {oldest} to {newest} (agent version {version})")]
        1 = Protocol {
            /// Oldest protocol the agent speaks.
            oldest: u16,
            /// Newest protocol the agent speaks.
            newest: u16,
            /// The agent's version.
            version: String,
        },
        /// The token is missing or wrong.
        #[error("the token is missing or wrong")]
        2 = Token,
        /// The client is one of the agent's own commands.
        #[error("it does not serve the commands it runs")]
        3 = OwnCommand,
        /// The client belongs to another user.
        #[error("it does not serve other users")]
        4 = OtherUser,
        /// Too many clients at once.
        #[error("it has too many clients")]
        5 = Crowded,
        /// The agent is shutting down.
        #[error("it is shutting down")]
        6 = Leaving,
    }
}

/// The protocol to speak with a client, or why not.
pub fn choose_protocol(hello: &Hello) -> Result<u16, Refusal> {
    let newest = hello.newest.min(NEWEST);
    if newest >= hello.oldest.max(OLDEST) {
        Ok(newest)
    } else {
        Err(Refusal::Protocol { oldest: OLDEST, newest: NEWEST, version: VERSION.into() })
    }
}
