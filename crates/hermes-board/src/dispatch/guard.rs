//! Whether a card was started or finished so short a time ago that starting it again would be a mistake. Every such reason
//! ends by itself, and at once when an operator touches the card.

use std::collections::HashMap;

use hermes_store::rusqlite::{self, OptionalExtension, Transaction, params};

use crate::card::{CardId, Outcome, Seconds};
use crate::dispatch::Rules;
use crate::dispatch::why::Guard;

/// How long finished work is left alone.
const SUCCESS: Seconds = 3600;

/// How long a pull request is.
const PULL_REQUEST: Seconds = 86_400;

/// Cards whose past is looked at.
pub(crate) struct Touched<'a> {
    /// Those that were tried before.
    pub attempted: &'a [CardId],
    /// Those whose comments are looked at; all, if it is not said.
    pub among: Option<&'a [CardId]>,
}

/// What happened last to a card that was tried before.
struct Past {
    outcome: Option<Outcome>,
    ended_at: Seconds,
    completed_at: Option<Seconds>,
    error: Option<String>,
}

/// Why cards should not be started again.
pub(crate) fn guards(
    tx: &Transaction<'_>,
    cards: &Touched<'_>,
    rules: &Rules,
    now: Seconds,
) -> rusqlite::Result<HashMap<CardId, Guard>> {
    let mut guards = HashMap::new();
    let mut cooled = Vec::new();
    for (card, past) in pasts(tx, cards.attempted, now)? {
        let cooldown = past.ended_at + rules.quota_cooldown;
        if past.outcome == Some(Outcome::RateLimited) {
            // Once the provider was left alone long enough, nothing of before counts.
            cooled.push(card.clone());
            if now < cooldown && !touched_since(tx, &card, past.ended_at)? {
                guards.insert(card, Guard::Cooldown { until: cooldown });
            }
            continue;
        }
        let guard = match (&past.error, past.completed_at) {
            (Some(error), _) if now < cooldown && is_refusal(error) => Guard::Auth { until: cooldown },
            (_, Some(at)) if !touched_since(tx, &card, at)? => Guard::RecentSuccess { until: at + SUCCESS },
            _ => continue,
        };
        guards.insert(card, guard);
    }
    for (card, at) in pull_requests(tx, cards.among, now)? {
        if !guards.contains_key(&card) && !cooled.contains(&card) && !touched_since(tx, &card, at)? {
            guards.insert(card, Guard::ActivePr { until: at + PULL_REQUEST });
        }
    }
    Ok(guards)
}

/// The newest attempt of each, and the newest of the last hour that was finished.
fn pasts(tx: &Transaction<'_>, cards: &[CardId], now: Seconds) -> rusqlite::Result<Vec<(CardId, Past)>> {
    let mut newest = tx.prepare_cached(
        "SELECT r.outcome, r.ended_at, t.last_failure_error, (SELECT max(c.ended_at) FROM task_runs c \
           WHERE c.task_id = t.id AND c.outcome = 'completed' AND c.ended_at >= ?2) \
         FROM tasks t JOIN task_runs r ON r.task_id = t.id WHERE t.id = ?1 AND r.ended_at IS NOT NULL \
         ORDER BY r.id DESC LIMIT 1",
    )?;
    let mut pasts = Vec::new();
    for card in cards {
        let past = newest
            .query_row(params![card, now - SUCCESS], |row| {
                Ok(Past {
                    outcome: row.get(0)?,
                    ended_at: row.get(1)?,
                    error: row.get(2)?,
                    completed_at: row.get(3)?,
                })
            })
            .optional()?;
        pasts.extend(past.map(|past| (card.clone(), past)));
    }
    Ok(pasts)
}

/// Whether somebody decided something about a card since then.
fn touched_since(tx: &Transaction<'_>, card: &CardId, at: Seconds) -> rusqlite::Result<bool> {
    tx.prepare_cached(
        "SELECT 1 FROM task_events WHERE task_id = ?1 AND created_at >= ?2 \
         AND kind IN ('status', 'promoted', 'promoted_manual', 'unblocked', 'reclaimed', 'assigned') LIMIT 1",
    )?
    .exists(params![card, at])
}

