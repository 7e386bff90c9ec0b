//! The protocol: whatever is sent is read back as it was, and whatever is received never does harm.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use hermes_box::proto::call::{
    Call, JobFollow, JobKill, JobRead, JobResize, JobWait, JobWrite, MkdirRequest, RemoveRequest, StatRequest,
};
use hermes_box::proto::exec::{
    Capture, Captured, Control, Ending, ExecRequest, Exit, Keep, Notice, Program, SessionInit, Spill, Status,
    Stdin, StreamId, Streams, Target, WinSize,
};
use hermes_box::proto::fault::{Fault, FileError, FileErrorKind};
use hermes_box::proto::file::{
    BytesRequest, Depth, Entry, Existing, Expect, FileKind, FileStat, FileVersion, Follow, Line, Lines,
    LinesRequest, ListRequest, Listing, MoveRequest, Parents, Place, Texture, WriteRequest,
};
use hermes_box::proto::frame::{Frame, MAX_BODY, read_frame};
use hermes_box::proto::hello::{Hello, MAGIC, Refusal, Welcome};
use hermes_box::proto::info::{Info, LeftRunning, ShellKind};
use hermes_box::proto::job::{JobInfo, JobRequest, JobSignal, JobState, LogLimits};
use hermes_box::proto::message::{Channel, ToAgent, ToClient};
use hermes_box::proto::search::{
    Case, Completeness, FileMatches, FoundLine, GlobRequest, LineRole, Order, SearchMode, SearchRequest,
    SearchResult, Skip, Syntax,
};
use hermes_box::proto::wire::Wire;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

fn os() -> impl Strategy<Value = OsString> {
    bytes().prop_map(OsString::from_vec)
}

fn path() -> impl Strategy<Value = PathBuf> {
    os().prop_map(PathBuf::from)
}

fn text() -> impl Strategy<Value = String> {
    ".{0,20}"
}

fn duration() -> impl Strategy<Value = Duration> {
    (any::<u32>(), 0u32..1_000_000_000).prop_map(|(secs, nanos)| Duration::new(u64::from(secs), nanos))
}

fn place() -> impl Strategy<Value = Place> {
    (option::of(text()), path()).prop_map(|(session, path)| Place { session, path })
}

fn size() -> impl Strategy<Value = WinSize> {
    any::<(u16, u16)>().prop_map(|(rows, cols)| WinSize { rows, cols })
}

fn program() -> impl Strategy<Value = Program> {
    prop_oneof![bytes().prop_map(Program::Shell), vec(os(), 0..4).prop_map(Program::Argv)]
}

fn init() -> impl Strategy<Value = SessionInit> {
    prop_oneof![
        Just(SessionInit::Default),
        Just(SessionInit::Bare),
        vec(path(), 0..3).prop_map(|files| SessionInit::Login { files })
    ]
}

prop_compose! {
    fn exec_request()(
        session in option::of(text()), program in program(), cwd in option::of(path()),
        env in vec((os(), option::of(os())), 0..4), stdin in select(vec![Stdin::Null, Stdin::Stream]),
        timeout in option::of(duration()), grace in option::of(duration()), pty in option::of(size()),
        streams in select(vec![Streams::Merged, Streams::Apart]), init in init(),
        capture in prop_oneof![
            Just(Capture::Stream),
            any::<(u64, u64)>().prop_map(|(head, tail)| Capture::Collect(Keep { head, tail })),
        ],
        spill in prop_oneof![Just(Spill::Off), any::<u64>().prop_map(Spill::UpTo)],
    ) -> ExecRequest {
        ExecRequest { session, program, cwd, env, stdin, timeout, grace, pty, streams, init, capture, spill }
    }
}

prop_compose! {
    fn job_request()(
        session in option::of(text()), program in program(), cwd in option::of(path()),
        env in vec((os(), option::of(os())), 0..4), stdin in select(vec![Stdin::Null, Stdin::Stream]),
        pty in option::of(size()), timeout in option::of(duration()), init in init(),
        labels in vec((text(), text()), 0..3), (head, tail) in any::<(u64, u64)>(),
    ) -> JobRequest {
        let log = LogLimits { head, tail };
        JobRequest { session, program, cwd, env, stdin, pty, timeout, init, labels, log }
    }
}

fn skip() -> impl Strategy<Value = Skip> {
    select(vec![Skip::HiddenAndIgnored, Skip::Ignored, Skip::Hidden, Skip::Nothing])
}

