//! Keys: panels first, then the menu, then the chat's own, then the editor's.

use std::time::Instant;

use super::questions::Panel;
use super::{Chat, Effect, Ending, TWICE};
use crate::chat::completer::{common_prefix, complete};
use crate::chat::editor::Handled;
use crate::chat::panel::{Menu, Search};
use crate::chat::term::{Key, KeyCode, Mods};

impl Chat {
    pub(super) fn key(&mut self, key: Key, now: Instant) {
        self.hint = None;
        if self.panel_takes_key(key, now) {
            return;
        }
        self.last_key = Some(now);
        if key == Key::ctrl('c') {
            return self.ctrl_c(now);
        }
        self.ctrl_c = None;
        if self.menu_key(key) == Handled::Yes || self.own_key(key, now) == Handled::Yes {
            return;
        }
        let before = self.editor.text().len();
        if self.editor.key(key) == Handled::Yes {
            // Moves inside an entry of the history are part of the walk through it.
            if self.editor.text().len() != before {
                self.history.stop();
                self.refresh_menu();
            }
        } else {
            self.history_key(key);
        }
    }

    /// Ctrl-C: clears the input, then interrupts, then leaves.
    pub(super) fn ctrl_c(&mut self, now: Instant) {
        let within = |t: Option<Instant>| t.is_some_and(|t| now.saturating_duration_since(t) <= TWICE);
        let twice = within(self.ctrl_c.replace(now));
        if !self.editor.is_empty() || !self.images.is_empty() {
            let text = self.editor.take();
            // What was thrown away can be called back with the up arrow.
            self.history.add(&self.pastes.expand(&text));
            self.images.clear();
            self.menu = None;
            self.settled = Some(now);
            return;
        }
        match &mut self.turn {
            Some(turn) if turn.ending == Ending::Stopped && twice => self.leave(),
            Some(turn) => {
                turn.ending = Ending::Stopped;
                turn.control.interrupt();
                self.settled = Some(now);
                self.hint = Some("interrupting; Ctrl-C again leaves");
            }
            None if twice => self.leave(),
            // It may have been meant for the turn that just ended, or be one too many.
            None => self.hint = Some("Ctrl-C again leaves"),
        }
    }

    fn own_key(&mut self, key: Key, now: Instant) -> Handled {
        match (key.code, key.mods) {
            (KeyCode::Enter, Mods::NONE) => self.submit(now),
            (KeyCode::Enter, _) | (KeyCode::Char('j'), Mods::CTRL) => {
                self.editor.insert("\n");
                self.menu = None;
            }
            (KeyCode::Char('d'), Mods::CTRL) if self.editor.is_empty() && self.images.is_empty() => {
                self.leave();
            }
            (KeyCode::Char('l'), Mods::CTRL) => self.effects.push(Effect::ClearScreen),
            (KeyCode::Char('z'), Mods::CTRL) => self.effects.push(Effect::Suspend),
            (KeyCode::Char('g'), Mods::CTRL | Mods::ALT) => {
                let text = self.pastes.expand(self.editor.text());
                self.effects.push(Effect::OpenEditor(text));
            }
            (KeyCode::Char('v'), Mods::CTRL | Mods::ALT) => self.effects.push(Effect::PasteImage),
            (KeyCode::Char('r'), Mods::CTRL) => self.panel = Some(Panel::Search(Search::default())),
            (KeyCode::Tab, _) => self.tab(),
            (KeyCode::Right | KeyCode::End, Mods::NONE) | (KeyCode::Char('e' | 'f'), Mods::CTRL) => {
                return self.accept_ghost();
            }
            (KeyCode::Backspace, Mods::NONE) if self.editor.is_empty() && !self.images.is_empty() => {
                self.images.pop();
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn history_key(&mut self, key: Key) {
        let entry = match (key.code, key.mods) {
            (KeyCode::Up, _) | (KeyCode::Char('p'), Mods::CTRL) => self.history.older(self.editor.text()),
            (KeyCode::Down, _) | (KeyCode::Char('n'), Mods::CTRL) => self.history.newer(self.editor.text()),
            _ => None,
        };
        if let Some(entry) = entry {
            self.editor.set(entry);
            self.menu = None;
        }
    }

    fn menu_key(&mut self, key: Key) -> Handled {
        let Some(menu) = &mut self.menu else { return Handled::No };
        match key.code {
            KeyCode::Esc => self.menu = None,
            KeyCode::Down | KeyCode::Tab if menu.selected().is_some() || key.code == KeyCode::Down => {
                menu.down();
            }
            KeyCode::Up | KeyCode::BackTab => menu.up(),
            KeyCode::Enter if menu.selected().is_some() => {
                if let Some(text) = menu.selected().map(|c| c.text.clone()) {
                    self.insert_candidate(&text);
                }
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    /// Tab: takes the only candidate, or what all have in common, or steps through the menu.
    fn tab(&mut self) {
        let Some(menu) = self.completion() else {
            self.accept_ghost();
            return;
        };
        if let [only] = menu.candidates() {
            let text = only.text.clone();
            self.menu = Some(menu);
            return self.insert_candidate(&text);
        }
        let common = common_prefix(menu.candidates());
        let typed = &self.editor.text()[menu.range()];
        if common.len() > typed.len() && common.starts_with(typed) {
            self.editor.replace(menu.range(), &common);
            self.menu = self.completion();
        } else {
            self.menu = Some(menu);
            if let Some(menu) = &mut self.menu {
                menu.down();
            }
        }
    }

    fn insert_candidate(&mut self, text: &str) {
        let Some(menu) = self.menu.take() else { return };
        // A directory goes on; everything else is complete.
        let goes_on = text.ends_with('/');
        let at_end = menu.range().end == self.editor.text().len();
        let blank = if goes_on || !at_end { "" } else { " " };
        self.editor.replace(menu.range(), &format!("{text}{blank}"));
        if goes_on {
            self.menu = self.completion();
        }
    }

    fn completion(&self) -> Option<Menu> {
        let suggest = |command: &str| self.conversation.suggest(command);
        let (text, cursor) = (self.editor.text(), self.editor.cursor());
        complete(text, cursor, &self.options.commands, &self.places, suggest).map(Menu::new)
    }

    /// While a command is typed the menu follows; for the rest it waits for Tab.
    pub(super) fn refresh_menu(&mut self) {
        let text = self.editor.text();
        let at_command = text.starts_with('/') && !text.contains(char::is_whitespace) && text.len() > 1;
        let open = self.menu.is_some() && !text.is_empty();
        self.menu = if at_command || text == "/" || open { self.completion() } else { None };
        // A menu that offers what is there already is in the way.
        let only_itself =
            |m: &Menu| matches!(m.candidates(), [one] if one.text == self.editor.text()[m.range()]);
        if self.menu.as_ref().is_some_and(only_itself) {
            self.menu = None;
        }
    }

    /// What the history suggests behind the cursor.
    pub(super) fn ghost(&self) -> Option<&str> {
        let text = self.editor.text();
        let at_end = self.editor.cursor() == text.len() && !text.contains('\n') && self.menu.is_none();
        if at_end { self.history.suggestion(text) } else { None }
    }

    fn accept_ghost(&mut self) -> Handled {
        match self.ghost().map(str::to_owned) {
            Some(rest) => {
                self.editor.insert(&rest);
                Handled::Yes
            }
            None => Handled::No,
        }
    }
}
