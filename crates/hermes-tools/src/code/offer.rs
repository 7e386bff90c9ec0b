//! What a script may call: which tools, and with which parameters.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::frames::Wanted;
use crate::tool::{Arguments, Tool};

/// Tools a script may call, if the conversation has them.
const ALLOWED: [&str; 7] =
    ["patch", "read_file", "search_files", "terminal", "web_extract", "web_search", "write_file"];
/// What a script's commands cannot be: nobody would see how they end.
const NOT_IN_SCRIPTS: [&str; 4] = ["background", "notify_on_complete", "pty", "watch_patterns"];

/// The tools of a script, by name.
#[derive(Clone, Default)]
pub(super) struct Offer(BTreeMap<String, Arc<dyn Tool>>);

impl Offer {
    pub(super) fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        let named = tools.into_iter().map(|tool| (tool.spec().name, tool));
        Self(named.filter(|(name, _)| ALLOWED.contains(&name.as_str())).collect())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The functions of the module, as its generator wants them.
    pub(super) fn functions(&self) -> Value {
        self.0.iter().map(|(name, tool)| function(name, &**tool)).collect()
    }

    /// The tool and the arguments of a call, or what is wrong with it.
    pub(super) fn find(&self, wanted: &Wanted) -> Result<(Arc<dyn Tool>, Arguments), String> {
        let Some(tool) = self.0.get(&wanted.tool) else {
            let names: Vec<&str> = self.names().collect();
            return Err(format!("a script cannot call '{}': it has {}", wanted.tool, names.join(", ")));
        };
        let refused = wanted.arguments.keys().find(|name| is_refused(&wanted.tool, name));
        match refused {
            Some(name) => Err(format!("'{name}' cannot be used in a script")),
            None => Ok((Arc::clone(tool), wanted.arguments.clone())),
        }
    }
}

fn is_refused(tool: &str, parameter: &str) -> bool {
    tool == "terminal" && NOT_IN_SCRIPTS.contains(&parameter)
}

/// The parameters of a function: what must be given, then what may be. A choice that must be made but has a usual
/// answer may be left out, and comes last.
fn function(name: &str, tool: &dyn Tool) -> Value {
    let spec = tool.spec();
    let listed = spec.parameters["required"].as_array().cloned().unwrap_or_default();
    let properties = spec.parameters["properties"].as_object().cloned().unwrap_or_default();
    let (mut required, mut optional, mut usual) = (Vec::new(), Vec::new(), Vec::new());
    for (parameter, schema) in properties.iter().filter(|(parameter, _)| !is_refused(name, parameter)) {
        let must = listed.iter().any(|entry| entry == parameter);
        let has_usual = schema.get("default").is_some();
        match (must, has_usual) {
            (true, false) => required.push(parameter),
            (true, true) => usual.push(parameter),
            (false, _) => optional.push(parameter),
        }
    }
    optional.append(&mut usual);
    json!({ "name": name, "required": required, "optional": optional, "about": spec.description })
}
