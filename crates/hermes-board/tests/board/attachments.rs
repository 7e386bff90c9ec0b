//! Files of cards, and what a worker is told of its card.

use hermes_board::act::{By, Report};
use hermes_board::attachments::{LARGEST, NewFile};
use hermes_board::card::Status;
use hermes_board::create::NewCard;
use hermes_board::{BoardError, CardId};
use serde_json::json;

use crate::fixture::{Fixture, NOW, kinds, make, status, take};

fn file<'a>(name: &'a str, content: &'a [u8]) -> NewFile<'a> {
    NewFile { name, content, content_type: None, uploaded_by: "ada" }
}

#[test]
fn files_are_kept_under_harmless_names_and_go_with_their_row() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "one", &[]);
    let first = board.attach(&id, &file("../notes.txt", b"a"), By::Anybody, NOW).unwrap();
    let second = board.attach(&id, &file("notes.txt", b"bc"), By::Anybody, NOW).unwrap();
    assert_eq!((first.filename.as_str(), second.filename.as_str()), ("notes.txt", "notes (1).txt"));
    assert_eq!(std::fs::read(&second.stored_path).unwrap(), b"bc");
    assert!(first.stored_path.ends_with(format!("attachments/{id}/notes.txt")), "{first:?}");
    assert_eq!(board.attachments(&id).unwrap(), [first.clone(), second]);
    assert_eq!(board.detach(first.id, NOW).unwrap(), first);
    assert!(!first.stored_path.exists());
    assert_eq!(kinds(&mut board, &id), ["created", "attached", "attached", "attachment_removed"]);
    let error = board.detach(99, NOW).unwrap_err();
    assert!(error.to_string().contains("no attachment 99"), "{error}");
}

#[test]
fn what_cannot_be_kept_leaves_nothing_behind() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let id = make(&mut board, "one", &[]);
    let large = vec![0; usize::try_from(LARGEST).unwrap() + 1];
    assert!(board.attach(&id, &file("large", &large), By::Anybody, NOW).is_err());
    assert!(board.attach(&CardId::new("t_00000000"), &file("x", b"x"), By::Anybody, NOW).is_err());
    let old = take(&mut board, &id).run;
    board.reclaim(&id, None, &serde_json::Map::new(), NOW).unwrap();
    let late = board.attach(&id, &file("late", b"x"), By::Attempt(old), NOW);
    assert!(matches!(late, Err(BoardError::Superseded(_))), "{late:?}");
    let dir = board.root().attachments(board.slug()).join(id.as_str());
    let left = std::fs::read_dir(dir).map(Iterator::count).unwrap_or_default();
    assert_eq!((left, board.attachments(&id).unwrap().len()), (0, 0));
}

/// A card with a scratch workspace of its own that has one file.
fn with_workspace(fixture: &Fixture) -> (hermes_board::Board, CardId, std::path::PathBuf) {
    let mut board = fixture.board();
    let dir = board.root().workspaces(board.slug()).join("w");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("out.txt"), "the result").unwrap();
    let mut new = NewCard::new("make it");
    new.assignee = Some("alpha".into());
    new.workspace_path = Some(dir.display().to_string());
    let id = board.create(&new, NOW).unwrap().card.id;
    (board, id, dir)
}

