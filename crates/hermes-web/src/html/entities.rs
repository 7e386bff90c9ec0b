//! Entities: `&amp;` and the like. The names of HTML 4 and those that are in use besides; every number.

use std::borrow::Cow;

/// Longest name.
const LONGEST: usize = 18;

/// Names of U+00A0 to U+00FF, in order.
const LATIN: &str = "\
nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 \
acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde \
Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc \
Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml \
aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc \
otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// The other names, sorted.
const NAMED: &[(&str, u32)] = &[
    ("Abreve", 0x102),
    ("Alpha", 0x391),
    ("Beta", 0x392),
    ("Ccaron", 0x10c),
    ("Chi", 0x3a7),
    ("Dagger", 0x2021),
    ("Delta", 0x394),
    ("DiacriticalGrave", 0x60),
    ("Epsilon", 0x395),
    ("Eta", 0x397),
    ("Gamma", 0x393),
    ("Gbreve", 0x11e),
    ("Hat", 0x5e),
    ("Idot", 0x130),
    ("Iota", 0x399),
    ("Kappa", 0x39a),
    ("Lambda", 0x39b),
    ("Lstrok", 0x141),
    ("Mu", 0x39c),
    ("NewLine", 0xa),
    ("NoBreak", 0x2060),
    ("Nu", 0x39d),
    ("OElig", 0x152),
    ("Omega", 0x3a9),
    ("Omicron", 0x39f),
    ("Phi", 0x3a6),
    ("Pi", 0x3a0),
    ("Prime", 0x2033),
    ("Psi", 0x3a8),
    ("Rho", 0x3a1),
    ("Scaron", 0x160),
    ("Scedil", 0x15e),
    ("Sigma", 0x3a3),
    ("Tab", 0x9),
    ("Tau", 0x3a4),
    ("Theta", 0x398),
    ("UnderBar", 0x5f),
    ("Upsilon", 0x3a5),
    ("Xi", 0x39e),
    ("Yuml", 0x178),
    ("Zcaron", 0x17d),
    ("ZeroWidthSpace", 0x200b),
    ("Zeta", 0x396),
    ("abreve", 0x103),
    ("alefsym", 0x2135),
    ("alpha", 0x3b1),
    ("amacr", 0x101),
    ("amp", 0x26),
    ("and", 0x2227),
    ("ang", 0x2220),
    ("aogon", 0x105),
    ("apos", 0x27),
    ("ast", 0x2a),
    ("asymp", 0x2248),
    ("bdquo", 0x201e),
    ("beta", 0x3b2),
    ("bigstar", 0x2605),
    ("blacksquare", 0x25aa),
    ("breve", 0x2d8),
    ("bsol", 0x5c),
    ("bull", 0x2022),
    ("cacute", 0x107),
    ("cap", 0x2229),
    ("caron", 0x2c7),
    ("ccaron", 0x10d),
    ("check", 0x2713),
    ("checkmark", 0x2713),
    ("chi", 0x3c7),
    ("circ", 0x2c6),
    ("clubs", 0x2663),
    ("colon", 0x3a),
    ("comma", 0x2c),
    ("commat", 0x40),
    ("cong", 0x2245),
    ("crarr", 0x21b5),
    ("cross", 0x2717),
    ("cup", 0x222a),
    ("dArr", 0x21d3),
    ("dagger", 0x2020),
    ("darr", 0x2193),
    ("dash", 0x2010),
    ("delta", 0x3b4),
    ("diams", 0x2666),
    ("dollar", 0x24),
    ("ecaron", 0x11b),
    ("emacr", 0x113),
    ("empty", 0x2205),
    ("emsp", 0x2003),
    ("ensp", 0x2002),
    ("eogon", 0x119),
    ("epsilon", 0x3b5),
    ("equals", 0x3d),
    ("equiv", 0x2261),
    ("eta", 0x3b7),
    ("euro", 0x20ac),
    ("excl", 0x21),
    ("exist", 0x2203),
    ("fnof", 0x192),
    ("forall", 0x2200),
    ("frasl", 0x2044),
    ("gamma", 0x3b3),
    ("gbreve", 0x11f),
    ("ge", 0x2265),
    ("grave", 0x60),
    ("gt", 0x3e),
    ("hArr", 0x21d4),
    ("hairsp", 0x200a),
    ("harr", 0x2194),
    ("hearts", 0x2665),
    ("hellip", 0x2026),
    ("horbar", 0x2015),
    ("hyphen", 0x2010),
    ("imacr", 0x12b),
    ("image", 0x2111),
    ("infin", 0x221e),
    ("inodot", 0x131),
    ("int", 0x222b),
    ("iota", 0x3b9),
    ("isin", 0x2208),
    ("kappa", 0x3ba),
    ("lArr", 0x21d0),
    ("lambda", 0x3bb),
    ("lang", 0x2329),
    ("larr", 0x2190),
    ("larrhk", 0x21a9),
    ("lbrace", 0x7b),
    ("lbrack", 0x5b),
    ("lceil", 0x2308),
    ("lcub", 0x7b),
    ("ldquo", 0x201c),
    ("le", 0x2264),
    ("lfloor", 0x230a),
    ("lowast", 0x2217),
    ("lowbar", 0x5f),
    ("loz", 0x25ca),
    ("lpar", 0x28),
    ("lrm", 0x200e),
    ("lsaquo", 0x2039),
    ("lsqb", 0x5b),
    ("lsquo", 0x2018),
    ("lstrok", 0x142),
    ("lt", 0x3c),
    ("map", 0x21a6),
    ("mdash", 0x2014),
    ("minus", 0x2212),
    ("mu", 0x3bc),
    ("nabla", 0x2207),
    ("nacute", 0x144),
    ("ndash", 0x2013),
    ("ne", 0x2260),
    ("ni", 0x220b),
    ("notin", 0x2209),
    ("nsub", 0x2284),
    ("nu", 0x3bd),
    ("num", 0x23),
    ("numsp", 0x2007),
    ("odblac", 0x151),
    ("oelig", 0x153),
    ("oline", 0x203e),
    ("omacr", 0x14d),
    ("omega", 0x3c9),
    ("omicron", 0x3bf),
    ("oplus", 0x2295),
    ("or", 0x2228),
    ("otimes", 0x2297),
    ("part", 0x2202),
    ("percnt", 0x25),
    ("period", 0x2e),
    ("permil", 0x2030),
    ("perp", 0x22a5),
    ("phi", 0x3c6),
    ("phone", 0x260e),
    ("pi", 0x3c0),
    ("piv", 0x3d6),
    ("plus", 0x2b),
    ("prime", 0x2032),
    ("prod", 0x220f),
    ("prop", 0x221d),
    ("psi", 0x3c8),
    ("puncsp", 0x2008),
    ("quest", 0x3f),
    ("quot", 0x22),
    ("rArr", 0x21d2),
    ("radic", 0x221a),
    ("rang", 0x232a),
    ("rarr", 0x2192),
    ("rarrw", 0x219d),
    ("rbrace", 0x7d),
    ("rbrack", 0x5d),
    ("rcaron", 0x159),
    ("rceil", 0x2309),
    ("rcub", 0x7d),
    ("rdquo", 0x201d),
    ("real", 0x211c),
    ("rfloor", 0x230b),
    ("rho", 0x3c1),
    ("rlm", 0x200f),
    ("rpar", 0x29),
    ("rsaquo", 0x203a),
    ("rsqb", 0x5d),
    ("rsquo", 0x2019),
    ("sacute", 0x15b),
    ("sbquo", 0x201a),
    ("scaron", 0x161),
    ("scedil", 0x15f),
    ("sdot", 0x22c5),
    ("semi", 0x3b),
    ("sigma", 0x3c3),
    ("sigmaf", 0x3c2),
    ("sim", 0x223c),
    ("sol", 0x2f),
    ("spades", 0x2660),
    ("squ", 0x25a1),
    ("star", 0x2606),
    ("sub", 0x2282),
    ("sube", 0x2286),
    ("sum", 0x2211),
    ("sup", 0x2283),
    ("supe", 0x2287),
    ("tau", 0x3c4),
    ("tcedil", 0x163),
    ("there4", 0x2234),
    ("theta", 0x3b8),
    ("thetasym", 0x3d1),
    ("thinsp", 0x2009),
    ("tilde", 0x2dc),
    ("trade", 0x2122),
    ("uArr", 0x21d1),
    ("uarr", 0x2191),
    ("udblac", 0x171),
    ("umacr", 0x16b),
    ("upsih", 0x3d2),
    ("upsilon", 0x3c5),
    ("uring", 0x16f),
    ("verbar", 0x7c),
    ("vert", 0x7c),
    ("weierp", 0x2118),
    ("xi", 0x3be),
    ("zacute", 0x17a),
    ("zcaron", 0x17e),
    ("zdot", 0x17c),
    ("zeta", 0x3b6),
    ("zwj", 0x200d),
    ("zwnj", 0x200c),
];

