//! Pictures a card speaks of go to the model with the first turn.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_agent::assembly::Opening;
use hermes_model::{Content, Image};
use hermes_web::fetch::{Beyond, Order};
use hermes_web::{Fetcher, Network, policy};
use tokio_util::sync::CancellationToken;

use crate::talk::picture;

/// Most pictures that are sent.
const MOST: usize = 8;
/// Largest picture from the web.
const LARGEST: usize = 10 * 1024 * 1024;
/// How long one may take to come.
const WITHIN: Duration = Duration::from_secs(30);

/// Where a picture is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Web(String),
}

/// The pictures a text speaks of. What is not there, or no picture, was only a word.
pub async fn of(text: &str, opening: &Opening, cancel: &CancellationToken) -> Vec<Content> {
    let mut found = Vec::new();
    let mut fetcher = None;
    for place in places(text, &opening.cwd).into_iter().take(MOST) {
        match place {
            Place::File(path) => found.extend(picture::read(&path).ok()),
            Place::Web(url) => {
                let fetcher = fetcher.get_or_insert_with(|| web(opening));
                if let Some(fetcher) = fetcher {
                    found.extend(fetch(fetcher, &url, cancel).await);
                }
            }
        }
    }
    found
}

fn web(opening: &Opening) -> Option<Fetcher> {
    let network = Network::from_settings(&opening.settings).ok()?;
    let policy = policy::from_settings(&opening.home, &opening.settings).ok()?;
    Some(Fetcher::new(policy, network))
}

async fn fetch(fetcher: &Fetcher, url: &str, cancel: &CancellationToken) -> Option<Content> {
    let order = Order { accept: "image/*", largest: LARGEST, beyond: Beyond::Refuse, within: WITHIN };
    match fetcher.fetch(url, &order, cancel).await {
        Ok(page) => {
            let media_type = picture::kind(&page.body)?.to_owned();
            Some(Content::Image(Image::Inline { media_type, base64: crate::base64::encode(&page.body) }))
        }
        Err(error) => {
            tracing::warn!(%error, "a picture of the card is not sent");
            None
        }
    }
}

/// Words that end like a picture's name.
fn places(text: &str, cwd: &Path) -> Vec<Place> {
    let mut found = Vec::new();
    let between = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '<' | '>' | ',')
    };
    for word in text.split(between) {
        let word = word.trim_end_matches(['.', ':', ';', '!', '?']);
        let path = word.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
        if ![".png", ".jpg", ".jpeg", ".gif", ".webp"].iter().any(|end| path.ends_with(end)) {
            continue;
        }
        let place = if word.starts_with("http://") || word.starts_with("https://") {
            Place::Web(word.to_owned())
        } else {
            Place::File(cwd.join(word))
        };
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_by_their_names() {
        let text = "Make it look like ![this](https://x.test/a.PNG?w=1) and `shots/b.jpg`, not /tmp/c.webp. See a.txt.";
        let expected = [
            Place::Web("https://x.test/a.PNG?w=1".into()),
            Place::File("/w/shots/b.jpg".into()),
            Place::File("/tmp/c.webp".into()),
        ];
        assert_eq!(places(text, Path::new("/w")), expected);
    }
}
