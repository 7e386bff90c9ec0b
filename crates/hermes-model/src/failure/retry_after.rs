//! How long a provider asks to wait.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::HeaderMap;

/// Reads `retry-after-ms`, and `Retry-After` as seconds or as a date.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let millis = header("retry-after-ms").and_then(|value| value.parse::<f64>().ok());
    if let Some(millis) = millis {
        return seconds(millis / 1000.0);
    }
    let value = header("retry-after")?;
    if let Ok(number) = value.parse::<f64>() {
        return seconds(number);
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn read(name: &'static str, value: &'static str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        retry_after(&headers, "1994-11-06T08:49:07Z".parse().unwrap())
    }

    #[test]
    fn all_spellings_are_understood() {
        assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:00 GMT"), Some(Duration::ZERO));
        for odd in ["soon", "-3", "NaN", "inf", "1e300", ""] {
            assert_eq!(read("retry-after", odd), None, "{odd}");
        }
    }
}
