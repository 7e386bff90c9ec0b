//! Workers: started, looked after, and ended with all they started.
//!
//! [`launch`] starts one guard for each card that was taken. The guard ([`attend`]) makes the [`workspace`], starts the
//! worker's program, keeps its [`log`], renews the claim, heeds limits and wishes, and says on the board how it ended.
//! [`process`] tells one process from another, [`stop`] ends a worker because somebody wants it,
//! [`orphans`] ends what a guard that was killed left behind.

pub mod attend;
pub mod launch;
pub mod log;
pub mod orphans;
pub mod process;
pub mod signals;
pub mod stop;
pub mod workspace;
pub mod world;

use crate::card::Seconds;

/// Now, for those who act. Whoever decides is told.
pub(crate) fn now() -> Seconds {
    jiff::Timestamp::now().as_second()
}
