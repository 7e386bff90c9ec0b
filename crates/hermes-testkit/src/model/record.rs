//! What the server was asked: every request with headers and body, and the questions tests have about it.

use serde_json::Value;

use super::http::{RawRequest, header};
use super::script::Matcher;
use super::wire::{Api, Delivery, Facts};

/// A request that came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The place in the order of arrival, from 1.
    pub order: usize,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// What follows the question mark, or nothing.
    pub query: String,
    /// All headers as they came, keys included, because tests check them.
    pub headers: Vec<(String, String)>,
    /// The body as JSON, or null.
    pub body: Value,
    /// The body as it came.
    pub raw: Vec<u8>,
}

impl Request {
    pub(super) fn new(order: usize, raw: RawRequest) -> Self {
        let (path, query) = raw.target.split_once('?').unwrap_or((&raw.target, ""));
        Self {
            order,
            path: path.to_owned(),
            query: query.to_owned(),
            method: raw.method,
            headers: raw.headers,
            body: serde_json::from_slice(&raw.body).unwrap_or_default(),
            raw: raw.body,
        }
    }

    /// The protocol, when this is a request for an answer.
    pub fn api(&self) -> Option<Api> {
        if self.method == "POST" { Api::of_path(&self.path) } else { None }
    }

    /// The first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The key that came with the request, by either way of sending one.
    pub fn key(&self) -> Option<&str> {
        let bearer = self.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        bearer.or_else(|| self.header("x-api-key"))
    }

    /// True when events are wanted.
    pub fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }

    /// The model that was asked for.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// The conversation: `messages`, or `input` of the responses protocol.
    pub fn messages(&self) -> &[Value] {
        let list =
            if self.api() == Some(Api::Responses) { &self.body["input"] } else { &self.body["messages"] };
        list.as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The system prompt, wherever the protocol puts it.
    pub fn system(&self) -> String {
        let apart = match self.api() {
            Some(Api::Messages) => text_of(&self.body["system"]),
            Some(Api::Responses) => text_of(&self.body["instructions"]),
            _ => String::new(),
        };
        let system = |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
        let among = self.messages().iter().filter(system).map(|message| text_of(&message["content"]));
        std::iter::once(apart).chain(among).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The text of the newest message the user wrote; results of tools are not such.
    pub fn newest_user_text(&self) -> String {
        if let Value::String(text) = &self.body["input"] {
            return text.clone();
        }
        let written = self.messages().iter().filter(|message| message["role"] == "user");
        written.map(|message| text_of(&message["content"])).rfind(|text| !text.is_empty()).unwrap_or_default()
    }

    /// The names of the tools on offer.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools
            .iter()
            .filter_map(|tool| tool["name"].as_str().or_else(|| tool["function"]["name"].as_str()))
            .collect()
    }

    /// The results of tools in the conversation: id of the call and text, oldest first.
    pub fn tool_results(&self) -> Vec<(String, String)> {
        let pair = |id: &Value, content: &Value| {
            let text = content.as_str().map_or_else(|| text_of(content), str::to_owned);
            (id.as_str().unwrap_or_default().to_owned(), text)
        };
        let mut results = Vec::new();
        for message in self.messages() {
            if message["role"] == "tool" {
                results.push(pair(&message["tool_call_id"], &message["content"]));
            } else if message["type"] == "function_call_output" {
                results.push(pair(&message["call_id"], &message["output"]));
            }
            let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            let in_blocks = blocks.iter().filter(|block| block["type"] == "tool_result");
            results.extend(in_blocks.map(|block| pair(&block["tool_use_id"], &block["content"])));
        }
        results
    }

    pub(super) fn matches(&self, matcher: &Matcher) -> bool {
        match matcher {
            Matcher::User(text) => self.newest_user_text().contains(text),
            Matcher::Model(name) => self.model() == name,
            Matcher::System(text) => self.system().contains(text),
            Matcher::Results(count) => self.tool_results().len() == *count,
            Matcher::Seen(text) => self.tool_results().iter().any(|(_, result)| result.contains(text)),
        }
    }

    pub(super) fn facts(&self) -> Facts {
        Facts {
            order: self.order,
            model: self.model().to_owned(),
            delivery: if self.wants_stream() { Delivery::Stream } else { Delivery::Whole },
            stream_usage: self.body["stream_options"]["include_usage"] == true,
        }
    }
}

/// The text of a content: a string, or the text blocks of a list.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let is_text = |block: &&Value| {
                matches!(block["type"].as_str(), Some("text" | "input_text" | "output_text"))
            };
            let texts: Vec<&str> =
                blocks.iter().filter(is_text).filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(path: &str, body: &Value) -> Request {
        let headers = vec![("Authorization".to_owned(), "Bearer k1".to_owned())];
        let raw =
            RawRequest { method: "POST".into(), target: path.into(), headers, body: body.to_string().into() };
        Request::new(1, raw)
    }

    #[test]
    fn chat_requests_are_understood() {
        let request = request(
            "/v1/chat/completions?x=1",
            &json!({"model": "m", "stream": true, "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": [{"type": "text", "text": "hello"}]},
                {"role": "assistant", "tool_calls": []},
                {"role": "tool", "tool_call_id": "c1", "content": "ls output"},
            ], "tools": [{"type": "function", "function": {"name": "terminal"}}]}),
        );
        assert_eq!((request.path.as_str(), request.query.as_str()), ("/v1/chat/completions", "x=1"));
        assert_eq!(request.key(), Some("k1"));
        assert_eq!(request.newest_user_text(), "hello");
        assert_eq!(request.system(), "be kind");
        assert_eq!(request.tool_names(), ["terminal"]);
        assert_eq!(request.tool_results(), [("c1".to_owned(), "ls output".to_owned())]);
        assert!(request.wants_stream());
    }

    #[test]
    fn anthropic_requests_are_understood() {
        let request = request(
            "/v1/messages",
            &json!({"model": "m", "system": [{"type": "text", "text": "be kind"}], "messages": [
                {"role": "user", "content": "first"},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1",
                    "content": [{"type": "text", "text": "done"}]}]},
            ], "tools": [{"name": "terminal"}]}),
        );
        assert_eq!(request.newest_user_text(), "first");
        assert_eq!(request.system(), "be kind");
        assert_eq!(request.tool_names(), ["terminal"]);
        assert_eq!(request.tool_results(), [("t1".to_owned(), "done".to_owned())]);
    }

    #[test]
    fn responses_requests_are_understood() {
        let request = request(
            "/v1/responses",
            &json!({"model": "m", "instructions": "be kind", "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "first"}]},
                {"type": "function_call_output", "call_id": "c1", "output": "done"},
            ], "tools": [{"type": "function", "name": "terminal"}]}),
        );
        assert_eq!(request.newest_user_text(), "first");
        assert_eq!(request.system(), "be kind");
        assert_eq!(request.tool_results(), [("c1".to_owned(), "done".to_owned())]);
        assert_eq!(request.tool_names(), ["terminal"]);
        let plain = super::tests::request("/v1/responses", &json!({"input": "hi"}));
        assert_eq!(plain.newest_user_text(), "hi");
    }
}