#[test]
fn results_in_a_scratch_workspace_are_copied_before_it_goes() {
    let fixture = Fixture::new();
    let (mut board, id, dir) = with_workspace(&fixture);
    std::fs::write(dir.join("also.md"), "# more").unwrap();
    let run = take(&mut board, &id).run;
    let report = Report {
        summary: Some(format!("Wrote {}/also.md and t_99999999.", dir.display())),
        artifacts: vec!["out.txt".into(), "/workspace/out.txt".into()],
        ..Report::default()
    };
    board.complete(&id, &report, By::Attempt(run), NOW).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let files = board.attachments(&id).unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.filename.as_str()).collect();
    assert_eq!(names, ["out.txt", "also.md"]);
    assert_eq!(std::fs::read_to_string(&files[0].stored_path).unwrap(), "the result");
    let details = board.details(&id).unwrap();
    let completed = details.events.iter().find(|event| event.kind == "completed").unwrap();
    let listed = &completed.payload.as_ref().unwrap()["artifacts"];
    assert_eq!(*listed, json!([files[0].stored_path, files[1].stored_path]));
    let suspected = details.events.last().unwrap();
    assert_eq!(suspected.kind, "suspected_hallucinated_references");
    assert_eq!(suspected.payload.as_ref().unwrap()["phantom_refs"], json!(["t_99999999"]));
}

#[test]
fn a_result_that_is_not_there_is_no_result() {
    let fixture = Fixture::new();
    let (mut board, id, dir) = with_workspace(&fixture);
    std::os::unix::fs::symlink("/etc/hostname", dir.join("away.txt")).unwrap();
    let large = std::fs::File::create(dir.join("large.bin")).unwrap();
    large.set_len(LARGEST + 1).unwrap();
    for wrong in ["missing.txt", "large.bin", "away.txt", "."] {
        let report = Report { artifacts: vec!["out.txt".into(), wrong.into()], ..Report::default() };
        let error = board.complete(&id, &report, By::Anybody, NOW).unwrap_err();
        assert!(matches!(error, BoardError::Artifact { .. }), "{wrong}: {error}");
        assert_eq!(status(&mut board, &id), Status::Ready);
    }
    let kept = board.root().attachments(board.slug()).join(id.as_str());
    assert_eq!(std::fs::read_dir(kept).map(Iterator::count).unwrap_or_default(), 0);
}

#[test]
fn a_worker_is_told_all_it_needs() {
    let fixture = Fixture::new();
    let mut board = fixture.board();
    let mut parent = NewCard::new("first");
    parent.assignee = Some("alpha".into());
    let parent = board.create(&parent, NOW).unwrap().card.id;
    let mut new = NewCard::new("second");
    new.assignee = Some("alpha".into());
    new.body = Some("x".repeat(9_000));
    new.parents = vec![parent.clone()];
    new.max_runtime_seconds = Some(600);
    let id = board.create(&new, NOW).unwrap().card.id;
    let report = Report {
        summary: Some("it is blue".into()),
        metadata: Some(json!({ "colour": "blue" })),
        ..Report::default()
    };
    board.complete(&parent, &report, By::Anybody, NOW).unwrap();
    let run = take(&mut board, &id).run;
    board.block(&id, Some("which shade?"), None, By::Attempt(run), NOW).unwrap();
    board.unblock(&id, None, NOW).unwrap();
    for n in 0..31 {
        board.comment(&id, "a`da", &format!("comment {n}."), NOW).unwrap();
    }
    let given = board.attach(&id, &file("sketch.png", b"x"), By::Anybody, NOW).unwrap();
    let text = board.context(&id, Some("570"), NOW + 7_200).unwrap();
    let parts = [
        format!("# Card {id}: second"),
        "Assignee: alpha".into(),
        "Workspace: scratch".into(),
        "Longest run: 600 s".into(),
        "Longest command: 570 s".into(),
        "[808 more characters]".into(),
        given.stored_path.display().to_string(),
        ": blocked, alpha, 2 h ago".into(),
        "which shade?".into(),
        "it is blue".into(),
        "{\"colour\":\"blue\"}".into(),
        "1 older ones are left out".into(),
        "`ada`".into(),
        "comment 30.".into(),
    ];
    let mut rest = text.as_str();
    for part in &parts {
        let at =
            rest.find(part.as_str()).unwrap_or_else(|| panic!("{part} is missing or out of order:\n{text}"));
        rest = &rest[at..];
    }
    assert!(!text.contains("comment 0."), "{text}");
}
