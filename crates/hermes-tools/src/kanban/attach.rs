//! Files of cards.

use std::time::Duration;

use hermes_board::attachments::{Attachment, LARGEST, NewFile};
use hermes_web::Fetched;
use hermes_web::fetch::{Beyond, Order};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Call;
use super::desk::{now, said};
use crate::fields;
use crate::web::Web;

/// How long a file may take to come.
const WITHIN: Duration = Duration::from_mins(2);

/// Keeps a file whose content stands in the call.
pub(super) fn attach(call: &Call) -> Result<Value, String> {
    let name = fields::needed(&call.arguments, "filename", "a file has a name")?;
    let text = fields::needed(&call.arguments, "content_base64", "a file has a content")?;
    if text.len() as u64 > LARGEST / 3 * 4 + 1024 {
        return Err(format!("the file is too large: at most {LARGEST} bytes are kept"));
    }
    let content = hermes_web::image::data_url(&format!("data:;base64,{}", text.trim()))
        .ok_or_else(|| "\"content_base64\" is no base64".to_owned())?;
    keep(call, &name, &content, hermes_board::attachments::media_type(&name))
}

/// Gets a file from the web, if the policy allows it at every step.
pub(super) async fn fetch(call: &Call, web: &Web, cancel: &CancellationToken) -> Result<Fetched, String> {
    // A worker is told that the card is not its own before anybody is contacted.
    call.desk.own_card(&call.arguments)?;
    let url = fields::needed(&call.arguments, "url", "where is the file?")?;
    let largest = usize::try_from(LARGEST).unwrap_or(usize::MAX);
    let order = Order { accept: "*/*", largest, beyond: Beyond::Refuse, within: WITHIN };
    web.fetcher()?.fetch(url.trim(), &order, cancel).await.map_err(|error| error.to_string())
}

/// Keeps what was fetched.
pub(super) fn fetched(call: &Call, fetched: &Fetched) -> Result<Value, String> {
    let last = fetched.url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let named = fields::text(&call.arguments, "filename")?;
    let name = named.unwrap_or_else(|| if last.is_empty() { "download".to_owned() } else { last.to_owned() });
    let media_type = Some(fetched.media_type.as_str()).filter(|kind| !kind.is_empty());
    keep(call, &name, &fetched.body, media_type)
}

fn keep(call: &Call, name: &str, content: &[u8], content_type: Option<&str>) -> Result<Value, String> {
    let (id, by) = call.desk.own_card(&call.arguments)?;
    let file = NewFile { name, content, content_type, uploaded_by: call.desk.author() };
    let kept = call.desk.board(&call.arguments)?.attach(&id, &file, by, now()).map_err(said)?;
    Ok(json!({ "ok": true, "task_id": id, "attachment_id": kept.id, "size": kept.size }))
}

/// The files of a card.
pub(super) fn list(call: &Call) -> Result<Value, String> {
    let id = call.desk.card(&call.arguments)?;
    let files = call.desk.board(&call.arguments)?.attachments(&id).map_err(said)?;
    Ok(json!({ "ok": true, "task_id": id, "attachments": files.iter().map(shown).collect::<Vec<_>>() }))
}

fn shown(file: &Attachment) -> Value {
    json!({
        "id": file.id,
        "filename": file.filename,
        "content_type": file.content_type,
        "size": file.size,
        "uploaded_by": file.uploaded_by,
        "stored_path": file.stored_path,
        "created_at": file.created_at,
    })
}
