//! Where skills are: the home's own place, and the directories the user names.

use std::path::{Path, PathBuf};

/// The directories to look in. Those that are not there, or were named before, are left out; the home's own comes first
/// and stays even if it is not there yet.
pub fn roots(home: &Path, external: &[String], variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let own = home.join("skills");
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let mut seen: Vec<PathBuf> = real(&own).into_iter().collect();
    let mut roots = vec![own];
    for named in external.iter().map(|named| named.trim()).filter(|named| !named.is_empty()) {
        let path = home.join(expand(named, &variable));
        let Some(found) = real(&path).filter(|found| found.is_dir()) else { continue };
        if !seen.contains(&found) {
            seen.push(found);
            roots.push(path);
        }
    }
    roots
}

/// Fills in `~` and `${NAME}`; a name that is not set stays as it is.
fn expand(named: &str, variable: &impl Fn(&str) -> Option<String>) -> String {
    let named = match named.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => variable("HOME").unwrap_or_default() + rest,
        _ => named.to_owned(),
    };
    let (mut text, mut rest) = (String::new(), named.as_str());
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 2..start + length];
        text.push_str(&rest[..start]);
        text.push_str(&variable(name).unwrap_or_else(|| rest[start..=start + length].to_owned()));
        rest = &rest[start + length + 1..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_found_once_and_only_if_they_are_there() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["skills", "user/shared", "team", "more"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let at = |name: &str| dir.path().join(name);
        let user = at("user").display().to_string();
        let more = at("more").display().to_string();
        let variable = |name: &str| match name {
            "HOME" => Some(user.clone()),
            "MORE" => Some(more.clone()),
            _ => None,
        };
        let named = ["~/shared", "team", "${MORE}", "skills", "./team", "nowhere", "${UNSET}/x", " "];
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        let found = roots(dir.path(), &named, variable);
        assert_eq!(found, [at("skills"), at("user/shared"), at("team"), at("more")]);
    }
}
