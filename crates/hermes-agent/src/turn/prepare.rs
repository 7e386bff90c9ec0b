//! From a call as the model wrote it to one that can be run: name and arguments checked and mended.

use std::sync::Arc;

use hermes_model::ToolCall;
use hermes_tools::{Arguments, Tool, Toolbox};

/// A call that was looked at.
pub(super) enum Prepared {
    /// It can be run.
    Ready {
        /// The tool.
        tool: Arc<dyn Tool>,
        /// Its arguments.
        arguments: Arguments,
    },
    /// It cannot; the model is told why.
    Refused(String),
}

/// Looks at a call. A name or arguments that were mended are mended in the call, so that the record shows what was run.
pub(super) fn prepare(call: &mut ToolCall, tools: &Toolbox) -> Prepared {
    let Some(tool) = tools.get(&call.name) else {
        let names: Vec<&str> = tools.names().collect();
        return Prepared::Refused(format!(
            "there is no tool '{}'; the tools are: {}",
            call.name,
            names.join(", ")
        ));
    };
    match serde_json::from_str(&call.arguments) {
        Ok(serde_json::Value::Object(arguments)) => Prepared::Ready { tool: Arc::clone(tool), arguments },
        _ => Prepared::Refused("the arguments are not a JSON object".to_owned()),
    }
}
