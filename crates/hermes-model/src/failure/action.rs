//! The table: what is done about each kind of failure.

use super::Class;
use crate::adjust::Adjustment;

/// What is done about a kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// Whether and how the same model is asked again.
    pub again: Again,
    /// What happens to the key.
    pub key: KeyMove,
    /// When the next model of the chain takes over.
    pub elsewhere: Elsewhere,
}

/// Whether and how the same model is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It would say the same.
    Never,
    /// After a pause.
    BackOff,
    /// At once, with a change to the request; each change is tried once.
    Changed(Change),
    /// After the conversation was made shorter.
    Shorter,
}

/// A change to the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Something is left out or written differently.
    Adjust(Adjustment),
    /// Less output is asked for.
    CapOutput,
}

/// What happens to the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMove {
    /// It is not to blame.
    Keep,
    /// The next one, from the second failure on.
    SecondTime,
    /// The next one at once.
    AtOnce,
}

/// When the next model of the chain takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    /// Never: the next one would fail the same way, or the user must decide.
    Never,
    /// When there is nothing left to try here.
    AtLast,
    /// As soon as no other key is left.
    AtOnce,
}

/// The table.
pub fn action_for(class: Class) -> Action {
    use {Again as A, Elsewhere as E, KeyMove as K};
    let row = |again, key, elsewhere| Action { again, key, elsewhere };
    let change = |adjustment| row(A::Changed(Change::Adjust(adjustment)), K::Keep, E::AtLast);
    match class {
        Class::ThinkingSignature | Class::EncryptedThoughts => change(Adjustment::ForgetThoughts),
        Class::GrammarPattern => change(Adjustment::PlainSchemas),
        Class::ToolImages => change(Adjustment::NoToolImages),
        Class::ImageTooLarge => change(Adjustment::NoLargeImages),
        Class::Images => change(Adjustment::NoImages),
        Class::Streaming => change(Adjustment::NoStreaming),
        Class::Parameter(adjustment) => change(adjustment),
        Class::OutputCap => row(A::Changed(Change::CapOutput), K::Keep, E::AtLast),
        Class::ContextOverflow | Class::PayloadTooLarge | Class::LongContextTier => {
            row(A::Shorter, K::Keep, E::AtLast)
        }
        Class::Auth | Class::Billing => row(A::Never, K::AtOnce, E::AtOnce),
        Class::RateLimit => row(A::BackOff, K::SecondTime, E::AtOnce),
        Class::ContentPolicy | Class::ModelNotFound | Class::Format | Class::Certificate => {
            row(A::Never, K::Keep, E::AtOnce)
        }
        Class::ProviderPolicy => row(A::Never, K::Keep, E::Never),
        Class::Server | Class::Overloaded | Class::Timeout | Class::Unknown => {
            row(A::BackOff, K::Keep, E::AtLast)
        }
    }
}
