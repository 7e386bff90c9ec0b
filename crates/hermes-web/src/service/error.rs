//! Why a service did not answer, and what to do.

use std::time::Duration;

/// Why a service did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// It does not take the key.
    #[error("{service} refuses the key in {variable} (status {status}): check it with `hermes config get {variable}`{}", said(.message))]
    Key {
        /// The service.
        service: &'static str,
        /// The variable with the key.
        variable: &'static str,
        /// The status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// The plan is used up.
    #[error("{service} says that the plan or its credit is used up (status {status}){}", said(.message))]
    UsedUp {
        /// The service.
        service: &'static str,
        /// The status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// Too many requests.
    #[error("{service} was asked too often: try again in a while")]
    TooOften {
        /// The service.
        service: &'static str,
        /// When it wants to be asked again.
        after: Option<Duration>,
    },
    /// It does not understand the request.
    #[error("{service} refuses the request (status {status}){}", said(.message))]
    Refused {
        /// The service.
        service: &'static str,
        /// The status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// It failed.
    #[error("{service} failed (status {status}){}", said(.message))]
    Failed {
        /// The service.
        service: &'static str,
        /// The status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// It cannot be reached.
    #[error("{service} cannot be reached: {reason}")]
    Unreachable {
        /// The service.
        service: &'static str,
        /// Why.
        reason: String,
    },
    /// It takes too long.
    #[error("{service} did not answer within {} s", within.as_secs())]
    Slow {
        /// The service.
        service: &'static str,
        /// How long it could take.
        within: Duration,
    },
    /// What it says is not what it should.
    #[error("the answer of {service} cannot be read: {reason}")]
    Unreadable {
        /// The service.
        service: &'static str,
        /// Why.
        reason: String,
    },
    /// Nobody wants it any more.
    #[error("cancelled")]
    Cancelled,
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

impl ServiceError {
    /// Of an answer with a status that is no success.
    pub(super) fn of(
        service: &'static str,
        variable: &'static str,
        status: u16,
        after: Option<Duration>,
        message: String,
    ) -> Self {
        match status {
            401 | 403 => Self::Key { service, variable, status, message },
            // 432 and 433 are Tavily's own.
            402 | 432 | 433 => Self::UsedUp { service, status, message },
            429 => Self::TooOften { service, after },
            500.. => Self::Failed { service, status, message },
            _ => Self::Refused { service, status, message },
        }
    }

    /// How long to wait before asking again may help: what the service asks for, or the usual pause.
    pub(super) fn again(&self, usual: Duration) -> Option<Duration> {
        match self {
            Self::TooOften { after, .. } => Some(after.unwrap_or(usual)),
            Self::Failed { .. } | Self::Unreachable { .. } => Some(usual),
            _ => None,
        }
    }
}
