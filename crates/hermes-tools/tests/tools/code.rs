//! Scripts that call tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hermes_model::{ToolSpec, ToolStatus};
use hermes_testkit::{Engine, Image, SshServer, need};
use hermes_tools::code::{Mode, Rules};
use hermes_tools::file::{Patch, ReadFile, SearchFiles, WriteFile};
use hermes_tools::gate::Waiting;
use hermes_tools::{
    Action, Arguments, ExecuteCode, Gate, Run, Running, Terminal, Tool, ToolOutput, Verdict, Workplace,
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::fixture::{Closed, Fixture, SECRET, Talk, eventually};
use crate::terminal::left;

/// A tool that counts its calls, and answers with as many characters as it is asked for.
struct Counting {
    calls: Arc<AtomicUsize>,
    /// Calls wait until this many are under way.
    together: Barrier,
}

impl Counting {
    fn waiting_for(together: usize) -> (Arc<dyn Tool>, Arc<AtomicUsize>) {
        let calls = Arc::<AtomicUsize>::default();
        (Arc::new(Self { calls: Arc::clone(&calls), together: Barrier::new(together) }), calls)
    }
}

impl Tool for Counting {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({
            "type": "object",
            "properties": { "limit": { "type": "integer" }, "path": { "type": "string" } },
            "required": ["path"],
        });
        ToolSpec { name: "read_file".into(), description: "Counts.".into(), parameters }
    }

    fn toolset(&self) -> &'static str {
        "file"
    }

    fn brief(&self, _: &Arguments) -> String {
        String::new()
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.together.wait().await;
            let limit = run.arguments.get("limit").and_then(Value::as_u64).unwrap_or(1) as usize;
            let path = run.arguments["path"].as_str().unwrap();
            ToolOutput::json(
                &json!({ "content": "é".repeat(limit), "asked": path.len(), "session": run.session }),
            )
        })
    }
}

fn script(place: Workplace, more: Vec<Arc<dyn Tool>>) -> ExecuteCode {
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Terminal::new(place.clone()))];
    tools.extend(more);
    ExecuteCode::new(place, tools)
}

fn talk(fixture: &Fixture) -> Talk {
    Talk::new(script(fixture.place(), Vec::new()))
}

async fn run(talk: &Talk, code: &str) -> Value {
    talk.call(json!({ "code": code })).await
}

/// What processes like this are left in the place.
async fn left_of(fixture: &Fixture, pattern: &str) -> String {
    left(&Talk::new(Terminal::new(fixture.place())), pattern).await
}

/// What scripts still run in the place.
async fn scripts_left(fixture: &Fixture) -> String {
    let pattern = format!("[^ ]*python[^ ]* -u {}/tmp/hermes_sandbox_[^ ]*", fixture.dir().display());
    left_of(fixture, &pattern).await
}

#[tokio::test]
async fn a_script_calls_tools_and_prints() {
    let fixture = Fixture::local();
    let (counting, calls) = Counting::waiting_for(1);
    let talk = Talk::new(script(fixture.place(), vec![counting]));
    let code = "from hermes_tools import terminal, read_file, json_parse, shell_quote, retry\n\
        out = terminal('echo ' + shell_quote('a b'), timeout=9)\n\
        print(out['output'], out['exit_code'], read_file('x')['session'], json_parse('{\"a\": \"\\t\"}'))\n\
        print(retry(lambda: 7, 3, 2), read_file(path='y', limit=3)['content'])\n";
    let output = talk.run(json!({ "code": code })).await;
    assert_eq!(output.status, ToolStatus::Ok);
    let result = crate::fixture::json_of(&output);
    assert_eq!(result["output"], "a b 0 conversation {'a': '\\t'}\n7 ééé\n");
    assert_eq!((&result["status"], &result["tool_calls_made"]), (&json!("success"), &json!(3)));
    assert_eq!(result["exit_code"], 0);
    assert!(result["duration_seconds"].is_number() && result.get("error").is_none(), "{result}");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert!(talk.live().contains("7 ééé"));
}

