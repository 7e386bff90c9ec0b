//! One `state.db`, two programs: what one wrote the other lists, reads, searches, undoes, compacts and goes on with.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_store::rusqlite::Connection;
use hermes_store::sessions::{
    Body, Clash, Kind, ListFilter, NewMessage, NewSession, Resume, Role, SearchQuery, SessionId,
    SessionStore, Standing, UsageDelta, View,
};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The Python of the other program: beside the `hermes` that `HERMES_REFERENCE` names.
fn python() -> Option<PathBuf> {
    let hermes = std::env::var_os("HERMES_REFERENCE").map(PathBuf::from).filter(|p| p.exists());
    let found = hermes.map(|p| p.with_file_name("python")).filter(|p| p.exists());
    hermes_testkit::need(
        "the Python program",
        found.ok_or("HERMES_REFERENCE does not name it (scripts/test --reference installs it)"),
    )
}

/// Runs a script with `db` as the other program's store. What it puts into `out` comes back.
fn theirs(python: &Path, home: &Path, script: &str) -> Value {
    let program = format!(
        "import json\nfrom pathlib import Path\nfrom hermes_state import SessionDB\n\
         db = SessionDB(Path({path:?}))\nout = None\n{script}\ndb.close()\nprint(json.dumps(out))\n",
        path = home.join("state.db").to_str().unwrap()
    );
    let done = Command::new(python).args(["-c", &program]).env("HERMES_HOME", home).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{script}\n{out}\n{err}");
    serde_json::from_str(out.lines().last().unwrap()).unwrap()
}

