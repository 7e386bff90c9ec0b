//! How single values are laid out in a frame: little-endian integers, length-prefixed bytes, tagged variants.
//!
//! Decoding never allocates more than the input is long and never recurses deeper than the types do.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// Bytes that do not have the layout they should have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The input ended in the middle of a value.
    #[error("the message ends in the middle of a value")]
    Short,
    /// Bytes were left over after the last value.
    #[error("the message has {0} bytes too many")]
    Trailing(usize),
    /// A variant number that this version does not know.
    #[error("{tag} is not a known kind of {of}")]
    Tag {
        /// The type being decoded.
        of: &'static str,
        /// The number found.
        tag: u8,
    },
    /// Text that is not UTF-8.
    #[error("a text is not valid UTF-8")]
    Text,
    /// A number outside of the range its type allows.
    #[error("a number is out of range")]
    Range,
}

/// A value that can be put into a frame and taken out again.
pub trait Wire: Sized {
    /// Appends the value.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads one value from the front of `input`.
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed>;

    /// Appends the items of a list. Bytes override it to be copied at once.
    fn put_items(items: &[Self], out: &mut Vec<u8>) {
        for item in items {
            item.put(out);
        }
    }

    /// Reads the items of a list. Bytes override it to be copied at once.
    fn take_items(count: usize, input: &mut Input<'_>) -> Result<Vec<Self>, Malformed> {
        // Every item takes at least a byte, so a count beyond the input is a lie; growing on demand
        // keeps memory in proportion to what was really sent.
        if count > input.rest.len() {
            return Err(Malformed::Short);
        }
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(Self::take(input)?);
        }
        Ok(items)
    }

    /// The value alone, as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// Decodes a value that must fill `bytes` exactly.
    fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Input::new(bytes);
        let value = Self::take(&mut input)?;
        input.finish()?;
        Ok(value)
    }
}

/// The part of a message that has not been decoded yet.
#[derive(Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// Starts at the front of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Takes the next `count` bytes as they are.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (front, rest) = self.rest.split_at_checked(count).ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(front)
    }

    /// Takes everything that is left.
    pub fn remainder(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Fails when anything is left.
    pub fn finish(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed::Trailing(self.rest.len())) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (front, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(*front)
    }
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Wire for $int {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
                Ok(Self::from_le_bytes(input.array()?))
            }
        }
    )*};
}

integers!(u16, u32, u64, i32, i64);

impl Wire for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let [byte] = input.array()?;
        Ok(byte)
    }
    fn put_items(items: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(items);
    }
    fn take_items(count: usize, input: &mut Input<'_>) -> Result<Vec<Self>, Malformed> {
        Ok(input.bytes(count)?.to_vec())
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match u8::take(input)? {
            0 => Ok(false),
            1 => Ok(true),
            tag => Err(Malformed::Tag { of: "bool", tag }),
        }
    }
}

impl Wire for () {
    // A byte, so that a list of nothings cannot claim to be longer than its input.
    fn put(&self, out: &mut Vec<u8>) {
        out.push(0);
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match u8::take(input)? {
            0 => Ok(()),
            tag => Err(Malformed::Tag { of: "nothing", tag }),
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        // Frames are bounded far below 4 GiB, so a longer list is refused when the frame is made.
        (self.len() as u32).put(out);
        T::put_items(self, out);
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let count = u32::take(input)? as usize;
        T::take_items(count, input)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0),
            Some(value) => {
                out.push(1);
                value.put(out);
            }
        }
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match u8::take(input)? {
            0 => Ok(None),
            1 => Ok(Some(T::take(input)?)),
            tag => Err(Malformed::Tag { of: "option", tag }),
        }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok((A::take(input)?, B::take(input)?))
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        String::from_utf8(Vec::take(input)?).map_err(|_| Malformed::Text)
    }
}

impl Wire for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(OsString::from_vec(Vec::take(input)?))
    }
}

impl Wire for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        let bytes = self.as_os_str().as_bytes();
        (bytes.len() as u32).put(out);
        out.extend_from_slice(bytes);
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(PathBuf::from(OsString::take(input)?))
    }
}

impl Wire for Duration {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_secs().put(out);
        self.subsec_nanos().put(out);
    }
    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        let (secs, nanos) = (u64::take(input)?, u32::take(input)?);
        // Larger values would overflow when added to a clock.
        if nanos >= 1_000_000_000 || secs > u64::from(u32::MAX) {
            return Err(Malformed::Range);
        }
        Ok(Duration::new(secs, nanos))
    }
}

/// Declares a struct together with its layout: the fields in the order they are written.
macro_rules! wire_struct {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$fmeta:meta])* pub $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        pub struct $name { $($(#[$fmeta])* pub $field: $ty,)* }

        impl $crate::proto::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::proto::wire::Wire::put(&self.$field, out);)*
            }
            fn take(input: &mut $crate::proto::wire::Input<'_>)
                -> Result<Self, $crate::proto::wire::Malformed>
            {
                Ok(Self { $($field: <$ty as $crate::proto::wire::Wire>::take(input)?,)* })
            }
        }
    };
}

/// Declares an enum together with its layout: a byte with the number given, then the fields of the variant.
macro_rules! wire_enum {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$vmeta:meta])* $tag:literal = $variant:ident
            $(($($ty:ty),+))?
            $({ $($(#[$fmeta:meta])* $field:ident: $fty:ty,)+ })?,)*
    }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$vmeta])* $variant $(($($ty),+))? $({ $($(#[$fmeta])* $field: $fty,)+ })?,)*
        }

        impl $crate::proto::wire::Wire for $name {
            #[allow(unused_variables)]
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::proto::wire::wire_enum!(@put self, out, $name, $tag, $variant
                    $(($($ty),+))? $({ $($field),+ })?);)*
            }
            fn take(input: &mut $crate::proto::wire::Input<'_>)
                -> Result<Self, $crate::proto::wire::Malformed>
            {
                match <u8 as $crate::proto::wire::Wire>::take(input)? {
                    $($tag => Ok(Self::$variant
                        $(($(<$ty as $crate::proto::wire::Wire>::take(input)?),+))?
                        $({ $($field: <$fty as $crate::proto::wire::Wire>::take(input)?,)+ })?),)*
                    tag => Err($crate::proto::wire::Malformed::Tag { of: stringify!($name), tag }),
                }
            }
        }
    };
    (@put $self:ident, $out:ident, $name:ident, $tag:literal, $variant:ident) => {
        if matches!($self, $name::$variant) { $out.push($tag); }
    };
    (@put $self:ident, $out:ident, $name:ident, $tag:literal, $variant:ident ($a:ty)) => {
        if let $name::$variant(a) = $self {
            $out.push($tag);
            $crate::proto::wire::Wire::put(a, $out);
        }
    };
    (@put $self:ident, $out:ident, $name:ident, $tag:literal, $variant:ident { $($field:ident),+ }) => {
        if let $name::$variant { $($field),+ } = $self {
            $out.push($tag);
            $($crate::proto::wire::Wire::put($field, $out);)+
        }
    };
}

pub(crate) use {wire_enum, wire_struct};
