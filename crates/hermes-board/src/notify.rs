//! Who is told about a card: places on chat platforms, and how far each has been told.

use hermes_store::rusqlite::{self, OptionalExtension, Row, params};

use crate::act;
use crate::board::Board;
use crate::card::{CardId, Seconds};
use crate::error::BoardError;

/// A place that is told about a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The card.
    pub card: CardId,
    /// The platform.
    pub platform: String,
    /// The chat there.
    pub chat: String,
    /// The thread of that chat; empty is the chat itself.
    pub thread: String,
    /// Who asked for it.
    pub user: Option<String>,
    /// The profile whose gateway tells it.
    pub profile: Option<String>,
    /// Since when.
    pub created_at: Seconds,
    /// The last event it was told of.
    pub last_event: i64,
}

const COLUMNS: &str =
    "task_id, platform, chat_id, thread_id, user_id, notifier_profile, created_at, last_event_id";

fn subscription(row: &Row<'_>) -> rusqlite::Result<Subscription> {
    Ok(Subscription {
        card: row.get(0)?,
        platform: row.get(1)?,
        chat: row.get(2)?,
        thread: row.get(3)?,
        user: row.get(4)?,
        profile: row.get(5)?,
        created_at: row.get(6)?,
        last_event: row.get(7)?,
    })
}

impl Board {
    /// Lets a place be told about a card from now on. One that is told already stays as far as it was told.
    pub fn subscribe(&mut self, new: &Subscription) -> Result<(), BoardError> {
        let platform = new.platform.trim().to_lowercase();
        let chat = new.chat.trim();
        if platform.is_empty() || chat.is_empty() {
            return Err(BoardError::Input(
                "say which platform and which chat: --platform telegram --chat-id 123".to_owned(),
            ));
        }
        self.write(|tx| {
            act::card(tx, &new.card)?;
            tx.execute(
                "INSERT INTO kanban_notify_subs (task_id, platform, chat_id, thread_id, user_id, notifier_profile, \
                 created_at, last_event_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
                 ON CONFLICT (task_id, platform, chat_id, thread_id) DO UPDATE SET \
                 user_id = coalesce(excluded.user_id, user_id), \
                 notifier_profile = coalesce(excluded.notifier_profile, notifier_profile)",
                params![
                    new.card,
                    platform,
                    chat,
                    new.thread.trim(),
                    new.user,
                    new.profile,
                    new.created_at,
                    new.last_event
                ],
            )?;
            Ok(())
        })
    }

    /// The places that are told, about one card or about any.
    pub fn subscriptions(&mut self, card: Option<&CardId>) -> Result<Vec<Subscription>, BoardError> {
        self.read(|tx| {
            let sql = format!(
                "SELECT {COLUMNS} FROM kanban_notify_subs WHERE ?1 IS NULL OR task_id = ?1 \
                 ORDER BY created_at, task_id, platform, chat_id, thread_id"
            );
            tx.prepare_cached(&sql)?.query_map([card], subscription)?.collect()
        })
    }

    /// Lets a place no longer be told; whether it was.
    pub fn unsubscribe(
        &mut self,
        card: &CardId,
        platform: &str,
        chat: &str,
        thread: &str,
    ) -> Result<bool, BoardError> {
        self.write(|tx| {
            let gone = tx.execute(
                "DELETE FROM kanban_notify_subs WHERE task_id = ?1 AND platform = ?2 AND chat_id = ?3 AND thread_id = ?4",
                params![card, platform.trim().to_lowercase(), chat.trim(), thread.trim()],
            )?;
            Ok(gone > 0)
        })
    }

    /// Takes what a place has not been told yet, of these kinds: whoever takes it tells it, nobody else does. Gives the
    /// numbers of the last event told before and of the last one taken.
    pub fn take_news(
        &mut self,
        of: &Subscription,
        kinds: &[&str],
    ) -> Result<Option<(i64, i64, Vec<crate::rows::Happened>)>, BoardError> {
        self.write(|tx| {
            let place = params![of.card, of.platform, of.chat, of.thread];
            let told: Option<i64> = tx
                .prepare_cached(
                    "SELECT last_event_id FROM kanban_notify_subs \
                     WHERE task_id = ?1 AND platform = ?2 AND chat_id = ?3 AND thread_id = ?4",
                )?
                .query_row(place, |row| row.get(0))
                .optional()?;
            let Some(told) = told else { return Ok(None) };
            let sql = format!(
                "SELECT {} FROM task_events WHERE task_id = ?1 AND id > ?2 ORDER BY id",
                crate::rows::HAPPENED
            );
            let events: Vec<crate::rows::Happened> = tx
                .prepare_cached(&sql)?
                .query_map(params![of.card, told], crate::rows::happened)?
                .collect::<Result<_, _>>()?;
            let Some(last) = events.last().map(|event| event.id) else { return Ok(None) };
            tx.execute(
                "UPDATE kanban_notify_subs SET last_event_id = ?5 \
                 WHERE task_id = ?1 AND platform = ?2 AND chat_id = ?3 AND thread_id = ?4",
                params![of.card, of.platform, of.chat, of.thread, last],
            )?;
            let wanted = events.into_iter().filter(|event| kinds.contains(&event.kind.as_str())).collect();
            Ok(Some((told, last, wanted)))
        })
    }

    /// What was taken could not be told: it is there to be taken again, unless somebody took more meanwhile.
    pub fn give_back_news(&mut self, of: &Subscription, taken: i64, told: i64) -> Result<bool, BoardError> {
        self.write(|tx| {
            let back = tx.execute(
                "UPDATE kanban_notify_subs SET last_event_id = ?6 WHERE task_id = ?1 AND platform = ?2 AND chat_id = ?3 \
                 AND thread_id = ?4 AND last_event_id = ?5",
                params![of.card, of.platform, of.chat, of.thread, taken, told],
            )?;
            Ok(back > 0)
        })
    }
}