fn open(home: &Path) -> SessionStore {
    SessionStore::open(&home.join("state.db")).unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// Every table, index and trigger with its columns, without what is written differently and means the same.
fn layout(path: &Path) -> BTreeMap<String, Vec<String>> {
    let db = Connection::open(path).unwrap();
    let mut names =
        db.prepare("SELECT type || ' ' || name, name, ifnull(sql, '') FROM sqlite_schema").unwrap();
    let rows = names.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let rows: Vec<(String, String, String)> = rows.unwrap().collect::<Result<_, _>>().unwrap();
    let parts = |kind: &str, name: &str, sql: &str| -> Vec<String> {
        if kind.starts_with("table") && !sql.contains("VIRTUAL") {
            let mut info = db.prepare("SELECT cid || name || type || \"notnull\" || ifnull(dflt_value, '-') || pk FROM pragma_table_info(?1)").unwrap();
            info.query_map([name], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        } else {
            let text = sql.replace("IF NOT EXISTS ", "");
            vec![text.split_whitespace().collect::<String>()]
        }
    };
    rows.into_iter().map(|(kind, name, sql)| (kind.clone(), parts(&kind, &name, &sql))).collect()
}

#[test]
fn both_make_the_same_tables() {
    let Some(python) = python() else { return };
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    theirs(&python, a.path(), "");
    drop(open(b.path()));
    assert_eq!(layout(&a.path().join("state.db")), layout(&b.path().join("state.db")));
}

#[test]
fn they_read_and_go_on_with_what_we_wrote() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let id = SessionId::from("20260101_000000_aaaaaa");
    let mut new = NewSession::new(id.clone(), "cli", at(0));
    new.model = Some("m".into());
    new.cwd = Some("/w".into());
    store.create(&new).unwrap();
    store.set_system_prompt(&id, "prompt").unwrap();
    let call = NewMessage {
        tool_calls: Some(json!([{"id": "c", "function": {"name": "terminal", "arguments": "{}"}}])),
        reasoning_content: Some("thought".into()),
        reasoning_details: Some(json!([{"t": 1}])),
        finish_reason: Some("tool_calls".into()),
        ..NewMessage::empty(Role::Assistant, at(2))
    };
    let result = NewMessage {
        tool_call_id: Some("c".into()),
        tool_name: Some("terminal".into()),
        ..NewMessage::new(Role::Tool, "output", at(3))
    };
    let parts = NewMessage {
        content: Some(Body::Parts(json!([{"type": "text", "text": "ünï zebra"}]))),
        api_content: Some("as sent ".into()),
        ..NewMessage::empty(Role::User, at(1))
    };
    store.append_all(&id, &[parts, call, result]).unwrap();
    store.set_title(&id, "ours", Clash::Refuse).unwrap();
    let usage =
        UsageDelta { input: 5, output: 2, api_calls: 1, model: Some("m".into()), ..UsageDelta::default() };
    store.add_usage(&id, &usage, at(3)).unwrap();
    // Single questions and helpers are there for them like any other.
    let mut question = NewSession::new(SessionId::from("question"), "cli", at(4));
    question.kind = Kind::OneShot;
    store.create(&question).unwrap();
    let mut helper = NewSession::new(SessionId::from("helper"), "cli", at(5));
    (helper.kind, helper.parent) = (Kind::Delegated, Some(id.clone()));
    store.create(&helper).unwrap();
    drop(store);

    let out = theirs(
        &python,
        home.path(),
        "s = db.get_session('20260101_000000_aaaaaa')\n\
         m = db.get_messages_as_conversation(s['id'])\n\
         db.append_message(s['id'], 'assistant', 'their answer')\n\
         out = {'s': s, 'm': m, 'listed': [r['id'] for r in db.list_sessions_rich()],\n\
                'title': db.resolve_session_by_title('ours'), 'found': len(db.search_messages('zebra')),\n\
                'resume': db.resolve_resume_session_id(s['id'])}",
    );
    assert_eq!((&out["s"]["message_count"], &out["s"]["tool_call_count"]), (&3.into(), &1.into()));
    assert_eq!((&out["s"]["system_prompt"], &out["s"]["input_tokens"]), (&"prompt".into(), &5.into()));
    assert_eq!(out["m"][0]["content"], json!([{"type": "text", "text": "ünï zebra"}]));
    assert_eq!(out["m"][0]["api_content"], "as sent ");
    assert_eq!(out["m"][1]["tool_calls"][0]["function"]["name"], "terminal");
    assert_eq!(out["m"][1]["reasoning_details"], json!([{"t": 1}]));
    assert_eq!(out["m"][2]["tool_call_id"], "c");
    assert_eq!(out["listed"], json!(["question", id.as_str()]));
    assert_eq!((&out["title"], &out["found"]), (&id.as_str().into(), &1.into()));
    assert_eq!(out["resume"], id.as_str());

    let mut store = open(home.path());
    let last = store.messages(&id, View::Active).unwrap().pop().unwrap();
    assert_eq!(last.message.content, Some(Body::from("their answer")));
    assert_eq!(store.row(&id).unwrap().message_count, 4);
}

#[test]
fn we_read_and_go_on_with_what_they_wrote() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    theirs(
        &python,
        home.path(),
        "db.create_session('a', 'cli', model='m', system_prompt='p', model_config={'x': 1})\n\
         db.append_message('a', 'user', [{'type': 'text', 'text': '漢字テスト zebra'}], api_content='sent')\n\
         db.append_message('a', 'assistant', None, tool_calls=[{'id': 'c'}], reasoning='r', reasoning_details=[1],\n\
                           codex_reasoning_items=[{'k': 'v'}], finish_reason='tool_calls', token_count=3)\n\
         db.append_message('a', 'tool', 'result', tool_name='t', tool_call_id='c', observed=True)\n\
         db.set_session_title('a', 'theirs')\n\
         db.update_token_counts('a', input_tokens=7, output_tokens=1, api_call_count=1, model='m',\n\
                                billing_provider='v', estimated_cost_usd=0.5)\n\
         db.create_session('child', 'cli', parent_session_id='a', model_config={'_delegate_from': 'a'})\n\
         db.append_message('child', 'user', 'sub')",
    );
    let mut store = open(home.path());
    let id = SessionId::from("a");
    assert_eq!(store.find(&Resume::Latest { source: "cli".into() }).unwrap(), Some(id.clone()));
    assert_eq!(store.find(&Resume::Named("theirs".into())).unwrap(), Some(id.clone()));
    let listed: Vec<String> =
        store.list(&ListFilter::default()).unwrap().into_iter().map(|row| row.id.to_string()).collect();
    assert_eq!(listed, ["a"]);
    let messages = store.messages(&id, View::Active).unwrap();
    assert_eq!(messages[0].message.content.as_ref().unwrap().text(), "漢字テスト zebra");
    assert_eq!(messages[0].message.api_content.as_deref(), Some("sent"));
    assert_eq!(messages[1].message.tool_calls, Some(json!([{"id": "c"}])));
    assert_eq!(messages[1].message.codex_reasoning_items, Some(json!([{"k": "v"}])));
    assert_eq!((messages[1].message.token_count, messages[2].message.observed), (Some(3), true));
    let row = store.row(&id).unwrap();
    assert_eq!((row.input_tokens, row.estimated_cost_usd), (7, Some(0.5)));
    assert_eq!(store.usage(&id).unwrap()[0].provider, "v");
    let query = SearchQuery { text: "zebra".into(), ..SearchQuery::default() };
    assert_eq!(store.search(&query).unwrap().len(), 1);
    assert_eq!(store.check().unwrap(), hermes_store::sessions::Health::default());

    store.append(&id, &NewMessage::new(Role::Assistant, "our answer", Timestamp::now())).unwrap();
    let ours = store.export(&id, View::Active).unwrap();
    let out = theirs(
        &python,
        home.path(),
        "out = {'n': db.get_session('a')['message_count'], 'last': db.get_messages('a')[-1]['content'],\n\
                'export': db.export_session('a'), 'ok': db._conn.execute('pragma integrity_check').fetchone()[0]}",
    );
    assert_eq!((&out["n"], &out["last"], &out["ok"]), (&4.into(), &"our answer".into(), &"ok".into()));
    // Through text, as theirs came, because that may cost a number its last digit.
    let ours: Value = serde_json::from_str(&ours.to_string()).unwrap();
    assert_eq!(out["export"], ours, "an export is the same from both");
}

