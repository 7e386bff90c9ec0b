//! The tools `skills_list` and `skill_view`: what there is, and one of it. The first says little about many, the second
//! everything about one.

mod list;
mod view;

pub use list::SkillsList;
pub use view::{FillIn, SkillView};

use hermes_skills::skills::Library;
use serde_json::{Value, json};

use crate::tool::{Availability, ToolOutput};

/// Skills are there unless the settings about them make no sense.
fn availability(library: &Result<Library, String>) -> Availability {
    match library {
        Ok(_) => Availability::Yes,
        Err(problem) => Availability::No { why: problem.clone() },
    }
}

/// A call that failed, with what helps to do it right.
fn wrong(problem: &str, more: &[(&str, Value)]) -> ToolOutput {
    let mut result = json!({ "success": false, "error": problem });
    for (name, value) in more {
        result[*name] = value.clone();
    }
    ToolOutput::json(&result).failed()
}
