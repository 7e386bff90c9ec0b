//! Numbers as people read them in a line: tokens, money, time.

use std::time::Duration;

/// `950`, `12.3k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..99_950 => format!("{:.1}k", count as f64 / 1e3),
        99_950..999_500 => format!("{:.0}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// `$0.0042`, `$1.20`.
pub fn money(micro_dollars: u64) -> String {
    let dollars = micro_dollars as f64 / 1e6;
    if micro_dollars < 10_000 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

/// `3s`, `3m05s`, `2h07m`: a clock that shows nothing finer than it is drawn.
pub fn clock(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..10 => format!("{seconds}s"),
        _ => duration(time),
    }
}

/// `0.4s`, `12s`, `3m05s`, `2h07m`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1}s", (time.as_millis() / 100) as f64 / 10.0),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [950, 12_345, 99_950, 123_456, 999_999, 1_234_567].map(tokens),
            ["950", "12.3k", "100k", "123k", "1.0M", "1.2M"]
        );
        assert_eq!([4_200, 1_200_000].map(money), ["$0.0042", "$1.20"]);
        assert_eq!(
            [420, 9_999, 12_000, 185_000, 7_620_000].map(|ms| duration(Duration::from_millis(ms))),
            ["0.4s", "9.9s", "12s", "3m05s", "2h07m"]
        );
    }
}
