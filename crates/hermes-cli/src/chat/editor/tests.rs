//! The editor, key by key.

use proptest::prelude::*;

use super::*;
use crate::chat::term::{Key, KeyCode, Mods};

fn typed(text: &str) -> Editor {
    let mut editor = Editor::new();
    for c in text.chars() {
        editor.key(Key::char(c));
    }
    editor
}

/// The text with `|` where the cursor is.
fn shown(editor: &Editor) -> String {
    let (before, after) = editor.text().split_at(editor.cursor());
    format!("{before}|{after}")
}

#[test]
fn moves_by_character_word_and_line() {
    let mut editor = typed("one two-three é👩‍🚀");
    editor.key(Key::plain(KeyCode::Left));
    assert_eq!(shown(&editor), "one two-three é|👩‍🚀");
    editor.key(Key::ctrl('a'));
    editor.key(Key::alt('f'));
    assert_eq!(shown(&editor), "one| two-three é👩‍🚀");
    editor.key(Key { code: KeyCode::Right, mods: Mods::CTRL });
    assert_eq!(shown(&editor), "one two|-three é👩‍🚀");
    editor.key(Key::ctrl('e'));
    editor.key(Key::alt('b'));
    editor.key(Key::alt('b'));
    assert_eq!(shown(&editor), "one two-|three é👩‍🚀");
}

#[test]
fn up_and_down_keep_the_column() {
    let mut editor = Editor::new();
    editor.insert("a long line\nno\nanother line");
    assert_eq!(editor.key(Key::plain(KeyCode::Up)), Handled::Yes);
    assert_eq!(shown(&editor), "a long line\nno|\nanother line");
    editor.key(Key::plain(KeyCode::Up));
    assert_eq!(shown(&editor), "a long line|\nno\nanother line");
    assert_eq!(editor.key(Key::plain(KeyCode::Up)), Handled::No, "history is next");
}

#[test]
fn kills_in_a_row_are_yanked_together_and_older_ones_after() {
    let mut editor = typed("alpha beta gamma");
    editor.key(Key::ctrl('w'));
    editor.key(Key::ctrl('w'));
    assert_eq!(shown(&editor), "alpha |");
    editor.key(Key::char('x'));
    editor.key(Key::ctrl('u'));
    assert_eq!(shown(&editor), "|");
    editor.key(Key::ctrl('y'));
    assert_eq!(editor.text(), "alpha x");
    editor.key(Key::alt('y'));
    assert_eq!(shown(&editor), "beta gamma|");
}

#[test]
fn a_yank_is_forgotten_when_the_text_changes() {
    let mut editor = typed("one two");
    editor.key(Key::ctrl('w'));
    editor.key(Key::ctrl('y'));
    editor.key(Key::ctrl('u'));
    editor.key(Key::alt('y'));
    assert_eq!(editor.text(), "");
    editor.key(Key::ctrl('y'));
    editor.insert("pasted");
    editor.key(Key::alt('y'));
    assert_eq!(editor.text(), "one twopasted");
}

#[test]
fn undo_takes_words_back_and_redo_returns_them() {
    let mut editor = typed("one two");
    editor.key(Key::ctrl('7'));
    assert_eq!(editor.text(), "one");
    editor.key(Key::ctrl('7'));
    assert_eq!(editor.text(), "");
    editor.key(Key::alt('_'));
    editor.key(Key::alt('_'));
    assert_eq!(editor.text(), "one two");
}

#[test]
fn transposes_and_changes_case() {
    let mut editor = typed("ab");
    editor.key(Key::ctrl('t'));
    assert_eq!(shown(&editor), "ba|");
    let mut editor = typed("some words");
    editor.key(Key::ctrl('a'));
    editor.key(Key::alt('c'));
    editor.key(Key::alt('u'));
    assert_eq!(editor.text(), "Some WORDS");
}

#[test]
fn an_atom_is_one_character() {
    let mut editor = typed("see ");
    editor.insert_atom("[pasted #1: 9 lines]");
    editor.key(Key::char('!'));
    editor.key(Key::plain(KeyCode::Left));
    editor.key(Key::plain(KeyCode::Left));
    assert_eq!(shown(&editor), "see |[pasted #1: 9 lines]!");
    editor.key(Key::alt('f'));
    editor.key(Key::plain(KeyCode::Backspace));
    assert_eq!(shown(&editor), "see |!");
}

#[test]
fn rows_fit_the_screen_and_the_cursor_has_a_cell() {
    let mut editor = typed("日本語");
    assert_eq!(editor.view(4), View { rows: vec!["日本".into(), "語".into()], row: 1, column: 2 });
    editor.set("abcd");
    assert_eq!(editor.view(4), View { rows: vec!["abcd".into(), String::new()], row: 1, column: 0 });
    editor.set("a\n");
    assert_eq!(editor.view(4), View { rows: vec!["a".into(), String::new()], row: 1, column: 0 });
}

proptest! {
    #[test]
    fn any_keys_leave_the_cursor_at_an_edge(
        keys in prop::collection::vec(prop_oneof![
            any::<char>().prop_map(Key::char),
            prop::sample::select("abdefkutwy7".chars().collect::<Vec<_>>()).prop_map(Key::ctrl),
            prop::sample::select("bdfuclyd<>_".chars().collect::<Vec<_>>()).prop_map(Key::alt),
            prop::sample::select(vec![KeyCode::Left, KeyCode::Right, KeyCode::Up, KeyCode::Down, KeyCode::Home,
                KeyCode::End, KeyCode::Backspace, KeyCode::Delete]).prop_map(Key::plain),
            Just(Key::char('\n')),
        ], 0..60),
        width in 1usize..20
    ) {
        let mut editor = Editor::new();
        editor.insert_atom("[atom]");
        for key in keys {
            editor.key(key);
            prop_assert!(editor.text().is_char_boundary(editor.cursor()));
            let view = editor.view(width);
            prop_assert!(view.row < view.rows.len());
            prop_assert!(view.column < width.max(2));
        }
    }
}
