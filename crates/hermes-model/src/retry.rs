//! What comes after a failed attempt: a pure decision from what was tried so far.

use std::time::Duration;

use crate::failure::{Action, Again, Change, Class, Elsewhere, Failure, KeyMove, action_for};

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often one key of one model is asked when it fails in a way that may pass.
    pub tries: u32,
    /// The first pause; each further one is twice as long.
    pub first_pause: Duration,
    /// The longest pause of our own.
    pub longest_pause: Duration,
    /// The longest pause a provider may ask for; for more it is left at once.
    pub longest_wait: Duration,
    /// How often the conversation may be made shorter for one answer.
    pub shortenings: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 3,
            first_pause: Duration::from_secs(2),
            longest_pause: Duration::from_mins(1),
            longest_wait: Duration::from_mins(2),
            shortenings: 3,
        }
    }
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The model's place in the chain.
    pub route: usize,
    /// The provider, for the report.
    pub provider: String,
    /// The model, for the report.
    pub model: String,
    /// The key's place in the pool; none for endpoints without.
    pub key: Option<usize>,
    /// What happened.
    pub failure: Failure,
    /// The change to the request that was made because of it.
    pub change: Option<Change>,
}

/// What was tried for one answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The failed attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// How often the conversation was made shorter already.
    pub shortened: u32,
}

/// What is left to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Left {
    /// Other keys of this model's provider that can be used now.
    pub keys: usize,
    /// Models further down the chain.
    pub routes: usize,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The same again after a pause.
    Again {
        /// The pause.
        after: Duration,
    },
    /// The same again at once, with a change to the request.
    Change(Change),
    /// The next key of the same provider.
    NextKey,
    /// The next model of the chain.
    NextRoute,
    /// The conversation must be made shorter.
    Shorten,
    /// There is nothing left to try.
    Stop,
}

/// Decides what comes after the newest attempt. `random` is a number from 0 to 1.
pub fn next_step(history: &History, left: Left, policy: &RetryPolicy, random: f64) -> Step {
    let Some(newest) = history.attempts.last() else { return Step::Stop };
    let action = action_for(newest.failure.class);
    let here = Here::new(history, newest);
    change_step(newest, &here, action)
        .or_else(|| key_step(newest, &here, action, left, policy, random))
        .or_else(|| shorten_step(history, action, policy))
        .or_else(|| (action.elsewhere == Elsewhere::AtOnce && left.routes > 0).then_some(Step::NextRoute))
        .or_else(|| pause_step(newest, &here, action, policy, random))
        .or_else(|| (action.elsewhere == Elsewhere::AtLast && left.routes > 0).then_some(Step::NextRoute))
        .unwrap_or(Step::Stop)
}

/// What was tried with the model and key in use.
struct Here<'a> {
    attempts: Vec<&'a Attempt>,
}

impl<'a> Here<'a> {
    fn new(history: &'a History, newest: &Attempt) -> Self {
        let same = |attempt: &&Attempt| attempt.route == newest.route && attempt.key == newest.key;
        Self { attempts: history.attempts.iter().filter(same).collect() }
    }

    /// Failures that may pass, so far.
    fn passing(&self) -> u32 {
        let may_pass = |attempt: &&&Attempt| action_for(attempt.failure.class).again == Again::BackOff;
        self.attempts.iter().filter(may_pass).count() as u32
    }

    fn of_class(&self, class: Class) -> usize {
        self.attempts.iter().filter(|attempt| attempt.failure.class == class).count()
    }
}

/// Each change is made once.
fn change_step(newest: &Attempt, here: &Here<'_>, action: Action) -> Option<Step> {
    let Again::Changed(change) = action.again else { return None };
    let made = here.attempts.iter().any(|attempt| attempt.change == Some(change));
    let possible = change != Change::CapOutput || newest.failure.output_room.is_some();
    (possible && !made).then_some(Step::Change(change))
}

fn key_step(
    newest: &Attempt,
    here: &Here<'_>,
    action: Action,
    left: Left,
    policy: &RetryPolicy,
    random: f64,
) -> Option<Step> {
    let due = match action.key {
        KeyMove::Keep => false,
        KeyMove::AtOnce => true,
        KeyMove::SecondTime => here.of_class(newest.failure.class) > 1 || asks_too_long(newest, policy),
    };
    if left.keys > 0 && due {
        return Some(Step::NextKey);
    }
    // With another key in hand, one that is limited gets a second chance before the model is left.
    let second_chance = left.keys > 0 && action.key == KeyMove::SecondTime;
    second_chance.then(|| Step::Again { after: pause(newest, 1, policy, random) })
}