#[tokio::test]
async fn a_script_works_with_files() {
    let fixture = Fixture::local();
    let place = fixture.place();
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile::new(place.clone())),
        Arc::new(WriteFile::new(place.clone())),
        Arc::new(Patch::new(place.clone())),
        Arc::new(SearchFiles::new(place.clone())),
    ];
    let talk = Talk::new(ExecuteCode::new(place, tools));
    let code = "from hermes_tools import patch, read_file, search_files, write_file\n\
        print('error' in write_file('notes.txt', 'one\\ntwo\\n'))\n\
        print(patch('notes.txt', 'two', 'three')['success'])\n\
        print('three' in read_file('notes.txt')['content'], 'three' in str(search_files('thre+')))\n";
    let result = run(&talk, code).await;
    assert_eq!(result["output"], "False\nTrue\nTrue True\n", "{result}");
}

#[tokio::test]
async fn long_calls_and_results_are_made_once() {
    let fixture = Fixture::local();
    let (counting, calls) = Counting::waiting_for(1);
    let talk = Talk::new(script(fixture.place(), vec![counting]));
    let code = "from hermes_tools import read_file\n\
        r = read_file('p' * 300000, limit=400000)\nprint(r['asked'], len(r['content']))\n";
    let result = run(&talk, code).await;
    assert_eq!(result["output"], "300000 400000\n", "{result}");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_from_threads_run_at_once() {
    let fixture = Fixture::local();
    // None of the four calls ends before all are under way.
    let (counting, calls) = Counting::waiting_for(4);
    let talk = Talk::new(script(fixture.place(), vec![counting]));
    let code = "from hermes_tools import read_file\nfrom concurrent.futures import ThreadPoolExecutor\n\
        with ThreadPoolExecutor(4) as pool:\n    \
        print([r['asked'] for r in pool.map(lambda n: read_file('p' * n), range(1, 5))])\n";
    let result = run(&talk, code).await;
    assert_eq!(result["output"], "[1, 2, 3, 4]\n", "{result}");
    assert_eq!(calls.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn failures_are_told_with_what_the_script_said() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let raised = run(&talk, "print('before')\nraise ValueError('wrong ' + 'value')").await;
    assert_eq!((&raised["status"], &raised["exit_code"]), (&json!("error"), &json!(1)));
    let output = raised["output"].as_str().unwrap();
    assert!(output.starts_with("before\n\n--- stderr ---\nTraceback"), "{output}");
    assert!(output.ends_with("ValueError: wrong value"), "{output}");
    let gone = run(&talk, "import os\nprint('said')\nos._exit(7)").await;
    assert_eq!((&gone["exit_code"], &gone["output"]), (&json!(7), &json!("said\n")));
    let killed = run(&talk, "import os\nos.kill(os.getpid(), 9)").await;
    assert_eq!(killed["exit_code"], 137);
    let odd = run(&talk, "import sys\nsys.stdout.buffer.write(b'a\\xffb\\n')").await;
    assert_eq!((&odd["output"], &odd["status"]), (&json!("a\u{fffd}b\n"), &json!("success")));
    assert!(run(&talk, "  ").await["error"].as_str().unwrap().contains("'code' is missing"));
}

#[tokio::test]
async fn children_that_hold_the_pipes_hold_up_nothing() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let code = "import os, subprocess\nsubprocess.Popen(['sleep', '7301'])\n\
        if os.fork() == 0:\n    os.execvp('sleep', ['sleep', '7302'])\nprint('done')";
    let result = run(&talk, code).await;
    assert_eq!((&result["output"], &result["status"]), (&json!("done\n"), &json!("success")));
    assert_eq!(left_of(&fixture, "sleep 730[12]").await, "");
}

#[tokio::test]
async fn copies_of_the_script_cannot_call_tools() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let code = "import os\nfrom hermes_tools import terminal\npid = os.fork()\nif pid == 0:\n    \
        try:\n        terminal('true')\n    except RuntimeError as error:\n        print('refused', flush=True)\n    \
        os._exit(0)\nos.waitpid(pid, 0)\nprint(terminal('echo mine')['output'])";
    assert_eq!(run(&talk, code).await["output"], "refused\nmine\n");
}

#[tokio::test]
async fn a_time_limit_ends_everything() {
    let fixture = Fixture::local();
    let rules = Rules { timeout: Duration::from_secs(2), ..Rules::default() };
    let talk = Talk::new(script(fixture.place(), Vec::new()).with(rules));
    let code =
        "import subprocess\nprint('begun')\nsubprocess.Popen(['setsid', 'sleep', '7303'])\nwhile True: pass";
    let result = run(&talk, code).await;
    assert_eq!(result["status"], "timeout");
    assert!(result["output"].as_str().unwrap().starts_with("begun"), "{result}");
    assert!(result["error"].as_str().unwrap().contains("2 s"), "{result}");
    assert_eq!(left_of(&fixture, "sleep 7303").await, "");
    assert_eq!(scripts_left(&fixture).await, "");
}

