//! The real names closest to one that does not exist.

/// Up to three of `names` that `wanted` was probably meant to be, closest first.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = wanted.to_ascii_lowercase();
    let last = lower.rsplit('.').next().unwrap_or(&lower);
    let score = |name: &str| {
        let candidate = name.to_ascii_lowercase();
        let candidate_last = candidate.rsplit('.').next().unwrap_or(&candidate);
        let whole = distance(&lower, &candidate);
        // The right word in the wrong section is the commonest slip.
        if last == candidate_last { whole.min(1) } else { whole.min(distance(last, candidate_last) + 2) }
    };
    let limit = (last.chars().count() / 3).max(2);
    let mut scored: Vec<(usize, &str)> = names.map(|n| (score(n), n)).filter(|(s, _)| *s <= limit).collect();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, n)| n).collect()
}

/// How many letters must change to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_real_name() {
        let names = ["terminal.timeout", "terminal.backend", "approvals.timeout", "display.skin"];
        let find = |w| nearest(w, names.iter().copied());
        assert_eq!(find("terminal.timeuot").first(), Some(&"terminal.timeout"));
        assert_eq!(find("agent.backend"), ["terminal.backend"]);
        assert!(find("timeout").contains(&"terminal.timeout"));
        assert!(find("completely.different").is_empty());
    }
}
