//! HTTP/1.1 as far as a test server needs it: reading requests and writing response heads.

use std::io::{self, BufRead, Read, Write};

/// No request of a test is larger; a client that says so is broken.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

/// A request as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawRequest {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Reads one request; None when the client has closed the connection between requests.
pub(super) fn read_request(
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<RawRequest>> {
    let line = match read_line(input)? {
        Some(line) if !line.is_empty() => line,
        _ => return Ok(None),
    };
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(_version)) = (words.next(), words.next(), words.next()) else {
        return Err(bad("the request line is broken"));
    };
    let (method, target) = (method.to_owned(), target.to_owned());
    let headers = read_headers(input)?;
    if header(&headers, "expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = read_body(input, &headers)?;
    Ok(Some(RawRequest { method, target, headers, body }))
}

/// The first header of this name, in any case.
pub(super) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Writes the status line and headers.
pub(super) fn write_head(
    output: &mut impl Write,
    status: u16,
    headers: &[(String, String)],
) -> io::Result<()> {
    let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("HTTP/1.1 {status} {}\r\n{}\r\n", reason(status), lines.concat());
    output.write_all(head.as_bytes())
}

/// One chunk of a chunked body.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(b"\r\n");
    framed
}

fn read_headers(input: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    while let Some(line) = read_line(input)?.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| bad("a header line is broken"))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Ok(headers)
}

fn read_body(input: &mut impl BufRead, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
    if header(headers, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return read_chunked(input);
    }
    match header(headers, "content-length") {
        None => Ok(Vec::new()),
        Some(length) => {
            read_exactly(input, length.parse().map_err(|_| bad("the content length is no number"))?)
        }
    }
}

fn read_chunked(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(input)?.ok_or_else(|| bad("a chunk is missing"))?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(digits, 16).map_err(|_| bad("the size of a chunk is no number"))?;
        body.extend(read_exactly(input, size)?);
        if body.len() > LARGEST_BODY {
            return Err(bad("the body is too large"));
        }
        let end = read_line(input)?;
        if size == 0 {
            return Ok(body);
        }
        if end.is_none_or(|line| !line.is_empty()) {
            return Err(bad("a chunk does not end with its line"));
        }
    }
}

fn read_exactly(input: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    if length > LARGEST_BODY {
        return Err(bad("the body is too large"));
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if input.take(64 * 1024).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let text = String::from_utf8(line).map_err(|_| bad("the head is not text"))?;
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

fn bad(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &str) -> io::Result<Option<RawRequest>> {
        read_request(&mut bytes.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn bodies_come_by_length_and_by_chunks() {
        let sized =
            read("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd").expect("read").expect("a request");
        assert_eq!((sized.target.as_str(), sized.body.as_slice()), ("/a", b"abc".as_slice()));
        let chunked =
            "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n";
        assert_eq!(read(chunked).expect("read").expect("a request").body, b"abcde");
        assert_eq!(read("").expect("read"), None);
    }

    #[test]
    fn broken_requests_are_errors() {
        for bytes in [
            "nonsense\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nshort",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_client_that_waits_for_permission_gets_it() {
        let mut output = Vec::new();
        let bytes = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx";
        read_request(&mut bytes.as_bytes(), &mut output).expect("read");
        assert_eq!(output, b"HTTP/1.1 100 Continue\r\n\r\n");
    }
}