#[tokio::test]
async fn cancelling_ends_the_script_and_its_calls() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let code = "import signal\nfrom hermes_tools import terminal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
        print('begun')\nterminal('sleep 7304')\nwhile True: pass";
    let cancel = async {
        eventually("the script prints", || talk.live().contains("begun")).await;
        assert_ne!(scripts_left(&fixture).await, "");
        talk.cancel.cancel();
    };
    let (result, ()) = tokio::join!(run(&talk, code), cancel);
    assert_eq!(result["status"], "interrupted", "{result}");
    assert_eq!(left_of(&fixture, "sleep 7304").await, "");
    assert_eq!(scripts_left(&fixture).await, "");
}

const FLOOD: &str = "import sys\nwhile True: sys.stdout.write('x' * 65536)";

#[tokio::test]
async fn a_script_that_prints_without_end_is_held_to_its_time() {
    let fixture = Fixture::local();
    let rules = Rules { timeout: Duration::from_secs(2), ..Rules::default() };
    let talk = Talk::new(script(fixture.place(), Vec::new()).with(rules));
    let result = run(&talk, FLOOD).await;
    assert_eq!((&result["status"], &result["stdout_truncated"]), (&json!("timeout"), &json!(true)));
    assert!(result["stdout_bytes_total"].as_u64().unwrap() > 1 << 20, "{}", result["stdout_bytes_total"]);
    assert!(result["output"].as_str().unwrap().len() < 51_000);
    // What this side takes in is bounded, however much is printed.
    assert!(talk.live().len() < 1 << 20, "{}", talk.live().len());
    assert_eq!(scripts_left(&fixture).await, "");
}

#[tokio::test]
async fn a_script_that_prints_without_end_can_be_cancelled() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let cancel = async {
        eventually("the script prints", || talk.live().contains('x')).await;
        talk.cancel.cancel();
    };
    let (result, ()) = tokio::join!(run(&talk, FLOOD), cancel);
    assert_eq!(result["status"], "interrupted");
    assert!(talk.live().len() < 1 << 20, "{}", talk.live().len());
    assert_eq!(scripts_left(&fixture).await, "");
}

#[tokio::test]
async fn the_end_of_a_very_long_output_is_kept() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let result = run(&talk, "for n in range(1000000, 1200000): print('line', n)\nraise SystemExit(3)").await;
    assert_eq!((&result["exit_code"], &result["stdout_bytes_total"]), (&json!(3), &json!(2_600_000)));
    let output = result["output"].as_str().unwrap();
    assert!(output.starts_with("line 1000000\n") && output.ends_with("line 1199999\n"), "{output}");
    let captured = result["stdout_bytes_captured"].as_u64().unwrap();
    assert_eq!(captured + result["stdout_bytes_omitted"].as_u64().unwrap(), 2_600_000);
    assert!(talk.live().len() < 1 << 20, "{}", talk.live().len());
}

#[tokio::test]
async fn what_a_script_started_ends_with_it() {
    let fixture = Fixture::local();
    let code = "import subprocess\nsubprocess.run(['setsid', '-f', 'sleep', '7305'])\nprint('done')";
    let result = run(&talk(&fixture), code).await;
    assert_eq!((&result["output"], &result["status"]), (&json!("done\n"), &json!("success")), "{result}");
    assert_eq!(left_of(&fixture, "sleep 7305").await, "");
}

#[tokio::test]
async fn a_script_that_kills_its_launcher_is_ended_too() {
    let fixture = Fixture::local();
    let code = "import os, subprocess, time\nsubprocess.run(['setsid', '-f', 'sleep', '7306'])\n\
        os.kill(os.getppid(), 9)\ntime.sleep(7307)";
    let result = run(&talk(&fixture), code).await;
    assert_eq!(result["status"], "error");
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("was killed by signal 9") && error.contains("were ended"), "{error}");
    assert_eq!(left_of(&fixture, "sleep 7306").await, "");
    assert_eq!(scripts_left(&fixture).await, "");
    let made = std::fs::read_dir(fixture.dir().join("tmp")).unwrap();
    let names: Vec<_> = made.map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().starts_with("hermes_sandbox_")), "{names:?}");
}

