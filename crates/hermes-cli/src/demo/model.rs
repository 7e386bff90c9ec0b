//! Serves the scripted model on a loopback port, so that the demo goes through the same client as every real model.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Words.
    pub say: String,
    /// A tool it calls.
    pub call: Option<Call>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// What a model answers to a request.
pub type Script = fn(&Value) -> Step;

/// The name of the model, wherever it is shown.
pub const NAME: &str = "built-in-demo-script";
/// The pause between two words, so that one can watch.
const PAUSE: Duration = Duration::from_millis(12);

/// Starts serving and gives the address. The threads end with the program.
pub fn serve(script: Script) -> std::io::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    std::thread::Builder::new().name("demo model".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                // A client that leaves has what it wanted.
                let _ = answer(stream, script);
            });
        }
    })?;
    Ok(format!("http://{address}/v1"))
}

fn answer(stream: TcpStream, script: Script) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some(body) = read_request(&mut reader)? {
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let size = body.len() / 4;
        stream.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )?;
        for event in events(&script(&request), size) {
            chunk(&mut stream, &format!("data: {event}\n\n"))?;
            std::thread::sleep(PAUSE);
        }
        chunk(&mut stream, "data: [DONE]\n\n")?;
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

/// The body of the next request; nothing when the client has left.
fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Vec<u8>>> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(body))
}

/// The events of one answer, word by word.
fn events(step: &Step, prompt_tokens: usize) -> Vec<Value> {
    let delta = |delta: Value, finish: Value| {
        json!({"id": "demo", "object": "chat.completion.chunk", "model": NAME,
               "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let mut events: Vec<Value> =
        step.say.split_inclusive(' ').map(|word| delta(json!({"content": word}), Value::Null)).collect();
    if let Some(call) = &step.call {
        let arguments = call.arguments.to_string();
        let id = format!("demo_{prompt_tokens}");
        let call = json!({"index": 0, "id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}});
        events.push(delta(json!({"tool_calls": [call]}), Value::Null));
    }
    let finish = if step.call.is_some() { "tool_calls" } else { "stop" };
    events.push(delta(json!({}), json!(finish)));
    let said = events.len();
    events.push(json!({"id": "demo", "object": "chat.completion.chunk", "model": NAME, "choices": [],
                       "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": said, "total_tokens": prompt_tokens + said}}));
    events
}

fn chunk(stream: &mut TcpStream, text: &str) -> std::io::Result<()> {
    write!(stream, "{:x}\r\n{text}\r\n", text.len())?;
    stream.flush()
}