/// When somebody last named a pull request for a card. The newest comments are looked at first, and no older ones than
/// count.
fn pull_requests(
    tx: &Transaction<'_>,
    among: Option<&[CardId]>,
    now: Seconds,
) -> rusqlite::Result<HashMap<CardId, Seconds>> {
    let since = now - PULL_REQUEST;
    let mut found: HashMap<CardId, Seconds> = HashMap::new();
    let mut note = |card: CardId, at: Seconds, body: &str| {
        if names_pull_request(body) {
            let newest = found.entry(card).or_insert(at);
            *newest = at.max(*newest);
        }
    };
    if let Some(cards) = among {
        let mut statement = tx.prepare_cached(
            "SELECT created_at, body FROM task_comments WHERE task_id = ?1 AND created_at >= ?2",
        )?;
        for card in cards {
            let mut rows = statement.query(params![card, since])?;
            while let Some(row) = rows.next()? {
                note(card.clone(), row.get(0)?, row.get_ref(1)?.as_str().unwrap_or_default());
            }
        }
        return Ok(found);
    }
    let mut statement =
        tx.prepare_cached("SELECT task_id, created_at, body FROM task_comments ORDER BY id DESC")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let at: Seconds = row.get(1)?;
        if at < since {
            break;
        }
        note(row.get(0)?, at, row.get_ref(2)?.as_str().unwrap_or_default());
    }
    Ok(found)
}

/// Whether a text names a pull request: `https://github.com/OWNER/NAME/pull/NUMBER`.
fn names_pull_request(text: &str) -> bool {
    let after = |start: &'static str| text.match_indices(start).map(move |(at, _)| &text[at + start.len()..]);
    after("https://github.com/").chain(after("http://github.com/")).any(|rest| {
        let mut parts = rest.splitn(4, '/');
        let name = |part: Option<&str>| {
            part.is_some_and(|part| !part.is_empty() && !part.contains(char::is_whitespace))
        };
        name(parts.next())
            && name(parts.next())
            && parts.next() == Some("pull")
            && parts.next().is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Words that say a provider refused, as whole words.
const REFUSALS: &[&str] = &[
    "quota",
    "rate limit",
    "rate-limit",
    "rate_limit",
    "429",
    "403",
    "unauthorized",
    "forbidden",
    "billing",
    "subscription",
    "access denied",
    "permission denied",
    "invalid api key",
];

/// Whether an error is about keys, rights or quotas.
fn is_refusal(error: &str) -> bool {
    let error = error.to_lowercase();
    let begins = |at: usize| !error[..at].ends_with(char::is_alphanumeric);
    let ends = |at: usize| !error[at..].starts_with(char::is_alphanumeric);
    let found = |word: &str| error.match_indices(word).any(|(at, _)| begins(at) && ends(at + word.len()));
    REFUSALS.iter().any(|word| found(word)) || error.match_indices("auth").any(|(at, _)| begins(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_requests_are_recognised() {
        assert!(names_pull_request("see https://github.com/some/thing/pull/12, please"));
        for text in [
            "https://github.com/some/thing/issues/12",
            "https://github.com/some/thing/pull/x",
            "https://example.org/some/thing/pull/12",
            "github.com/some/thing/pull/12",
            "https://github.com/ some/thing/pull/1",
        ] {
            assert!(!names_pull_request(text), "{text}");
        }
    }

    #[test]
    fn refusals_are_whole_words() {
        for error in
            ["HTTP 429", "Quota exceeded", "authentication failed", "Rate-Limit reached", "Access denied."]
        {
            assert!(is_refusal(error), "{error}");
        }
        for error in ["exited with code 1429", "the author left", "killed by signal 9"] {
            // `author` begins with `auth`, as the other program sees it too.
            assert_eq!(is_refusal(error), error.contains("author"), "{error}");
        }
    }
}
