//! How long results may be. What is longer goes to a file where the model's tools can read it; both ends and the way to
//! the rest stay.

mod spilled;

use hermes_model::Content;
use hermes_model::message::text_of;

use crate::gate::Waiting;
use crate::tool::ToolOutput;
use crate::workplace::Workplace;
use spilled::{SHOWN, Spilled};

/// Most characters of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of one.
    pub result: usize,
    /// Of all that answer one message of the model.
    pub batch: usize,
}

/// Never more of one result, whatever the model can take.
const MOST: usize = 100_000;
/// Never less: small models need results too.
const LEAST: usize = 8_000;

impl Default for Limits {
    fn default() -> Self {
        Self { result: MOST, batch: 2 * MOST }
    }
}

impl Limits {
    /// For a model with this context window, in tokens: one result takes at most a tenth of it.
    pub fn for_window(tokens: Option<u64>) -> Self {
        // About four characters a token.
        let tenth = |tokens: u64| usize::try_from(tokens / 10 * 4).unwrap_or(MOST);
        let result = tokens.map_or(MOST, tenth).clamp(LEAST, MOST);
        Self { result, batch: 2 * result }
    }
}

/// Keeps texts where the model's commands can read them.
pub trait Shelf: Send + Sync {
    /// Puts a text away under a call's name; where it is, or why it could not be done.
    fn put<'a>(
        &'a self,
        session: &'a str,
        call_id: &'a str,
        text: &'a str,
    ) -> Waiting<'a, Result<String, String>>;
}

impl Shelf for Workplace {
    fn put<'a>(
        &'a self,
        session: &'a str,
        call_id: &'a str,
        text: &'a str,
    ) -> Waiting<'a, Result<String, String>> {
        let (place, session, call_id, text) =
            (self.clone(), session.to_owned(), call_id.to_owned(), text.to_owned());
        let work = tokio::task::spawn_blocking(move || place.keep(&session, &call_id, &text));
        Box::pin(async move {
            match work.await {
                Ok(Ok(path)) => Ok(path.display().to_string()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("the tool itself failed: see the log".to_owned()),
            }
        })
    }
}

/// One result of a batch.
pub struct Batched<'a> {
    /// The call it answers.
    pub call_id: &'a str,
    /// What it gave.
    pub output: &'a mut ToolOutput,
}

/// Brings the results of one message within the limits. Call it once for all of them, before they are stored.
pub async fn bound(limits: Limits, shelf: &dyn Shelf, session: &str, results: &mut [Batched<'_>]) {
    let sizes: Vec<usize> = results.iter().map(|result| size(&result.output.content)).collect();
    for index in too_long(&sizes, limits) {
        let result = &mut results[index];
        let spilled = Spilled::of(&text_of(&result.output.content));
        let kept = shelf.put(session, result.call_id, &spilled.text).await;
        let short = Content::Text(spilled.shown(kept.as_deref().map_err(String::as_str)));
        // Pictures are no text; they stay.
        result.output.content.retain(|item| !matches!(item, Content::Text(_)));
        result.output.content.insert(0, short);
    }
}

fn size(content: &[Content]) -> usize {
    let chars = |item: &Content| if let Content::Text(text) = item { text.chars().count() } else { 0 };
    content.iter().map(chars).sum()
}

/// Which results have to go: those that are too long, then the longest until all together fit.
fn too_long(sizes: &[usize], limits: Limits) -> Vec<usize> {
    // One that is hardly longer than what stays of it is not worth a file.
    let most = limits.result.max(SHOWN);
    let mut gone: Vec<usize> = (0..sizes.len()).filter(|index| sizes[*index] > most).collect();
    let mut total: usize =
        sizes.iter().enumerate().map(|(i, size)| if gone.contains(&i) { SHOWN } else { *size }).sum();
    let mut rest: Vec<usize> = (0..sizes.len()).filter(|index| !gone.contains(index)).collect();
    rest.sort_by_key(|index| std::cmp::Reverse(sizes[*index]));
    for index in rest {
        if total <= limits.batch || sizes[index] <= SHOWN {
            break;
        }
        total -= sizes[index] - SHOWN;
        gone.push(index);
    }
    gone.sort_unstable();
    gone
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workplace::lock;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Memory {
        kept: Mutex<Vec<(String, String)>>,
        full: bool,
    }

    impl Shelf for Memory {
        fn put<'a>(
            &'a self,
            _: &'a str,
            call_id: &'a str,
            text: &'a str,
        ) -> Waiting<'a, Result<String, String>> {
            let result = if self.full {
                Err("the disk is full".to_owned())
            } else {
                lock(&self.kept).push((call_id.to_owned(), text.to_owned()));
                Ok(format!("/tmp/{call_id}.txt"))
            };
            Box::pin(std::future::ready(result))
        }
    }

    async fn bounded(limits: Limits, shelf: &Memory, texts: &[String]) -> Vec<String> {
        let mut outputs: Vec<ToolOutput> = texts.iter().map(ToolOutput::text).collect();
        let ids: Vec<String> = (0..texts.len()).map(|n| format!("call_{n}")).collect();
        let mut batch: Vec<Batched<'_>> =
            outputs.iter_mut().zip(&ids).map(|(output, call_id)| Batched { call_id, output }).collect();
        bound(limits, shelf, "s", &mut batch).await;
        outputs.iter().map(|output| text_of(&output.content)).collect()
    }

    #[test]
    fn small_windows_have_small_results() {
        assert_eq!(Limits::for_window(None), Limits { result: 100_000, batch: 200_000 });
        assert_eq!(Limits::for_window(Some(1_000_000)), Limits::default());
        assert_eq!(Limits::for_window(Some(64_000)).result, 25_600);
        assert_eq!(Limits::for_window(Some(4_000)).result, 8_000);
    }

    #[tokio::test]
    async fn a_long_result_goes_to_a_file() {
        let shelf = Memory::default();
        let long = "line of text\n".repeat(10_000);
        let shown = bounded(Limits::default(), &shelf, &["short".to_owned(), long.clone()]).await;
        assert_eq!(shown[0], "short");
        assert!(
            shown[1].contains("130000 characters, 10000 lines. All of it is in /tmp/call_1.txt"),
            "{}",
            shown[1]
        );
        assert!(shown[1].ends_with("line of text\n</persisted-output>") && shown[1].len() < 4_000);
        assert_eq!(*lock(&shelf.kept), [("call_1".to_owned(), long)]);
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_written_loses_the_rest_and_says_so() {
        let shelf = Memory { full: true, ..Memory::default() };
        let shown = bounded(Limits::default(), &shelf, &["é".repeat(100_001)]).await;
        assert!(shown[0].contains("the disk is full") && shown[0].contains(&"é".repeat(700)));
    }

    #[tokio::test]
    async fn a_batch_loses_its_longest_first() {
        let shelf = Memory::default();
        let limits = Limits { result: 10_000, batch: 20_000 };
        let texts = [5_000, 9_000, 1_000, 8_000].map(|n| "x".repeat(n));
        let shown = bounded(limits, &shelf, &texts).await;
        let cut: Vec<bool> = shown.iter().map(|text| text.contains("persisted-output")).collect();
        assert_eq!(cut, [false, true, false, false]);
        assert!(too_long(&[1_900; 50], limits).is_empty(), "files would not help");
    }
}
