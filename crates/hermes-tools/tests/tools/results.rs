//! Results that are too long, in files of the place.

use hermes_tools::limits::{Batched, Limits, bound};
use hermes_tools::{Terminal, ToolOutput, Workplace};
use serde_json::json;

use crate::fixture::{Fixture, Talk};

crate::everywhere!(a_long_result_can_be_paged_by_the_next_command);

async fn a_long_result_can_be_paged_by_the_next_command(fixture: &Fixture) {
    let place: Workplace = fixture.place();
    let mut output = ToolOutput::text("0123456789\n".repeat(20_000));
    bound(
        Limits::default(),
        &place,
        "conversation",
        &mut [Batched { call_id: "../call 1", output: &mut output }],
    )
    .await;
    let text = hermes_model::message::text_of(&output.content);
    let file = text.split("All of it is in ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    assert!(file.ends_with("/___call_1.txt"), "{file}");
    let look = format!("wc -c < {file}; stat -c %a {file} \"$(dirname {file})\"; sed -n '20000p' {file}");
    let seen = Talk::new(Terminal::new(place)).call(json!({ "command": look })).await;
    assert_eq!(seen["output"], "220000\n600\n700\n0123456789");
}

#[tokio::test]
async fn a_directory_of_somebody_else_is_not_used() {
    let fixture = Fixture::local();
    let uid = fixture.context.user.uid;
    let elsewhere = fixture.dir().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let trap = fixture.dir().join(format!("tmp/hermes-results-{uid}"));
    std::os::unix::fs::symlink(&elsewhere, trap).unwrap();
    let place = fixture.place();
    let mut output = ToolOutput::text("x".repeat(150_000));
    bound(Limits::default(), &place, "c", &mut [Batched { call_id: "call", output: &mut output }]).await;
    let text = hermes_model::message::text_of(&output.content);
    assert!(text.contains("could not be kept") && text.len() < 3_000, "{text}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}
