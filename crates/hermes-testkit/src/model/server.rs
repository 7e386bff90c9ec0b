//! The server: accepts connections, records requests and picks the answer for each.

use std::collections::HashMap;
use std::io::{self, BufReader};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::json;

use super::http::{RawRequest, read_request};
use super::record::Request;
use super::script::{Answer, Script, Uses};
use super::send::{Connection, Pace, send};
use super::wire::{self, Plan};
use crate::command::poll_until;

/// The model that the list of models names.
const DEFAULT_MODEL: &str = crate::home::MODEL;

/// A running model server on loopback. Dropping it closes all connections and ends its threads.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What a server wants a key for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFor {
    /// Everything.
    All,
    /// Answers of the model; everybody may see the list of models.
    Answers,
}

/// What the threads of a server share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    stopped: Condvar,
}

#[derive(Debug)]
struct State {
    left: Vec<Answer>,
    models: Vec<String>,
    windows: HashMap<String, u64>,
    key: Option<(String, KeyFor)>,
    requests: Vec<Request>,
    problems: Vec<String>,
    connections: HashMap<usize, TcpStream>,
    stopping: bool,
}

impl ModelServer {
    /// Starts a server that answers by this script.
    pub fn start(script: impl Into<Script>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
        let address = listener.local_addr().expect("the address of our own socket");
        let state = State {
            left: script.into().answers,
            models: vec![DEFAULT_MODEL.to_owned()],
            windows: HashMap::new(),
            key: None,
            requests: Vec::new(),
            problems: Vec::new(),
            connections: HashMap::new(),
            stopping: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), stopped: Condvar::new() });
        let for_thread = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept(&listener, &for_thread));
        Self { address, shared, acceptor: Some(acceptor) }
    }

    /// Starts a server with a script written as text; ends the test when the text is wrong.
    #[track_caller]
    pub fn scripted(text: &str) -> Self {
        match Script::parse(text) {
            Ok(script) => Self::start(script),
            Err(error) => panic!("{error}"),
        }
    }

    /// The address without a path: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address as clients of `OpenAI` want it: with `/v1`.
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Adds an answer to the end of the script.
    pub fn add(&self, answer: Answer) {
        self.shared.lock().left.push(answer);
    }

    /// Sets the models that the list names.
    pub fn set_models<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) {
        self.shared.lock().models = names.into_iter().map(Into::into).collect();
    }

    /// Makes the list say how large a model's window is.
    pub fn set_window(&self, model: &str, window: u64) {
        self.shared.lock().windows.insert(model.to_owned(), window);
    }

    /// Refuses requests with another key or none.
    pub fn require_key(&self, key: &str, what: KeyFor) {
        self.shared.lock().key = Some((key.to_owned(), what));
    }

    /// All requests in the order of arrival, also those for the list of models or unknown paths.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Only the requests for an answer of the model.
    pub fn calls(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.api().is_some()).collect()
    }

    /// The newest request for an answer of the model.
    #[track_caller]
    pub fn last_call(&self) -> Request {
        match self.calls().pop() {
            Some(request) => request,
            None => panic!("no request for an answer has come"),
        }
    }

    /// Waits until so many requests for an answer have come; ends the test when they do not in time.
    #[track_caller]
    pub fn wait_for_calls(&self, count: usize, limit: Duration) -> Vec<Request> {
        let enough = || Some(self.calls()).filter(|calls| calls.len() >= count);
        match poll_until(limit, enough) {
            Some(calls) => calls,
            None => panic!("{} of {count} requests for an answer came within {limit:?}", self.calls().len()),
        }
    }

    /// What went wrong: requests without an answer in the script, requests that could not be read.
    pub fn problems(&self) -> Vec<String> {
        self.shared.lock().problems.clone()
    }

    /// The script must have had an answer for every request.
    #[track_caller]
    pub fn assert_no_problems(&self) {
        let problems = self.problems();
        assert!(problems.is_empty(), "the model server had problems:\n{}", problems.join("\n"));
    }

    /// Every answer must have been asked for, and every request answered.
    #[track_caller]
    pub fn assert_done(&self) {
        self.assert_no_problems();
        let state = self.shared.lock();
        let left: Vec<_> = state.left.iter().filter(|answer| answer.uses == Uses::Once).collect();
        assert!(left.is_empty(), "answers that nobody asked for: {left:#?}");
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.stopping = true;
            self.shared.stopped.notify_all();
            for stream in state.connections.values() {
                // Ends reads and writes of the connection's thread.
                let _closed_already = stream.shutdown(Shutdown::Both);
            }
        }
        // Wakes the acceptor, which then sees that it should end.
        let _woken = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ended = acceptor.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, but not longer than the server lives.
    fn pause(&self, time: Duration) {
        if !time.is_zero() {
            let waited = self.stopped.wait_timeout_while(self.lock(), time, |state| !state.stopping);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// A client may leave at any time; only a request that makes no sense is a problem.
    fn note_broken_connection(&self, error: &io::Error) {
        let mut state = self.lock();
        if error.kind() == io::ErrorKind::InvalidData && !state.stopping {
            state.problems.push(format!("a request could not be read: {error}"));
        }
    }
}

/// Serves each connection in a thread of its own and waits for all of them in the end.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for (number, stream) in listener.incoming().flatten().enumerate() {
        threads.retain(|thread| !thread.is_finished());
        let mut state = shared.lock();
        if state.stopping {
            break;
        }
        let Ok(handle) = stream.try_clone() else { continue };
        state.connections.insert(number, handle);
        drop(state);
        let shared = Arc::clone(shared);
        threads.push(thread::spawn(move || {
            if let Err(error) = serve(stream, &shared) {
                shared.note_broken_connection(&error);
            }
            if let Some(stream) = shared.lock().connections.remove(&number) {
                let _closed_already = stream.shutdown(Shutdown::Both);
            }
        }));
    }
    for thread in threads {
        let _ended = thread.join();
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    // Small writes must leave at once, or the script's cuts would be joined.
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(raw) = read_request(&mut reader, &mut stream)? {
        let (plan, pace) = shared.lock().answer(raw);
        if send(&mut stream, &plan, pace, &|time| shared.pause(time))? == Connection::Close {
            break;
        }
    }
    Ok(())
}

