//! What calls took: per session, per model, and for budgets.

use hermes_store::sessions::{Spend, SpendEntry, SpendSpan, UsageDelta};
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;

use crate::support::{Fixture, id};

fn call(model: &str) -> UsageDelta {
    UsageDelta {
        input: 100,
        output: 10,
        cache_read: 5,
        api_calls: 1,
        estimated_cost_usd: Some(0.25),
        model: Some(model.into()),
        billing_provider: Some("vendor".into()),
        ..UsageDelta::default()
    }
}

#[test]
fn calls_count_per_session_and_per_model() {
    let mut fixture = Fixture::new();
    let session = fixture.session_with("a", |new| new.model = Some("asked for".into()));
    let at = fixture.now();
    let store = &mut fixture.store;
    for delta in [
        call("answered"),
        call("answered"),
        call("switched"),
        UsageDelta { task: Some("compression".into()), model: None, billing_provider: None, ..call("x") },
    ] {
        store.add_usage(&session, &delta, at).unwrap();
    }
    let row = store.row(&session).unwrap();
    assert_eq!((row.input_tokens, row.output_tokens, row.api_call_count), (300, 30, 3), "side work is apart");
    assert_eq!((row.cache_read_tokens, row.estimated_cost_usd), (15, Some(0.75)));
    assert_eq!(row.model.as_deref(), Some("answered"), "the first that answered");
    let usage = store.usage(&session).unwrap();
    let seen: Vec<_> =
        usage.iter().map(|u| (u.model.as_str(), u.task.as_str(), u.input, u.provider.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("answered", "", 200, "vendor"),
            ("switched", "", 100, "vendor"),
            ("unknown", "compression", 100, "")
        ]
    );

    let insights = store.insights(Timestamp::UNIX_EPOCH, None, &TimeZone::UTC).unwrap();
    assert_eq!((insights.total.sessions, insights.total.input), (1, 300));
    assert_eq!(insights.models.len(), 3);
    assert_eq!(insights.days.len(), 1);
    assert_eq!(insights.hours.iter().sum::<u64>(), 1);
    let none = store.insights(at, Some("cron"), &TimeZone::UTC).unwrap();
    assert_eq!(none.total.sessions, 0);
}

#[test]
fn budgets_are_summed_by_turn_session_day_and_month() {
    let mut fixture = Fixture::new();
    let entry = SpendEntry {
        session: id("a"),
        turn: "t1".into(),
        day: date(2026, 1, 31),
        auxiliary: None,
        provider: "p".into(),
        model: "m".into(),
        input: 9,
        output: 1,
        cache_read: 0,
        cache_write: 0,
        reasoning: 0,
        tokens: 10,
        micro_dollars: Some(100),
        guessed: false,
        at: Timestamp::UNIX_EPOCH,
    };
    let store = &mut fixture.store;
    let month = |month| SpendSpan::Month { year: 2026, month };
    assert_eq!(store.spent(&month(1)).unwrap(), Spend::default());
    let others = [
        SpendEntry { turn: "t2".into(), micro_dollars: None, ..entry.clone() },
        SpendEntry { session: id("b"), turn: "t3".into(), day: date(2026, 2, 1), ..entry.clone() },
        SpendEntry { day: date(2025, 1, 31), turn: "t4".into(), session: id("c"), ..entry.clone() },
    ];
    store.record_spend(&entry).unwrap();
    for other in &others {
        store.record_spend(other).unwrap();
    }
    let spend = |tokens, micro_dollars, unpriced| Spend { tokens, micro_dollars, unpriced };
    assert_eq!(store.spent(&SpendSpan::Turn("t1".into())).unwrap(), spend(10, 100, 0));
    assert_eq!(store.spent(&SpendSpan::Session(id("a"))).unwrap(), spend(20, 100, 10));
    assert_eq!(store.spent(&SpendSpan::Day(date(2026, 2, 1))).unwrap(), spend(10, 100, 0));
    assert_eq!(store.spent(&month(1)).unwrap(), spend(20, 100, 10));
    assert_eq!(store.spent(&month(3)).unwrap(), spend(0, 0, 0));
}
