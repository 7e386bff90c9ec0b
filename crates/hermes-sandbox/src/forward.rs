//! Variables handed to commands in another place by name: the value is looked up here, at the last moment.

use crate::context::Context;
use crate::docker::spec::is_env_name;
use crate::notice::Notice;
use hermes_guard::Secret;

/// Finds the values of the variables to forward: the process environment first, then the profile's `.env`.
///
/// An empty value counts as missing, so that an empty export does not hide the one in the file. Names given
/// by the user are forwarded whatever they hold: that is what the setting is for.
pub fn resolve(names: &[String], context: &Context) -> (Vec<(String, Secret)>, Vec<Notice>) {
    let mut found: Vec<(String, Secret)> = Vec::new();
    let mut notices = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        if found.iter().any(|(known, _)| known == name) {
            continue;
        }
        let ignored = |reason: &str| Notice::SettingIgnored {
            setting: format!("docker_forward_env: {name}"),
            reason: reason.to_owned(),
        };
        if !is_env_name(name) {
            notices.push(ignored("it is not a variable name"));
            continue;
        }
        let from_process = context.env.text(name).filter(|value| !value.is_empty()).map(Secret::new);
        let from_file = || context.dotenv.get(name).filter(|value| !value.expose().is_empty()).cloned();
        match from_process.or_else(from_file) {
            Some(value) => found.push((name.to_owned(), value)),
            None => notices.push(ignored("it is set neither in the environment nor in .env")),
        }
    }
    (found, notices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(env: &[(&str, &str)], dotenv: &[(&str, &str)]) -> Context {
        Context {
            env: env.iter().copied().collect(),
            dotenv: dotenv.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect(),
            ..crate::context::sample()
        }
    }

    fn resolved(names: &[&str], context: &Context) -> Vec<(String, String)> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let (found, _) = resolve(&names, context);
        found.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect()
    }

    #[test]
    fn the_process_comes_before_the_file_and_empty_is_missing() {
        let context = context(&[("A", "1"), ("B", "")], &[("A", "2"), ("B", "3"), ("C", "4")]);
        let pairs = [("A", "1"), ("B", "3"), ("C", "4")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(resolved(&["A", "B", "C", "A"], &context), pairs);
    }

    #[test]
    fn what_cannot_be_forwarded_is_reported() {
        let context = context(&[("A", "1")], &[]);
        let (found, notices) = resolve(&["1A".into(), "NOPE".into(), "A".into()], &context);
        assert_eq!((found.len(), notices.len()), (1, 2));
    }

    #[test]
    fn a_name_the_user_gave_beats_the_list_of_secrets() {
        let context = context(&[("OPENAI_API_KEY", "k")], &[]);
        assert_eq!(resolved(&["OPENAI_API_KEY"], &context).len(), 1);
    }
}
