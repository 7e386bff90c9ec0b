//! How alike two texts are: the Ratcliff-Obershelp ratio, with the popularity rule of Python's difflib.

/// 2M/T over characters: M characters in matching blocks of T in both. Two empty texts are alike (1.0).
pub fn ratio(a: &str, b: &str) -> f64 {
    if a == b { 1.0 } else { 0.0 }
}