prop_compose! {
    fn search_request()(
        root in place(), pattern in text(), syntax in select(vec![Syntax::Regex, Syntax::Literal]),
        case in select(vec![Case::Sensitive, Case::Insensitive, Case::Smart]), globs in vec(text(), 0..3), skip in skip(),
        mode in select(vec![SearchMode::Lines, SearchMode::Files, SearchMode::Counts]),
        (before, after, offset, limit, max_line) in any::<(u32, u32, u32, u32, u32)>(), time_limit_ms in any::<u64>(),
    ) -> SearchRequest {
        SearchRequest {
            root, pattern, syntax, case, globs, skip, mode, before, after, offset, limit, max_line, time_limit_ms,
        }
    }
}

fn version() -> impl Strategy<Value = FileVersion> {
    any::<(u64, u64, u64, i64, i64)>().prop_map(|(dev, ino, size, mtime_ns, ctime_ns)| FileVersion {
        dev,
        ino,
        size,
        mtime_ns,
        ctime_ns,
    })
}

fn target() -> impl Strategy<Value = Target> {
    select(vec![Target::Leader, Target::Tree, Target::Foreground])
}

fn parents() -> impl Strategy<Value = Parents> {
    select(vec![Parents::MustExist, Parents::Create])
}

fn file_call() -> impl Strategy<Value = Call> {
    let expect = prop_oneof![
        Just(Expect::Any),
        Just(Expect::Absent),
        version().prop_map(Expect::Version),
        bytes().prop_map(Expect::Hash)
    ];
    let moved = || {
        (place(), place(), select(vec![Existing::Refuse, Existing::Replace]), parents())
            .prop_map(|(from, to, existing, parents)| MoveRequest { from, to, existing, parents })
    };
    prop_oneof![
        (place(), select(vec![Follow::Yes, Follow::No]))
            .prop_map(|(place, follow)| Call::Stat(StatRequest { place, follow })),
        (place(), any::<(u32, u32)>()).prop_map(|(place, (offset, limit))| Call::List(ListRequest {
            place,
            offset,
            limit
        })),
        (place(), any::<(u64, u64, u32, u32)>()).prop_map(|(place, (first, limit, max_line, max_bytes))| {
            Call::ReadLines(LinesRequest { place, first, limit, max_line, max_bytes })
        }),
        (place(), any::<(u64, u64)>()).prop_map(|(place, (offset, limit))| Call::ReadBytes(BytesRequest {
            place,
            offset,
            limit
        })),
        (place(), expect, parents(), option::of(any::<u32>())).prop_map(|(place, expect, parents, mode)| {
            Call::Write(WriteRequest { place, expect, parents, mode })
        }),
        (place(), parents()).prop_map(|(place, parents)| Call::Mkdir(MkdirRequest { place, parents })),
        (place(), select(vec![Depth::Single, Depth::Recursive]))
            .prop_map(|(place, depth)| Call::Remove(RemoveRequest { place, depth })),
        moved().prop_map(Call::Move),
        moved().prop_map(Call::Copy),
        (place(), text(), skip(), select(vec![Order::Newest, Order::Path]), any::<(u32, u32)>()).prop_map(
            |(root, pattern, skip, order, (offset, limit))| {
                Call::Glob(GlobRequest { root, pattern, skip, order, offset, limit })
            }
        ),
        search_request().prop_map(Call::Search),
        place().prop_map(Call::Hash),
        place().prop_map(Call::Resolve),
    ]
}

fn job_call() -> impl Strategy<Value = Call> {
    prop_oneof![
        job_request().prop_map(Call::JobStart),
        Just(Call::JobList),
        text().prop_map(Call::JobGet),
        (text(), any::<(u64, u32)>()).prop_map(|(id, (offset, max))| Call::JobRead(JobRead {
            id,
            offset,
            max
        })),
        (text(), any::<u64>()).prop_map(|(id, offset)| Call::JobFollow(JobFollow { id, offset })),
        (text(), option::of(duration())).prop_map(|(id, timeout)| Call::JobWait(JobWait { id, timeout })),
        (text(), bytes()).prop_map(|(id, bytes)| Call::JobWrite(JobWrite { id, bytes })),
        text().prop_map(Call::JobCloseStdin),
        (text(), any::<i32>(), target()).prop_map(|(id, number, target)| Call::JobSignal(JobSignal {
            id,
            number,
            target
        })),
        (text(), option::of(duration())).prop_map(|(id, grace)| Call::JobKill(JobKill { id, grace })),
        (text(), size()).prop_map(|(id, size)| Call::JobResize(JobResize { id, size })),
        text().prop_map(Call::JobForget),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        exec_request().prop_map(Call::Exec),
        Just(Call::Info),
        Just(Call::Shutdown),
        text().prop_map(Call::Session),
        text().prop_map(Call::SessionForget),
        any::<u64>().prop_map(Call::EndLeftRunning),
        job_call(),
        file_call(),
    ]
}

