//! JavaScript in the line, token by token: the names it uses, the modules it loads, names that are only put together when it
//! runs.

/// A piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Name(String),
    /// A text, and whether it is written with escapes.
    Text(String, Spelling),
    Sign(char),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Plain,
    Escaped,
}

/// Names that start programs, change files, make code out of texts or reach what does. Compared in small letters.
const REACHING: &[&str] = &[
    "exec",
    "execsync",
    "execfile",
    "execfilesync",
    "spawn",
    "spawnsync",
    "fork",
    "unlink",
    "unlinksync",
    "rm",
    "rmsync",
    "rmdir",
    "rmdirsync",
    "writefile",
    "writefilesync",
    "appendfile",
    "appendfilesync",
    "createwritestream",
    "write_file",
    "rename",
    "renamesync",
    "copyfile",
    "copyfilesync",
    "cp",
    "cpsync",
    "symlink",
    "symlinksync",
    "link",
    "linksync",
    "chmod",
    "chmodsync",
    "chown",
    "chownsync",
    "truncate",
    "truncatesync",
    "ftruncate",
    "opensync",
    "open",
    "writesync",
    "writev",
    "utimes",
    "eval",
    "constructor",
    "__proto__",
    "binding",
    "_linkedbinding",
    "dlopen",
    "kill",
    "abort",
    "mainmodule",
    "getbuiltinmodule",
    "createrequire",
    "_load",
    "worker",
    "globalthis",
    "global",
    "reflect",
    "deno",
    "bun",
    "report",
    "setuid",
    "setgid",
    "loadenvfile",
    "importscripts",
    "createserver",
    "createconnection",
    "websocket",
    "eventsource",
    "sendbeacon",
    "outputfile",
    "outputfilesync",
    "remove",
    "removesync",
    "emptydir",
    "emptydirsync",
    "move",
    "movesync",
    "writejson",
    "writejsonsync",
    "setprototypeof",
    "getownpropertydescriptor",
    "getownpropertydescriptors",
    "compilefunction",
    "runinthiscontext",
    "runinnewcontext",
];

/// Modules that compute, look or read. What is written is found by its name.
const MODULES: &[&str] = &[
    "path",
    "os",
    "util",
    "url",
    "crypto",
    "assert",
    "events",
    "querystring",
    "buffer",
    "string_decoder",
    "perf_hooks",
    "zlib",
    "timers",
    "readline",
    "fs",
    "fs/promises",
    "timers/promises",
    "stream",
    "stream/promises",
    "path/posix",
    "punycode",
    "tty",
    "lodash",
    "semver",
    "typescript",
    "uuid",
    "dayjs",
    "moment",
    "yaml",
    "js-yaml",
    "zod",
    "chalk",
    "ajv",
];

/// Whether the code may do more than compute and read.
pub(super) fn reaches(code: &str) -> bool {
    let Some(tokens) = tokens(code) else { return true };
    let name = |at: usize| match tokens.get(at) {
        Some(Token::Name(name)) => Some(name.as_str()),
        _ => None,
    };
    let is = |at: usize, sign: char| tokens.get(at) == Some(&Token::Sign(sign));
    (0..tokens.len()).any(|at| match &tokens[at] {
        Token::Name(word) => match word.as_str() {
            // The function that makes code out of texts; the keyword is small.
            "Function" | "GeneratorFunction" | "AsyncFunction" => true,
            "require" if is(at + 1, '.') && matches!(name(at + 2), Some("resolve" | "main" | "cache")) => false,
            "require" => !loads_known(&tokens, at + 1),
            "import" if is(at + 1, '.') => false,
            "import" if is(at + 1, '(') => !loads_known(&tokens, at + 1),
            "import" | "from" => matches!(tokens.get(at + 1), Some(Token::Text(module, spelling)) if !is_known(module, *spelling)),
            "process" => !is(at + 1, '.') || name(at + 2) == Some("env") && !names_one(&tokens, at + 3),
            "fetch" => sends(&tokens, at + 1),
            word => REACHING.contains(&word.to_lowercase().as_str()),
        },
        Token::Sign('[') => is_member(&tokens, at) && (is_put_together(&tokens, at) || is_called(&tokens, at)),
        Token::Text(text, _) => text.len() < 400 && crate::is_secret_path(std::path::Path::new(text)),
        Token::Sign(_) => false,
    })
}

