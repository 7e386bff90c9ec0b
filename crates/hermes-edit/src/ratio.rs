//! How alike two texts are: the Ratcliff-Obershelp ratio, with the popularity rule of Python's difflib.

use std::collections::HashMap;

/// From this many characters on, characters that are more than one in a hundred start no block.
const POPULARITY_FROM: usize = 200;

/// 2M/T over characters: M characters in matching blocks, T in both texts. Two empty texts are alike (1.0).
///
/// The same number that `difflib.SequenceMatcher(None, a, b).ratio()` gives. Long texts that have little in
/// common take time that grows with the square of their length.
pub fn ratio(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    bounded_ratio(&a, &b, &mut Budget::endless()).unwrap_or(0.0)
}

/// How much comparing may still be done; what is over is left out rather than waited for.
#[derive(Debug)]
pub(crate) struct Budget(u64);

impl Budget {
    pub(crate) const fn new(steps: u64) -> Self {
        Self(steps)
    }

    const fn endless() -> Self {
        Self(u64::MAX)
    }

    /// Takes steps from the budget.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), UsedUp> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(UsedUp)?;
        Ok(())
    }
}

/// The budget does not allow for more comparing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsedUp;

/// The ratio, as far as the budget goes.
pub(crate) fn bounded_ratio(a: &[char], b: &[char], budget: &mut Budget) -> Result<f64, UsedUp> {
    let total = a.len() + b.len();
    if total == 0 {
        return Ok(1.0);
    }
    Ok(2.0 * matching(a, b, budget)? as f64 / total as f64)
}

/// How many characters are in matching blocks: the longest block, then the same to its left and right.
fn matching(a: &[char], b: &[char], budget: &mut Budget) -> Result<usize, UsedUp> {
    let mut search = Search::new(a, b);
    let mut queue = vec![Part { a: (0, a.len()), b: (0, b.len()) }];
    let mut matched = 0;
    while let Some(part) = queue.pop() {
        let block = search.longest(&part, budget)?;
        if block.size == 0 {
            continue;
        }
        matched += block.size;
        if part.a.0 < block.a && part.b.0 < block.b {
            queue.push(Part { a: (part.a.0, block.a), b: (part.b.0, block.b) });
        }
        let (a_end, b_end) = (block.a + block.size, block.b + block.size);
        if a_end < part.a.1 && b_end < part.b.1 {
            queue.push(Part { a: (a_end, part.a.1), b: (b_end, part.b.1) });
        }
    }
    Ok(matched)
}

/// A range of both texts.
struct Part {
    a: (usize, usize),
    b: (usize, usize),
}

/// A run of equal characters.
struct Block {
    a: usize,
    b: usize,
    size: usize,
}

struct Search<'a> {
    a: &'a [char],
    b: &'a [char],
    /// Where each character is in `b`, popular ones left out.
    places: HashMap<char, Vec<usize>>,
    /// Length of the block that ends at each place of `b` (shifted by one), for this row and the one before.
    row: Vec<usize>,
    above: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(a: &'a [char], b: &'a [char]) -> Self {
        let mut places: HashMap<char, Vec<usize>> = HashMap::new();
        for (at, c) in b.iter().enumerate() {
            places.entry(*c).or_default().push(at);
        }
        if b.len() >= POPULARITY_FROM {
            let most = b.len() / 100 + 1;
            places.retain(|_, at| at.len() <= most);
        }
        Self { a, b, places, row: vec![0; b.len() + 1], above: vec![0; b.len() + 1] }
    }

    /// The longest block of a part; of several the first in `a`, then the first in `b`.
    fn longest(&mut self, part: &Part, budget: &mut Budget) -> Result<Block, UsedUp> {
        let mut best = Block { a: part.a.0, b: part.b.0, size: 0 };
        // Which entries of the row above are not zero.
        let mut touched: &[usize] = &[];
        for i in part.a.0..part.a.1 {
            let all = self.places.get(&self.a[i]).map_or(&[][..], Vec::as_slice);
            let from = all.partition_point(|j| *j < part.b.0);
            let to = all.partition_point(|j| *j < part.b.1);
            budget.spend(1 + to - from)?;
            for &j in &all[from..to] {
                let size = self.above[j] + 1;
                self.row[j + 1] = size;
                if size > best.size {
                    best = Block { a: i + 1 - size, b: j + 1 - size, size };
                }
            }
            for &j in touched {
                self.above[j + 1] = 0;
            }
            std::mem::swap(&mut self.row, &mut self.above);
            touched = &all[from..to];
        }
        for &j in touched {
            self.above[j + 1] = 0;
        }
        Ok(self.widened(best, part))
    }

    /// A block may run on over popular characters.
    fn widened(&self, mut block: Block, part: &Part) -> Block {
        while block.a > part.a.0 && block.b > part.b.0 && self.a[block.a - 1] == self.b[block.b - 1] {
            block = Block { a: block.a - 1, b: block.b - 1, size: block.size + 1 };
        }
        while block.a + block.size < part.a.1
            && block.b + block.size < part.b.1
            && self.a[block.a + block.size] == self.b[block.b + block.size]
        {
            block.size += 1;
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases() {
        assert!((ratio("", "") - 1.0).abs() < f64::EPSILON);
        assert!((ratio("abcd", "bcde") - 0.75).abs() < f64::EPSILON);
        assert!(ratio("abc", "").abs() < f64::EPSILON);
    }

    #[test]
    fn a_used_up_budget_is_told() {
        let text: Vec<char> = "a".repeat(150).chars().collect();
        assert_eq!(bounded_ratio(&text, &text, &mut Budget::new(100)), Err(UsedUp));
    }
}
