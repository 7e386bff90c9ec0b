//! `hermes kanban notify-subscribe`, `notify-list` and `notify-unsubscribe`.

use std::process::ExitCode;

use hermes_board::card::CardId;
use hermes_board::notify::Subscription;
use serde_json::{Value, json};

use super::Desk;
use super::screen::line;
use crate::ui;

/// Let a chat be told what becomes of a card
#[derive(Debug, clap::Args)]
pub struct SubscribeArgs {
    /// The card
    task_id: String,
    #[command(flatten)]
    place: Place,
    /// Who asks for it
    #[arg(long, value_name = "ID")]
    user_id: Option<String>,
    /// The profile whose gateway tells it
    #[arg(long, value_name = "PROFILE")]
    notifier_profile: Option<String>,
}

/// List the chats that are told about cards
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// Only about this card
    task_id: Option<String>,
}

/// Let a chat no longer be told about a card
#[derive(Debug, clap::Args)]
pub struct UnsubscribeArgs {
    /// The card
    task_id: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
struct Place {
    /// The platform, such as telegram
    #[arg(long)]
    platform: String,
    /// The chat there
    #[arg(long, value_name = "ID")]
    chat_id: String,
    /// A thread of that chat
    #[arg(long, value_name = "ID", default_value = "")]
    thread_id: String,
}

/// Lets a chat be told.
pub fn subscribe(desk: &Desk<'_>, args: &SubscribeArgs) -> anyhow::Result<ExitCode> {
    let new = Subscription {
        card: CardId::new(&args.task_id),
        platform: args.place.platform.clone(),
        chat: args.place.chat_id.clone(),
        thread: args.place.thread_id.clone(),
        user: args.user_id.clone(),
        profile: args.notifier_profile.clone(),
        created_at: desk.now,
        last_event: 0,
    };
    desk.board()?.subscribe(&new)?;
    desk.say(&format!("Subscribed {} to {}", place(&new), new.card), || value(&new))
}

/// Lists them.
pub fn list(desk: &Desk<'_>, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let card = args.task_id.as_ref().map(CardId::new);
    let all = match desk.look()? {
        Some(mut board) => board.subscriptions(card.as_ref())?,
        None => Vec::new(),
    };
    let told = |sub: &Subscription| {
        let owner = sub.profile.as_deref().map(|name| format!(" [owner={}]", line(name, 40)));
        let (place, owner) = (place(sub), owner.unwrap_or_default());
        format!("{}  {place}  (since event {}){owner}", sub.card, sub.last_event)
    };
    let text = match all.as_slice() {
        [] => "Nobody is told.".to_owned(),
        all => all.iter().map(told).collect::<Vec<_>>().join("\n"),
    };
    desk.say(&text, || all.iter().map(value).collect())
}

/// Lets a chat no longer be told.
pub fn unsubscribe(desk: &Desk<'_>, args: &UnsubscribeArgs) -> anyhow::Result<ExitCode> {
    let (card, place) = (CardId::new(&args.task_id), &args.place);
    if !desk.board()?.unsubscribe(&card, &place.platform, &place.chat_id, &place.thread_id)? {
        anyhow::bail!(
            "that chat is not told about {card}: `hermes kanban notify-list {card}` shows which are"
        );
    }
    let text = format!("Unsubscribed {}:{} from {card}", line(&place.platform, 40), line(&place.chat_id, 80));
    desk.say(&text, || json!({ "task_id": card, "removed": true }))
}

fn place(sub: &Subscription) -> String {
    let thread = if sub.thread.is_empty() { String::new() } else { format!(":{}", line(&sub.thread, 80)) };
    ui::harmless(&format!("{}:{}{thread}", line(&sub.platform, 40), line(&sub.chat, 80)))
}

fn value(sub: &Subscription) -> Value {
    json!({
        "task_id": sub.card, "platform": sub.platform, "chat_id": sub.chat, "thread_id": sub.thread,
        "user_id": sub.user, "notifier_profile": sub.profile, "created_at": sub.created_at,
        "last_event_id": sub.last_event,
    })
}
