//! From a call as the model wrote it to one that can be run: name and arguments checked and mended.

use std::sync::Arc;

use hermes_model::ToolCall;
use hermes_tools::arguments::{self, Parsed};
use hermes_tools::names::{self, Named};
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

/// What the model is told about a call that breaks off.
const BREAKS_OFF: &str =
    "not run: the arguments break off in the middle. Send the whole call again, or make it shorter.";

/// Looks at a call. A name or arguments that were mended are mended in the call too, so that the record shows what was
/// run and the next request holds no broken JSON.
pub(super) fn prepare(call: &mut ToolCall, tools: &Toolbox) -> Prepared {
    let found = match names::find(&call.name, tools.names()) {
        Named::Exact(name) | Named::Repaired(name) => tools.get(name).map(|tool| (name.to_owned(), tool)),
        Named::Unknown => None,
    };
    let Some((name, tool)) = found else {
        let reason = names::unknown(&call.name, tools.names());
        if matches!(arguments::parse(&call.arguments), Parsed::Truncated | Parsed::Hopeless(_)) {
            "{}".clone_into(&mut call.arguments);
        }
        return Prepared::Refused(reason);
    };
    call.name = name;
    let mut arguments = match arguments::parse(&call.arguments) {
        Parsed::Good(arguments) => arguments,
        Parsed::Repaired(arguments) => {
            call.arguments = serde_json::Value::Object(arguments.clone()).to_string();
            arguments
        }
        Parsed::Truncated => return refuse(call, BREAKS_OFF.to_owned()),
        Parsed::Hopeless(reason) => return refuse(call, format!("not run: {reason}")),
    };
    arguments::fit(&mut arguments, &tool.spec().parameters);
    Prepared::Ready { tool: Arc::clone(tool), arguments }
}

fn refuse(call: &mut ToolCall, reason: String) -> Prepared {
    "{}".clone_into(&mut call.arguments);
    Prepared::Refused(reason)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use hermes_model::ToolSpec;
    use hermes_tools::{Run, Running, ToolOutput};
    use proptest::prelude::*;
    use serde_json::json;

    struct Read;

    impl Tool for Read {
        fn spec(&self) -> ToolSpec {
            let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}});
            ToolSpec { name: "read_file".into(), description: String::new(), parameters }
        }

        fn toolset(&self) -> &'static str {
            "file"
        }

        fn brief(&self, _: &Arguments) -> String {
            String::new()
        }

        fn run<'a>(&'a self, _: Run<'a>) -> Running<'a> {
            Box::pin(async { ToolOutput::text("") })
        }
    }

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { name: name.into(), arguments: arguments.into(), ..ToolCall::default() }
    }

    fn toolbox() -> Toolbox {
        Toolbox::new([Arc::new(Read) as Arc<dyn Tool>])
    }

    #[test]
    fn what_is_clear_is_mended_and_the_record_shows_it() {
        let mut call = call("ReadFile", "{\"path\": \"a\", \"limit\": \"5\",}");
        let Prepared::Ready { arguments, .. } = prepare(&mut call, &toolbox()) else { panic!("refused") };
        assert_eq!(serde_json::Value::Object(arguments), json!({"path": "a", "limit": 5}));
        assert_eq!(call.name, "read_file");
        assert!(serde_json::from_str::<serde_json::Value>(&call.arguments).is_ok());
    }

    #[test]
    fn what_breaks_off_is_never_run() {
        let mut call = call("read_file", "{\"path\": \"/etc/pas");
        let Prepared::Refused(reason) = prepare(&mut call, &toolbox()) else { panic!("it would be run") };
        assert!(reason.contains("break off"), "{reason}");
        assert_eq!(call.arguments, "{}", "no broken JSON is sent back");
    }

    proptest! {
        #[test]
        fn whatever_a_model_writes_the_record_holds_json(name in ".{0,20}", arguments in ".{0,60}") {
            let mut call = call(&name, &arguments);
            let known = matches!(prepare(&mut call, &toolbox()), Prepared::Ready { .. });
            let kept = serde_json::from_str::<serde_json::Value>(&call.arguments);
            prop_assert!(kept.is_ok() || call.arguments.trim().is_empty() || !known, "{}", call.arguments);
        }
    }
}
