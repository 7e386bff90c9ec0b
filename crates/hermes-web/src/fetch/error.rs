//! Why a page could not be had, in words that do not repeat its address: it may hold what must not be shown.

use std::error::Error;
use std::io;
use std::time::Duration;

use hermes_guard::url::Refusal;

use crate::net::NetworkError;

/// Why a page could not be had.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FetchError {
    /// It may not be opened.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// A redirect leads where nothing may be opened.
    #[error("refused: the page leads to another address: {refusal}")]
    Led {
        /// Why that one is refused.
        refusal: Refusal,
    },
    /// Redirects do not end.
    #[error("the page leads on and on, more than {most} times")]
    Circles {
        /// How many were followed.
        most: usize,
    },
    /// A redirect to nothing.
    #[error("'{host}' answers with a redirect that leads nowhere")]
    Nowhere {
        /// The host.
        host: String,
    },
    /// The server says no.
    #[error("'{host}' answers with status {status}{}", meaning(*status))]
    Status {
        /// The host.
        host: String,
        /// The status.
        status: u16,
    },
    /// No such host.
    #[error("there is no host '{host}': {reason}")]
    NoHost {
        /// The host.
        host: String,
        /// What the lookup said.
        reason: String,
    },
    /// Nobody answers there.
    #[error("cannot connect to '{host}': {reason}")]
    Connect {
        /// The host.
        host: String,
        /// Why.
        reason: String,
    },
    /// The connection broke.
    #[error("the connection to '{host}' broke: {reason}")]
    Broken {
        /// The host.
        host: String,
        /// Why.
        reason: String,
    },
    /// It takes too long.
    #[error("the page did not come within {} s", within.as_secs())]
    Slow {
        /// How long it could take.
        within: Duration,
    },
    /// It is too large.
    #[error("it is larger than {} MB", largest / (1024 * 1024))]
    TooLarge {
        /// Most bytes.
        largest: usize,
    },
    /// Compressed in a way that was not asked for.
    #[error("'{host}' answers in a compression that was not asked for")]
    Coding {
        /// The host.
        host: String,
    },
    /// Compressed data that is none.
    #[error("the compressed answer of '{host}' cannot be read")]
    Garbled {
        /// The host.
        host: String,
    },
    /// No connections can be made at all.
    #[error(transparent)]
    Network(NetworkError),
    /// Nobody wants it any more.
    #[error("cancelled")]
    Cancelled,
}

fn meaning(status: u16) -> &'static str {
    match status {
        401 => ": it wants a login",
        403 => ": it refuses programs or wants a login",
        404 | 410 => ": there is no such page",
        429 => ": too many requests, try later",
        451 => ": it is withheld for legal reasons",
        500.. => ": the server failed, try later",
        _ => "",
    }
}

impl FetchError {
    /// Of an error of the HTTP library.
    pub(super) fn of(error: &reqwest::Error, host: &str) -> Self {
        if let Some(refusal) = causes(error).find_map(|cause| cause.downcast_ref::<Refusal>()) {
            return Self::Refused(refusal.clone());
        }
        if let Some(unknown) =
            causes(error).find_map(|cause| cause.downcast_ref::<super::lookup::NoSuchHost>())
        {
            return Self::unknown(host, &unknown.0);
        }
        // Only the causes: the error itself shows the address.
        let reason = causes(error).last().map_or_else(|| "unknown".to_owned(), ToString::to_string);
        let host = host.to_owned();
        if error.is_connect() { Self::Connect { host, reason } } else { Self::Broken { host, reason } }
    }

    /// Of a name that stands for nothing.
    pub(super) fn unknown(host: &str, error: &io::Error) -> Self {
        Self::NoHost { host: host.to_owned(), reason: error.to_string() }
    }
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}
