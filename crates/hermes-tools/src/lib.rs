//! What the agent can do: tools, how they are chosen, and what they may ask before they act.
//!
//! - [`tool`]: the trait, and what a run gets and gives back.
//! - [`gate`]: whether an action may happen, and who is asked.
//! - [`toolbox`]: the tools of one conversation.

pub mod gate;
pub mod tool;
pub mod toolbox;

pub use gate::{Action, Answerer, Gate, Question, Reply, Verdict};
pub use tool::{Arguments, Progress, Report, Run, Running, Sharing, Tool, ToolOutput, Trust};
pub use toolbox::Toolbox;
