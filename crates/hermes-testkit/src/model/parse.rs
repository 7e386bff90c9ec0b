//! Scripts as text: one instruction a line, `---` between answers.

use std::time::Duration;

use serde_json::Value;

use super::script::{Answer, Finish, Kind, Matcher, Part, Script, Uses};

/// A line of a script that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the script, '{text}': {problem}")]
pub struct ScriptError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

/// Reads a whole script.
pub(super) fn script(text: &str) -> Result<Script, ScriptError> {
    let mut script = Script::new();
    let mut open: Option<Answer> = None;
    for (index, line) in text.lines().map(str::trim).enumerate() {
        let failed = |problem| ScriptError { line: index + 1, text: line.to_owned(), problem };
        match line {
            "" => {}
            comment if comment.starts_with('#') => {}
            "---" => match open.take() {
                Some(answer) => script.answers.push(answer),
                None => return Err(failed("there is no answer above this line".to_owned())),
            },
            instruction => {
                let answer = open.get_or_insert_with(Answer::new);
                apply(answer, &mut Words(instruction)).map_err(failed)?;
            }
        }
    }
    script.answers.extend(open);
    Ok(script)
}

fn apply(answer: &mut Answer, words: &mut Words<'_>) -> Result<(), String> {
    let name = words.word();
    match name {
        "say" => answer.parts.push(Part::Say(words.text()?)),
        "think" => answer.parts.push(Part::Think(words.text()?)),
        "call" => answer.parts.push(call(words)?),
        "usage" => usage(answer, words)?,
        "finish" => answer.finish = Some(finish(words.word())?),
        "keepalive" => answer.parts.push(Part::Keepalive),
        "garbage" if words.is_done() => answer.parts.push(Part::Garbage("data: {\"broken\n\n".to_owned())),
        "garbage" => answer.parts.push(Part::Garbage(words.text()?)),
        "error" => answer.parts.push(error(words)?),
        "stall" => answer.parts.push(Part::Stall),
        "cut" => answer.parts.push(Part::Cut),
        "when" => answer.when.push(matcher(words)?),
        "always" => answer.uses = Uses::Always,
        "late" => answer.late = pause(words.word())?,
        "slow" => answer.slow = pause(words.word())?,
        "split" => answer.split = Some(bytes(words.word())?),
        "header" => answer.headers.push(words.pair()?),
        "status" => status(answer, words)?,
        "overflow" => answer.kind = Kind::Overflow,
        other => return Err(format!("'{other}' is not an instruction")),
    }
    if words.is_done() { Ok(()) } else { Err(format!("'{}' is left over", words.0)) }
}

fn call(words: &mut Words<'_>) -> Result<Part, String> {
    let name = words.word().to_owned();
    let id = match words.0.strip_prefix("id=") {
        Some(rest) => {
            words.0 = rest;
            Some(words.word().to_owned())
        }
        None => None,
    };
    let arguments = match words.json()? {
        (Value::String(text), _) => text,
        (_, written) => written.to_owned(),
    };
    Ok(Part::Call { id, name, arguments })
}

fn usage(answer: &mut Answer, words: &mut Words<'_>) -> Result<(), String> {
    while !words.is_done() {
        let (name, value) = words.pair()?;
        let count = value.parse().map_err(|_| format!("'{value}' is not a number of tokens"))?;
        match name.as_str() {
            "in" => answer.usage.input = count,
            "out" => answer.usage.output = count,
            "cached" => answer.usage.cached = count,
            "written" => answer.usage.written = count,
            "reasoning" => answer.usage.reasoning = count,
            other => return Err(format!("'{other}' is not one of in, out, cached, written, reasoning")),
        }
    }
    Ok(())
}

fn finish(word: &str) -> Result<Finish, String> {
    Ok(match word {
        "stop" => Finish::Stop,
        "tools" => Finish::Tools,
        "length" => Finish::Length,
        "filter" => Finish::Filter,
        other => return Err(format!("'{other}' is not one of stop, tools, length, filter")),
    })
}

fn error(words: &mut Words<'_>) -> Result<Part, String> {
    let message = words.text()?;
    let kind = if words.is_done() { None } else { Some(words.pair()?) };
    match kind {
        Some((name, _)) if name != "type" => Err(format!("'{name}' is not 'type'")),
        kind => Ok(Part::Error { message, kind: kind.map(|(_, kind)| kind) }),
    }
}

fn matcher(words: &mut Words<'_>) -> Result<Matcher, String> {
    if words.0.starts_with('"') {
        return words.text().map(Matcher::User);
    }
    match words.word() {
        "model" => words.text().map(Matcher::Model),
        "system" => words.text().map(Matcher::System),
        "seen" => words.text().map(Matcher::Seen),
        "results" => {
            let word = words.word();
            word.parse().map(Matcher::Results).map_err(|_| format!("'{word}' is not a number of results"))
        }
        other => Err(format!("'{other}' is neither a text nor one of model, system, seen, results")),
    }
}

