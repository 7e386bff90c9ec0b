//! Lists, titles, and which session somebody means.

use hermes_store::sessions::{
    Archived, Children, Clash, Kind, ListFilter, Order, Resume, Role, SessionError, SessionId,
};
use jiff::Timestamp;

use crate::support::{Fixture, id};

fn names(fixture: &mut Fixture, filter: &ListFilter) -> Vec<String> {
    fixture.store.list(filter).unwrap().into_iter().map(|row| row.id.to_string()).collect()
}

fn latest(fixture: &mut Fixture) -> Option<SessionId> {
    fixture.store.find(&Resume::Latest { source: "cli".into() }).unwrap()
}

fn named(fixture: &mut Fixture, name: &str) -> Option<SessionId> {
    fixture.store.find(&Resume::Named(name.into())).unwrap()
}

/// A conversation that an older program cut in two.
fn cut(fixture: &mut Fixture) -> (SessionId, SessionId) {
    let first = fixture.session("first");
    fixture.say(&first, Role::User, "the beginning");
    let at = fixture.now();
    fixture.store.end(&first, "compression", at).unwrap();
    let second = fixture.child("second", &first, Kind::Conversation);
    fixture.say(&second, Role::User, "the rest");
    (first, second)
}

#[test]
fn the_latest_is_never_a_helper_a_script_or_put_away() {
    let mut fixture = Fixture::new();
    assert_eq!(latest(&mut fixture), None);
    let old = fixture.session("old");
    let new = fixture.session("new");
    fixture.say(&new, Role::User, "x");
    fixture.say(&old, Role::User, "said last");
    assert_eq!(latest(&mut fixture), Some(old.clone()));

    let helper = fixture.child("helper", &old, Kind::Delegated);
    let script = fixture.session_with("script", |session| session.kind = Kind::OneShot);
    let other = fixture.session_with("other", |session| session.source = "telegram".into());
    for session in [&helper, &script, &other] {
        fixture.say(session, Role::User, "later");
    }
    fixture.session("empty");
    assert_eq!(latest(&mut fixture), Some(old.clone()));
    fixture.store.set_archived(&old, true).unwrap();
    assert_eq!(latest(&mut fixture), Some(new));
    fixture.store.mark_conversation(&script).unwrap();
    assert_eq!(latest(&mut fixture), Some(script));
}

#[test]
fn the_latest_is_found_behind_many_messages_of_others() {
    let mut fixture = Fixture::new();
    let mine = fixture.session("mine");
    fixture.say(&mine, Role::User, "x");
    let other = fixture.session_with("other", |session| session.source = "telegram".into());
    let message = hermes_store::sessions::NewMessage::new(Role::User, "y", Timestamp::UNIX_EPOCH);
    fixture.store.append_all(&other, &vec![message; 2100]).unwrap();
    assert_eq!(latest(&mut fixture), Some(mine));
}

#[test]
fn a_cut_conversation_is_one() {
    let mut fixture = Fixture::new();
    let (first, second) = cut(&mut fixture);
    assert_eq!(latest(&mut fixture), Some(second.clone()));
    assert_eq!(named(&mut fixture, "first"), Some(second.clone()));
    let rows = fixture.store.list(&ListFilter::default()).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0].id, rows[0].root.as_ref()), (&second, Some(&first)));
    let all = ListFilter { children: Children::Show, ..ListFilter::default() };
    assert_eq!(names(&mut fixture, &all), ["second", "first"]);
    assert_eq!(fixture.store.lineage_root(&second).unwrap(), first);
    fixture.store.set_archived(&second, true).unwrap();
    assert!(fixture.store.row(&first).unwrap().archived);
}

