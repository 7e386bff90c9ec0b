//! One answer, whatever it takes: retries, other keys, the fallback chain, the budget. Every step is told as it happens.

mod chance;
mod event;
mod report;
mod route;
mod settle;

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::answer::Collector;
use crate::budget::{Allowance, BudgetError, Estimate, Meter, Permit};
use crate::client::{Call, CallError, Client, Deadlines, Thinking};
use crate::event::{Event, Finish};
use crate::failure::{Again, Change, Class, Failure, action_for};
use crate::request::Request;
use crate::retry::{History, Left, RetryPolicy, Step, next_step};
use crate::window::WindowCache;
pub use chance::Chance;
pub use event::{Answered, Ask, CallEvent, GaveUp, OnEvent};
pub use report::Report;
pub use route::{Hold, Route};

/// The state of one call.
struct Run {
    history: History,
    key: Option<usize>,
    /// How much output this prompt leaves room for, when the last refusal said so.
    room: Option<u64>,
}

/// Asks models. Remembers which one of the chain answers, what endpoints refused, and which keys rest.
#[derive(Debug)]
pub struct Caller {
    client: Arc<Client>,
    routes: Vec<Route>,
    policy: RetryPolicy,
    meter: Option<Arc<Meter>>,
    windows: Option<WindowCache>,
    chance: Chance,
    at: usize,
    hold: Option<Hold>,
}

impl Caller {
    /// Asks the first of these models, and the others in order when it fails.
    pub fn new(client: Arc<Client>, routes: Vec<Route>, policy: RetryPolicy) -> Self {
        let (meter, windows) = (None, None);
        Self { client, routes, policy, meter, windows, chance: Chance::from_system(), at: 0, hold: None }
    }

    /// With a budget.
    #[must_use]
    pub fn with_meter(mut self, meter: Arc<Meter>) -> Self {
        self.meter = Some(meter);
        self
    }

    /// Remembers the windows that errors quote.
    #[must_use]
    pub fn with_windows(mut self, windows: WindowCache) -> Self {
        self.windows = Some(windows);
        self
    }

    /// With a chance of its own, for tests.
    #[must_use]
    pub fn with_chance(mut self, chance: Chance) -> Self {
        self.chance = chance;
        self
    }

    /// Another caller for the same models, keys and budget: for work beside this conversation.
    #[must_use]
    pub fn sibling(&self) -> Self {
        Self {
            client: Arc::clone(&self.client),
            routes: self.routes.clone(),
            policy: self.policy,
            meter: self.meter.clone(),
            windows: self.windows.clone(),
            chance: Chance::from_system(),
            at: self.at,
            hold: self.hold,
        }
    }

    /// The budget it keeps to.
    pub fn meter(&self) -> Option<&Arc<Meter>> {
        self.meter.as_ref()
    }

    /// The model that is asked next.
    pub fn route(&self) -> Option<&Route> {
        self.routes.get(self.at)
    }

    /// A new turn begins: the first model gets its chance again, unless it was left a moment ago for a limit.
    pub fn begin_turn(&mut self, now: Instant) {
        if self.hold.is_none_or(|hold| hold.is_over(now)) {
            (self.at, self.hold) = (0, None);
        }
    }

    /// Leaves the model that is asked for the next one of the chain, for a reason the caller has. Gives its provider and
    /// name, or nothing when there is no other.
    pub fn move_on(&mut self) -> Option<(String, String)> {
        let next = self.routes.get(self.at + 1)?;
        let names = next.names();
        self.at += 1;
        Some(names)
    }

    /// Gets an answer.
    pub async fn call(
        &mut self,
        ask: Ask<'_>,
        cancel: &CancellationToken,
        on: &mut OnEvent<'_>,
    ) -> Result<Answered, GaveUp> {
        let history = History { attempts: Vec::new(), shortened: ask.shortened };
        let mut run = Run { history, key: self.pick_key(), room: None };
        loop {
            let meter = self.meter.clone();
            let Some(route) = self.routes.get(self.at) else { return Err(report::no_route()) };
            let permit = admit(meter.as_deref(), route, ask)?;
            let request = route.shape(ask.request, allowance(permit.as_ref()), run.room.take());
            let (mut collector, ended) = self.attempt(route, run.key, &request, cancel, on).await;
            let failure = match ended {
                Ok(()) => return Ok(settle::answered(route, permit, collector, &request, run.history, on)),
                Err(CallError::Cancelled) => {
                    let partial = settle::cut_off(route, permit, collector, &request, on);
                    return Err(GaveUp::Cancelled(Box::new(partial)));
                }
                Err(CallError::Failed(failure)) => *failure,
            };
            if is_worth_keeping(&collector, &failure) {
                collector.add(&Event::Finished(Finish::Interrupted));
                on(CallEvent::Model(Event::Finished(Finish::Interrupted)));
                return Ok(settle::answered(route, permit, collector, &request, run.history, on));
            }
            if !collector.is_empty() {
                on(CallEvent::StartOver);
                settle::cut_off(route, permit, collector, &request, on);
            }
            run.history.attempts.push(route.attempt(self.at, run.key, failure.clone()));
            let left = Left { keys: route.other_keys(run.key), routes: self.routes.len() - self.at - 1 };
            let step = next_step(&run.history, left, &self.policy, self.chance.next());
            self.take_step(step, failure, &mut run, cancel, on).await?;
        }
    }