impl State {
    fn answer(&mut self, raw: RawRequest) -> (Plan, Pace) {
        let request = Request::new(self.requests.len() + 1, raw);
        let response = self.respond(&request);
        self.requests.push(request);
        response
    }

    fn respond(&mut self, request: &Request) -> (Plan, Pace) {
        if let Some((key, what)) = &self.key {
            let wanted = *what == KeyFor::All || request.api().is_some();
            if wanted && request.key() != Some(key) {
                let body = json!({"error": {"message": "invalid api key", "type": "authentication_error"}});
                return (wire::json_plan(401, &body), Pace::default());
            }
        }
        let Some(api) = request.api() else {
            return (self.without_model(request), Pace::default());
        };
        if let Some(answer) = self.take_answer(request) {
            let pace = Pace { late: answer.late, slow: answer.slow, split: answer.split };
            return (wire::plan(api, &answer, &request.facts()), pace);
        }
        let (order, path, text) = (request.order, &request.path, request.newest_user_text());
        let problem =
            format!("the script has no answer for request {order} ({path}), newest user message: {text:?}");
        self.problems.push(problem.clone());
        (wire::no_answer(api, &problem), Pace::default())
    }

    fn take_answer(&mut self, request: &Request) -> Option<Answer> {
        let fits = |answer: &Answer| answer.when.iter().all(|matcher| request.matches(matcher));
        let index = self.left.iter().position(fits)?;
        match self.left[index].uses {
            Uses::Once => Some(self.left.remove(index)),
            Uses::Always => Some(self.left[index].clone()),
        }
    }

    fn without_model(&self, request: &Request) -> Plan {
        if request.method == "GET" && request.path.ends_with("/models") {
            return wire::json_plan(200, &wire::models(&self.models, &self.windows));
        }
        let message = format!("there is nothing at {} {}", request.method, request.path);
        wire::json_plan(404, &json!({"error": {"message": message, "type": "not_found"}}))
    }
}