#[tokio::test]
async fn what_is_no_call_is_told_as_such() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    for sent in ["struct.pack('>I', 3) + b'abc'", "bytes(4)", "struct.pack('>I', 1 << 31)"] {
        let code = format!(
            "import os, socket, struct\nsocket.socket(fileno=int(os.environ['HERMES_TOOLS_FD'])).sendall({sent})\n\
             while True: pass"
        );
        let result = run(&talk, &code).await;
        assert_eq!(result["status"], "error");
        assert!(result["error"].as_str().unwrap().contains("that is no call"), "{result}");
        assert_eq!(scripts_left(&fixture).await, "");
    }
}

/// Lets scripts pass but not their commands.
struct NoCommands;

impl Gate for NoCommands {
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        let verdict = match action {
            Action::Command { .. } => Verdict::Refused { reason: "no commands".into() },
            _ => Verdict::Allowed,
        };
        Box::pin(std::future::ready(verdict))
    }
}

#[tokio::test]
async fn the_gate_stands_before_the_script_and_before_each_call() {
    let fixture = Fixture::local();
    let mut talk = talk(&fixture);
    talk.gate = Box::new(Closed);
    let marker = fixture.dir().join("marker");
    let refused = run(&talk, &format!("open({:?}, 'w')", marker.to_str().unwrap())).await;
    assert!(refused["error"].as_str().unwrap().contains("not today"), "{refused}");
    assert!(!marker.exists());
    talk.gate = Box::new(NoCommands);
    let result = run(&talk, "from hermes_tools import terminal\nprint(terminal('id')['error'])").await;
    assert_eq!(result["output"], "no commands\n");
}

#[tokio::test]
async fn limits_hold() {
    let fixture = Fixture::local();
    let (counting, calls) = Counting::waiting_for(1);
    let rules = Rules { most_calls: 2, ..Rules::default() };
    let talk = Talk::new(script(fixture.place(), vec![counting]).with(rules));
    let code = "from hermes_tools import read_file\nfor n in range(4): print('error' in read_file('x'))";
    let result = run(&talk, code).await;
    assert_eq!(
        (&result["output"], &result["tool_calls_made"]),
        (&json!("False\nFalse\nTrue\nTrue\n"), &json!(2))
    );
    assert_eq!(calls.load(Ordering::SeqCst), 2);

    let long = run(&talk, "for n in range(20000): print('line', n)").await;
    assert_eq!(long["stdout_truncated"], true);
    assert_eq!(long["stdout_bytes_total"], 208_890);
    let output = long["output"].as_str().unwrap();
    assert!(output.starts_with("line 0\n") && output.ends_with("line 19999\n") && output.len() < 51_000);
    let captured = long["stdout_bytes_captured"].as_u64().unwrap();
    assert_eq!(captured + long["stdout_bytes_omitted"].as_u64().unwrap(), 208_890);
    assert!(long["warning"].is_string());
}

#[tokio::test]
async fn only_tools_for_scripts_are_offered() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let code = "import hermes_tools as h\nprint(hasattr(h, 'process'), hasattr(h, 'read_file'))\n\
        print(h._call('process', {'action': 'list'})['error'][:31])\n\
        print(h._call('terminal', {'command': 'true', 'background': True})['error'])\n\
        try: h.terminal('true', background=True)\nexcept TypeError: print('no such parameter')";
    let result = run(&talk, code).await;
    let expected = "False False\na script cannot call 'process':\n'background' cannot be used in a script\nno such parameter\n";
    assert_eq!(result["output"], expected, "{result}");
    assert_eq!(result["tool_calls_made"], 0);
    let spec = talk.tool.spec();
    assert!(spec.description.contains("import terminal`") && spec.description.len() < 500);
}