/// Windows' characters, which pages mean when they write these numbers.
const WINDOWS: [u32; 32] = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d,
    0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a,
    0x153, 0x9d, 0x17e, 0x178,
];

/// The text with its entities decoded. What is none stays as it is.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('&') else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(after) = rest.strip_prefix('&') {
        let (found, length) = entity(after).unwrap_or(('&', 0));
        out.push(found);
        rest = &after[length..];
        let next = rest.find('&').unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

/// The character that an entity stands for, and its length without the `&`.
fn entity(text: &str) -> Option<(char, usize)> {
    if let Some(digits) = text.strip_prefix('#') {
        let (number, length) = number(digits)?;
        let semicolon = usize::from(digits[length..].starts_with(';'));
        return Some((character(number), 1 + length + semicolon));
    }
    let name_end =
        text.bytes().take(LONGEST + 1).position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len());
    let name = text.get(..name_end)?;
    if text[name_end..].starts_with(';') {
        return named(name).map(|found| (found, name_end + 1));
    }
    // Old pages leave the semicolon out; `&copy=` in an address is a parameter.
    let old = matches!(name, "amp" | "lt" | "gt" | "quot" | "nbsp" | "copy" | "reg");
    (old && !text[name_end..].starts_with('=')).then(|| named(name)).flatten().map(|found| (found, name_end))
}

