//! Letters that look like others: a word is also looked up as a reader would read it.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The word in plain Latin letters: accents go, letters of other alphabets become the ones they look like, and in words
/// with letters in them digits too (`1gn0re`). Takes lower case.
pub(super) fn fold(word: &str) -> String {
    let folded: String = word.chars().filter(|c| !is_mark(*c)).map(plain).collect();
    let letters = folded.chars().any(|c| c.is_ascii_alphabetic());
    if letters && folded.bytes().any(|byte| byte.is_ascii_digit()) {
        return folded.chars().map(of_digit).collect();
    }
    folded
}

/// Whether folding could change the word.
pub(super) fn is_foldable(word: &str) -> bool {
    !word.is_ascii() || word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Accents that stand behind their letter.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Look-alikes, each list behind the letter it stands for.
const ALIKE: &[(char, &str)] = &[
    ('a', "аαàáâãäåāăąạảấầᴀɑ"),
    ('b', "вβʙ"),
    ('c', "сϲçćčĉᴄⅽ"),
    ('d', "ԁďđᴅⅾ"),
    ('e', "еεèéêëēĕėęěẹếềᴇєℯ"),
    ('f', "ꜰƒ"),
    ('g', "ɡğĝġģɢℊ"),
    ('h', "һнʜℎ"),
    ('i', "іιìíîïĩīĭįıɪⅰ"),
    ('j', "јᴊ"),
    ('k', "кκᴋķ"),
    ('l', "ӏłĺļľʟⅼℓ"),
    ('m', "мᴍⅿ"),
    ('n', "ñńņňɴո"),
    ('o', "оοòóôõöøōŏőơọốồᴏσℴօ"),
    ('p', "рρᴘ"),
    ('q', "ԛ"),
    ('r', "ʀŕřŗгᴦ"),
    ('s', "ѕśŝşšșꜱ"),
    ('t', "тτťţțᴛ"),
    ('u', "υùúûüũūŭůűųưụᴜս"),
    ('v', "νѵᴠⅴ"),
    ('w', "ԝŵᴡω"),
    ('x', "хχⅹ"),
    ('y', "уγýÿŷʏ"),
    ('z', "źżžᴢ"),
];

fn plain(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let code = u32::from(c);
    let letter = |offset: u32| u8::try_from(offset % 26).map_or(c, |letter| char::from(b'a' + letter));
    match code {
        // Full-width letters; capitals were lowered before.
        0xff41..=0xff5a => letter(code - 0xff41),
        // Bold, italic, script and their kin: alphabets of capitals and small letters in turns.
        0x1d400..=0x1d6a3 => letter(code - 0x1d400),
        0x24d0..=0x24e9 => letter(code - 0x24d0),
        0x1f130..=0x1f149 => letter(code - 0x1f130),
        0x1f150..=0x1f169 => letter(code - 0x1f150),
        0x1f170..=0x1f189 => letter(code - 0x1f170),
        _ => alike().get(&c).copied().unwrap_or(c),
    }
}

/// [`ALIKE`] from the other side.
fn alike() -> &'static HashMap<char, char> {
    static TABLE: OnceLock<HashMap<char, char>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let pairs = ALIKE.iter().flat_map(|(letter, alike)| alike.chars().map(|c| (c, *letter)));
        // A character in two lists stands for the first.
        let mut table = HashMap::new();
        pairs.for_each(|(c, letter)| {
            table.entry(c).or_insert(letter);
        });
        table
    })
}

/// The letter a digit looks like.
pub(super) fn of_digit(c: char) -> char {
    match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_look() {
        for word in [
            "ignore",
            "іgnоrе",
            "ｉｇｎｏｒｅ",
            "𝐢𝐠𝐧𝐨𝐫𝐞",
            "𝓲𝓰𝓷𝓸𝓻𝓮",
            "ⓘⓖⓝⓞⓡⓔ",
            "1gn0r3",
            "ígnöre",
            "ɪɢɴᴏʀᴇ",
            "igno\u{301}re",
        ] {
            assert_eq!(fold(word), "ignore", "{word}");
        }
        assert_eq!(fold("2024"), "2024");
        assert_eq!(fold("指示"), "指示");
    }
}
