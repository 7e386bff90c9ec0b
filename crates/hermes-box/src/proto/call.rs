//! Calls: everything a client can ask for, each with the type of its answer.

use std::time::Duration;

use super::change::ChangeRequest;
use super::exec::{ExecRequest, Exit, WinSize};
use super::file::{
    BytesRead, BytesRequest, Depth, FileStat, FileVersion, Follow, Lines, LinesRequest, ListRequest, Listing,
    MoveRequest, Parents, Place, Resolved, WriteRequest, Written,
};
use super::info::{Info, SessionInfo};
use super::job::{JobInfo, JobOutput, JobRequest, JobSignal};
use super::search::{GlobRequest, GlobResult, SearchRequest, SearchResult};
use super::wire::{Wire, wire_enum, wire_struct};

wire_struct! {
    /// Which piece of a job's output.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobRead {
        /// The job.
        pub id: String,
        /// Where the piece begins.
        pub offset: u64,
        /// Bytes at the most (never more than fit in one answer).
        pub max: u32,
    }
}

wire_struct! {
    /// Follow a job's output as it comes.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobFollow {
        /// The job.
        pub id: String,
        /// Where to begin.
        pub offset: u64,
    }
}

wire_struct! {
    /// Wait for a job's end.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobWait {
        /// The job.
        pub id: String,
        /// For how long at the most.
        pub timeout: Option<Duration>,
    }
}

wire_struct! {
    /// Bytes for a job's input.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobWrite {
        /// The job.
        pub id: String,
        /// The bytes.
        pub bytes: Vec<u8>,
    }
}

wire_struct! {
    /// End a job and everything it started.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobKill {
        /// The job.
        pub id: String,
        /// Time between TERM and KILL; the agent's default otherwise.
        pub grace: Option<Duration>,
    }
}

wire_struct! {
    /// A job's terminal has a new size.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct JobResize {
        /// The job.
        pub id: String,
        /// The size.
        pub size: WinSize,
    }
}

wire_struct! {
    /// A file to look at.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StatRequest {
        /// Which.
        pub place: Place,
        /// What to do with a link.
        pub follow: Follow,
    }
}

wire_struct! {
    /// A directory to make.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MkdirRequest {
        /// Which.
        pub place: Place,
        /// Missing directories above it; with `Create` an existing one is fine too.
        pub parents: Parents,
    }
}

wire_struct! {
    /// Something to remove.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RemoveRequest {
        /// What.
        pub place: Place,
        /// With everything below or not.
        pub depth: Depth,
    }
}

wire_enum! {
    /// Everything a client can ask for.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Call {
        /// Run a command. Data: its output (and input). Answer: [`Exit`].
        1 = Exec(ExecRequest),
        /// About the agent. Answer: [`Info`].
        2 = Info,
        /// End everything and leave. Answer: nothing, once commands and jobs are gone.
        3 = Shutdown,
        /// About a session. Answer: [`SessionInfo`].
        4 = Session(String),
        /// Forget what a session carries. Answer: nothing.
        5 = SessionForget(String),
        /// End what a command left running. Answer: nothing.
        6 = EndLeftRunning(u64),
        /// Start a job. Answer: [`JobInfo`].
        16 = JobStart(JobRequest),
        /// All jobs. Answer: list of [`JobInfo`], oldest first.
        17 = JobList,
        /// One job. Answer: [`JobInfo`].
        18 = JobGet(String),
        /// Read output. Answer: [`JobOutput`].
        19 = JobRead(JobRead),
        /// Follow output. Data: the output from the offset on. Answer: [`JobInfo`], at the end of the job.
        20 = JobFollow(JobFollow),
        /// Wait. Answer: [`JobInfo`], ended or not.
        21 = JobWait(JobWait),
        /// Write to its input. Answer: nothing, once the bytes are on their way.
        22 = JobWrite(JobWrite),
        /// Close its input. Answer: nothing.
        23 = JobCloseStdin(String),
        /// Send a signal. Answer: nothing.
        24 = JobSignal(JobSignal),
        /// End it. Answer: [`JobInfo`].
        25 = JobKill(JobKill),
        /// Resize its terminal. Answer: nothing.
        26 = JobResize(JobResize),
        /// Forget an ended job and its output. Answer: nothing.
        27 = JobForget(String),
        /// Look at a file. Answer: [`FileStat`].
        48 = Stat(StatRequest),
        /// List a directory. Answer: [`Listing`].
        49 = List(ListRequest),
        /// Read lines. Answer: [`Lines`].
        50 = ReadLines(LinesRequest),
        /// Read bytes. Data: the bytes. Answer: [`BytesRead`].
        51 = ReadBytes(BytesRequest),
        /// Write a file. Client's data: the content, then its end. Answer: [`Written`].
        52 = Write(WriteRequest),
        /// Make a directory. Answer: the number of directories made.
        53 = Mkdir(MkdirRequest),
        /// Remove. Answer: nothing.
        54 = Remove(RemoveRequest),
        /// Move. Answer: nothing.
        55 = Move(MoveRequest),
        /// Copy a file. Answer: nothing.
        56 = Copy(MoveRequest),
        /// Find by name. Answer: [`GlobResult`].
        57 = Glob(GlobRequest),
        /// Find by content. Answer: [`SearchResult`].
        58 = Search(SearchRequest),
        /// SHA-256 of a file. Answer: 32 bytes.
        59 = Hash(Place),
        /// Where a path leads. Answer: [`Resolved`]. Since protocol 2.
        60 = Resolve(Place),
        /// Change several files as one. Client's data: what is new, then its end. Answer: the state of each step's file
        /// afterwards, none where it is gone. Since protocol 3.
        61 = Change(ChangeRequest),
    }
}

