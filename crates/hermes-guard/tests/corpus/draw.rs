//! Text of a given shape with random parts, the same for the same seed on every machine.

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// The shape with each `<a36>` replaced by as many characters of that alphabet.
pub fn draw(shape: &str, seed: u64) -> String {
    let mut random = Random::new(shape, seed);
    let mut out = String::new();
    let mut rest = shape;
    while let Some((literal, after)) = rest.split_once('<') {
        let (part, after) = after.split_once('>').unwrap();
        let (alphabet, length) = part.split_at(1);
        let letters = alphabet_of(alphabet);
        out.push_str(literal);
        out.extend((0..length.parse::<usize>().unwrap()).map(|_| random.one_of(letters.as_bytes())));
        rest = after;
    }
    out + rest
}

fn alphabet_of(letter: &str) -> String {
    match letter {
        "a" => [LOWER, UPPER, DIGITS].concat(),
        "u" => [LOWER, UPPER, DIGITS, "-_"].concat(),
        "b" => [LOWER, UPPER, DIGITS, "+/"].concat(),
        "l" => [LOWER, UPPER].concat(),
        "L" => [UPPER, DIGITS].concat(),
        "n" => DIGITS.to_owned(),
        "h" => [DIGITS, "abcdef"].concat(),
        other => unreachable!("no alphabet '{other}'"),
    }
}

/// A generator that needs no crate (splitmix64).
struct Random(u64);

impl Random {
    fn new(shape: &str, seed: u64) -> Self {
        let start = shape.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Self(start)
    }

    fn one_of(&mut self, letters: &[u8]) -> char {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let index = usize::try_from(mixed % letters.len() as u64).unwrap();
        char::from(letters[index])
    }
}
