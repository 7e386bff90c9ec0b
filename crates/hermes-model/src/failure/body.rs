//! Finds the provider's words in the body of an error answer, whatever its shape.

use serde_json::Value;

use super::Observed;
use crate::json::text;
use crate::wire::excerpt;

/// Reads an error body. The status and headers are added by the caller.
pub fn read_error_body(body: &[u8]) -> Observed {
    let written = String::from_utf8_lossy(body);
    match serde_json::from_str::<Value>(&written) {
        Ok(value) => of_json(&value),
        Err(_) => Observed { message: of_page(&written), ..Observed::default() },
    }
}

fn of_json(body: &Value) -> Observed {
    // Google wraps its error object in a list.
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
    let word = |key: &str| text(error, key).map(str::to_owned);
    let said = error.as_str().map(str::to_owned);
    let message = said.or_else(|| word("message")).or_else(|| word("detail")).or_else(|| details(error));
    let inner = inner_message(error);
    let message = match (message, inner) {
        (Some(message), Some(inner)) => format!("{message}: {inner}"),
        (message, inner) => message.or(inner).unwrap_or_else(|| excerpt(&body.to_string())),
    };
    let specific = |code: &String| !matches!(code.as_str(), "invalid_request_error" | "error");
    let code = word("code").or_else(|| text(&error["innererror"], "code").map(str::to_owned));
    let code =
        code.filter(specific).or_else(|| word("type")).or_else(|| word("status")).or_else(|| word("code"));
    Observed { code, param: word("param"), message: message.trim().to_owned(), ..Observed::default() }
}

/// `{"detail": [{"msg": …}]}`, as frameworks of local servers write it.
fn details(error: &Value) -> Option<String> {
    let items = error["detail"].as_array()?;
    let texts: Vec<&str> = items.iter().filter_map(|item| text(item, "msg")).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Routers hide what the real provider said one level deeper, sometimes as text that is JSON again.
fn inner_message(error: &Value) -> Option<String> {
    let raw = error.pointer("/metadata/raw")?;
    let parsed = raw.as_str().and_then(|raw| serde_json::from_str::<Value>(raw).ok());
    let inner = parsed.as_ref().unwrap_or(raw);
    let message = inner.pointer("/error/message").or_else(|| inner.get("message")).and_then(Value::as_str);
    message.or_else(|| raw.as_str()).map(excerpt)
}

/// A web page of some proxy: its title says enough.
fn of_page(page: &str) -> String {
    let lower = page.to_lowercase();
    let title = || {
        let start = lower.find("<title>")? + "<title>".len();
        let end = start + lower.get(start..)?.find("</title>")?;
        page.get(start..end)
    };
    match title() {
        Some(title) => excerpt(title),
        None => excerpt(page),
    }
}
