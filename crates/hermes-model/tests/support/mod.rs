//! What the tests of this crate share.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test helpers; not every test uses all of them"
)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hermes_model::{
    Answer, BaseUrl, Call, CallError, Client, Collector, Deadlines, Endpoint, Message, Request, ToolSpec,
    Wire,
};
use hermes_testkit::model::ModelServer;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The three wire formats.
pub const WIRES: [Wire; 3] = [Wire::Chat, Wire::Messages, Wire::Responses];

/// An endpoint of a scripted server.
pub fn endpoint(server: &ModelServer, wire: Wire) -> Endpoint {
    endpoint_at(&server.openai_url(), wire)
}

/// An endpoint at an address.
pub fn endpoint_at(url: &str, wire: Wire) -> Endpoint {
    Endpoint::new("test", BaseUrl::parse(url).unwrap(), wire)
}

/// A small request with a tool.
pub fn request() -> Request {
    let mut request = Request::new("mock-model");
    request.system = "Be kind.".into();
    request.messages = vec![Message::user("hello")];
    request.tools = vec![ToolSpec {
        name: "terminal".into(),
        description: "Runs a command.".into(),
        parameters: json!({"type": "object", "properties": {"command": {"type": "string"}}}),
    }];
    request
}

/// Deadlines nothing should reach.
pub const PATIENT: Deadlines = Deadlines {
    silence: Duration::from_secs(20),
    stale: Duration::from_secs(20),
    total: Duration::from_secs(20),
    ending: Duration::from_secs(20),
};

/// One call, collected to an answer.
pub async fn ask(client: &Client, call: Call<'_>) -> Result<Answer, CallError> {
    let mut stream = client.stream(call, &CancellationToken::new()).await?;
    let mut collector = Collector::new(call.endpoint.issuer());
    while let Some(event) = stream.next().await {
        collector.add(&event?);
    }
    Ok(collector.finish())
}

/// A call with everything at its usual.
pub fn call<'a>(endpoint: &'a Endpoint, request: &'a Request) -> Call<'a> {
    Call { endpoint, key: None, request, deadlines: PATIENT, window: None }
}

/// A server for what the scripted one does not do: it hands every connection to a function, with its number.
pub struct RawServer {
    address: SocketAddr,
}

impl RawServer {
    /// Starts it. Its thread ends with the test process.
    pub fn start(mut serve: impl FnMut(usize, TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                serve(number, stream);
            }
        });
        Self { address }
    }

    /// Its base address.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

/// Reads one request with its body; false when the client has left.
pub fn read_request(stream: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return false;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length =
        head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).is_ok()
}

/// The head of an answer that is streamed in chunks.
pub const STREAM_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// Writes one chunk of a body.
pub fn write_chunk(stream: &mut TcpStream, text: &str) -> bool {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).is_ok()
}

/// Waits until the client closes the connection, and says so.
pub fn report_close(mut stream: TcpStream, closed: &mpsc::Sender<()>) {
    let mut rest = [0; 64];
    while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
    let _test_may_be_over = closed.send(());
}
