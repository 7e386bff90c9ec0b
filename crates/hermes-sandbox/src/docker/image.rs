//! The image: whether it is there, what it starts, and getting it.

use std::time::Duration;

use serde::Deserialize;

use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use super::spec::Init;

/// An image as the engine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its id, without the algorithm's name.
    pub id: String,
    /// What it starts of its own accord.
    pub entrypoint: Vec<String>,
    /// The user it runs as; empty is root.
    pub user: String,
}

impl Image {
    /// Who must be the first process. Supervisors of the s6 family refuse to be anything else.
    pub fn init(&self) -> Init {
        match self.entrypoint.first().map(String::as_str) {
            Some("/init" | "/package/admin/s6-overlay/command/init") => Init::Image,
            _ => Init::Agent,
        }
    }
}

impl Image {
    /// Whether it runs as root unless told otherwise.
    pub fn runs_as_root(&self) -> bool {
        matches!(self.user.split(':').next(), None | Some("" | "0" | "root"))
    }
}

/// Something that shows what the engine prints while it fetches an image.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// Looks at an image; one that is not there is `None`.
pub fn look(engine: &dyn Engine, name: &str) -> Result<Option<Image>, EngineError> {
    let request = Request::new("looking at the image", name, deadline::LOOK, ["image", "inspect", name]);
    let output = engine.ask(&request, None)?;
    if output.code != 0 {
        return match engine.refusal(&request, &output) {
            EngineError::ImageMissing { .. } | EngineError::NoSuchContainer { .. } => Ok(None),
            other => Err(other),
        };
    }
    let parsed = serde_json::from_slice::<Vec<Raw>>(&output.stdout);
    let raw = parsed.map_err(|error| gibberish(&error.to_string()))?.into_iter().next();
    raw.map(Image::from).map(Some).ok_or_else(|| gibberish("an empty list"))
}

/// Fetches an image, showing what the engine prints.
pub fn pull(
    engine: &dyn Engine,
    name: &str,
    within: Duration,
    progress: Progress<'_>,
) -> Result<(), EngineError> {
    progress(&format!("pulling the image \"{name}\""));
    let request = Request::new("pulling the image", name, within, ["pull", name]);
    let output = engine.ask(&request, Some(progress))?;
    if output.code == 0 { Ok(()) } else { Err(engine.refusal(&request, &output)) }
}

/// Makes sure the image is there.
pub fn require(
    engine: &dyn Engine,
    name: &str,
    within: Duration,
    progress: Progress<'_>,
) -> Result<Image, EngineError> {
    if let Some(image) = look(engine, name)? {
        return Ok(image);
    }
    pull(engine, name, within, progress)?;
    look(engine, name)?.ok_or_else(|| EngineError::ImageMissing { image: name.to_owned() })
}

fn gibberish(detail: &str) -> EngineError {
    EngineError::Gibberish { doing: "looking at the image".to_owned(), detail: detail.to_owned() }
}

#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "Id")]
    id: String,
    #[serde(rename = "Config", default)]
    config: Option<RawConfig>,
}

#[derive(Deserialize, Default)]
struct RawConfig {
    #[serde(rename = "Entrypoint", default)]
    entrypoint: Option<Vec<String>>,
    #[serde(rename = "User", default)]
    user: String,
}

impl From<Raw> for Image {
    fn from(raw: Raw) -> Self {
        let config = raw.config.unwrap_or_default();
        Self {
            id: raw.id.trim_start_matches("sha256:").to_owned(),
            entrypoint: config.entrypoint.unwrap_or_default(),
            user: config.user,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::fake::FakeEngine;
    use crate::host::call::Output;

    const TINY: &str = r#"[{"Id":"sha256:c9ea","Config":{"Entrypoint":null}}]"#;

    #[test]
    fn an_image_that_is_there_is_not_pulled() {
        let engine = FakeEngine::default().say(&["image", "inspect"], TINY);
        let image = require(&engine, "tiny:1", deadline::LOOK, &mut |_| ()).unwrap();
        assert_eq!(image.id, "c9ea");
        assert_eq!(engine.verbs(), ["image"]);
    }

    #[test]
    fn a_missing_image_is_pulled_once_and_looked_at_again() {
        let mut asked = 0;
        let engine = FakeEngine::default().on(&["image", "inspect"], move |_| {
            asked += 1;
            match asked {
                1 => Output { code: 1, stderr: "Error: No such image: tiny:1".into(), ..Output::default() },
                _ => Output { stdout: TINY.into(), ..Output::default() },
            }
        });
        let mut shown = Vec::new();
        require(&engine, "tiny:1", deadline::LOOK, &mut |line| shown.push(line.to_owned())).unwrap();
        assert_eq!(engine.verbs(), ["image", "pull", "image"]);
        assert_eq!(shown[0], "pulling the image \"tiny:1\"");
    }

    #[test]
    fn an_image_that_cannot_be_had_says_so() {
        let engine = FakeEngine::default()
            .refuse(
                &["image", "inspect"],
                1,
                "Error response from daemon: no such image: x: No such image: x",
            )
            .refuse(
                &["pull"],
                1,
                "Error response from daemon: pull access denied for x, repository does not exist",
            );
        let error = require(&engine, "x", deadline::LOOK, &mut |_| ()).unwrap_err();
        assert!(matches!(error, EngineError::ImageMissing { image } if image == "x"));
    }

    #[test]
    fn only_supervisors_stay_first() {
        let image = |entrypoint: &[&str]| Image {
            id: String::new(),
            entrypoint: entrypoint.iter().map(|word| (*word).to_owned()).collect(),
            user: String::new(),
        };
        assert_eq!(image(&["/init"]).init(), Init::Image);
        assert_eq!(image(&["/package/admin/s6-overlay/command/init"]).init(), Init::Image);
        assert_eq!(image(&["docker-entrypoint.sh"]).init(), Init::Agent);
        assert_eq!(image(&[]).init(), Init::Agent);
    }
}
