//! Which elements two sequences share: Myers' algorithm in linear space, with anchors for large inputs.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use super::Run;

/// From this many elements on, elements that are unique on both sides split the work first.
const ANCHORS_FROM: usize = 1_000;
/// Steps of the exact search after which what is left counts as replaced: a fraction of a second's work.
const MOST_STEPS: usize = 20_000_000;

/// The runs that stay, in order. Few changes rather than the fewest when the inputs are huge.
pub(crate) fn matching<T: Hash + Eq>(old: &[T], new: &[T]) -> Vec<Run> {
    // Most of two large texts is the same: what is the same at both ends need not be numbered.
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = ends.take_while(|(a, b)| a == b).count();
    let (middle_old, middle_new) = numbered(&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut search = Search { old: &middle_old, new: &middle_new, steps: MOST_STEPS, found: Vec::new() };
    search.all();
    let mut runs = vec![Run { old: 0, new: 0, len: head }];
    runs.extend(search.found.iter().map(|run| Run {
        old: run.old + head,
        new: run.new + head,
        len: run.len,
    }));
    runs.push(Run { old: old.len() - tail, new: new.len() - tail, len: tail });
    runs.retain(|run| run.len > 0);
    runs
}

/// Equal elements get equal numbers, so that comparing is cheap.
fn numbered<T: Hash + Eq>(old: &[T], new: &[T]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&T, u32> = HashMap::new();
    let mut number = |element| {
        let next = numbers.len() as u32;
        *numbers.entry(element).or_insert(next)
    };
    (old.iter().map(&mut number).collect(), new.iter().map(&mut number).collect())
}

/// A part of both sides that is still to be compared, or a run that is known.
enum Task {
    Compare(Range<usize>, Range<usize>),
    Keep(Run),
}

struct Search<'a> {
    old: &'a [u32],
    new: &'a [u32],
    steps: usize,
    found: Vec<Run>,
}

impl Search<'_> {
    /// Works through a stack of parts from front to back: no recursion, whatever the input is.
    fn all(&mut self) {
        let mut stack = vec![Task::Compare(0..self.old.len(), 0..self.new.len())];
        while let Some(task) = stack.pop() {
            match task {
                Task::Keep(run) => self.keep(run),
                Task::Compare(a, b) => {
                    let mut tasks = self.split(a, b);
                    tasks.reverse();
                    stack.append(&mut tasks);
                }
            }
        }
    }

    fn keep(&mut self, run: Run) {
        match self.found.last_mut() {
            Some(last) if last.old + last.len == run.old && last.new + last.len == run.new => {
                last.len += run.len;
            }
            _ if run.len > 0 => self.found.push(run),
            _ => {}
        }
    }

    /// What is known of a part, and the smaller parts that are not.
    fn split(&mut self, a: Range<usize>, b: Range<usize>) -> Vec<Task> {
        let pairs = self.old[a.clone()].iter().zip(&self.new[b.clone()]);
        let head = pairs.take_while(|(x, y)| x == y).count();
        let (a, b) = (a.start + head..a.end, b.start + head..b.end);
        let pairs = self.old[a.clone()].iter().rev().zip(self.new[b.clone()].iter().rev());
        let tail = pairs.take_while(|(x, y)| x == y).count();
        let (a, b) = (a.start..a.end - tail, b.start..b.end - tail);
        let mut tasks = vec![Task::Keep(Run { old: a.start - head, new: b.start - head, len: head })];
        if !a.is_empty() && !b.is_empty() {
            tasks.extend(self.inner(&a, &b));
        }
        tasks.push(Task::Keep(Run { old: a.end, new: b.end, len: tail }));
        tasks
    }

    /// Splits a part whose ends differ; nothing if it counts as replaced.
    fn inner(&mut self, a: &Range<usize>, b: &Range<usize>) -> Vec<Task> {
        if a.len() + b.len() >= ANCHORS_FROM {
            let anchors = self.anchors(a, b);
            if !anchors.is_empty() {
                return between(a, b, &anchors);
            }
        }
        let Some((x, y)) = self.middle(a, b) else { return Vec::new() };
        let (x, y) = (a.start + x, b.start + y);
        if (x, y) == (a.start, b.start) || (x, y) == (a.end, b.end) {
            return Vec::new();
        }
        vec![Task::Compare(a.start..x, b.start..y), Task::Compare(x..a.end, y..b.end)]
    }

    /// Pairs of elements that are unique on both sides, the longest series that rises on both.
    fn anchors(&self, a: &Range<usize>, b: &Range<usize>) -> Vec<(usize, usize)> {
        #[derive(Default)]
        struct Seen {
            old: usize,
            new: usize,
            at: usize,
        }
        let mut seen: HashMap<u32, Seen> = HashMap::new();
        for i in a.clone() {
            seen.entry(self.old[i]).or_default().old += 1;
        }
        for j in b.clone() {
            let entry = seen.entry(self.new[j]).or_default();
            entry.new += 1;
            entry.at = j;
        }
        let pairs: Vec<(usize, usize)> = a
            .clone()
            .filter_map(|i| {
                let entry = &seen[&self.old[i]];
                (entry.old == 1 && entry.new == 1).then_some((i, entry.at))
            })
            .collect();
        rising(&pairs)
    }

    /// Where the shortest way from one corner to the other passes its middle; None if the steps are used up.
    fn middle(&mut self, a: &Range<usize>, b: &Range<usize>) -> Option<(usize, usize)> {
        let (old, new) = (&self.old[a.clone()], &self.new[b.clone()]);
        let (width, height) = (old.len() as isize, new.len() as isize);
        let (delta, most) = (width - height, (width + height + 1) / 2 + 1);
        let mut forward = Front::new(width, height, most);
        let mut backward = Front::new(width, height, most);
        for d in 0..=most {
            for k in (-d..=d).step_by(2) {
                let same = |x: isize, y: isize| old[x as usize] == new[y as usize];
                let (start, end) = forward.advance(k, d, same);
                self.steps = self.steps.checked_sub(1 + (end - start) as usize)?;
                if delta % 2 != 0 && (k - delta).abs() < d && end + backward.get(delta - k) >= width {
                    return Some((start.min(width) as usize, (start - k).min(height) as usize));
                }
            }
            for k in (-d..=d).step_by(2) {
                let same =
                    |x: isize, y: isize| old[(width - 1 - x) as usize] == new[(height - 1 - y) as usize];
                let (start, end) = backward.advance(k, d, same);
                self.steps = self.steps.checked_sub(1 + (end - start) as usize)?;
                if delta % 2 == 0 && (k - delta).abs() <= d && end + forward.get(delta - k) >= width {
                    return Some(((width - end).max(0) as usize, (height - (end - k)).max(0) as usize));
                }
            }
        }
        None
    }
}