#[tokio::test]
async fn secrets_do_not_reach_the_script_or_the_model() {
    let fixture = Fixture::local();
    let talk = talk(&fixture);
    let shell = Talk::new(Terminal::new(fixture.place()));
    shell.call(json!({ "command": "export MY_TOKEN=t OWN=o LC_OWN=l" })).await;
    let other = Talk::new(script(fixture.place(), Vec::new()));
    for talk in [&talk, &other] {
        let code = format!(
            "import os\nprint([n for n in ('MY_TOKEN', 'OWN', 'HERMES_TOOLS_FD') if n in os.environ], \
             'HOME' in os.environ, os.environ['PYTHONUTF8'])\n\
             seen = open('/proc/%d/environ' % os.getppid()).read()\nprint('MY_TOKEN' in seen, 'HOME=' in seen)\n\
             import hermes_tools\nprint('{SECRET}')"
        );
        let result = run(talk, &code).await;
        let output = result["output"].as_str().unwrap();
        assert!(output.starts_with("['HERMES_TOOLS_FD'] True 1\nFalse True\n"), "{output}");
        assert!(!output.contains(SECRET), "{output}");
    }
}

#[tokio::test]
async fn a_script_runs_in_the_project_or_in_a_place_of_its_own() {
    let fixture = Fixture::local();
    let place = fixture.place();
    let shell = Talk::new(Terminal::new(place.clone()));
    shell.call(json!({ "command": "mkdir -p \"$HOME/p\"; cd \"$HOME/p\"; echo 'X = 5' > mine.py" })).await;
    let project = Talk::new(ExecuteCode::new(place.clone(), Vec::new()));
    let code = "import os\nprint(os.path.basename(os.getcwd()))\nimport mine\nprint(mine.X)";
    assert_eq!(run(&project, code).await["output"], "p\n5\n");
    let rules = Rules { mode: Mode::Strict, ..Rules::default() };
    let strict = Talk::new(ExecuteCode::new(place, Vec::new()).with(rules));
    let result = run(&strict, "import os\nprint(os.path.basename(os.getcwd())[:15])\nimport mine").await;
    assert!(result["output"].as_str().unwrap().starts_with("hermes_sandbox_\n"), "{result}");
    assert!(result["output"].as_str().unwrap().contains("No module named 'mine'"), "{result}");
}

#[tokio::test]
async fn a_place_without_python_says_what_to_install() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container(engine);
    let result = run(&talk(&fixture), "print(1)").await;
    assert_eq!(result["status"], "error");
    assert!(result["error"].as_str().unwrap().contains("install Python 3.8 or newer"), "{result}");
}

#[tokio::test]
async fn a_script_calls_tools_in_a_container() {
    let Some(engine) = need("docker", Engine::get()) else { return };
    let fixture = Fixture::container_of(engine, Image::Python);
    let place = fixture.place();
    let (counting, calls) = Counting::waiting_for(1);
    let files: Vec<Arc<dyn Tool>> = vec![counting, Arc::new(WriteFile::new(place.clone()))];
    let talk = Talk::new(script(place, files));
    // A long answer is the one that made the other program run a call again and again.
    let code = "from hermes_tools import read_file, write_file, terminal\n\
        r = read_file('p' * 300000, limit=400000)\nprint(r['asked'], len(r['content']))\n\
        write_file('made.txt', 'one line\\n')\n\
        print(terminal('cat made.txt; ls /.dockerenv')['output'])\n";
    let result = run(&talk, code).await;
    assert_eq!(result["output"], "300000 400000\none line\n/.dockerenv\n", "{result}");
    assert_eq!((calls.load(Ordering::SeqCst), &result["tool_calls_made"]), (1, &json!(3)));
    let result = run(&talk, "import time\nprint('begun', flush=True)\nraise SystemExit(3)").await;
    assert_eq!((&result["status"], &result["exit_code"]), (&json!("error"), &json!(3)), "{result}");
}

#[tokio::test]
async fn a_script_calls_tools_over_ssh() {
    let Some(server) = need("an ssh server", SshServer::start()) else { return };
    let fixture = Fixture::ssh(server);
    let (counting, calls) = Counting::waiting_for(1);
    let talk = Talk::new(script(fixture.place(), vec![counting]));
    let code = "import os\nfrom hermes_tools import read_file, terminal\n\
        r = read_file('p' * 300000, limit=400000)\nprint(r['asked'], len(r['content']))\n\
        print(terminal('echo \"$SSH_CONNECTION\" | wc -w')['output'], 'HOME' in os.environ)\n";
    let result = run(&talk, code).await;
    assert_eq!(result["output"], "300000 400000\n4 True\n", "{result}");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}
