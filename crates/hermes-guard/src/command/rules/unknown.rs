//! Programs whose name is only known when they run.

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::Call;

pub(super) const RULES: &[Rule] = &[dangerous(
    "unknown-program",
    "which program it runs is only known when it runs",
    |call: &Call, _: &Context<'_>| !call.words.is_empty() && call.name().is_none(),
)];
