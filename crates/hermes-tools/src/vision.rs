//! The `vision_analyze` tool: a question about a picture, asked of a model that sees.

mod picture;

use std::sync::Arc;
use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::table::{auxiliary, model};
use hermes_model::{Image, ToolSpec};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::gate::Waiting;
use crate::tool::{Arguments, Availability, Run, Running, Sharing, Tool, ToolOutput, Trust};
use crate::web::{Web, required};
use crate::workplace::Workplace;
use picture::Source;

/// A model that sees.
pub trait Eyes: Send + Sync {
    /// What it has to say about a picture, or why nothing.
    fn look<'a>(&'a self, look: Look<'a>) -> Waiting<'a, Result<String, String>>;
}

/// What is looked at.
#[derive(Debug)]
pub struct Look<'a> {
    /// The picture.
    pub image: Image,
    /// The question about it.
    pub question: &'a str,
    /// The conversation it belongs to.
    pub session: &'a str,
    /// Cancelled when nobody waits any more.
    pub cancel: &'a CancellationToken,
}

/// See the module.
#[derive(Clone)]
pub struct Vision {
    web: Web,
    place: Workplace,
    eyes: Option<Arc<dyn Eyes>>,
    availability: Availability,
    within: Duration,
}

impl Vision {
    /// The tool. Without eyes it can be shown and not be used.
    pub fn new(web: Web, place: Workplace, eyes: Option<Arc<dyn Eyes>>, settings: &Settings) -> Self {
        let seconds = settings.get(&auxiliary::VISION_DOWNLOAD_TIMEOUT).unwrap_or(30);
        let within = Duration::from_secs(u64::try_from(seconds).unwrap_or(30));
        Self { web, place, eyes, availability: availability(settings), within }
    }

    async fn work(&self, run: Run<'_>) -> Result<(String, Trust), String> {
        let address = required(run.arguments, "image_url")?;
        let question = required(run.arguments, "question")?;
        let eyes = self.eyes.as_ref().ok_or("there is no model to look at pictures here")?;
        let source = Source::of(address);
        let bytes = picture::get(&source, &self.web, &self.place, self.within, &run).await?;
        let image = picture::image(&bytes)?;
        let look = Look { image, question, session: run.session, cancel: run.cancel };
        let said = tokio::select! {
            said = eyes.look(look) => said?,
            () = run.cancel.cancelled() => return Err("interrupted".to_owned()),
        };
        // A picture from the network may have words in it that are meant for models.
        Ok((said, if matches!(source, Source::Web(_)) { Trust::Outside } else { Trust::Local }))
    }
}

/// The main model looks, unless the user says that it cannot; then it takes a model of its own.
fn availability(settings: &Settings) -> Availability {
    let chosen = [&auxiliary::VISION_PROVIDER, &auxiliary::VISION_MODEL, &auxiliary::VISION_BASE_URL];
    let is_set = |text: String| !text.is_empty() && text != "auto";
    let has_own = chosen.iter().any(|def| settings.get(def).is_ok_and(is_set));
    let blind = settings.get(&model::SUPPORTS_VISION).is_ok_and(|sees| sees == "false");
    if blind && !has_own {
        let why = "the model does not take images ('model.supports_vision' is false): name one that does with \
                   `hermes config set auxiliary.vision.model MODEL`";
        return Availability::No { why: why.to_owned() };
    }
    Availability::Yes
}

impl Tool for Vision {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "vision_analyze".to_owned(),
            description: "Ask a question about an image.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "image_url": { "type": "string", "description": "http(s) or data: URL, or a file path" },
                    "question": { "type": "string" }
                },
                "required": ["image_url", "question"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "vision"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let address = arguments.get("image_url").and_then(Value::as_str).unwrap_or_default();
        if address.starts_with("data:") { "an image".to_owned() } else { address.to_owned() }
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        Sharing::Freely
    }

    fn available(&self) -> Availability {
        self.availability.clone()
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            match self.work(run).await {
                Ok((said, trust)) => {
                    let output = ToolOutput::json(&json!({ "success": true, "analysis": said }));
                    ToolOutput { trust, ..output }
                }
                Err(error) => {
                    let analysis = format!("The image could not be looked at: {error}");
                    ToolOutput::json(&json!({ "success": false, "error": error, "analysis": analysis }))
                        .failed()
                }
            }
        })
    }
}
