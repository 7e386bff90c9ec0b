//! Host names that are known not to be on the open web, whoever looks them up: a proxy does that for us at times.

use super::Class;

/// Names of metadata services.
const METADATA: &[&str] = &[
    "metadata",
    "instance-data",
    "metadata.google.internal",
    "metadata.goog",
    "instance-data.ec2.internal",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "metadata.packet.net",
];

/// Endings that stay inside a network.
const INSIDE: &[&str] =
    &["local", "internal", "intranet", "lan", "home", "corp", "private", "localdomain", "home.arpa", "svc"];

/// What a name says about itself; nothing for names of the open web.
pub(super) fn class_of(host: &str) -> Option<Class> {
    let is = |name: &str| host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
    if METADATA.contains(&host) || is("metadata.google.internal") {
        return Some(Class::Metadata);
    }
    if is("localhost") || is("ip6-localhost") || is("localhost.localdomain") {
        return Some(Class::Loopback);
    }
    // A name without a dot is looked up in the domain of the office.
    (!host.contains('.') || INSIDE.iter().any(|name| is(name))).then_some(Class::Private)
}
