//! What is the same at both ends of two texts.

/// Bytes that are compared at once.
const STRIDE: usize = 1024;

pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let strides = a.chunks_exact(STRIDE).zip(b.chunks_exact(STRIDE));
    let start = strides.take_while(|(a, b)| a == b).count() * STRIDE;
    start + a[start..].iter().zip(&b[start..]).take_while(|(a, b)| a == b).count()
}

pub(super) fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let strides = a.rchunks_exact(STRIDE).zip(b.rchunks_exact(STRIDE));
    let end = strides.take_while(|(a, b)| a == b).count() * STRIDE;
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    end + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// How many bytes are the same at the beginning and at the end of two texts. No character is cut, and no byte counts twice.
pub fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let mut head = common_prefix(old.as_bytes(), new.as_bytes());
    while !old.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = common_suffix(&old.as_bytes()[head..], &new.as_bytes()[head..]);
    while !old.is_char_boundary(old.len() - tail) {
        tail -= 1;
    }
    (head, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_can_be_put_together_again(
            head in "[aé–]{0,6}", old in "[aé–è]{0,4}", new in "[aé–è]{0,4}", tail in "[aé–]{0,6}",
        ) {
            let (old, new) = (format!("{head}{old}{tail}"), format!("{head}{new}{tail}"));
            let (front, back) = common_ends(&old, &new);
            prop_assert!(front + back <= old.len().min(new.len()));
            prop_assert_eq!(&old[..front], &new[..front]);
            prop_assert_eq!(&old[old.len() - back..], &new[new.len() - back..]);
        }

        #[test]
        fn the_same_ends_are_found_in_strides(
            same in 0usize..3000, a in "[ab]{0,3}", b in "[ab]{0,3}",
        ) {
            let same = "x".repeat(same);
            let (front_a, front_b) = (format!("{same}{a}"), format!("{same}{b}"));
            let naive = front_a.bytes().zip(front_b.bytes()).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(common_prefix(front_a.as_bytes(), front_b.as_bytes()), naive);
            let (back_a, back_b) = (format!("{a}{same}"), format!("{b}{same}"));
            let naive = back_a.bytes().rev().zip(back_b.bytes().rev()).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(common_suffix(back_a.as_bytes(), back_b.as_bytes()), naive);
        }
    }
}
