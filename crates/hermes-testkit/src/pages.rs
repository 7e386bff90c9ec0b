//! A web server on this machine that answers as the test says.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A request that came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visit {
    /// `GET`, `POST`.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Visit {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its status.
    pub status: u16,
    /// Its headers, besides the length.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Page {
    /// A page of this type.
    pub fn of(media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, headers: vec![("Content-Type".into(), media_type.into())], body: body.into() }
    }

    /// A page in HTML.
    pub fn html(body: &str) -> Self {
        Self::of("text/html; charset=utf-8", body)
    }

    /// An answer in JSON.
    pub fn json(body: &str) -> Self {
        Self::of("application/json", body)
    }

    /// An empty answer with this status.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    /// A redirect.
    pub fn redirect(to: &str) -> Self {
        Self::status(302).with("Location", to)
    }

    /// The same with another header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

type Answers = dyn Fn(&Visit) -> Page + Send + Sync;

/// See the module. Ends with its owner.
pub struct PageServer {
    address: SocketAddr,
    visits: Arc<Mutex<Vec<Visit>>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PageServer {
    /// Answers every request by this function, on a thread of its own.
    pub fn start(answers: impl Fn(&Visit) -> Page + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port on this machine");
        let address = listener.local_addr().expect("an address");
        let visits: Arc<Mutex<Vec<Visit>>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let (seen, over) = (Arc::clone(&visits), Arc::clone(&ended));
        let answers: Arc<Answers> = Arc::new(answers);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let (seen, answers) = (Arc::clone(&seen), Arc::clone(&answers));
                // A client that hangs up early is no failure of the test.
                std::thread::spawn(move || serve(stream, &seen, &*answers).ok());
            }
        });
        Self { address, visits, ended, thread: Some(thread) }
    }

    /// The whole address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests that came so far.
    pub fn visits(&self) -> Vec<Visit> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread up.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Visit>>, answers: &Answers) -> std::io::Result<()> {
    let visit = read(&mut BufReader::new(stream.try_clone()?))?;
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(visit.clone());
    let page = answers(&visit);
    let (status, length) = (page.status, page.body.len());
    let mut head = format!("HTTP/1.1 {status} Answer\r\nConnection: close\r\nContent-Length: {length}\r\n");
    for (name, value) in &page.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(&page.body)
}

fn read(from: &mut impl BufRead) -> std::io::Result<Visit> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let mut visit = Visit {
        method: words.next().unwrap_or_default(),
        target: words.next().unwrap_or_default(),
        ..Visit::default()
    };
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        visit.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = visit.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    visit.body = String::from_utf8_lossy(&body).into_owned();
    Ok(visit)
}
