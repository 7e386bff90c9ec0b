//! What is rented elsewhere, and what is published for everybody.

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    dangerous("cloud", "it deletes or changes what runs on other machines", changes_cloud).beyond().words(2),
    dangerous("publish", "it publishes something for everybody, or takes it back", publishes)
        .beyond()
        .words(2),
];

/// Programs and words that delete or stop, wherever among the first words they stand.
const VERBS: &[(&[&str], &[&str])] = &[
    (&["helm"], &["uninstall", "delete", "rollback"]),
    (&["terraform", "tofu", "terragrunt", "pulumi", "cdk", "cdktf"], &["destroy", "taint", "force-unlock"]),
    (
        &[
            "gcloud",
            "az",
            "doctl",
            "flyctl",
            "fly",
            "hcloud",
            "linode-cli",
            "oci",
            "scw",
            "supabase",
            "eksctl",
            "argocd",
            "civo",
            "ibmcloud",
        ],
        &[
            "delete",
            "destroy",
            "purge",
            "rm",
            "stop",
            "deallocate",
            "delete-batch",
            "terminate",
            "remove",
            "reset",
        ],
    ),
    (
        &["vercel", "netlify", "wrangler", "railway", "firebase", "surge"],
        &["rm", "remove", "delete", "down", "teardown"],
    ),
    (&["sls", "serverless", "sam"], &["remove", "delete"]),
    (&["gsutil"], &["rm", "rb"]),
    (&["s3cmd", "mc", "b2"], &["rm", "rb", "del", "delete", "--recursive"]),
    (&["vagrant"], &["destroy"]),
    (&["virsh"], &["destroy", "undefine", "shutdown", "vol-delete", "pool-destroy"]),
    (&["vboxmanage"], &["unregistervm", "poweroff", "closemedium"]),
    (&["hdfs", "hadoop"], &["-rm", "-rmr", "-expunge"]),
    (&["glab", "hub", "tea"], &["delete"]),
];

/// Beginnings of the names with which `aws` changes what cannot be brought back.
const AWS: &[&str] = &[
    "delete-",
    "terminate-",
    "stop-",
    "batch-delete",
    "schedule-key-deletion",
    "close-",
    "release-",
    "deregister-",
    "remove-",
    "reset-",
    "put-bucket-acl",
    "put-bucket-policy",
    "put-object-acl",
    "change-resource-record-sets",
    "create-access-key",
    "disable-",
    "revoke-",
    "detach-",
    "purge-",
    "cancel-",
    "reboot-",
];

fn changes_cloud(call: &Call, _: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    let options = Options::of(call);
    let verbs: Vec<String> = options.verbs().into_iter().take(5).collect();
    let any = |wanted: &[&str]| verbs.iter().any(|verb| wanted.contains(&verb.as_str()));
    let first = verbs.first().map_or("", String::as_str);
    if call.has_any(&["--help", "--dry-run", "--dryrun"]) || call.only_asks_for_help() {
        return false;
    }
    let listed = VERBS.iter().any(|(names, words)| {
        names.contains(&name.as_str())
            && words.iter().any(|word| any(&[word]) || word.starts_with('-') && call.has(word))
    });
    listed
        || match name.as_str() {
            "kubectl" | "oc" | "k9s" | "k" => {
                any(&["delete", "drain", "replace", "cordon", "evict"])
                    || first == "scale"
                        && options.values(&["--replicas"]).any(|word| word.text().as_deref() == Some("0"))
                    || first == "apply" && call.long("prune", 5)
            }
            "terraform" | "tofu" | "terragrunt" | "pulumi" => {
                call.flags().any(|flag| flag.starts_with("-auto-approve") || flag == "-destroy")
                    || matches!(first, "state" | "workspace" | "stack") && any(&["rm", "delete", "remove"])
            }
            "aws" => {
                let verb = verbs.get(1).map_or("", String::as_str);
                AWS.iter().any(|start| verb.starts_with(start))
                    || first == "s3"
                        && (matches!(verb, "rm" | "rb" | "mv") || verb == "sync" && call.has("--delete"))
                    || verb == "update-service"
                        && call
                            .value_of(&["--desired-count"])
                            .is_some_and(|word| word.text().as_deref() == Some("0"))
            }
            "heroku" | "netlify" | "firebase" | "dokku" => {
                verbs.iter().any(|verb| {
                    let what = verb.rsplit(':').next().unwrap_or(verb);
                    matches!(what, "destroy" | "delete" | "reset" | "remove" | "disable" | "kill")
                }) || call.texts().iter().any(|text| text.ends_with("=0"))
            }
            "gh" => changes_hub(call, &options, &verbs),
            "curl" | "http" | "https" | "xh" | "wget" => deletes_by_request(call, &options),
            _ => false,
        }
}

