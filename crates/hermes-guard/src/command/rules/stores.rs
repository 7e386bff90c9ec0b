//! Programs that print keys and passwords out of a store.

use super::{Rule, dangerous, without_globals};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::word::Word;

pub(super) const RULES: &[Rule] =
    &[dangerous("export-keys", "it prints keys or passwords out of a store", exports)];

/// Programs and the first words with which they print.
const PRINTERS: &[(&str, &[&[&str]])] = &[
    (
        "aws",
        &[
            &["secretsmanager", "get-secret-value"],
            &["secretsmanager", "batch-get-secret-value"],
            &["configure", "get"],
            &["configure", "export-credentials"],
            &["sts", "assume-role"],
            &["sts", "get-session-token"],
            &["sts", "get-federation-token"],
            &["iam", "create-access-key"],
        ],
    ),
    (
        "gcloud",
        &[
            &["secrets", "versions", "access"],
            &["auth", "print-access-token"],
            &["auth", "print-identity-token"],
        ],
    ),
    (
        "az",
        &[
            &["keyvault", "secret", "show"],
            &["keyvault", "secret", "download"],
            &["storage", "account", "keys"],
            &["acr", "credential", "show"],
            &["account", "get-access-token"],
        ],
    ),
    ("op", &[&["read"]]),
    ("bw", &[&["get"], &["export"]]),
    ("lpass", &[&["show"], &["export"]]),
    ("gopass", &[&["show"], &["cat"]]),
    ("keyring", &[&["get"]]),
    ("chezmoi", &[&["secret"]]),
    ("doppler", &[&["secrets"]]),
    ("infisical", &[&["secrets"], &["export"]]),
    ("vault", &[&["read"], &["kv", "get"], &["token", "create"], &["print", "token"]]),
    ("heroku", &[&["config"], &["config:get"]]),
    ("gh", &[&["auth", "token"]]),
    ("secret-tool", &[&["lookup"], &["search"]]),
    ("ansible-vault", &[&["view"], &["decrypt"], &["edit"]]),
];

fn exports(call: &Call, _: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    let options = Options::of(call);
    let verbs = options.verbs();
    let begins = |wanted: &[&str]| verbs.get(..wanted.len()).is_some_and(|given| given == wanted);
    if PRINTERS.iter().any(|(program, all)| *program == name && all.iter().any(|wanted| begins(wanted))) {
        return !call.has("--help");
    }
    let first = verbs.first().map_or("", String::as_str);
    match name.as_str() {
        "gpg" | "gpg2" => call
            .flags()
            .any(|flag| flag.starts_with("--export-secret") || flag == "--decrypt" || flag == "-d"),
        "age" | "rage" => call.short('d') || call.long("decrypt", 3),
        "sops" => call.short('d') || call.long("decrypt", 3) || first == "decrypt" || first == "exec-env",
        "security" => first.starts_with("find-") || first == "dump-keychain",
        "pass" => {
            !matches!(first, "" | "ls" | "list" | "find" | "help" | "version" | "git" | "insert" | "generate")
        }
        "op" => {
            begins(&["item", "get"])
                && (call.has("--reveal") || call.value_of(&["--fields", "--format"]).is_some())
        }
        "gh" => {
            // `gh auth -h host token`
            begins(&["auth"]) && call.has("token")
                || call.has("--show-token")
                || begins(&["auth", "status"]) && call.has("-t")
        }
        "git" => without_globals(call).is_some_and(|git| {
            git.path().get(1..3).is_some_and(|verbs| verbs == ["credential", "fill"])
                || git.path().get(1).is_some_and(|verb| verb.starts_with("credential-")) && git.has("get")
        }),
        "aws" => {
            first == "ssm"
                && verbs.get(1).is_some_and(|verb| verb.starts_with("get-parameter"))
                && call.has("--with-decryption")
        }
        "az" => call.has("get-access-token"),
        "kubectl" | "oc" | "k" => shown_by_kubectl(call, &options, &verbs),
        "pulumi" => call.has("--show-secrets"),
        "npm" | "pnpm" | "yarn" => {
            begins(&["config", "get"]) && verbs.iter().any(|key| key.to_lowercase().contains("auth"))
        }
        name => name.starts_with("docker-credential-") && call.has("get"),
    }
}

/// `kubectl get secret x -o yaml`; their names alone are no secret.
fn shown_by_kubectl(call: &Call, options: &Options, verbs: &[String]) -> bool {
    if verbs.get(..2).is_some_and(|verbs| verbs == ["config", "view"]) {
        return call.has("--raw");
    }
    let kinds = verbs.get(1).map_or("", String::as_str);
    let secret = kinds.split(',').any(|kind| matches!(kind.split('/').next(), Some("secret" | "secrets")));
    let shows = options.values(&["-o", "--output", "--template"]).any(|format| {
        !matches!(format.text().as_deref(), Some("name" | "wide")) || Word::has_unknown(format)
    });
    verbs.first().is_some_and(|verb| verb == "get") && secret && shows
}
