//! Line ends and byte order marks: an edit keeps those of the file.

/// The mark some programs put in front of text.
pub(super) const BOM: &str = "\u{feff}";

/// How the lines of a file end, and whether it begins with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    lines: Lines,
    bom: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Lf,
    CrLf,
}

impl Form {
    /// Told from the beginning of a file.
    pub(super) fn of(beginning: &[u8]) -> Self {
        let ends = beginning.split(|byte| *byte == b'\n').count() - 1;
        let crlf = beginning.windows(2).filter(|pair| pair == b"\r\n").count();
        let lines = if crlf > 0 && crlf * 2 > ends { Lines::CrLf } else { Lines::Lf };
        Self { lines, bom: beginning.starts_with(BOM.as_bytes()) }
    }

    /// The text in this form. One that has ends of this kind somewhere was written with care and is left alone.
    pub(super) fn applied(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 3);
        if self.bom && !text.starts_with(BOM) {
            out.push_str(BOM);
        }
        match self.lines {
            Lines::CrLf if !text.contains('\r') => out.push_str(&text.replace('\n', "\r\n")),
            Lines::CrLf | Lines::Lf => out.push_str(text),
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_the_file_is_kept() {
        assert_eq!(Form::of(b"a\r\nb\r\n").applied("x\ny\n"), "x\r\ny\r\n");
        assert_eq!(Form::of(b"a\r\nb\r\n").applied("x\r\ny\n"), "x\r\ny\n");
        assert_eq!(Form::of(b"a\nb\r\nc\n").applied("x\n"), "x\n", "most lines end otherwise");
        assert_eq!(Form::of(b"\xef\xbb\xbfa\n").applied("x\n"), "\u{feff}x\n");
        assert_eq!(Form::of(b"\xef\xbb\xbfa\n").applied("\u{feff}x\n"), "\u{feff}x\n");
        assert_eq!(Form::of(b"").applied("x\r\n"), "x\r\n");
    }
}
