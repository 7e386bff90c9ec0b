//! A tiny HTTP client, so that the server is tested by something it does not share code with.

#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// A response, with the chunks as they came.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub chunks: Vec<Vec<u8>>,
    /// False when the connection ended before the body did.
    pub complete: bool,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.chunks.concat()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// Events as (name, data); the name is empty where there is none.
    pub fn events(&self) -> Vec<(String, String)> {
        let text = self.text();
        let field = |event: &str, name: &str| {
            let prefix = format!("{name}: ");
            event.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap_or_default().to_owned()
        };
        let events = text.split("\n\n").filter(|event| !event.is_empty() && !event.starts_with(':'));
        events.map(|event| (field(event, "event"), field(event, "data"))).collect()
    }

    /// The data of all events that are JSON.
    pub fn data(&self) -> Vec<Value> {
        self.events().iter().filter_map(|(_, data)| serde_json::from_str(data).ok()).collect()
    }
}

/// A connection that can carry several requests.
pub struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    pub fn connect(url: &str) -> Self {
        let address = url.strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(address.split('/').next().unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { stream, reader }
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Response {
        self.send(path, body);
        self.receive()
    }

    pub fn send(&mut self, path: &str, body: &Value) {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer sk-secret\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.stream.write_all(head.as_bytes()).unwrap();
        self.stream.write_all(body.as_bytes()).unwrap();
    }

    pub fn get(&mut self, path: &str) -> Response {
        self.stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes()).unwrap();
        self.receive()
    }

    pub fn receive(&mut self) -> Response {
        let status_line = self.line();
        let status = status_line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap();
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut response = Response { status, headers, chunks: Vec::new(), complete: false };
        match response.header("content-length").map(|length| length.parse::<usize>().unwrap()) {
            Some(length) => {
                let mut body = Vec::new();
                Read::by_ref(&mut self.reader).take(length as u64).read_to_end(&mut body).unwrap();
                response.complete = body.len() == length;
                response.chunks.push(body);
            }
            None => self.chunks(&mut response),
        }
        response
    }

    /// The next line, empty at the end of the connection.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn chunks(&mut self, response: &mut Response) {
        loop {
            let size = self.line();
            if size.is_empty() {
                return;
            }
            let size = usize::from_str_radix(&size, 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.reader.read_exact(&mut chunk).unwrap();
            chunk.truncate(size);
            if size == 0 {
                response.complete = true;
                return;
            }
            response.chunks.push(chunk);
        }
    }
}
