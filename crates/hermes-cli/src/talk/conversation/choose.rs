//! Choices: another session, another model, another way.

use hermes_agent::SharedStore;
use hermes_agent::assembly::{self, Opening, Resume};
use hermes_cli::chat::{Choice, CommandOutcome, Request};
use hermes_model::list::{Cached, ListCache};
use hermes_model::provider::Wanted;
use hermes_model::{Route, setup};
use hermes_store::sessions::{Kind, ListFilter, NewSession, SessionId, SessionRow, View};
use hermes_tools::toolsets;
use jiff::{Timestamp, Zoned};

use super::{AgentConversation, failed, gone};

/// Sessions and models that are offered.
const MOST: usize = 20;

/// Sessions to go on with.
pub fn session(store: &SharedStore, source: &str, current: &SessionId) -> CommandOutcome {
    match rows(store, source) {
        Err(error) => CommandOutcome::Failed(error),
        Ok(rows) => {
            let others = rows.into_iter().filter(|row| row.id != *current);
            let choices: Vec<Choice> = others.map(|row| choice(&row)).collect();
            if choices.is_empty() {
                return CommandOutcome::Said("There is no other session yet.".to_owned());
            }
            CommandOutcome::Choose { title: "Go on with".to_owned(), choices }
        }
    }
}

fn rows(store: &SharedStore, source: &str) -> Result<Vec<SessionRow>, String> {
    let filter = ListFilter { source: Some(source.to_owned()), limit: Some(MOST), ..ListFilter::default() };
    store.lock().list(&filter).map_err(|error| error.to_string())
}

fn choice(row: &SessionRow) -> Choice {
    let label = row.title.clone().unwrap_or_else(|| row.preview.clone());
    let when = row.last_active.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
    Choice {
        label: if label.is_empty() { row.id.as_str().to_owned() } else { label },
        detail: format!("{when}, {} messages", row.message_count),
        request: Request::Resume { which: Some(row.id.as_str().to_owned()) },
    }
}

/// Titles and ids of sessions, for completion.
pub fn session_names(store: &SharedStore, source: &str) -> Vec<String> {
    let name = |row: SessionRow| row.title.unwrap_or_else(|| row.id.as_str().to_owned());
    rows(store, source).unwrap_or_default().into_iter().map(name).collect()
}

/// Names of models that are known without asking anybody, for completion.
pub fn model_names(opening: &Opening) -> Vec<String> {
    let Ok(routes) = routes(opening, &opening.wanted) else { return Vec::new() };
    let lists = ListCache::in_home(opening.home.dir());
    let mut names: Vec<String> = routes.iter().map(|route| route.model.clone()).collect();
    if let Some(first) = routes.first() {
        let keys = first.keys.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let key = keys.get(0).map(|key| key.secret.clone());
        let kept = lists.get(&first.endpoint, key.as_ref(), std::time::SystemTime::now());
        if let Cached::Fresh(offers) | Cached::Stale(offers) = kept {
            names.extend(offers.into_iter().map(|offer| offer.id));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

fn routes(opening: &Opening, wanted: &Wanted) -> anyhow::Result<Vec<Route>> {
    Ok(setup::open(opening.home.dir(), &opening.settings, wanted)?.routes)
}

/// What `/model` was told: a name, perhaps a provider, perhaps for good.
#[derive(Debug, PartialEq, Eq, Default)]
struct Asked {
    model: Option<String>,
    provider: Option<String>,
    for_good: bool,
}

fn read(words: &str) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--provider" => {
                asked.provider = Some(words.next().ok_or("--provider needs a name")?.to_owned());
            }
            "--global" => asked.for_good = true,
            flag if flag.starts_with("--") => {
                return Err(format!("'{flag}' is not known; there are --provider and --global"));
            }
            name if asked.model.is_none() => asked.model = Some(name.to_owned()),
            more => return Err(format!("'{more}' is one word too many")),
        }
    }
    Ok(asked)
}

impl AgentConversation {
    /// Switches to another model, for this chat or for good.
    pub(super) fn model(&mut self, wanted: Option<String>) -> CommandOutcome {
        let Some(words) = wanted else { return self.offer_models() };
        let asked = match read(&words) {
            Ok(asked) if asked.model.is_some() => asked,
            Ok(_) => return self.offer_models(),
            Err(problem) => return CommandOutcome::Failed(problem),
        };
        let wanted = Wanted { provider: asked.provider.clone(), model: asked.model.clone(), base_url: None };
        let caller = routes(&self.opening, &wanted).and_then(|routes| {
            let names = routes.first().map(Route::names).unwrap_or_default();
            Ok((
                assembly::caller_for(&self.opening.home, &self.opening.settings, routes, &self.store)?,
                names,
            ))
        });
        let (caller, (provider, model)) = match caller {
            Ok(made) => made,
            Err(error) => return failed(&error),
        };
        if self.worker.with(move |agent| agent.use_caller(caller)).is_none() {
            return gone();
        }
        self.opening.wanted = wanted;
        // A session that was not stored yet notes its model when it is.
        let _ = self.store.lock().set_model(&self.id(), &model);
        let mut said = format!("'{model}' at {provider} from now on; the conversation stays.");
        if asked.for_good {
            said.push_str(&self.keep_model(&model, asked.provider.as_deref()));
        }
        CommandOutcome::Said(said)
    }

