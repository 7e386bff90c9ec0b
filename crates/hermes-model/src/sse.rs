//! Server-sent events, read incrementally: bytes in, whole events out.
//!
//! Works on bytes until a line is complete, so that a character or a line end may be cut anywhere. Line ends are LF, CRLF
//! or CR. Memory is bounded by [`LARGEST_EVENT`].

/// No event of a provider comes near this; what is larger is an attack or a broken server.
pub const LARGEST_EVENT: usize = 8 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Its name; empty when it has none.
    pub name: String,
    /// Its data, several lines joined by LF.
    pub data: String,
}

/// An event was larger than [`LARGEST_EVENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The parser's state between two pieces of input.
#[derive(Debug, Clone, Default)]
pub struct SseParser {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    seen_line: bool,
}

impl SseParser {
    /// Takes the next bytes and hands every event that is complete to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<SseEvent>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            // CRLF may be cut in its middle: the LF belongs to a line that has already ended.
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(rest);
                return self.check_size();
            };
            self.line.extend_from_slice(&rest[..end]);
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.check_size()?;
            self.end_line(out);
        }
        Ok(())
    }

    /// The input is over. An event whose closing blank line never came is handed out too: many servers forget it.
    pub fn finish(&mut self, out: &mut Vec<SseEvent>) {
        if !self.line.is_empty() {
            self.end_line(out);
        }
        self.dispatch(out);
    }

    fn check_size(&self) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() + self.name.len() > LARGEST_EVENT {
            Err(TooLarge)
        } else {
            Ok(())
        }
    }

    fn end_line(&mut self, out: &mut Vec<SseEvent>) {
        let line = std::mem::take(&mut self.line);
        let line = if self.seen_line {
            line.as_slice()
        } else {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line)
        };
        self.seen_line = true;
        if line.is_empty() {
            self.dispatch(out);
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = value.to_vec(),
            // Comments (an empty field name) keep the connection alive; ids and retry times mean nothing here.
            _ => {}
        }
    }

    fn dispatch(&mut self, out: &mut Vec<SseEvent>) {
        let (name, data) = (std::mem::take(&mut self.name), std::mem::take(&mut self.data));
        if std::mem::take(&mut self.has_data) {
            // Servers that cut characters between events send invalid UTF-8; the rest of the text is still good.
            let text = |bytes: Vec<u8>| {
                String::from_utf8(bytes)
                    .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
            };
            out.push(SseEvent { name: text(name), data: text(data) });
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let (mut parser, mut out) = (SseParser::default(), Vec::new());
        for piece in pieces {
            parser.push(piece, &mut out).unwrap();
        }
        parser.finish(&mut out);
        out
    }

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.into(), data: data.into() }
    }

    #[test]
    fn all_line_ends_comments_and_fields_are_understood() {
        let text = "\u{feff}: hello\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nid: 7\rdata: x: y\r\rretry: 3\n\n: ping\n\ndata\n\nevent: b\n\ndata: end";
        let expected = [event("a", "1\n2"), event("", "x: y"), event("", ""), event("", "end")];
        assert_eq!(events(&[text.as_bytes()]), expected);
    }

    #[test]
    fn characters_and_line_ends_may_be_cut_anywhere() {
        let text = "event: ä\r\ndata: Grüße 🎉\r\n\r\ndata: 2\n\n".as_bytes();
        let whole = events(&[text]);
        assert_eq!(whole, [event("ä", "Grüße 🎉"), event("", "2")]);
        for cut in 0..text.len() {
            assert_eq!(events(&[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn an_event_without_end_is_refused_before_memory_runs_out() {
        let (mut parser, mut out) = (SseParser::default(), Vec::new());
        let piece = vec![b'x'; 1024 * 1024];
        let refused = (0..20).find(|_| parser.push(&piece, &mut out) == Err(TooLarge));
        assert_eq!(refused, Some(8));
        let mut lines = SseParser::default();
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        assert!((0..20).any(|_| lines.push(&line, &mut out) == Err(TooLarge)));
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_events(
            text in "(data: [a-zäß🎉:]{0,6}|event: [a-c]|:x|[a-z]{0,3}|\r|\n|\r\n|\n\n){0,30}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let bytes = text.as_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.sort_unstable();
            let mut pieces = Vec::new();
            let mut start = 0;
            for cut in at {
                pieces.push(&bytes[start..cut]);
                start = cut;
            }
            pieces.push(&bytes[start..]);
            prop_assert_eq!(events(&pieces), events(&[bytes]));
        }

        #[test]
        fn random_bytes_never_panic(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..10)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let _ = events(&pieces);
        }
    }
}
