//! The model that says whether a card's goal is reached.

use hermes_home::{Home, Settings};
use hermes_tools::gate::Waiting;
use hermes_tools::kanban::{Goal, GoalJudge, Judgement};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::{OpenError, SideModel, SideWork};
use crate::report::Spending;
use crate::triage::judge;

/// See the module. One question at a time.
pub struct Judge(Mutex<SideModel>);

impl Judge {
    /// The model the settings name for it, else the main one.
    pub(super) fn open(home: &Home, settings: &Settings) -> Result<Self, OpenError> {
        let (model, _) = SideModel::open(home, settings, SideWork::JudgeGoal)?;
        Ok(Self(Mutex::new(model)))
    }

    /// What its judgements took so far.
    pub async fn spent(&self) -> Spending {
        self.0.lock().await.spent()
    }

    async fn ask(&self, goal: &Goal, answer: &str) -> Judgement {
        let question = judge::question(&goal.title, goal.body.as_deref(), answer);
        let mut model = self.0.lock().await;
        match model.ask(&question, &CancellationToken::new()).await {
            Ok(reply) => match judge::read(&reply) {
                judge::Judgement::Done => Judgement::Done,
                judge::Judgement::More(why) => Judgement::NotYet { why },
                judge::Judgement::Unclear => Judgement::Unknown,
            },
            Err(error) => {
                tracing::warn!(%error, "nobody could say whether a goal is reached");
                Judgement::Unknown
            }
        }
    }
}

impl GoalJudge for Judge {
    fn judge<'a>(&'a self, goal: &'a Goal, answer: &'a str) -> Waiting<'a, Judgement> {
        Box::pin(self.ask(goal, answer))
    }
}