#[test]
fn a_session_without_messages_leads_to_one_that_has_some() {
    let mut fixture = Fixture::new();
    let first = fixture.session("first");
    let second = fixture.child("second", &first, Kind::Conversation);
    let helper = fixture.child("helper", &first, Kind::Delegated);
    fixture.say(&helper, Role::User, "x");
    assert_eq!(named(&mut fixture, "first"), Some(first.clone()));
    fixture.say(&second, Role::User, "x");
    assert_eq!(named(&mut fixture, "first"), Some(second));
}

#[test]
fn ids_titles_and_beginnings_name_a_session() {
    let mut fixture = Fixture::new();
    let a = fixture.session("20260101_000000_aaaaaa");
    let b = fixture.session("20260101_000000_abbbbb");
    fixture.store.set_title(&a, "my work", Clash::Refuse).unwrap();
    for (name, meant) in [("20260101_000000_aa", &a), ("my work", &a), ("20260101_000000_abbbbb", &b)] {
        assert_eq!(named(&mut fixture, name).as_ref(), Some(meant), "{name}");
    }
    assert_eq!(named(&mut fixture, "nothing"), None);
    assert_eq!(named(&mut fixture, "20260101%"), None);
    assert!(matches!(fixture.store.resolve("2026"), Err(SessionError::Ambiguous { .. })));
    assert!(matches!(fixture.store.find(&Resume::Named("2026".into())), Err(SessionError::Ambiguous { .. })));
    assert!(matches!(fixture.store.resolve("x"), Err(SessionError::NoSession { .. })));
}

#[test]
fn titles_are_unique_and_numbered() {
    let mut fixture = Fixture::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| fixture.session(name));
    let store = &mut fixture.store;
    assert_eq!(store.set_title(&a, "  work  ", Clash::Refuse).unwrap(), "work");
    assert_eq!(store.set_title(&a, "work", Clash::Refuse).unwrap(), "work", "its own title is no clash");
    let error = store.set_title(&b, "work", Clash::Refuse).unwrap_err();
    assert!(matches!(error, SessionError::TitleTaken { owner, .. } if owner == a));
    assert_eq!(store.set_title(&b, "work", Clash::Number).unwrap(), "work #2");
    assert_eq!(store.set_title(&c, "work #2", Clash::Number).unwrap(), "work #3");
    assert_eq!(store.by_title("work").unwrap(), Some(c.clone()), "the latest");
    assert_eq!(store.by_title("work #2").unwrap(), Some(b));
    assert_eq!(store.by_title("wor%").unwrap(), None);
    assert_eq!(store.suggest_title(&c, "other").unwrap(), None, "it has one");
    assert_eq!(store.title(&c).unwrap().as_deref(), Some("work #3"));
    let long = "x".repeat(100);
    assert_eq!(store.suggest_title(&d, &long).unwrap(), Some(long.clone()));
    assert_eq!(store.set_title(&a, &long, Clash::Number).unwrap(), format!("{} #2", "x".repeat(97)));
    store.clear_title(&d).unwrap();
    assert_eq!(store.title(&d).unwrap(), None);
}

#[test]
fn a_continuation_takes_the_title_over() {
    let mut fixture = Fixture::new();
    let (first, second) = cut(&mut fixture);
    fixture.store.set_title(&first, "work", Clash::Refuse).unwrap();
    fixture.store.set_title(&second, "work", Clash::Refuse).unwrap();
    assert_eq!(fixture.store.title(&first).unwrap(), None);
}

