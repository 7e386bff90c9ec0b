//! Names that announce a secret, and those that only sound like it.

use super::value::is_scrambled;

/// What a name says about the value beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A password or passphrase, which may be an ordinary word.
    Password,
    /// A secret by that name: seldom an ordinary word.
    Secret,
    /// A token or key: a value that was generated.
    Token,
    /// Could be one: `AUTH`, `TOKENS`, `SOME_KEY`. Only a value that looks generated is masked.
    Perhaps,
    /// A request header that carries a credential.
    Header,
    /// `Authorization` and its proxy twin: a scheme, then the credential.
    Authorization,
}

/// Longest name looked at. Longer runs of letters are data.
pub(super) const LONGEST: usize = 80;

/// Whether a variable of this name usually holds a secret, as `OPENAI_API_KEY` does and `MAX_TOKENS` does not.
pub fn is_secret_name(name: &str) -> bool {
    name.len() <= LONGEST && matches!(kind(name), Some(kind) if kind != NameKind::Perhaps)
}

/// Last words that turn the name into something about a secret: `TOKEN_URL`, `password_file`, `AUTH_MODE`.
const ABOUT: &str = "id ids name names url uri path file files dir mode type types count counts limit limits length len \
    size max min ttl expiry expires expiration at in on timeout budget usage used enabled disabled \
    required header headers field fields prefix suffix env var param params policy scope scopes version \
    format provider providers method methods class index pattern regex hint label prompt manager store \
    alg algorithm status state error errors endpoint host port sock socket cmd command helper \
    placeholder valid present exists source kind ref refs arn rotation strength reset input price cost \
    rate per left remaining total value values metadata fingerprint sha256 info flow service server \
    callback redirect domain realm bytes window stream pos position offset start end line text tree list \
    map set encryption";

/// Words before `token` or `key` that make it one nobody has to hide: paging marks, special tokens of a model's
/// vocabulary, keys of tables.
const HARMLESS: &str = "next previous prev page pagination continuation change request sync eos bos pad unk mask sep cls \
    stop special image public primary foreign sort cache partition routing idempotency lookup";

/// Words before `key` that make it one that opens something.
const OPENS: &str = "api access private secret encryption signing master auth account shared service license storage app \
    application client deploy hmac admin subscription webhook delivery anon functions gpg ssh";

const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "passcode", "pwd"];
const KEYS: &[&str] =
    &["apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey", "masterkey"];
const HEADERS: &[&str] = &["private-token", "api-key", "apikey", "job-token", "deploy-token"];

/// Whether the word is one of a list of words.
pub(super) fn is_listed(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// What the name announces, if anything.
pub(super) fn kind(name: &str) -> Option<NameKind> {
    if let Some(kind) = header(name) {
        return Some(kind);
    }
    let words = words(name);
    let last = words.last()?.as_str();
    if is_listed(last, ABOUT) || last.bytes().all(|byte| byte.is_ascii_digit()) && words.len() > 2 {
        return None;
    }
    if words
        .windows(2)
        .any(|pair| is_listed(&pair[0], HARMLESS) && ["token", "key"].contains(&pair[1].as_str()))
    {
        return None;
    }
    let ends = |word: &String, list: &[&str]| list.iter().any(|end| word.ends_with(end));
    // `PWD` alone is the working directory.
    if words.iter().any(|word| ends(word, PASSWORDS)) && !["pwd", "oldpwd"].contains(&last)
        || words.len() > 1 && last == "pwd"
    {
        return Some(NameKind::Password);
    }
    if words.iter().any(|word| word.ends_with("secret")) {
        return Some(NameKind::Secret);
    }
    if words.iter().any(|word| ends(word, KEYS)) || opens(&words) {
        return Some(NameKind::Token);
    }
    if words.iter().any(|word| word.ends_with("token")) {
        return Some(NameKind::Token);
    }
    let perhaps = ["auth", "tokens", "secrets", "credential", "credentials", "key", "keys", "passwords"];
    words.iter().any(|word| perhaps.contains(&word.as_str())).then_some(NameKind::Perhaps)
}

/// `api key`, `access key`, …, wherever in the name the pair stands.
fn opens(words: &[String]) -> bool {
    words.windows(2).any(|pair| pair[1] == "key" && is_listed(&pair[0], OPENS))
}

/// Hyphens make a header's name: `x-api-key`, `X-Auth-Token`. Identifiers of most languages have none.
fn header(name: &str) -> Option<NameKind> {
    let lower = name.to_ascii_lowercase();
    if lower == "authorization" || lower == "proxy-authorization" || lower == "x-authorization" {
        return Some(NameKind::Authorization);
    }
    let carries = ["-key", "-token", "-secret", "-password", "-auth"].iter().any(|end| lower.ends_with(end));
    let ours = lower.starts_with("x-") && carries && !lower.ends_with("idempotency-key");
    (ours
        || HEADERS.contains(&lower.as_str())
        || lower.ends_with("-api-key")
        || lower.ends_with("-subscription-key"))
    .then_some(NameKind::Header)
}

/// The words of a name in lower case: `OPENAI_API_KEY`, `openaiApiKey` and `openai.api-key` have the same ones.
fn words(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        let before = index.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(index + 1);
        let hump = byte.is_ascii_uppercase()
            && before.is_some_and(|b| {
                b.is_ascii_lowercase() || b.is_ascii_uppercase() && after.is_some_and(u8::is_ascii_lowercase)
            });
        let joint = !byte.is_ascii_alphanumeric();
        if (hump || joint) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !joint {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether the name is written like an environment variable.
pub(super) fn is_upper(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && !is_scrambled(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words_in_every_spelling() {
        for name in ["OPENAI_API_KEY", "openaiApiKey", "openai.api-key", "OpenaiAPIKey"] {
            assert_eq!(words(name), ["openai", "api", "key"], "{name}");
        }
    }

    #[test]
    fn kinds_of_names() {
        use NameKind::{Authorization, Header, Password, Perhaps, Secret, Token};
        let cases = [
            ("DB_PASSWORD", Some(Password)),
            ("dbPassword", Some(Password)),
            ("MYSQL_PWD", Some(Password)),
            ("PWD", None),
            ("OLDPWD", None),
            ("client_secret", Some(Secret)),
            ("OPENAI_API_KEY", Some(Token)),
            ("openai.api_key", Some(Token)),
            ("GH_TOKEN", Some(Token)),
            ("accessToken", Some(Token)),
            ("authtoken", Some(Token)),
            ("AWS_SECRET_ACCESS_KEY", Some(Secret)),
            ("ENCRYPTION_KEY", Some(Token)),
            ("MAX_TOKENS", Some(Perhaps)),
            ("prompt_tokens", Some(Perhaps)),
            ("primary_key", None),
            ("eos_token", None),
            ("NextContinuationToken", None),
            ("SOME_KEY", Some(Perhaps)),
            ("AUTH_MODE", None),
            ("SSH_AUTH_SOCK", None),
            ("TOKEN_URL", None),
            ("password_file", None),
            ("token_type", None),
            ("author", None),
            ("keyboard", None),
            ("monkey", None),
            ("Authorization", Some(Authorization)),
            ("Proxy-Authorization", Some(Authorization)),
            ("X-Api-Key", Some(Header)),
            ("x-goog-api-key", Some(Header)),
            ("X-Auth-Token", Some(Header)),
        ];
        for (name, expected) in cases {
            assert_eq!(kind(name), expected, "{name}");
        }
        assert!(is_secret_name("TELEGRAM_BOT_TOKEN"));
        assert!(!is_secret_name("HERMES_MAX_TOKENS"));
    }
}
