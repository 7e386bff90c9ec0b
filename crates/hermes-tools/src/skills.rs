//! The tools `skills_list` and `skill_view`: what there is, and one of it. The first says little about many, the second
//! everything about one.

mod list;
mod view;

pub use list::SkillsList;
pub use view::{FillIn, SkillView};

use serde_json::{Value, json};

use crate::tool::ToolOutput;

/// A call that failed, with what helps to do it right.
fn wrong(problem: &str, more: &[(&str, Value)]) -> ToolOutput {
    let mut result = json!({ "success": false, "error": problem });
    for (name, value) in more {
        result[*name] = value.clone();
    }
    ToolOutput::json(&result).failed()
}