fn to_agent() -> impl Strategy<Value = ToAgent> {
    let hello = (any::<(u64, u16, u16)>(), text(), text(), option::of(bytes())).prop_map(
        |((magic, oldest, newest), version, build, token)| Hello {
            magic,
            oldest,
            newest,
            version,
            build,
            token,
        },
    );
    let control = prop_oneof![
        Just(Control::Cancel),
        (any::<i32>(), target()).prop_map(|(number, target)| Control::Signal { number, target }),
        size().prop_map(Control::Resize)
    ];
    prop_oneof![
        hello.prop_map(ToAgent::Hello),
        (any::<(u32, u32)>(), call()).prop_map(|((id, window), call)| ToAgent::Call {
            id,
            window,
            call: Box::new(call)
        }),
        (any::<u32>(), vec(any::<u8>(), 1..50)).prop_map(|(id, bytes)| ToAgent::Data { id, bytes }),
        any::<u32>().prop_map(ToAgent::End),
        any::<(u32, u32)>().prop_map(|(id, bytes)| ToAgent::Credit { id, bytes }),
        (any::<u32>(), control).prop_map(|(id, control)| ToAgent::Control { id, control }),
        text().prop_map(ToAgent::Fatal),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let kinds = vec![FileErrorKind::NotFound, FileErrorKind::Changed, FileErrorKind::Other];
    prop_oneof![
        (select(kinds), text(), path(), any::<i32>(), text()).prop_map(
            |(kind, action, path, errno, reason)| {
                Fault::File(FileError { kind, action, path, errno, reason })
            }
        ),
        text().prop_map(Fault::NoSuchJob),
        text().prop_map(Fault::Invalid),
        Just(Fault::Cancelled),
        Just(Fault::NoShell),
    ]
}

fn to_client() -> impl Strategy<Value = ToClient> {
    let welcome =
        (any::<(u16, u32, u64)>(), text(), text()).prop_map(|((protocol, pid, instance), version, build)| {
            Welcome { magic: MAGIC, protocol, version, build, pid, instance }
        });
    let channels =
        vec![Channel::Output(StreamId::Stdout), Channel::Output(StreamId::Stderr), Channel::Answer];
    let refusal = prop_oneof![
        (any::<(u16, u16)>(), text()).prop_map(|((oldest, newest), version)| Refusal::Protocol {
            oldest,
            newest,
            version
        }),
        Just(Refusal::Token),
        Just(Refusal::OwnCommand),
    ];
    prop_oneof![
        welcome.prop_map(ToClient::Welcome),
        refusal.prop_map(ToClient::Refused),
        (any::<u32>(), select(channels), vec(any::<u8>(), 1..50))
            .prop_map(|(id, channel, bytes)| ToClient::Data { id, channel, bytes }),
        any::<(u32, u32)>().prop_map(|(id, bytes)| ToClient::Credit { id, bytes }),
        any::<(u32, u32)>().prop_map(|(id, pid)| ToClient::Started { id, pid }),
        (any::<u32>(), bytes()).prop_map(|(id, answer)| ToClient::Done { id, answer }),
        (any::<u32>(), fault()).prop_map(|(id, fault)| ToClient::Failed { id, fault }),
        text().prop_map(ToClient::Fatal),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        Just(Ending::Exited),
        Just(Ending::TimedOut),
        (path(), text()).prop_map(|(path, reason)| Ending::NoDirectory { path, reason }),
        (os(), any::<i32>(), text()).prop_map(|(program, errno, reason)| Ending::NotStarted {
            program,
            errno,
            reason
        }),
    ]
}

fn notice() -> impl Strategy<Value = Notice> {
    prop_oneof![
        (path(), path()).prop_map(|(from, to)| Notice::DirectoryRecovered { from, to }),
        text().prop_map(Notice::StateNotKept),
        any::<u32>().prop_map(Notice::Unkillable),
        Just(Notice::SpillFull),
    ]
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        any::<i32>().prop_map(Status::Code),
        any::<i32>().prop_map(Status::Signal),
        Just(Status::Unknown)
    ]
}

