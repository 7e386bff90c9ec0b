//! Jupyter notebooks as text: cells with their source and what they printed.

use std::fmt::Write as _;

use serde_json::Value;

/// Characters of one output that are worth showing.
const LONGEST_OUTPUT: usize = 2000;

/// The cells of a notebook, one after the other; why it is none otherwise.
pub(super) fn text(bytes: &[u8]) -> Result<String, String> {
    let notebook: Value = serde_json::from_slice(bytes).map_err(|error| format!("no JSON: {error}"))?;
    let cells = notebook["cells"].as_array().ok_or("it has no cells")?;
    let mut text = String::new();
    for (index, cell) in cells.iter().enumerate() {
        let kind = cell["cell_type"].as_str().unwrap_or("unknown");
        let _ = writeln!(text, "# --- cell {} ({kind}) ---", index + 1);
        push_lines(&mut text, &joined(&cell["source"]));
        for output in cell["outputs"].as_array().into_iter().flatten() {
            if let Some(shown) = printed(output) {
                text.push_str("# --- output ---\n");
                push_lines(&mut text, cut(&shown));
            }
        }
    }
    Ok(text)
}

/// What an output says in words; pictures say nothing.
fn printed(output: &Value) -> Option<String> {
    let text = match output["output_type"].as_str()? {
        "stream" => joined(&output["text"]),
        "error" => format!(
            "{}: {}",
            output["ename"].as_str().unwrap_or("error"),
            output["evalue"].as_str().unwrap_or_default()
        ),
        _ => match &output["data"]["text/plain"] {
            Value::Null => "[not text]".to_owned(),
            text => joined(text),
        },
    };
    (!text.is_empty()).then_some(text)
}

/// Text is kept as one string or as a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(LONGEST_OUTPUT).map_or(text, |(at, _)| &text[..at])
}

fn push_lines(to: &mut String, text: &str) {
    to.push_str(text);
    if !text.is_empty() && !text.ends_with('\n') {
        to.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_and_what_they_printed_are_shown() {
        let notebook = json!({ "cells": [
            { "cell_type": "markdown", "source": ["# Title\n", "words"] },
            { "cell_type": "code", "source": "1 + 1", "outputs": [
                { "output_type": "execute_result", "data": { "text/plain": ["2"], "image/png": "xyz" } },
                { "output_type": "stream", "text": "" },
                { "output_type": "error", "ename": "E", "evalue": "bad" },
            ]},
        ]});
        let shown = text(notebook.to_string().as_bytes()).unwrap();
        assert_eq!(
            shown,
            "# --- cell 1 (markdown) ---\n# Title\nwords\n# --- cell 2 (code) ---\n1 + 1\n# --- output ---\n2\n# --- output ---\nE: bad\n"
        );
        assert!(text(b"{}").is_err() && text(b"no").is_err());
    }
}
