//! What a connection error was, without the address it happened at: addresses may hold keys.

use std::error::Error;
use std::io;

use crate::failure::{Observed, Transport};

/// Describes an error of the HTTP library. `otherwise` is what it was when it was nothing more precise.
pub(super) fn observed(error: &reqwest::Error, otherwise: Transport) -> Observed {
    let transport = if causes(error).any(is_certificate) {
        Transport::Certificate
    } else if error.is_connect() {
        Transport::Connect
    } else if error.is_timeout() {
        Transport::Silent
    } else {
        otherwise
    };
    Observed::broken(transport, words(error, transport))
}

/// The innermost cause says most; the layers above it only say that something failed below.
fn words(error: &reqwest::Error, transport: Transport) -> String {
    let last = causes(error).last().map(ToString::to_string).unwrap_or_default();
    let doing = match transport {
        Transport::Connect | Transport::Certificate => "cannot connect",
        Transport::NoAnswer => "the connection closed without an answer",
        _ => "the connection broke",
    };
    if last.is_empty() { doing.to_owned() } else { format!("{doing}: {last}") }
}

/// The causes of an error, without itself: only it knows the address.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

fn is_certificate(cause: &(dyn Error + 'static)) -> bool {
    let inside = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let tls = inside.and_then(|inner| inner.downcast_ref::<rustls::Error>()).or_else(|| cause.downcast_ref());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}