#[test]
fn lists_are_filtered_and_ordered() {
    let mut fixture = Fixture::new();
    let a = fixture.session_with("a", |new| {
        new.cwd = Some("/w/project".into());
        new.model = Some("vendor/Large-1".into());
    });
    let b = fixture.session_with("b", |new| new.cwd = Some("/w/project_2".into()));
    let c = fixture.session_with("c", |new| new.source = "cron".into());
    fixture.child("d", &b, Kind::Delegated);
    fixture.child("e", &b, Kind::Branch);
    fixture.say(&a, Role::User, "  first\nwords  ");
    fixture.store.set_title(&b, "A Title", Clash::Refuse).unwrap();
    fixture.store.set_archived(&c, true).unwrap();
    let default = ListFilter::default;
    let started = fixture.store.row(&b).unwrap().started_at;
    for (filter, expected) in [
        (default(), &["e", "b", "a"][..]),
        (ListFilter { children: Children::Show, ..default() }, &["e", "d", "b", "a"]),
        (ListFilter { archived: Archived::Show, ..default() }, &["e", "c", "b", "a"]),
        (ListFilter { archived: Archived::Only, ..default() }, &["c"]),
        (ListFilter { order: Order::LastActive, ..default() }, &["a", "e", "b"]),
        (ListFilter { limit: Some(1), offset: 1, ..default() }, &["b"]),
        (ListFilter { cwd: Some("/w/project/".into()), ..default() }, &["a"]),
        (ListFilter { model: Some("large".into()), ..default() }, &["a"]),
        (ListFilter { search: Some("title".into()), ..default() }, &["b"]),
        (ListFilter { source: Some("cron".into()), ..default() }, &[]),
        (ListFilter { exclude_sources: vec!["cli".into()], archived: Archived::Show, ..default() }, &["c"]),
        (ListFilter { started_before: Some(started), ..default() }, &["a"]),
        (ListFilter { started_after: Some(started), ..default() }, &["e", "b"]),
        (ListFilter { min_messages: 1, ..default() }, &["a"]),
    ] {
        assert_eq!(names(&mut fixture, &filter), expected, "{filter:?}");
    }
    assert_eq!(fixture.store.row(&a).unwrap().preview, "first words");
    let children: Vec<_> = fixture.store.children(&b).unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(children, [id("d"), id("e")]);
}

#[test]
fn deleting_takes_helpers_along_and_leaves_branches() {
    let mut fixture = Fixture::new();
    let parent = fixture.session("parent");
    let helper = fixture.child("helper", &parent, Kind::Delegated);
    let deeper = fixture.child("deeper", &helper, Kind::Delegated);
    let branch = fixture.child("branch", &parent, Kind::Branch);
    for session in [&parent, &helper, &deeper, &branch] {
        fixture.turn(session, "q", "a");
    }
    fixture.store.undo(&parent, 1).unwrap();
    let gone = fixture.store.delete(&parent).unwrap();
    assert_eq!((gone.sessions.len(), gone.messages), (3, 6));
    assert_eq!(names(&mut fixture, &ListFilter::default()), ["branch"]);
    assert_eq!(fixture.store.row(&branch).unwrap().parent, None);
    assert!(fixture.store.check().unwrap().is_good());
    assert!(matches!(fixture.store.delete(&parent), Err(SessionError::NoSession { .. })));
}

#[test]
fn pruning_takes_only_what_ended_and_fits() {
    let mut fixture = Fixture::new();
    let [old, live, cron] = ["old", "live", "cron"].map(|name| {
        fixture.session_with(name, |new| {
            if name == "cron" {
                new.source = "cron".into();
            }
        })
    });
    let at = fixture.now();
    fixture.store.end(&old, "x", at).unwrap();
    fixture.store.end(&cron, "x", at).unwrap();
    let filter = ListFilter { started_before: Some(at), source: Some("cli".into()), ..ListFilter::default() };
    let rows = fixture.store.prunable(&filter).unwrap();
    assert_eq!(rows.iter().map(|row| &row.id).collect::<Vec<_>>(), [&old]);
    assert_eq!(fixture.store.prune(&filter).unwrap().sessions, [old]);
    let everything = ListFilter::default();
    assert_eq!(fixture.store.prune(&everything).unwrap().sessions, [cron]);
    assert_eq!(names(&mut fixture, &ListFilter::default()), [live.as_str()]);
    assert!(fixture.store.delete_if_empty(&live).unwrap());
    assert!(!fixture.store.delete_if_empty(&live).unwrap());
}