    fn keep_model(&self, model: &str, provider: Option<&str>) -> String {
        let home = &self.opening.home;
        let mut kept = hermes_home::settings::set(home, "model.default", model).map(drop);
        if let (Ok(()), Some(provider)) = (&kept, provider) {
            kept = hermes_home::settings::set(home, "model.provider", provider).map(drop);
        }
        match kept {
            Ok(()) => " New sessions use it too.".to_owned(),
            Err(error) => format!(" It could not be saved for new sessions: {error}"),
        }
    }

    fn offer_models(&self) -> CommandOutcome {
        let names = model_names(&self.opening);
        let current = self.worker.facts().model.clone();
        let choices: Vec<Choice> = names
            .into_iter()
            .take(200)
            .map(|name| Choice {
                detail: if name == current { "in use".to_owned() } else { String::new() },
                request: Request::Model { wanted: Some(name.clone()) },
                label: name,
            })
            .collect();
        if choices.len() < 2 {
            return CommandOutcome::Said(format!(
                "'{current}' is in use. `/model NAME [--provider P] [--global]` switches; `hermes model list` fetches the list of the provider."
            ));
        }
        CommandOutcome::Choose { title: "Models".to_owned(), choices }
    }

    /// Goes on in a copy of this session.
    pub(super) fn branch(&mut self, title: Option<&str>) -> CommandOutcome {
        match self.copy(title) {
            Ok(id) => match self.switch(Some(Resume::Id(id.clone())), None) {
                Ok(()) => CommandOutcome::Switched {
                    said: format!("This is a copy, {id}; the other session stays as it is."),
                    recent: Vec::new(),
                },
                Err(error) => failed(&error),
            },
            Err(error) => CommandOutcome::Failed(error),
        }
    }

    fn copy(&mut self, title: Option<&str>) -> Result<SessionId, String> {
        let old = self.id();
        let mut random = [0; 3];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())
            .map_err(|e| e.to_string())?;
        let now = Zoned::now();
        let id = SessionId::new(&now, random);
        let mut store = self.store.lock();
        let copied = (|| {
            let row = store.row(&old)?;
            let messages = store.messages(&old, View::Active)?;
            let mut session = NewSession::new(id.clone(), row.source, now.timestamp());
            session.kind = Kind::Branch;
            session.parent = Some(old.clone());
            session.model = row.model;
            session.system_prompt = store.system_prompt(&old)?;
            (session.cwd, session.git_branch, session.git_root) = (row.cwd, row.git_branch, row.git_root);
            store.create(&session)?;
            let messages: Vec<_> = messages.into_iter().map(|stored| stored.message).collect();
            store.append_all(&id, &messages)?;
            store.end(&old, "branched", Timestamp::now())?;
            if let Some(title) = title {
                store.set_title(&id, title, hermes_store::sessions::Clash::Number)?;
            }
            Ok(())
        })();
        copied.map(|()| id).map_err(|error: hermes_store::sessions::SessionError| error.to_string())
    }
}

/// Groups of tools and whether they are on.
pub fn toolsets(opening: &Opening) -> CommandOutcome {
    match toolsets::Selection::new(&opening.settings, &opening.source, &opening.toolsets) {
        Err(error) => CommandOutcome::Failed(error.to_string()),
        Ok(selection) => {
            let line = |set: &toolsets::Toolset| {
                let here = set.here();
                // The same words as `hermes tools`.
                let state = if selection.is_on(set) { "on" } else { "off" };
                let note = if here.is_empty() { " (its tools are not in this version)" } else { "" };
                format!("- `{}` {state}{note}", set.name)
            };
            let lines: Vec<String> = toolsets::basic().map(line).collect();
            CommandOutcome::Said(format!(
                "{}\n\n`hermes tools enable NAME` and `disable NAME` change it for new sessions.",
                lines.join("\n")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_with_or_without_its_provider() {
        let asked = read("gpt-5 --provider openai-api --global");
        let expected =
            Asked { model: Some("gpt-5".into()), provider: Some("openai-api".into()), for_good: true };
        assert_eq!(asked, Ok(expected));
        assert!(read("--provider").is_err());
        assert!(read("a b").is_err());
        assert!(read("a --wat").is_err());
    }
}
