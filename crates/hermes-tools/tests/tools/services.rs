//! `send_message` and `cronjob` with somebody who delivers and keeps, in memory.

use std::sync::{Arc, Mutex};

use hermes_tools::cronjob::{Change, Job, JobFields, ScheduleError};
use hermes_tools::gate::Waiting;
use hermes_tools::send_message::{Address, Chat, PostError, Sent, Target};
use hermes_tools::{Availability, Cronjob, Post, Schedule, SendMessage, Tool};
use serde_json::json;

use crate::fixture::Talk;

/// Delivers to one chat.
#[derive(Default)]
struct Pigeon(Mutex<Vec<(String, String)>>);

impl Post for Pigeon {
    fn targets(&self) -> Waiting<'_, Result<Vec<Address>, PostError>> {
        let address = Address { target: "telegram:7".into(), name: "Ada".into(), kind: "dm".into() };
        Box::pin(std::future::ready(Ok(vec![address])))
    }

    fn send<'a>(&'a self, target: &'a Target, text: &'a str) -> Waiting<'a, Result<Sent, PostError>> {
        let platform = target.platform.clone();
        let result = match (&*target.platform, &target.chat) {
            ("telegram", Chat::Home | Chat::Id(_)) => {
                self.0.lock().unwrap().push((target.to_string(), text.to_owned()));
                Ok(Sent { chat_id: "7".into(), message_id: Some("1".into()) })
            }
            ("telegram", Chat::Name(_)) => Err(PostError::NoChat { target: target.to_string() }),
            _ => Err(PostError::NotConnected { platform }),
        };
        Box::pin(std::future::ready(result))
    }
}

#[tokio::test]
async fn messages_are_delivered_or_it_is_said_why_not() {
    let pigeon = Arc::new(Pigeon::default());
    let talk = Talk::new(SendMessage::new(Some(pigeon.clone())));
    let listed = talk.call(json!({ "action": "list" })).await;
    assert_eq!(listed, json!({ "targets": [{ "target": "telegram:7", "name": "Ada", "type": "dm" }] }));
    let sent = talk.call(json!({ "target": "telegram", "message": "hi" })).await;
    assert_eq!(sent, json!({ "success": true, "platform": "telegram", "chat_id": "7", "message_id": "1" }));
    let lost = talk.call(json!({ "target": "fax:1", "message": "hi" })).await;
    assert!(lost["error"].as_str().unwrap().contains("fax"));
    assert!(talk.call(json!({ "target": "telegram:#x", "message": "hi" })).await["error"].is_string());
    assert_eq!(*pigeon.0.lock().unwrap(), [("telegram".to_owned(), "hi".to_owned())]);
}

/// Keeps jobs in a list.
#[derive(Default)]
struct Diary(Mutex<Vec<Job>>);

impl Schedule for Diary {
    fn create<'a>(&'a self, fields: &'a JobFields) -> Waiting<'a, Result<Job, ScheduleError>> {
        let schedule = fields.schedule.clone().unwrap();
        let made = if schedule == "never" {
            Err(ScheduleError::BadSchedule { schedule, reason: "it does not come".into() })
        } else {
            let mut jobs = self.0.lock().unwrap();
            let job = Job {
                id: format!("{:012x}", jobs.len() + 1),
                name: fields.name.clone().unwrap_or_default(),
                prompt: fields.prompt.clone().unwrap_or_default(),
                schedule,
                deliver: fields.deliver.clone().unwrap_or_else(|| "local".into()),
                enabled: true,
                state: "scheduled".into(),
                ..Job::default()
            };
            jobs.push(job.clone());
            Ok(job)
        };
        Box::pin(std::future::ready(made))
    }

    fn list(&self) -> Waiting<'_, Result<Vec<Job>, ScheduleError>> {
        Box::pin(std::future::ready(Ok(self.0.lock().unwrap().clone())))
    }

    fn change<'a>(&'a self, job: &'a str, change: &'a Change) -> Waiting<'a, Result<Job, ScheduleError>> {
        let mut jobs = self.0.lock().unwrap();
        let Some(place) = jobs.iter().position(|known| known.id == job || known.name == job) else {
            return Box::pin(std::future::ready(Err(ScheduleError::NoJob(job.to_owned()))));
        };
        let changed = match change {
            Change::Remove => jobs.remove(place),
            Change::Pause => {
                jobs[place].state = "paused".into();
                jobs[place].clone()
            }
            Change::Resume | Change::Run => {
                jobs[place].state = "scheduled".into();
                jobs[place].clone()
            }
            Change::Update(fields) => {
                if let Some(prompt) = &fields.prompt {
                    jobs[place].prompt.clone_from(prompt);
                }
                jobs[place].clone()
            }
        };
        Box::pin(std::future::ready(Ok(changed)))
    }
}

#[tokio::test]
async fn jobs_are_made_changed_and_removed() {
    let talk = Talk::new(Cronjob::new(Some(Arc::new(Diary::default()))));
    let made = talk
        .call(json!({ "action": "create", "name": "hi", "prompt": "say hi", "schedule": "every 2h" }))
        .await;
    assert_eq!(
        (&made["success"], &made["repeat"], &made["deliver"]),
        (&json!(true), &json!("forever"), &json!("local"))
    );
    assert_eq!(made["job"]["prompt_preview"], "say hi");
    assert!(made["note"].as_str().unwrap().contains("sent to nobody"));
    let paused = talk.call(json!({ "action": "pause", "job_id": "hi" })).await;
    assert_eq!(paused["job"]["state"], "paused");
    let updated = talk.call(json!({ "action": "update", "job_id": "hi", "prompt": "say bye" })).await;
    assert_eq!(updated["job"]["prompt_preview"], "say bye");
    let listed = talk.call(json!({ "action": "list" })).await;
    assert_eq!((&listed["count"], &listed["jobs"][0]["job_id"]), (&json!(1), &made["job_id"]));
    let removed = talk.call(json!({ "action": "remove", "job_id": made["job_id"] })).await;
    assert_eq!(removed["removed_job"]["name"], "hi");
    for (arguments, word) in [
        (json!({ "action": "run", "job_id": "hi" }), "no job"),
        (json!({ "action": "create", "prompt": "x", "schedule": "never" }), "never"),
    ] {
        let wrong = talk.call(arguments).await;
        assert_eq!(wrong["success"], false);
        assert!(wrong["error"].as_str().unwrap().contains(word), "{wrong}");
    }
}

#[tokio::test]
async fn without_a_gateway_both_say_so() {
    for tool in [Box::new(SendMessage::new(None)) as Box<dyn Tool>, Box::new(Cronjob::new(None))] {
        let Availability::No { why } = tool.available() else { panic!("it cannot work") };
        assert!(why.contains("gateway"), "{why}");
    }
}
