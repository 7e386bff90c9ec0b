//! What a skill needs besides its text: variables and files the user has to provide.

use std::path::Path;

use serde_json::Value;

use super::header::{Header, words};

/// A variable a skill needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Its name.
    pub name: String,
    /// How to ask for it, or where to get it.
    pub help: Option<String>,
    /// Whether it works without.
    pub optional: bool,
}

/// The variables a header asks for, each once, in all the ways people write it.
pub fn needs(header: &Header) -> Vec<Need> {
    let mut found = Vec::new();
    if let Some(value) = header.get("required_environment_variables") {
        collect(value, &mut found);
    }
    if let Some(value) = header.get("setup").and_then(|setup| setup.get("collect_secrets")) {
        collect(value, &mut found);
    }
    if let Some(value) = header.get("prerequisites").and_then(|old| old.get("env_vars")) {
        collect(value, &mut found);
    }
    let mut needs: Vec<Need> = Vec::new();
    for need in found {
        if is_name(&need.name) && !needs.iter().any(|known| known.name == need.name) {
            needs.push(need);
        }
    }
    needs
}

fn collect(value: &Value, found: &mut Vec<Need>) {
    match value {
        Value::String(_) => {
            found.extend(words(value).into_iter().map(|name| Need { name, help: None, optional: false }));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => {
            let text = |keys: &[&str]| {
                let found = keys.iter().find_map(|key| fields.get(*key).and_then(Value::as_str));
                found.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
            };
            if let Some(name) = text(&["name", "env_var"]) {
                let optional = fields.get("optional").and_then(Value::as_bool) == Some(true);
                let help = text(&["help", "prompt", "provider_url", "url"]);
                found.push(Need { name, help, optional });
            }
        }
        _ => {}
    }
}

fn is_name(name: &str) -> bool {
    let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(word)
}

/// The files below the home that a header asks for and that are not there.
pub fn missing_files(header: &Header, home: &Path) -> Vec<String> {
    let name = |item: &Value| match item {
        Value::String(name) => Some(name.clone()),
        item => item.get("path").and_then(Value::as_str).map(str::to_owned),
    };
    let items: Vec<String> = match header.get("required_credential_files") {
        Some(Value::Array(items)) => items.iter().filter_map(name).collect(),
        Some(item) => name(item).into_iter().collect(),
        None => Vec::new(),
    };
    items.into_iter().filter(|file| !home.join(file).exists()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::header::split;
    use super::*;

    #[test]
    fn variables_are_read_in_all_their_forms() {
        let text = "---\nrequired_environment_variables:\n- A_KEY\n- name: B_KEY\n  help: at b.example\n- env_var: C_KEY\n  optional: true\n- 'not a name'\nprerequisites:\n  env_vars: A_KEY, D_KEY\nsetup:\n  collect_secrets:\n  - env_var: E_KEY\n    provider_url: https://e.example\nrequired_credential_files: [there, {path: gone}]\n---\n";
        let header = split(text).header;
        let found = needs(&header);
        let names: Vec<&str> = found.iter().map(|need| need.name.as_str()).collect();
        assert_eq!(names, ["A_KEY", "B_KEY", "C_KEY", "E_KEY", "D_KEY"]);
        assert_eq!(found[1].help.as_deref(), Some("at b.example"));
        assert!(found[2].optional && !found[0].optional);
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("there"), "").unwrap();
        assert_eq!(missing_files(&header, home.path()), ["gone"]);
    }
}