    /// Does what was decided about a failure; an error ends the call.
    async fn take_step(
        &mut self,
        step: Step,
        failure: Failure,
        run: &mut Run,
        cancel: &CancellationToken,
        on: &mut OnEvent<'_>,
    ) -> Result<(), GaveUp> {
        match step {
            Step::Again { after } => {
                on(CallEvent::Waiting { failure, after });
                wait(after, cancel).await
            }
            Step::Change(change) => {
                run.room = self.change(change, &failure);
                run.history.attempts.last_mut().into_iter().for_each(|attempt| attempt.change = Some(change));
                on(CallEvent::Changed { failure, change });
                Ok(())
            }
            Step::NextKey => {
                let origin = self.rest_key(run.key, &failure);
                run.key = self.pick_key();
                on(CallEvent::NextKey { failure, origin });
                Ok(())
            }
            Step::NextRoute => {
                self.leave(run.key, &failure);
                run.key = self.pick_key();
                let to = self.routes.get(self.at).map(Route::names).unwrap_or_default();
                on(CallEvent::NextRoute { failure, to });
                Ok(())
            }
            Step::Shorten => {
                self.learn_window(&failure).await;
                Err(GaveUp::TooLong(Box::new(failure)))
            }
            Step::Stop => {
                self.rest_if_refused(run.key, &failure);
                Err(GaveUp::Failed(Box::new(Report::new(std::mem::take(&mut run.history)))))
            }
        }
    }

    /// One attempt, with what came of it.
    async fn attempt(
        &self,
        route: &Route,
        key: Option<usize>,
        request: &Request,
        cancel: &CancellationToken,
        on: &mut OnEvent<'_>,
    ) -> (Collector, Result<(), CallError>) {
        let mut collector = Collector::new(route.endpoint.issuer());
        let secret = route.secret(key);
        let thinking = Thinking::of(request, route.endpoint.wire);
        let tokens = request.estimated_tokens();
        let deadlines = Deadlines::for_call(&route.patience, &route.endpoint.base_url, tokens, thinking);
        let call = Call {
            endpoint: &route.endpoint,
            key: secret.as_ref(),
            request,
            deadlines,
            window: route.window,
        };
        let (provider, model) = route.names();
        on(CallEvent::Asking { provider, model });
        let mut stream = match self.client.stream(call, cancel).await {
            Ok(stream) => stream,
            Err(error) => return (collector, Err(error)),
        };
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => {
                    collector.add(&event);
                    on(CallEvent::Model(event));
                }
                Err(error) => return (collector, Err(error)),
            }
        }
        (collector, Ok(()))
    }

    fn pick_key(&mut self) -> Option<usize> {
        let random = self.chance.next();
        let mut keys = self.routes.get(self.at)?.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.pick(Instant::now(), random)
    }

    /// Lets a key rest and returns where it comes from.
    fn rest_key(&self, key: Option<usize>, failure: &Failure) -> String {
        let (Some(route), Some(place)) = (self.routes.get(self.at), key) else { return String::new() };
        let mut keys = route.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.rest(place, failure, Instant::now());
        keys.get(place).map(|key| key.origin.clone()).unwrap_or_default()
    }

    fn rest_if_refused(&self, key: Option<usize>, failure: &Failure) {
        if matches!(failure.class, Class::Auth | Class::Billing | Class::RateLimit) {
            self.rest_key(key, failure);
        }
    }

    fn leave(&mut self, key: Option<usize>, failure: &Failure) {
        self.rest_if_refused(key, failure);
        if self.at == 0 {
            self.hold = Hold::after(failure.class, Instant::now());
        }
        self.at += 1;
    }

    /// Remembers a change for later calls; a limit that holds only for this prompt is returned instead.
    fn change(&mut self, change: Change, failure: &Failure) -> Option<u64> {
        let route = self.routes.get_mut(self.at)?;
        match change {
            Change::Adjust(adjustment) => {
                route.endpoint.learned.add(adjustment);
                None
            }
            Change::CapOutput => route.learn_output_room(failure.output_room),
        }
    }

    async fn learn_window(&mut self, failure: &Failure) {
        let (Some(route), Some(window)) = (self.routes.get_mut(self.at), failure.quoted_window) else {
            return;
        };
        route.window = Some(window);
        // What a plan allows today is not what the model can do.
        let lasting = failure.class != Class::LongContextTier;
        if let Some(windows) = self.windows.clone().filter(|_| lasting) {
            let (model, base_url) = (route.model.clone(), route.endpoint.base_url.clone());
            let kept = tokio::task::spawn_blocking(move || windows.put(&model, &base_url, window)).await;
            if let Ok(Err(error)) = kept {
                tracing::warn!(%error, "the size of the window was not kept");
            }
        }
    }
}

fn admit<'m>(
    meter: Option<&'m Meter>,
    route: &Route,
    ask: Ask<'_>,
) -> Result<Option<Permit<'m>>, BudgetError> {
    let estimate = Estimate {
        prompt: ask.request.estimated_tokens(),
        output: ask.request.max_tokens,
        price: route.price,
        unknown_price: route.unknown_price(),
    };
    meter.map(|meter| meter.admit(ask.scope, &estimate)).transpose()
}

fn allowance(permit: Option<&Permit<'_>>) -> Allowance {
    permit.map_or(Allowance { output: None }, |permit| permit.allowance)
}

/// Text that has reached the user is not thrown away for a broken connection: the model can go on from it. A tool call
/// that was begun cannot be continued.
fn is_worth_keeping(collector: &Collector, failure: &Failure) -> bool {
    collector.has_text() && !collector.has_calls() && action_for(failure.class).again == Again::BackOff
}

async fn wait(pause: Duration, cancel: &CancellationToken) -> Result<(), GaveUp> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(GaveUp::Cancelled(Box::new(Collector::default().finish()))),
        () = tokio::time::sleep(pause) => Ok(()),
    }
}
