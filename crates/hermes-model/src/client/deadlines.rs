//! How long a call waits for what.

use std::time::Duration;

use crate::request::{Effort, Request};
use crate::url::BaseUrl;
use crate::wire::Wire;

/// The deadlines of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Without any byte.
    pub silence: Duration,
    /// Without anything of the answer: before it begins, and between its events. Keep-alives do not count.
    pub stale: Duration,
    /// For the whole call.
    pub total: Duration,
    /// For the token counts after the answer is complete; servers that never close must not keep us.
    pub ending: Duration,
}

/// The user's patience, from the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a whole call.
    pub total: Duration,
    /// Without any byte.
    pub silence: Duration,
    /// Without an event, elsewhere.
    pub stale: Duration,
    /// Without an event, on this machine and its network, where models are loaded and prompts are read slowly.
    pub local_stale: Duration,
    /// For a whole call, when the endpoint or model has its own.
    pub own_total: Option<Duration>,
    /// Without an event, when the endpoint or model has its own.
    pub own_stale: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            total: seconds(1800),
            silence: seconds(120),
            stale: seconds(180),
            local_stale: seconds(900),
            own_total: None,
            own_stale: None,
        }
    }
}

impl Deadlines {
    /// For making a connection.
    pub const CONNECT: Duration = Duration::from_secs(30);

    /// The deadlines for a prompt of this size to this endpoint: long prompts take long to read, and much thinking takes
    /// long without a word.
    pub fn for_call(patience: &Patience, base_url: &BaseUrl, tokens: u64, thinking: Thinking) -> Self {
        let total = patience.own_total.unwrap_or(patience.total);
        let at_least = match (thinking, tokens) {
            (Thinking::Long, _) => Duration::from_mins(10),
            (Thinking::Usual, 0..=50_000) => Duration::ZERO,
            (Thinking::Usual, 50_001..=100_000) => Duration::from_mins(4),
            (Thinking::Usual, _) => Duration::from_mins(5),
        };
        let usual = if base_url.is_local() { patience.local_stale } else { patience.stale.max(at_least) };
        let stale = patience.own_stale.unwrap_or(usual).min(total);
        let silence = if base_url.is_local() { total } else { patience.silence.max(at_least) };
        Self { silence, stale, total, ending: Duration::from_secs(5) }
    }
}

/// How long a model may think without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// As most do.
    Usual,
    /// For minutes: it was asked to think much, or its format does not show thoughts.
    Long,
}

impl Thinking {
    /// What to expect of a request.
    pub fn of(request: &Request, wire: Wire) -> Self {
        let much = request.effort.is_some_and(|effort| effort >= Effort::High);
        if much || wire == Wire::Responses { Self::Long } else { Self::Usual }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn for_tokens(url: &str, tokens: u64) -> Deadlines {
        Deadlines::for_call(&Patience::default(), &BaseUrl::parse(url).unwrap(), tokens, Thinking::Usual)
    }

    #[test]
    fn long_prompts_and_local_models_get_more_time() {
        let far = "https://api.test/v1";
        assert_eq!(for_tokens(far, 1000).stale.as_secs(), 180);
        assert_eq!(for_tokens(far, 60_000).stale.as_secs(), 240);
        assert_eq!(for_tokens(far, 200_000).stale.as_secs(), 300);
        let near = for_tokens("http://127.0.0.1:1234/v1", 1000);
        assert_eq!((near.stale.as_secs(), near.silence.as_secs()), (900, 1800));
    }

    #[test]
    fn thinking_gets_more_time() {
        let mut request = Request::new("m");
        assert_eq!(Thinking::of(&request, Wire::Chat), Thinking::Usual);
        assert_eq!(Thinking::of(&request, Wire::Responses), Thinking::Long);
        request.effort = Some(Effort::XHigh);
        assert_eq!(Thinking::of(&request, Wire::Chat), Thinking::Long);
        let url = BaseUrl::parse("https://api.test/v1").unwrap();
        let deadlines = Deadlines::for_call(&Patience::default(), &url, 10, Thinking::Long);
        assert_eq!((deadlines.stale.as_secs(), deadlines.silence.as_secs()), (600, 600));
    }

    #[test]
    fn an_endpoint_may_have_its_own() {
        let patience = Patience {
            own_total: Some(Duration::from_mins(1)),
            own_stale: Some(Duration::from_secs(90)),
            ..Patience::default()
        };
        let url = BaseUrl::parse("https://api.test/v1").unwrap();
        let deadlines = Deadlines::for_call(&patience, &url, 200_000, Thinking::Usual);
        assert_eq!((deadlines.total.as_secs(), deadlines.stale.as_secs()), (60, 60));
    }
}