fn shorten_step(history: &History, action: Action, policy: &RetryPolicy) -> Option<Step> {
    (action.again == Again::Shorter && history.shortened < policy.shortenings).then_some(Step::Shorten)
}

fn pause_step(
    newest: &Attempt,
    here: &Here<'_>,
    action: Action,
    policy: &RetryPolicy,
    random: f64,
) -> Option<Step> {
    let tries = here.passing();
    let again =
        action.again == Again::BackOff && tries < policy.tries.max(1) && !asks_too_long(newest, policy);
    again.then(|| Step::Again { after: pause(newest, tries, policy, random) })
}

fn asks_too_long(newest: &Attempt, policy: &RetryPolicy) -> bool {
    newest.failure.observed.retry_after.is_some_and(|wait| wait > policy.longest_wait)
}

/// What the provider asks for; else twice as long each time, and up to half as much again by chance, so that many who
/// were refused together do not come back together.
fn pause(newest: &Attempt, tries: u32, policy: &RetryPolicy, random: f64) -> Duration {
    if let Some(wait) = newest.failure.observed.retry_after {
        return wait.min(policy.longest_wait);
    }
    let doubled = policy.first_pause.saturating_mul(2u32.saturating_pow(tries.saturating_sub(1)));
    let pause = doubled.min(policy.longest_pause);
    pause + pause.mul_f64(0.5 * random.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjust::Adjustment;
    use crate::failure::Observed;
    use proptest::prelude::*;

    const NOTHING: Left = Left { keys: 0, routes: 0 };
    const KEYS: Left = Left { keys: 1, routes: 0 };
    const ROUTES: Left = Left { keys: 0, routes: 1 };

    fn attempt(class: Class) -> Attempt {
        let failure =
            Failure { class, observed: Observed::default(), quoted_window: None, output_room: None };
        Attempt { route: 0, provider: "p".into(), model: "m".into(), key: Some(0), failure, change: None }
    }

    fn decide(classes: &[Class], left: Left) -> Step {
        let history =
            History { attempts: classes.iter().map(|class| attempt(*class)).collect(), shortened: 0 };
        next_step(&history, left, &RetryPolicy::default(), 0.0)
    }

    fn after(seconds: u64) -> Step {
        Step::Again { after: Duration::from_secs(seconds) }
    }

    #[test]
    fn what_may_pass_is_tried_again_with_growing_pauses() {
        for class in [Class::Server, Class::Overloaded, Class::Timeout, Class::Unknown] {
            assert_eq!(decide(&[class], ROUTES), after(2));
            assert_eq!(decide(&[class, class], ROUTES), after(4));
            assert_eq!(decide(&[class, class, class], ROUTES), Step::NextRoute);
            assert_eq!(decide(&[class, class, class], NOTHING), Step::Stop);
        }
    }

    #[test]
    fn chance_makes_pauses_up_to_half_longer() {
        let history = History { attempts: vec![attempt(Class::Server)], shortened: 0 };
        let step = next_step(&history, NOTHING, &RetryPolicy::default(), 1.0);
        assert_eq!(step, after(3));
    }

    #[test]
    fn a_limited_key_gets_a_second_chance_before_the_next() {
        assert_eq!(decide(&[Class::RateLimit], KEYS), after(2));
        assert_eq!(decide(&[Class::RateLimit, Class::RateLimit], KEYS), Step::NextKey);
        assert_eq!(
            decide(&[Class::RateLimit], ROUTES),
            Step::NextRoute,
            "without another key the model is left"
        );
        assert_eq!(decide(&[Class::RateLimit], NOTHING), after(2));
    }

    #[test]
    fn what_the_provider_asks_for_is_done_within_reason() {
        let mut limited = attempt(Class::RateLimit);
        limited.failure.observed.retry_after = Some(Duration::from_secs(30));
        let asks = |attempt: &Attempt, left| {
            let history = History { attempts: vec![attempt.clone()], shortened: 0 };
            next_step(&history, left, &RetryPolicy::default(), 1.0)
        };
        assert_eq!(asks(&limited, NOTHING), after(30));
        limited.failure.observed.retry_after = Some(Duration::from_hours(1));
        assert_eq!(asks(&limited, KEYS), Step::NextKey);
        assert_eq!(asks(&limited, ROUTES), Step::NextRoute);
        assert_eq!(asks(&limited, NOTHING), Step::Stop);
    }

    #[test]
    fn refused_keys_are_left_at_once() {
        for class in [Class::Auth, Class::Billing] {
            assert_eq!(decide(&[class], KEYS), Step::NextKey);
            assert_eq!(decide(&[class], ROUTES), Step::NextRoute);
            assert_eq!(decide(&[class], NOTHING), Step::Stop);
        }
    }

    #[test]
    fn each_change_is_made_once() {
        let change = Change::Adjust(Adjustment::ForgetThoughts);
        assert_eq!(decide(&[Class::ThinkingSignature], NOTHING), Step::Change(change));
        let mut made = attempt(Class::ThinkingSignature);
        made.change = Some(change);
        let history = History { attempts: vec![made, attempt(Class::ThinkingSignature)], shortened: 0 };
        assert_eq!(next_step(&history, NOTHING, &RetryPolicy::default(), 0.0), Step::Stop);
        assert_eq!(
            decide(&[Class::OutputCap], NOTHING),
            Step::Stop,
            "without a number there is nothing to change"
        );
    }

    #[test]
    fn long_conversations_are_shortened_a_few_times() {
        assert_eq!(decide(&[Class::ContextOverflow], ROUTES), Step::Shorten);
        let history = History { attempts: vec![attempt(Class::ContextOverflow)], shortened: 3 };
        assert_eq!(next_step(&history, ROUTES, &RetryPolicy::default(), 0.0), Step::NextRoute);
        assert_eq!(next_step(&history, NOTHING, &RetryPolicy::default(), 0.0), Step::Stop);
    }

    #[test]
    fn some_things_only_the_user_can_put_right() {
        assert_eq!(decide(&[Class::ProviderPolicy], Left { keys: 1, routes: 1 }), Step::Stop);
        assert_eq!(decide(&[Class::Format], NOTHING), Step::Stop);
        assert_eq!(decide(&[Class::Format], ROUTES), Step::NextRoute);
    }

    const CLASSES: [Class; 12] = [
        Class::Server,
        Class::RateLimit,
        Class::Auth,
        Class::Billing,
        Class::Timeout,
        Class::ContextOverflow,
        Class::ThinkingSignature,
        Class::Images,
        Class::Format,
        Class::Parameter(Adjustment::NoTemperature),
        Class::ContentPolicy,
        Class::Unknown,
    ];

    proptest! {
        /// Whatever goes wrong, it ends after a bounded number of attempts, and the pauses stay within bounds.
        #[test]
        fn it_always_ends(failures in prop::collection::vec(0..CLASSES.len(), 400), keys in 1usize..4, routes in 1usize..4) {
            let policy = RetryPolicy::default();
            let mut history = History::default();
            let (mut route, mut key, mut keys_left) = (0, 0, keys - 1);
            let mut ended = false;
            for which in failures {
                let mut failed = attempt(CLASSES[which]);
                (failed.route, failed.key) = (route, Some(key));
                history.attempts.push(failed);
                let left = Left { keys: keys_left, routes: routes - route - 1 };
                match next_step(&history, left, &policy, 0.5) {
                    Step::Again { after } => prop_assert!(after <= Duration::from_secs(90)),
                    Step::Change(change) => history.attempts.last_mut().into_iter().for_each(|a| a.change = Some(change)),
                    Step::NextKey => (key, keys_left) = (key + 1, keys_left - 1),
                    Step::NextRoute => (route, key, keys_left) = (route + 1, 0, keys - 1),
                    Step::Shorten => history.shortened += 1,
                    Step::Stop => {
                        ended = true;
                        break;
                    }
                }
            }
            prop_assert!(ended);
            // Per key: three tries, one more for its second chance, each change once, and the shortenings.
            prop_assert!(history.attempts.len() <= routes * keys * 8 + 3);
        }
    }
}
