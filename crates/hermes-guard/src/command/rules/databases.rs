//! Orders to databases that lose data.

use super::containers::inside_container;
use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::{Call, Via};
use crate::command::options::Options;
use crate::command::word::Word;

pub(super) const RULES: &[Rule] =
    &[dangerous("database-loss", "it deletes tables, rows or a whole database", loses)];

const CLIENTS: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlite",
    "duckdb",
    "sqlcmd",
    "clickhouse-client",
    "cockroach",
    "mongosh",
    "mongo",
    "redis-cli",
    "valkey-cli",
    "cqlsh",
    "sqlplus",
    "usql",
    "pgcli",
    "mycli",
    "snowsql",
    "litecli",
    "sqlite-utils",
    "beeline",
    "trino",
];

/// Programs that look after databases, and the words with which they empty them.
const KEEPERS: &[(&[&str], &[&str])] = &[
    (&["dropdb", "dropuser"], &[]),
    (&["mysqladmin"], &["drop"]),
    (&["mongorestore"], &["--drop"]),
    (&["pg_restore"], &["--clean", "-c"]),
    (&["bq"], &["rm"]),
    (
        &["rails", "rake"],
        &[
            "db:drop",
            "db:reset",
            "db:purge",
            "db:drop:all",
            "db:migrate:reset",
            "db:schema:load",
            "db:truncate_all",
        ],
    ),
    (&["php", "artisan"], &["migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe"]),
    (&["mix"], &["ecto.drop", "ecto.reset"]),
    (&["flyway"], &["clean"]),
    (&["liquibase"], &["drop-all", "dropAll"]),
    (&["etcdctl"], &["del"]),
    (&["rabbitmqctl"], &["reset", "force_reset", "delete_queue", "delete_vhost"]),
    (&["kafka-topics.sh", "kafka-topics"], &["--delete"]),
];

/// The same with two words.
const KEEPERS_OF_TWO: &[(&[&str], &str, &[&str])] = &[
    (&["sqlx", "diesel"], "database", &["drop", "reset"]),
    (&["supabase", "wp", "hasura"], "db", &["reset", "drop", "clean"]),
    (&["consul"], "kv", &["delete"]),
    (&["python", "python3"], "manage.py", &["flush", "reset_db", "sqlflush"]),
];

fn loses(call: &Call, _: &Context<'_>) -> bool {
    empties(&inside_container(call).unwrap_or_else(|| call.clone()))
}

fn empties(call: &Call) -> bool {
    let Some(name) = call.name() else { return false };
    let texts = call.texts();
    let has = |wanted: &[&str]| texts.iter().any(|text| wanted.contains(&text.as_str()));
    if KEEPERS.iter().any(|(names, words)| names.contains(&name.as_str()) && (words.is_empty() || has(words)))
        || KEEPERS_OF_TWO
            .iter()
            .any(|(names, first, words)| names.contains(&name.as_str()) && has(&[first]) && has(words))
    {
        return !call.only_asks_for_help();
    }
    if texts.iter().any(|text| text == "prisma") || name == "prisma" {
        return has(&["reset", "--force-reset", "--accept-data-loss"]);
    }
    if is_client(&name, &texts) {
        return sent(call).iter().any(|text| loses_data(text));
    }
    // A port of the same machine is as good as a client.
    call.is(&["nc", "ncat", "netcat"])
        && call
            .input
            .text
            .as_deref()
            .is_some_and(|text| text.to_lowercase().trim_start().starts_with("flush"))
}

fn is_client(name: &str, texts: &[String]) -> bool {
    CLIENTS.contains(&name)
        || name == "clickhouse" && texts.first().is_some_and(|verb| verb == "client" || verb == "local")
        || name == "bq" && texts.iter().any(|verb| verb == "query")
}

/// The texts that a client sends: values of options, words, input.
fn sent(call: &Call) -> Vec<String> {
    let options = Options::of(call);
    let values = options.given.iter().filter_map(|given| given.value.as_ref());
    let mut texts: Vec<String> = values.chain(&options.operands).filter_map(Word::text).collect();
    // Orders of key stores are words of their own.
    if call.is(&["redis-cli", "valkey-cli"]) {
        texts.push(options.verbs().join(" "));
        // For every key that a search finds.
        if call.via == Via::Many
            && options.verbs().first().is_some_and(|verb| verb.eq_ignore_ascii_case("del"))
        {
            texts.push("flushdb".to_owned());
        }
    }
    texts.extend(call.input.text.clone());
    texts
}

/// Whether a text for a database loses data.
pub(in crate::command) fn loses_data(text: &str) -> bool {
    let text = without_comments(text).to_lowercase();
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.split([';', '$']).any(loses_in)
        || [
            ".dropdatabase(",
            ".drop()",
            ".deletemany({})",
            ".remove({})",
            ".dropcollection(",
            "'flushall'",
            "'flushdb'",
        ]
        .iter()
        .any(|order| squeezed.contains(order))
}

/// Whether one order does.
fn loses_in(order: &str) -> bool {
    let words: Vec<&str> = order
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"'))
        .filter(|word| !word.is_empty())
        .collect();
    let after = |word: &str| words.iter().position(|found| *found == word).map(|at| &words[at + 1..]);
    // A condition that is always true is none.
    let chosen = after("where").is_some_and(|rest| {
        let condition = rest.concat();
        !matches!(condition.as_str(), "1" | "true" | "1=1" | "'1'='1'" | "not false")
    });
    match words.first().copied().unwrap_or_default() {
        "select" | "insert" | "comment" | "--" => false,
        "delete" => after("from").is_some() && !chosen,
        "update" => after("set").is_some() && after("where").is_none() && words.len() > 3,
        "truncate" | "flushall" | "flushdb" | "shutdown" => true,
        "with" | "begin" | "explain" => after("delete").is_some() && !chosen,
        _ => after("drop").is_some_and(|rest| rest.first().is_some_and(|what| DROPPED.contains(what))),
    }
}

/// What can be dropped.
const DROPPED: &[&str] = &[
    "table",
    "database",
    "schema",
    "view",
    "materialized",
    "index",
    "column",
    "user",
    "role",
    "keyspace",
    "collection",
    "owned",
    "type",
    "sequence",
    "extension",
    "tablespace",
    "function",
    "procedure",
    "trigger",
    "domain",
    "policy",
    "server",
    "publication",
    "subscription",
    "partition",
    "dictionary",
    "constraint",
];

/// Without comments.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        out.push(' ');
        rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
    }
    out.push_str(rest);
    out.lines().map(|line| line.split("--").next().unwrap_or(line)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::loses_data;

    #[test]
    fn orders_that_lose_data_are_known() {
        for text in [
            "DROP TABLE x",
            "delete from users",
            "select 1; DROP/**/DATABASE x",
            "TRUNCATE t",
            "alter table t drop column c",
            "FLUSHALL",
        ] {
            assert!(loses_data(text), "{text}");
        }
        for text in [
            "select * from drops",
            "delete from t where id = 1",
            "select 'drop table x'",
            "-- drop table x",
            "update t set a = 1 where b = 2",
            "select * from users where drop = 1",
        ] {
            assert!(!loses_data(text), "{text}");
        }
    }
}