fn captured() -> impl Strategy<Value = Captured> {
    (bytes(), bytes(), any::<(u64, u64)>(), option::of(path()))
        .prop_map(|(head, tail, (omitted, total), spill)| Captured { head, tail, omitted, total, spill })
}

prop_compose! {
    fn exit()(
        ending in ending(), status in status(), cwd in path(), duration in duration(), left_running in any::<u32>(),
        notices in vec(notice(), 0..3), stdout in captured(), stderr in captured(),
    ) -> Exit {
        Exit { ending, status, cwd, duration, left_running, notices, stdout, stderr }
    }
}

prop_compose! {
    fn job_info()(
        (id, command) in (text(), bytes()), labels in vec((text(), text()), 0..3), session in option::of(text()), cwd in path(),
        (pid, started_ms, ended_ms) in any::<(u32, i64, Option<i64>)>(),
        state in prop_oneof![
            Just(JobState::Running),
            Just(JobState::Lost),
            (ending(), status()).prop_map(|(ending, status)| JobState::Ended { ending, status }),
        ],
        (pty, stdin_open, output_end, output_dropped, left_running) in any::<(bool, bool, u64, u64, u32)>(),
        notices in vec(notice(), 0..3),
    ) -> JobInfo {
        JobInfo {
            id, command, labels, session, cwd, pid, started_ms, ended_ms, state, pty, stdin_open, output_end, output_dropped,
            left_running, notices,
        }
    }
}

prop_compose! {
    fn info()(
        (version, build) in (text(), text()), (pid, instance, uptime_ms, clients, calls) in any::<(u32, u64, u64, u32, u32)>(),
        (jobs_running, jobs_ended, idle_ms, commands, file_operations) in any::<(u32, u32, u64, u64, u64)>(),
        left_running in vec(
            (any::<u64>(), option::of(text()), bytes(), vec(any::<u32>(), 0..3))
                .prop_map(|(id, session, command, pids)| LeftRunning { id, session, command, pids }),
            0..3,
        ),
        shell in prop_oneof![path().prop_map(ShellKind::Bash), Just(ShellKind::Missing)],
        directory in option::of(path()), problems in vec(text(), 0..3),
    ) -> Info {
        Info {
            version, build, pid, instance, uptime_ms, clients, calls, jobs_running, jobs_ended, idle_ms, commands,
            file_operations, left_running, shell, directory, problems,
        }
    }
}

prop_compose! {
    fn search_result()(
        root in path(),
        files in vec(
            (path(), any::<u64>(), vec((any::<(u64, u64)>(), bytes()), 0..3)).prop_map(|(path, count, lines)| {
                let lines = lines.into_iter().map(|((number, length), bytes)| {
                    FoundLine { number, role: LineRole::Match, bytes, length }
                });
                FileMatches { path, count, lines: lines.collect() }
            }),
            0..3,
        ),
        (total, more, searched, binary, unreadable) in any::<(u64, bool, u64, u64, u64)>(),
    ) -> SearchResult {
        let completeness = Completeness::Complete;
        SearchResult { root, files, total, more, searched, binary, unreadable, completeness }
    }
}

fn file_answers() -> impl Strategy<Value = (FileStat, Listing, Lines)> {
    (path(), any::<(u32, u32, u32, u64)>(), version(), option::of(path()), bytes()).prop_map(
        |(path, (mode, uid, gid, nlink), version, target, bytes)| {
            let kind = FileKind::Symlink;
            let stat = FileStat { path: path.clone(), kind, mode, uid, gid, nlink, version, target };
            let entry = Entry { name: path.clone(), kind, size: nlink, mode, mtime_ns: version.mtime_ns };
            let listing = Listing { path: path.clone(), entries: vec![entry; 2], total: nlink };
            let lines = vec![Line { bytes, length: nlink }; 2];
            let texture = Texture::Binary;
            (stat, listing, Lines { path, lines, total: nlink, final_newline: true, texture, mode, version })
        },
    )
}

fn comes_back<T: Wire + PartialEq + std::fmt::Debug>(value: &T) -> Result<(), TestCaseError> {
    let bytes = value.to_bytes();
    prop_assert_eq!(&T::from_bytes(&bytes), &Ok(T::from_bytes(&bytes).unwrap()));
    prop_assert_eq!(&T::from_bytes(&bytes).unwrap(), value);
    // Nothing is ignored: neither a missing nor an additional byte.
    for length in 0..bytes.len() {
        prop_assert!(T::from_bytes(&bytes[..length]).is_err());
    }
    prop_assert!(T::from_bytes(&[bytes, vec![0]].concat()).is_err());
    Ok(())
}