/// What `gh` does to a repository that others see.
fn changes_hub(call: &Call, options: &Options, verbs: &[String]) -> bool {
    let first = verbs.first().map_or("", String::as_str);
    let second = verbs.get(1).map_or("", String::as_str);
    let method = options.values(&["-X", "--method"]).next().and_then(Word::text).unwrap_or_default();
    match first {
        "api" => matches!(method.to_uppercase().as_str(), "DELETE" | "PUT" | "PATCH"),
        "repo" => {
            matches!(second, "delete" | "archive" | "rename") || second == "edit" && call.has("--visibility")
        }
        "ssh-key" | "gpg-key" => second == "add" || second == "delete",
        "alias" => verbs.iter().any(|text| text.starts_with('!')),
        _ => second == "delete" || call.has("delete") && verbs.len() < 4 && first != "search",
    }
}

/// `curl -X DELETE`: on a server, or on a database of this machine that speaks the same way.
fn deletes_by_request(call: &Call, options: &Options) -> bool {
    let by_option = options
        .values(&["-X", "--request", "--method"])
        .filter_map(Word::text)
        .any(|method| method.eq_ignore_ascii_case("DELETE"));
    // Only the program's own server at hand is its own business.
    let own = options.operands.iter().filter_map(Word::text).any(|url| {
        let place = url.split("://").nth(1).unwrap_or(&url).to_owned();
        (place.starts_with("localhost") || place.starts_with("127.0.0.1")) && !place.contains(":9200")
    });
    let by_word = call.is(&["http", "https", "xh"]) && call.has("DELETE");
    (by_option || by_word) && !own
}

/// Programs and the words with which they publish.
const PUBLISHERS: &[(&[&str], &[&str])] = &[
    (
        &["npm", "pnpm", "yarn", "bun", "lerna"],
        &["publish", "unpublish", "deprecate", "owner", "access", "dist-tag"],
    ),
    (&["cargo"], &["publish", "yank", "owner"]),
    (&["twine"], &["upload"]),
    (&["poetry", "uv", "hatch", "flit", "pdm", "vsce", "ovsx", "jsr", "dart", "pub", "rye"], &["publish"]),
    (&["gem"], &["push", "yank", "owner"]),
    (&["mvn"], &["deploy"]),
    (&["gradle", "gradlew"], &["publish"]),
    (&["nuget"], &["push", "delete"]),
    (&["conan"], &["upload"]),
    (&["pod"], &["trunk"]),
    (&["luarocks"], &["upload"]),
];

fn publishes(call: &Call, _: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    let texts = call.texts();
    if call.has_any(&["--dry-run", "--help", "ls", "list"]) {
        return false;
    }
    // The first words that are no flags: `yarn npm publish`, `npm -w x publish`.
    let verbs: Vec<&str> =
        texts.iter().map(String::as_str).filter(|text| !text.starts_with('-')).take(3).collect();
    let by_module = || {
        call.is(&["python", "python3"])
            && texts.windows(2).any(|pair| pair[0] == "-m" && pair[1] == "twine")
            && call.has("upload")
    };
    let first = verbs.first().copied().unwrap_or_default();
    let listed = PUBLISHERS.iter().any(|(names, words)| {
        let given = words.contains(&first)
            || name == "yarn" && first == "npm" && verbs.get(1).is_some_and(|verb| words.contains(verb));
        let behind_flag = texts.first().is_some_and(|text| text.starts_with('-'))
            && verbs.iter().take(2).any(|verb| words.contains(verb));
        names.contains(&name.as_str()) && (given || behind_flag)
    });
    let dotnet = name == "dotnet" && verbs.get(..2).is_some_and(|verbs| verbs == ["nuget", "push"]);
    let maven = name == "mvn" && texts.iter().any(|text| text == "deploy");
    listed || dotnet || maven || by_module()
}