/// A request with the type of its answer.
pub trait Request {
    /// What comes back.
    type Answer: Wire;
    /// The request as a call.
    fn into_call(self) -> Call;
}

macro_rules! requests {
    ($($request:ty => $variant:ident -> $answer:ty;)*) => {$(
        impl Request for $request {
            type Answer = $answer;
            fn into_call(self) -> Call {
                Call::$variant(self)
            }
        }
    )*};
}

requests! {
    ExecRequest => Exec -> Exit;
    JobRequest => JobStart -> JobInfo;
    JobRead => JobRead -> JobOutput;
    JobFollow => JobFollow -> JobInfo;
    JobWait => JobWait -> JobInfo;
    JobWrite => JobWrite -> ();
    JobSignal => JobSignal -> ();
    JobKill => JobKill -> JobInfo;
    JobResize => JobResize -> ();
    StatRequest => Stat -> FileStat;
    ListRequest => List -> Listing;
    LinesRequest => ReadLines -> Lines;
    BytesRequest => ReadBytes -> BytesRead;
    WriteRequest => Write -> Written;
    ChangeRequest => Change -> Vec<Option<FileVersion>>;
    MkdirRequest => Mkdir -> u32;
    RemoveRequest => Remove -> ();
    GlobRequest => Glob -> GlobResult;
    SearchRequest => Search -> SearchResult;
}

/// Requests that need nothing, or only a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask<A> {
    call: Call,
    answer: std::marker::PhantomData<fn() -> A>,
}

impl<A: Wire> Request for Ask<A> {
    type Answer = A;
    fn into_call(self) -> Call {
        self.call
    }
}

impl<A> Ask<A> {
    fn new(call: Call) -> Self {
        Self { call, answer: std::marker::PhantomData }
    }
}

/// [`Call::Info`].
pub fn info() -> Ask<Info> {
    Ask::new(Call::Info)
}
/// [`Call::Shutdown`].
pub fn shutdown() -> Ask<()> {
    Ask::new(Call::Shutdown)
}
/// [`Call::Session`].
pub fn session(id: &str) -> Ask<SessionInfo> {
    Ask::new(Call::Session(id.into()))
}
/// [`Call::SessionForget`].
pub fn session_forget(id: &str) -> Ask<()> {
    Ask::new(Call::SessionForget(id.into()))
}
/// [`Call::EndLeftRunning`].
pub fn end_left_running(id: u64) -> Ask<()> {
    Ask::new(Call::EndLeftRunning(id))
}
/// [`Call::JobList`].
pub fn job_list() -> Ask<Vec<JobInfo>> {
    Ask::new(Call::JobList)
}
/// [`Call::JobGet`].
pub fn job_get(id: &str) -> Ask<JobInfo> {
    Ask::new(Call::JobGet(id.into()))
}
/// [`Call::JobCloseStdin`].
pub fn job_close_stdin(id: &str) -> Ask<()> {
    Ask::new(Call::JobCloseStdin(id.into()))
}
/// [`Call::JobForget`].
pub fn job_forget(id: &str) -> Ask<()> {
    Ask::new(Call::JobForget(id.into()))
}
/// [`Call::Hash`].
pub fn hash(place: Place) -> Ask<Vec<u8>> {
    Ask::new(Call::Hash(place))
}
/// [`Call::Resolve`].
pub fn resolve(place: Place) -> Ask<Resolved> {
    Ask::new(Call::Resolve(place))
}
/// [`Call::Move`].
pub fn rename(request: MoveRequest) -> Ask<()> {
    Ask::new(Call::Move(request))
}
/// [`Call::Copy`].
pub fn copy(request: MoveRequest) -> Ask<()> {
    Ask::new(Call::Copy(request))
}