/// `("module")` with a module that is known.
fn loads_known(tokens: &[Token], at: usize) -> bool {
    matches!(
        tokens.get(at..at + 3),
        Some([Token::Sign('('), Token::Text(module, spelling), Token::Sign(')')]) if is_known(module, *spelling)
    )
}

fn is_known(module: &str, spelling: Spelling) -> bool {
    let module = module.strip_prefix("node:").unwrap_or(module);
    let own = (module.starts_with("./") || module.starts_with("../")) && !module.contains("/.");
    spelling == Spelling::Plain && (own || MODULES.contains(&module))
}

/// `process.env.NAME`, `process.env["NAME"]`: one variable, asked for by name.
fn names_one(tokens: &[Token], at: usize) -> bool {
    matches!(
        tokens.get(at..),
        Some(
            [Token::Sign('.'), Token::Name(_), ..]
                | [Token::Sign('['), Token::Text(..), Token::Sign(']'), ..]
        )
    )
}

/// A request that carries something, or goes where only the running code knows.
fn sends(tokens: &[Token], at: usize) -> bool {
    !matches!(tokens.get(at..at + 3), Some([Token::Sign('('), Token::Text(..), Token::Sign(')')]))
}

/// Whether a bracket asks for a part of something.
fn is_member(tokens: &[Token], at: usize) -> bool {
    at > 0 && matches!(tokens[at - 1], Token::Name(_) | Token::Sign(')' | ']'))
}

/// Whether the name in a bracket is put together, or one that reaches out.
fn is_put_together(tokens: &[Token], at: usize) -> bool {
    let end = tokens[at..]
        .iter()
        .position(|token| *token == Token::Sign(']'))
        .map_or(tokens.len(), |length| at + length);
    match &tokens[at + 1..end] {
        [Token::Text(text, spelling)] => {
            *spelling == Spelling::Escaped || REACHING.contains(&text.to_lowercase().as_str())
        }
        inside => inside.iter().any(|token| matches!(token, Token::Text(..))),
    }
}

/// Whether what a bracket with something other than a text asks for is called: which part it is, only the running code knows.
fn is_called(tokens: &[Token], at: usize) -> bool {
    let end = tokens[at..].iter().position(|token| *token == Token::Sign(']'));
    let named = matches!(tokens.get(at + 1), Some(Token::Text(..)));
    !named && end.is_some_and(|length| tokens.get(at + length + 1) == Some(&Token::Sign('(')))
}

/// The tokens; none where there is something only a language knows: a name with escapes.
fn tokens(code: &str) -> Option<Vec<Token>> {
    let chars: Vec<char> = code.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        match c {
            '"' | '\'' => {
                let (text, spelling, end) = text(&chars, at, c);
                tokens.push(Token::Text(text, spelling));
                at = end;
            }
            '`' => at = template(&chars, at, &mut tokens)?,
            '/' if chars.get(at) == Some(&'/') => {
                while chars.get(at).is_some_and(|c| *c != '\n') {
                    at += 1;
                }
            }
            '/' if chars.get(at) == Some(&'*') => {
                while at < chars.len() && !(chars[at] == '*' && chars.get(at + 1) == Some(&'/')) {
                    at += 1;
                }
                at += 2;
            }
            '/' if !matches!(
                tokens.last(),
                Some(Token::Name(_) | Token::Text(..) | Token::Sign(')' | ']' | '}'))
            ) =>
            {
                at = pattern(&chars, at);
                tokens.push(Token::Text(String::new(), Spelling::Plain));
            }
            '\\' => return None,
            c if c.is_alphanumeric() || matches!(c, '_' | '$') => {
                let mut name = String::from(c);
                while let Some(c) = chars.get(at).filter(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
                    name.push(*c);
                    at += 1;
                }
                tokens.push(Token::Name(name));
            }
            c if c.is_whitespace() => {}
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    Some(tokens)
}

/// A text in quotes: what it says, how, and where it ends.
fn text(chars: &[char], mut at: usize, quote: char) -> (String, Spelling, usize) {
    let (mut text, mut spelling) = (String::new(), Spelling::Plain);
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        match c {
            '\\' => {
                spelling = Spelling::Escaped;
                text.extend(chars.get(at));
                at += 1;
            }
            c if c == quote => break,
            other => text.push(other),
        }
    }
    (text, spelling, at)
}