fn number(digits: &str) -> Option<(u32, usize)> {
    let (radix, start) = if digits.starts_with(['x', 'X']) { (16, 1) } else { (10, 0) };
    let length = digits[start..].bytes().take_while(|byte| char::from(*byte).is_digit(radix)).count();
    if length == 0 {
        return None;
    }
    // A number that is too large is no character either.
    Some((u32::from_str_radix(&digits[start..start + length], radix).unwrap_or(u32::MAX), start + length))
}

fn character(number: u32) -> char {
    let number = match number {
        0x80..=0x9f => WINDOWS[(number - 0x80) as usize],
        other => other,
    };
    char::from_u32(number).filter(|found| *found != '\0').unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn named(name: &str) -> Option<char> {
    let other = NAMED.binary_search_by_key(&name, |(known, _)| known).ok().map(|place| NAMED[place].1);
    let latin = || LATIN.split_whitespace().position(|known| known == name).map(|place| 0xa0 + place as u32);
    char::from_u32(other.or_else(latin)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_become_characters() {
        for (text, meant) in [
            ("a &amp; b", "a & b"),
            ("&lt;p&gt;", "<p>"),
            ("&eacute;&nbsp;&yuml;", "é\u{a0}ÿ"),
            ("&mdash;&hellip;&rarr;", "—…→"),
            ("&#65;&#x42;&#X43", "ABC"),
            ("&#150;&#x80;", "–€"),
            ("&#0;&#xd800;&#99999999999;", "\u{fffd}\u{fffd}\u{fffd}"),
            ("fish&chips &x; &;& &#; &#xg;", "fish&chips &x; &;& &#; &#xg;"),
            ("?a=1&copy=2&amp;b", "?a=1&copy=2&b"),
            ("AT&ampT &ltb", "AT&ampT &ltb"),
            ("1 &lt 2", "1 < 2"),
        ] {
            assert_eq!(decode(text), meant, "{text}");
        }
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(NAMED.is_sorted_by_key(|(name, _)| *name));
        assert_eq!(LATIN.split_whitespace().count(), 96);
        assert!(NAMED.iter().all(|(name, _)| name.len() <= LONGEST));
    }
}
