//! Orders to databases that lose data.

use super::{Rule, dangerous};
use crate::command::Context;
use crate::command::call::Call;

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
];

fn loses(call: &Call, _: &Context<'_>) -> bool {
    match call.name().as_deref() {
        Some("dropdb" | "dropuser" | "mysqladmin") => {
            call.name().as_deref() != Some("mysqladmin") || call.has("drop")
        }
        Some(name) if CLIENTS.contains(&name) => {
            call.texts().iter().any(|text| loses_data(text))
                || call.input.text.as_deref().is_some_and(loses_data)
        }
        _ => false,
    }
}

/// Whether a text for a database loses data.
pub(in crate::command) fn loses_data(text: &str) -> bool {
    let text = without_comments(text).to_lowercase();
    text.split(';').any(|order| {
        let words: Vec<&str> = order.split_whitespace().collect();
        let after = |word: &str| words.iter().position(|found| *found == word).map(|at| &words[at + 1..]);
        match words.first().copied().unwrap_or_default() {
            "delete" => after("from").is_some() && !words.contains(&"where"),
            "truncate" | "flushall" | "flushdb" => true,
            "with" | "begin" | "explain" => after("delete").is_some() && !words.contains(&"where"),
            _ => {
                after("drop").is_some_and(|rest| {
                    rest.first().is_some_and(|what| {
                        matches!(
                            *what,
                            "table"
                                | "database"
                                | "schema"
                                | "view"
                                | "index"
                                | "column"
                                | "user"
                                | "role"
                                | "keyspace"
                                | "collection"
                        )
                    })
                }) && !matches!(words.first(), Some(&("select" | "insert")))
            }
        }
    }) || text.contains(".dropdatabase(")
        || text.contains(".drop()")
        || text.contains(".deletemany({})")
}

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
            "update t set a = 1",
        ] {
            assert!(!loses_data(text), "{text}");
        }
    }
}