/// A text with code in it: the code counts.
fn template(chars: &[char], mut at: usize, tokens: &mut Vec<Token>) -> Option<usize> {
    let mut plain = String::new();
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        match c {
            '\\' => at += 1,
            '`' => break,
            '$' if chars.get(at) == Some(&'{') => {
                let start = at + 1;
                let mut depth = 1_usize;
                at = start;
                while let Some(c) = chars.get(at).copied().filter(|_| depth > 0) {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        _ => {}
                    }
                    at += 1;
                }
                let inner: String = chars[start..at.saturating_sub(1).max(start)].iter().collect();
                tokens.extend(self::tokens(&inner)?);
                tokens.push(Token::Sign(';'));
            }
            other => plain.push(other),
        }
    }
    tokens.push(Token::Text(plain, Spelling::Plain));
    Some(at)
}

/// The end of a pattern between slashes, with the letters behind it.
fn pattern(chars: &[char], at: usize) -> usize {
    let end = end_of_pattern(chars, at);
    end + chars[end.min(chars.len())..].iter().take_while(|c| c.is_ascii_alphabetic()).count()
}

/// Where a pattern between slashes ends, its second slash included.
pub(in crate::command) fn end_of_pattern(chars: &[char], mut at: usize) -> usize {
    let mut set = false;
    while let Some(c) = chars.get(at).copied() {
        at += 1;
        match c {
            '\\' => at += 1,
            '[' => set = true,
            ']' => set = false,
            '/' if !set => break,
            '\n' => break,
            _ => {}
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::reaches;

    #[test]
    fn code_that_computes_and_reads_reaches_nothing() {
        for code in [
            "console.log(require(\"fs\").readFileSync(\"a.txt\",\"utf8\").length)",
            "const fs=require(\"fs\"); const d=JSON.parse(fs.readFileSync(\"data.json\")); console.log(d.length)",
            "fetch(\"http://localhost:3000/health\").then(r=>r.text()).then(console.log)",
            "require(\"./dist/index.js\")",
            "const {add}=require(\"./src/math\"); console.log(add(1,2))",
            "import(\"./src/index.mjs\").then(m=>console.log(Object.keys(m)))",
            "console.log(\"https://example.com\".length)",
            "function f(n){return n<2?n:f(n-1)+f(n-2)} console.log(f(20))",
            "console.log(`a ${1+1} b`, process.env.HOME, process.version, /ex\\/ec/.test('x'))",
            "const o={a:1}; console.log(o[\"a\"], [1,2][0], x['b'])",
            "let s='exec and rm'; // eval\nconsole.log(s)",
        ] {
            assert!(!reaches(code), "{code}");
        }
    }

    #[test]
    fn code_that_could_do_more_does() {
        for code in [
            "const r=require;r(\"f\"+\"s\")[\"unl\"+\"inkSync\"](\"x\")",
            "process.getBuiltinModule(\"chi\"+\"ld_process\")",
            "(()=>{})[\"const\"+\"ructor\"](\"return process\")()",
            "console.log(btoa(JSON.stringify(process.env)))",
            "process.report.writeReport(\"/x\")",
            "require(\"fs\")[\"rmSync\"](\"x\")",
            "require('child_process')",
            "import {rmSync} from 'node:fs'",
            "new Function('return 1')()",
            "`${require('child_process')}`",
            "ev\\u0061l('1')",
            "console.log(require('fs').readFileSync('.env','utf8'))",
            "process['env']",
            "fetch('http://x', {method:'POST', body: d})",
            "require('/tmp/x.json')",
            "const f=require('fs'); const k='rm'+'Sync'; f[k]('x')",
            "Object.values(require('fs'))[3]('x')",
        ] {
            assert!(reaches(code), "{code}");
        }
    }
}
