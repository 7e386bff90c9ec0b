//! What is left out of a request or changed in it because an endpoint refused it once.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::message::{Content, Image, Message, Part};
use crate::request::{Delivery, Request};

/// Changes to every request for an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Adjustments {
    /// Changes that are on.
    pub on: BTreeSet<Adjustment>,
    /// Most output tokens the endpoint allows, when it refused more.
    pub output_cap: Option<u64>,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Adjustment {
    /// Earlier thoughts are not sent back.
    ForgetThoughts,
    /// `pattern` and `format` are taken out of tool schemas.
    PlainSchemas,
    /// Pictures in tool results become a note.
    NoToolImages,
    /// Large pictures become a note.
    NoLargeImages,
    /// All pictures become a note.
    NoImages,
    /// Answers come in one piece.
    NoStreaming,
    /// No sampling temperature.
    NoTemperature,
    /// No word about how much to think.
    NoEffort,
    /// No limit for the output, or its other name.
    OtherLimitField,
    /// No wish for token counts in the stream.
    NoStreamOptions,
    /// No word about parallel calls.
    NoParallelCalls,
    /// No cache marks.
    NoCacheMarks,
}

/// Pictures from this size on are left out when an endpoint found one too large.
const LARGE_IMAGE: usize = 4 * 1024 * 1024;
/// What stands where a picture stood.
const IMAGE_NOTE: &str = "[a picture was here; this model cannot take it]";

impl Adjustments {
    /// Whether a change is on.
    pub fn has(&self, adjustment: Adjustment) -> bool {
        self.on.contains(&adjustment)
    }

    /// Switches a change on; false when it was on already, so that it cannot help again.
    pub fn add(&mut self, adjustment: Adjustment) -> bool {
        self.on.insert(adjustment)
    }

    /// The request with the changes that concern its content.
    pub fn apply(&self, mut request: Request) -> Request {
        if self.has(Adjustment::NoStreaming) {
            request.delivery = Delivery::Whole;
        }
        if self.has(Adjustment::NoTemperature) {
            request.temperature = None;
        }
        if self.has(Adjustment::NoEffort) {
            request.effort = None;
        }
        if self.has(Adjustment::NoCacheMarks) {
            request.cache = crate::request::CacheMarks::Off;
        }
        if self.has(Adjustment::PlainSchemas) {
            request.tools.iter_mut().for_each(|tool| plain_schema(&mut tool.parameters));
        }
        request.max_tokens = match (request.max_tokens, self.output_cap) {
            (Some(wanted), Some(cap)) => Some(wanted.min(cap)),
            (wanted, cap) => wanted.or(cap),
        };
        request.messages.iter_mut().for_each(|message| self.apply_to_message(message));
        request
    }

    fn apply_to_message(&self, message: &mut Message) {
        match message {
            Message::User(content) => self.replace_images(content, Place::User),
            Message::Tool(result) => self.replace_images(&mut result.content, Place::Tool),
            Message::Assistant(parts) => {
                if self.has(Adjustment::ForgetThoughts) {
                    parts.retain(|part| !matches!(part, Part::Reasoning(_)));
                }
            }
        }
    }

    fn replace_images(&self, content: &mut [Content], place: Place) {
        let refused = |image: &Image| {
            self.has(Adjustment::NoImages)
                || (self.has(Adjustment::NoLargeImages) && image.size() >= LARGE_IMAGE)
                || (self.has(Adjustment::NoToolImages) && place == Place::Tool)
        };
        for item in content {
            if matches!(item, Content::Image(image) if refused(image)) {
                *item = Content::Text(IMAGE_NOTE.to_owned());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    User,
    Tool,
}

/// Takes the keywords out that some grammar compilers cannot read. Properties that are only named so stay.
fn plain_schema(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|key, value| !(matches!(key.as_str(), "pattern" | "format") && value.is_string()));
            for (key, value) in map.iter_mut() {
                match (key.as_str(), value) {
                    ("properties" | "$defs" | "definitions", Value::Object(named)) => {
                        named.iter_mut().for_each(|(_, schema)| plain_schema(schema));
                    }
                    (_, value) => plain_schema(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain_schema),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Reasoning, ToolCall, ToolResult};
    use serde_json::json;

    fn with(changes: &[Adjustment]) -> Adjustments {
        Adjustments { on: changes.iter().copied().collect(), output_cap: None }
    }

    #[test]
    fn keywords_go_and_properties_of_that_name_stay() {
        let mut schema = json!({"type": "object", "properties": {
            "pattern": {"type": "string", "pattern": "^a"},
            "list": {"type": "array", "items": {"type": "string", "format": "uri"}},
        }});
        plain_schema(&mut schema);
        let expected = json!({"type": "object", "properties": {
            "pattern": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}},
        }});
        assert_eq!(schema, expected);
    }

    #[test]
    fn pictures_become_notes_only_where_they_were_refused() {
        let image = || Content::Image(Image::Url("https://x.test/a".into()));
        let result = ToolResult { content: vec![image()], ..ToolResult::ok(&ToolCall::default(), "") };
        let mut request = Request::new("m");
        request.messages = vec![Message::User(vec![image()]), Message::Tool(result)];
        let texts = |request: &Request| request.messages.iter().map(Message::text).collect::<Vec<_>>();
        assert_eq!(texts(&with(&[]).apply(request.clone())), ["", ""]);
        assert_eq!(texts(&with(&[Adjustment::NoToolImages]).apply(request.clone())), ["", IMAGE_NOTE]);
        assert_eq!(texts(&with(&[Adjustment::NoLargeImages]).apply(request.clone())), ["", ""]);
        assert_eq!(texts(&with(&[Adjustment::NoImages]).apply(request)), [IMAGE_NOTE, IMAGE_NOTE]);
    }

    #[test]
    fn thoughts_are_forgotten_and_the_limit_is_kept() {
        let mut request = Request::new("m");
        request.messages =
            vec![Message::Assistant(vec![Part::Reasoning(Reasoning::default()), Part::Text("x".into())])];
        request.max_tokens = Some(9000);
        let mut learned = with(&[Adjustment::ForgetThoughts]);
        learned.output_cap = Some(500);
        let changed = learned.apply(request);
        assert_eq!(changed.messages, [Message::assistant("x")]);
        assert_eq!(changed.max_tokens, Some(500));
        assert!(learned.add(Adjustment::NoEffort) && !learned.add(Adjustment::NoEffort));
    }
}