#[test]
fn undo_and_compaction_mean_the_same_to_both() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let id = SessionId::from("a");
    store.create(&NewSession::new(id.clone(), "cli", at(0))).unwrap();
    let say = |store: &mut SessionStore, role: Role, text: &str, second: i64| {
        store.append(&id, &NewMessage::new(role, text, at(second))).unwrap()
    };
    let words = |store: &mut SessionStore| -> Vec<String> {
        let messages = store.messages(&id, View::Active).unwrap();
        messages.iter().map(|m| m.message.content.as_ref().unwrap().text()).collect()
    };
    let first = say(&mut store, Role::User, "one zebra", 1);
    let second = say(&mut store, Role::Assistant, "1", 2);
    say(&mut store, Role::User, "two", 3);
    say(&mut store, Role::Assistant, "2", 4);
    say(&mut store, Role::User, "three quagga", 5);
    store.undo(&id, 1).unwrap();
    store.compact(&id, &[first, second], &[NewMessage::new(Role::User, "summary", at(6))], at(6)).unwrap();
    let seen = words(&mut store);
    assert_eq!(seen, ["summary", "two", "2"]);

    store.index_all().unwrap();
    let out = theirs(
        &python,
        home.path(),
        "s = db.get_session('a')\n\
         out = {'seen': [m['content'] for m in db.get_messages('a')], 'n': s['message_count'],\n\
                'rewinds': s['rewind_count'], 'zebra': len(db.search_messages('zebra')),\n\
                'quagga': len(db.search_messages('quagga')), 'two': len(db.search_messages('two'))}\n\
         m = db.append_message('a', 'user', 'their question')\n\
         db.append_message('a', 'assistant', 'their answer')\n\
         db.rewind_to_message('a', m)\n\
         db.append_message('a', 'user', 'their other question')",
    );
    assert_eq!(out["seen"], json!(seen));
    assert_eq!((&out["n"], &out["rewinds"]), (&3.into(), &1.into()));
    assert_eq!((&out["zebra"], &out["quagga"], &out["two"]), (&1.into(), &0.into(), &1.into()));
    assert_eq!(words(&mut store), ["summary", "two", "2", "their other question"]);
    store.uncompact(&id).unwrap();
    assert_eq!(words(&mut store), ["one zebra", "1", "two", "2", "their other question"]);

    theirs(
        &python,
        home.path(),
        "db.archive_and_compact('a', [{'role': 'user', 'content': 'their summary'}])",
    );
    assert_eq!(words(&mut store), ["their summary"]);
    let all = store.messages(&id, View::All).unwrap();
    assert_eq!(all.iter().filter(|m| m.standing == Standing::Compacted).count(), 5);
    assert!(store.check().unwrap().is_good());
}

#[test]
fn messages_of_parts_can_be_taken_back_by_either() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let id = SessionId::from("a");
    theirs(
        &python,
        home.path(),
        "db.create_session('a', 'cli')\n\
         db.append_message('a', 'user', [{'type': 'text', 'text': 'their 漢字テスト zebra'}])\n\
         db.append_message('a', 'assistant', 'x')",
    );
    let mut store = open(home.path());
    store.undo(&id, 1).unwrap();
    store.restore(&id).unwrap();
    let parts = Body::Parts(json!([{"type": "text", "text": "our 漢字テスト quagga"}]));
    let number = store.append(&id, &NewMessage::new(Role::User, parts, at(1))).unwrap();
    let script = format!(
        "db.rewind_to_message('a', {number})\ndb.restore_rewound('a', {number})\n\
         out = [len(db.search_messages(q)) for q in ('zebra', 'quagga')]"
    );
    assert_eq!(theirs(&python, home.path(), &script), json!([1, 1]));
    let found = |store: &mut SessionStore, text: &str| {
        store.search(&SearchQuery { text: text.into(), ..SearchQuery::default() }).unwrap().len()
    };
    assert_eq!((found(&mut store, "zebra"), found(&mut store, "quagga")), (1, 1));
    assert!(store.check().unwrap().is_good());
    store.delete(&id).unwrap();
    assert_eq!(theirs(&python, home.path(), "out = len(db.search_messages('quagga'))"), json!(0));
}

#[test]
fn both_write_at_once() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let mut store = open(home.path());
    let id = SessionId::from("a");
    store.create(&NewSession::new(id.clone(), "cli", at(0))).unwrap();
    let them = {
        let home = home.path().to_owned();
        std::thread::spawn(move || {
            theirs(&python, &home, "for n in range(100): db.append_message('a', 'user', f'theirs {n}')");
        })
    };
    let mut written = 0;
    while !them.is_finished() || written < 100 {
        store.append(&id, &NewMessage::new(Role::User, format!("ours {written}"), at(written))).unwrap();
        written += 1;
        if written >= 2000 {
            break;
        }
    }
    them.join().unwrap();
    let messages = store.messages(&id, View::Active).unwrap();
    assert_eq!(messages.len() as i64, written + 100);
    assert_eq!(store.row(&id).unwrap().message_count as i64, written + 100);
    assert!(store.check().unwrap().is_good());
}