/// How far each diagonal was followed from one corner.
struct Front {
    width: isize,
    height: isize,
    far: Vec<isize>,
    zero: isize,
}

impl Front {
    fn new(width: isize, height: isize, most: isize) -> Self {
        Self { width, height, far: vec![0; 2 * most as usize + 3], zero: most + 1 }
    }

    fn get(&self, k: isize) -> isize {
        self.far.get((self.zero + k) as usize).copied().unwrap_or(0)
    }

    /// Follows diagonal `k` after `d` changes as long as elements are the same: one step down from above, or
    /// one to the right, then along. Gives where it started and ended.
    fn advance(&mut self, k: isize, d: isize, same: impl Fn(isize, isize) -> bool) -> (isize, isize) {
        let start = if d == 0 {
            0
        } else if k == -d || (k != d && self.get(k - 1) < self.get(k + 1)) {
            self.get(k + 1)
        } else {
            self.get(k - 1) + 1
        };
        let mut end = start;
        while end < self.width && end - k < self.height && same(end, end - k) {
            end += 1;
        }
        self.far[(self.zero + k) as usize] = end;
        (start, end)
    }
}

/// The anchors as known runs with the parts between them.
fn between(a: &Range<usize>, b: &Range<usize>, anchors: &[(usize, usize)]) -> Vec<Task> {
    let mut tasks = Vec::new();
    let (mut i, mut j) = (a.start, b.start);
    for &(x, y) in anchors {
        tasks.push(Task::Compare(i..x, j..y));
        tasks.push(Task::Keep(Run { old: x, new: y, len: 1 }));
        (i, j) = (x + 1, y + 1);
    }
    tasks.push(Task::Compare(i..a.end, j..b.end));
    tasks
}

/// The longest series of pairs in which both sides rise; the first sides rise already.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, y)) in pairs.iter().enumerate() {
        let at = ends.partition_point(|end| pairs[*end].1 < *y);
        before.push(at.checked_sub(1).map(|previous| ends[previous]));
        if at == ends.len() { ends.push(index) } else { ends[at] = index }
    }
    let mut series = Vec::new();
    let mut next = ends.last().copied();
    while let Some(index) = next {
        series.push(pairs[index]);
        next = before[index];
    }
    series.reverse();
    series
}
