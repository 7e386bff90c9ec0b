//! The beginning and the end of a text of any length, within bounds.

use super::{head, tail, written_head, written_length, written_tail};

/// A text up to this length is kept whole, so that it can be put into a file if need be.
const WHOLE: usize = 128 * 1024;

/// See the module. Of a long text 40% of the bound is beginning and 60% end: errors come last.
#[derive(Debug)]
pub(crate) struct Kept {
    bound: usize,
    /// Characters it may take as JSON writes it.
    written: usize,
    /// Up to here everything is kept.
    whole_bound: usize,
    /// Everything, as long as it is short.
    whole: Option<String>,
    beginning: String,
    end: String,
    total: usize,
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shortened {
    /// It fits.
    Whole(String),
    /// It does not.
    Cut {
        /// The beginning.
        beginning: String,
        /// The end.
        end: String,
        /// Bytes in between.
        omitted: usize,
        /// Bytes of the whole.
        total: usize,
        /// All of it, if it is not very long.
        all: Option<String>,
    },
}

impl Kept {
    pub(crate) fn new(bound: usize) -> Self {
        Self::with(bound, WHOLE)
    }

    /// The same, and at most this many characters as JSON writes it.
    #[must_use]
    pub(crate) fn within(self, written: usize) -> Self {
        Self { written, ..self }
    }

    fn with(bound: usize, whole_bound: usize) -> Self {
        let (beginning, end) = (String::new(), String::new());
        Self {
            bound,
            written: usize::MAX,
            whole_bound: whole_bound.max(bound),
            whole: Some(String::new()),
            beginning,
            end,
            total: 0,
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.total += text.len();
        if let Some(whole) = &mut self.whole {
            whole.push_str(text);
            if whole.len() <= self.whole_bound {
                return;
            }
            let whole = self.whole.take().unwrap_or_default();
            head(&whole, self.head_bound()).clone_into(&mut self.beginning);
            tail(&whole[self.beginning.len()..], self.tail_bound()).clone_into(&mut self.end);
            return;
        }
        if text.len() >= self.tail_bound() {
            tail(text, self.tail_bound()).clone_into(&mut self.end);
            return;
        }
        self.end.push_str(text);
        // Cut now and then, not for each piece.
        if self.end.len() > 2 * self.tail_bound() {
            self.end = tail(&self.end, self.tail_bound()).to_owned();
        }
    }

    pub(crate) fn finish(self) -> Shortened {
        let (head_bound, tail_bound) = (self.head_bound(), self.tail_bound());
        let (beginning, end) = match &self.whole {
            Some(whole) if whole.len() <= self.bound && written_length(whole) <= self.written => {
                return Shortened::Whole(self.whole.unwrap_or_default());
            }
            Some(whole) => (head(whole, head_bound), tail(whole, tail_bound)),
            None => (self.beginning.as_str(), tail(&self.end, tail_bound)),
        };
        let written_before = two_fifths(self.written);
        let beginning = written_head(beginning, written_before).to_owned();
        let end = written_tail(end, self.written - written_before).to_owned();
        let omitted = self.total - beginning.len() - end.len();
        Shortened::Cut { beginning, end, omitted, total: self.total, all: self.whole }
    }

    fn head_bound(&self) -> usize {
        two_fifths(self.bound)
    }

    fn tail_bound(&self) -> usize {
        self.bound - self.head_bound()
    }
}

fn two_fifths(bound: usize) -> usize {
    bound / 5 * 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(bound: usize, pieces: &[&str]) -> Shortened {
        let mut kept = Kept::new(bound);
        for piece in pieces {
            kept.push(piece);
        }
        kept.finish()
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(kept(10, &["abc", "defg", "hij"]), Shortened::Whole("abcdefghij".into()));
    }

    #[test]
    fn what_does_not_fit_keeps_both_ends() {
        let Shortened::Cut { beginning, end, omitted, total, all } = kept(10, &["abcdefgh", "ijklmnop"])
        else {
            panic!("it does not fit")
        };
        assert_eq!((beginning.as_str(), end.as_str(), omitted, total), ("abcd", "klmnop", 6, 16));
        assert_eq!(all.as_deref(), Some("abcdefghijklmnop"));
    }

    proptest! {
        #[test]
        fn bounds_hold_for_texts_of_any_length(
            pieces in prop::collection::vec("[a-zé€\n]{0,20}", 0..12),
            bound in 10usize..60,
            whole in 0usize..80,
            written in 10usize..80,
        ) {
            let text = pieces.concat();
            let mut kept = Kept::with(bound, whole).within(written);
            for piece in &pieces {
                kept.push(piece);
            }
            match kept.finish() {
                Shortened::Whole(whole) => {
                    prop_assert!(whole.len() <= bound && written_length(&whole) <= written);
                    prop_assert_eq!(whole, text);
                }
                Shortened::Cut { beginning, end, omitted, total, all } => {
                    prop_assert!(beginning.len() + end.len() <= bound);
                    prop_assert!(written_length(&beginning) + written_length(&end) <= written);
                    prop_assert!(text.starts_with(&beginning) && text.ends_with(&end));
                    prop_assert_eq!((total, omitted), (text.len(), text.len() - beginning.len() - end.len()));
                    prop_assert!(all.is_none_or(|all| all == text));
                }
            }
        }
    }
}