proptest! {
    #[test]
    fn messages_to_an_agent_come_back(messages in vec(to_agent(), 0..6)) {
        let stream: Vec<u8> = messages.iter().flat_map(ToAgent::encode).collect();
        let mut reader = &stream[..];
        for message in messages {
            let frame = read_frame(&mut reader, MAX_BODY).unwrap().unwrap();
            prop_assert_eq!(ToAgent::decode(frame).unwrap(), message);
        }
        prop_assert!(read_frame(&mut reader, MAX_BODY).unwrap().is_none());
    }

    #[test]
    fn messages_to_a_client_come_back(messages in vec(to_client(), 0..6)) {
        let stream: Vec<u8> = messages.iter().flat_map(ToClient::encode).collect();
        let mut reader = &stream[..];
        for message in messages {
            let frame = read_frame(&mut reader, MAX_BODY).unwrap().unwrap();
            prop_assert_eq!(ToClient::decode(frame).unwrap(), message);
        }
        prop_assert!(read_frame(&mut reader, MAX_BODY).unwrap().is_none());
    }

    #[test]
    fn answers_come_back(exit in exit(), job in job_info(), info in info(), found in search_result(), files in file_answers()) {
        comes_back(&exit)?;
        comes_back(&job)?;
        comes_back(&info)?;
        comes_back(&found)?;
        comes_back(&files.0)?;
        comes_back(&files.1)?;
        comes_back(&files.2)?;
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..400)) {
        let mut reader = &bytes[..];
        while let Ok(Some(frame)) = read_frame(&mut reader, MAX_BODY) {
            let _ = ToAgent::decode(frame.clone());
            let _ = ToClient::decode(frame);
        }
        let _ = Call::from_bytes(&bytes);
        let _ = Exit::from_bytes(&bytes);
        let _ = Info::from_bytes(&bytes);
        let _ = Vec::<JobInfo>::from_bytes(&bytes);
        let _ = SearchResult::from_bytes(&bytes);
    }

    #[test]
    fn spoilt_messages_do_no_harm(message in to_agent(), answer in to_client(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for mut bytes in [message.encode(), answer.encode()] {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(Some(frame)) = read_frame(&mut &bytes[..], MAX_BODY) {
                let _ = ToAgent::decode(frame.clone());
                let _ = ToClient::decode(frame);
            }
        }
    }

    #[test]
    fn what_is_accepted_says_the_same_again(message in to_agent(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = message.encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(Some(frame)) = read_frame(&mut &bytes[..], MAX_BODY)
            && let Ok(accepted) = ToAgent::decode(frame)
            // The number of a frame that belongs to no call is not looked at.
            && !matches!(accepted, ToAgent::Hello(_) | ToAgent::Fatal(_))
        {
            // A shorter length leaves the rest for the next frame.
            prop_assert!(bytes.starts_with(&accepted.encode()));
        }
    }
}

#[test]
fn a_frame_that_claims_to_be_long_costs_nothing() {
    let mut bytes = u32::MAX.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0x11, 1, 0, 0, 0]);
    assert!(read_frame(&mut &bytes[..], MAX_BODY).is_err());
    // Within the limit but not there.
    let mut bytes = (MAX_BODY as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0x11, 1, 0, 0, 0, 42]);
    assert!(read_frame(&mut &bytes[..], MAX_BODY).is_err());
}

#[test]
fn a_list_that_claims_to_be_long_costs_nothing() {
    let bytes = [&u32::MAX.to_le_bytes()[..], &[0; 16]].concat();
    assert!(Vec::<JobInfo>::from_bytes(&bytes).is_err());
    assert!(Vec::<u8>::from_bytes(&bytes).is_err());
    assert!(String::from_bytes(&bytes).is_err());
}

#[test]
fn the_hello_keeps_its_layout() {
    let hello =
        Hello { magic: MAGIC, oldest: 1, newest: 2, version: "v".into(), build: "b".into(), token: None };
    let expected = b"\x18\0\0\0\x01\0\0\0\0hermesbx\x01\0\x02\0\x01\0\0\0v\x01\0\0\0b\0";
    let mut frame = ToAgent::Hello(hello).encode();
    assert_eq!(frame.len(), expected.len() - 1 + 1);
    frame[0] = expected[0];
    assert_eq!(frame[4..], expected[4..]);
    let refused = Frame::encode(hermes_box::proto::frame::Kind::Refused, 0, |out| Refusal::Token.put(out));
    assert_eq!(refused, b"\x01\0\0\0\x03\0\0\0\0\x02");
}