fn status(answer: &mut Answer, words: &mut Words<'_>) -> Result<(), String> {
    let code = words.word().parse().map_err(|_| "a status code is needed")?;
    let mut body = None;
    while !words.is_done() {
        let (name, value) = words.pair()?;
        if name == "body" { body = Some(value) } else { answer.headers.push((name, value)) }
    }
    answer.kind = Kind::Status { code, body };
    Ok(())
}

fn bytes(word: &str) -> Result<usize, String> {
    word.parse().ok().filter(|count| *count > 0).ok_or_else(|| format!("'{word}' is not a number of bytes"))
}

fn pause(word: &str) -> Result<Duration, String> {
    let wrong = || format!("'{word}' is not a time such as 50ms or 2s");
    let (number, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?);
    let number = number.parse().map_err(|_| wrong())?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        _ => Err(wrong()),
    }
}

/// The rest of a line.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    /// The next word, empty at the end of the line.
    fn word(&mut self) -> &'a str {
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest.trim_start();
        word
    }

    /// The next JSON value, and how it was written.
    fn json(&mut self) -> Result<(Value, &'a str), String> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter::<Value>();
        let value = match values.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => return Err(format!("not JSON: {error}")),
            None => return Err("a JSON value is needed here".to_owned()),
        };
        let (written, rest) = self.0.split_at(values.byte_offset());
        self.0 = rest.trim_start();
        Ok((value, written.trim()))
    }

    fn text(&mut self) -> Result<String, String> {
        match self.json()? {
            (Value::String(text), _) => Ok(text),
            (_, written) => Err(format!("'{written}' is not a text in quotes")),
        }
    }

    /// `name=value` or `name="a value"`.
    fn pair(&mut self) -> Result<(String, String), String> {
        let (name, rest) = self.0.split_once('=').ok_or_else(|| format!("'{}' is not name=value", self.0))?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("'{}' is not name=value", self.0));
        }
        self.0 = rest;
        let value = if rest.starts_with('"') { self.text()? } else { self.word().to_owned() };
        Ok((name.to_owned(), value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::script::Usage;
    use super::*;

    #[test]
    fn text_and_calls_make_the_same_script() {
        let parsed = script(
            r#"
            # a comment
            when "list"
            when model "small"
            when results 2
            when seen "ok"
            think "hm"
            say "a\nb"
            call terminal {"command": "ls", "n": 1}
            call other id=x7 "{\"broken"
            usage in=10 out=3 cached=4 written=1 reasoning=2
            finish length
            header x-limit="1 per second"
            slow 50ms
            late 2s
            split 3
            always
            ---
            status 429 retry-after=1 body="try later"
            ---
            overflow
            ---
            say "x"
            keepalive
            garbage
            error "busy" type=overloaded_error
            stall
            cut
            "#,
        )
        .expect("a script");
        let first = Answer::new()
            .when(Matcher::User("list".into()))
            .when(Matcher::Model("small".into()))
            .when(Matcher::Results(2))
            .when(Matcher::Seen("ok".into()))
            .think("hm")
            .say("a\nb")
            .part(Part::Call {
                id: None,
                name: "terminal".into(),
                arguments: r#"{"command": "ls", "n": 1}"#.into(),
            })
            .part(Part::Call { id: Some("x7".into()), name: "other".into(), arguments: "{\"broken".into() })
            .usage(Usage { input: 10, output: 3, cached: 4, written: 1, reasoning: 2 })
            .finish(Finish::Length)
            .header("x-limit", "1 per second")
            .slow(Duration::from_millis(50))
            .late(Duration::from_secs(2))
            .split(3)
            .always();
        assert_eq!(parsed.answers[0], first);
        assert_eq!(parsed.answers[1], Answer::status_with_body(429, "try later").header("retry-after", "1"));
        assert_eq!(parsed.answers[2], Answer::overflow());
        assert_eq!(parsed.answers[3].parts.len(), 6);
        assert_eq!(parsed.len(), 4);
        let call = Answer::new().call("t", json!({"a": 1}));
        assert_eq!(script(r#"call t {"a":1}"#).expect("a script").answers, [call]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, problem) in [
            ("say hello", "not JSON"),
            ("say {}", "not a text in quotes"),
            ("say", "a JSON value is needed"),
            ("sing \"la\"", "'sing' is not an instruction"),
            ("stall now", "'now' is left over"),
            ("usage in=many", "not a number of tokens"),
            ("usage total=3", "not one of in, out"),
            ("split 0", "not a number of bytes"),
            ("slow 5", "not a time such as"),
            ("slow 5h", "not a time such as"),
            ("finish soon", "not one of stop"),
            ("status ok", "a status code is needed"),
            ("when user", "neither a text nor"),
            ("---", "no answer above"),
        ] {
            let error = script(&format!("# first\n{text}")).expect_err(text);
            assert_eq!(error.line, 2);
            assert!(error.problem.contains(problem), "{error}");
        }
    }
}
