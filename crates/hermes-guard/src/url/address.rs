//! What kind of place a number address is.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// On the open web.
    Public,
    /// This machine.
    Loopback,
    /// The cable it hangs on.
    LinkLocal,
    /// A network of its own: an office, a home, a provider's inside.
    Private,
    /// Many machines at once.
    Multicast,
    /// No machine at all.
    Unspecified,
    /// For examples, tests, or nothing yet.
    Reserved,
    /// An old way to wrap one address in another.
    Tunnel,
    /// A service that hands out keys of a cloud machine.
    Metadata,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Loopback => "this machine",
            Self::LinkLocal => "a link-local address",
            Self::Private => "an address in a private network",
            Self::Multicast => "a multicast address",
            Self::Unspecified => "no machine's address",
            Self::Reserved => "a reserved address",
            Self::Tunnel => "an address wrapped in another",
            Self::Metadata => "a metadata service",
        })
    }
}

/// Metadata services outside 169.254.0.0/16, which is theirs as a whole: nobody serves pages there.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(192, 0, 0, 192)];
const METADATA_V6: [Ipv6Addr; 5] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];

/// What kind of place this is.
pub fn classify(ip: IpAddr) -> Class {
    match ip {
        IpAddr::V4(ip) => v4(ip),
        IpAddr::V6(ip) => v6(ip),
    }
}

fn v4(ip: Ipv4Addr) -> Class {
    if METADATA_V4.contains(&ip) || ip.is_link_local() {
        return Class::Metadata;
    }
    match ip.octets() {
        [0, 0, 0, 0] => Class::Unspecified,
        [127, ..] => Class::Loopback,
        [10, ..] | [192, 168, ..] => Class::Private,
        [172, b, ..] if b & 0xf0 == 16 => Class::Private,
        // Shared by the customers of a provider.
        [100, b, ..] if b & 0xc0 == 64 => Class::Private,
        [a, ..] if a & 0xf0 == 224 => Class::Multicast,
        // "This network", protocol assignments, documentation, old 6to4 relays, benchmarks, the future.
        [0 | 240..=255, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Class::Reserved,
        [198, b, ..] if b & 0xfe == 18 => Class::Reserved,
        _ => Class::Public,
    }
}

fn v6(ip: Ipv6Addr) -> Class {
    if METADATA_V6.contains(&ip) {
        return Class::Metadata;
    }
    if ip.is_unspecified() {
        return Class::Unspecified;
    }
    if ip.is_loopback() {
        return Class::Loopback;
    }
    if let Some(inner) = embedded(ip) {
        // Networks without IPv4 reach it through NAT64, and sockets show IPv4 as mapped: there the inner address
        // counts. The other wrappings are out of use.
        let class = v4(inner);
        return if class == Class::Public && !is_mapped_or_nat64(ip) { Class::Tunnel } else { class };
    }
    match ip.segments() {
        [a, ..] if a & 0xfe00 == 0xfc00 => Class::Private,
        [a, ..] if a & 0xffc0 == 0xfe80 => Class::LinkLocal,
        // Site-local, given up in 2004.
        [a, ..] if a & 0xffc0 == 0xfec0 => Class::Private,
        [a, ..] if a & 0xff00 == 0xff00 => Class::Multicast,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Class::Reserved,
        // Teredo has its IPv4 address in disguise, the rest of the range is for protocols.
        [0x2001, b, ..] if b < 0x200 => Class::Tunnel,
        // Everything that is routed begins with 001.
        [a, ..] if a & 0xe000 == 0x2000 => Class::Public,
        _ => Class::Reserved,
    }
}

fn is_mapped_or_nat64(ip: Ipv6Addr) -> bool {
    ip.to_ipv4_mapped().is_some() || matches!(ip.segments(), [0x64, 0xff9b, 0, 0, 0, 0, ..])
}

/// The IPv4 address inside: mapped, compatible, translated, NAT64, 6to4, ISATAP.
pub(super) fn embedded(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, _, _, _, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(of(high, low)),
        _ => None,
    }
}
