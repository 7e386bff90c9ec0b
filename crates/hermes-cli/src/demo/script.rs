//! The built-in scripted model of the demo: what it says and calls at each step. Numbers in its answer come from what the
//! tools really printed.

use serde_json::{Value, json};

use super::model::{Call, Step};

/// Writes the table of requests and server errors by path. The first try looks at the wrong column, as people do.
fn table_command(status_column: usize) -> String {
    format!(
        "cat > errors.sh <<'EOF'\n\
         # requests and server errors for each path of access.log\n\
         awk '{{ n[$3]++; if (${status_column} ~ /^5/) e[$3]++ }}\n\
         END {{ for (p in n) printf \"%-10s %4d requests %4d errors\\n\", p, n[p], e[p] }}' access.log | sort -k4 -rn\n\
         EOF\n\
         sh errors.sh | tee table.txt\n\
         counted=$(awk '{{ s += $4 }} END {{ print s }}' table.txt)\n\
         there=$(grep -c ' 5[0-9][0-9] ' access.log)\n\
         [ \"$counted\" = \"$there\" ] || {{ echo \"counted $counted errors, but the log has $there\" >&2; exit 1; }}"
    )
}

const SINCE_COMMAND: &str = "worst=$(head -1 table.txt | awk '{print $1}')\n\
     echo \"worst $worst\"\n\
     awk -v p=\"$worst\" '$3 == p && $4 ~ /^5/ { m = substr($1, 12, 5); c[m]++; if (c[m] == 2) { print \"since \" m; exit } }' access.log";

const REPORT_COMMAND: &str = "{ echo '# What fails'; echo; cat table.txt; } > report.md\n\
     head -3 report.md | tail -1; ls -l report.md errors.sh";

/// The step after a request, in the form of chat completions.
pub fn next(request: &Value) -> Step {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let results: Vec<String> = messages.iter().filter(|m| m["role"] == "tool").map(output_of).collect();
    let step = |say: &str, run: Option<String>| Step {
        say: say.to_owned(),
        call: run.map(|command| Call { name: "terminal", arguments: json!({ "command": command }) }),
    };
    match results.len() {
        0 => step(
            "I look at what there is first.",
            Some("ls -l && wc -l access.log && head -3 access.log && cut -d' ' -f4 access.log | sort | uniq -c".to_owned()),
        ),
        1 => step("The status codes are there. A small script will count by path, and compare its sum with a plain search.", Some(table_command(5))),
        2 => step("The counts do not agree: I looked at the fifth word, the status is the fourth.", Some(table_command(4))),
        3 => step("Now when it began.", Some(SINCE_COMMAND.to_owned())),
        4 => step("And a report that stays.", Some(REPORT_COMMAND.to_owned())),
        _ => step(&answer(&results), None),
    }
}

/// The answer, from what the commands printed.
fn answer(results: &[String]) -> String {
    let worst = results.get(2).and_then(|text| text.lines().next()).unwrap_or_default();
    let mut words = worst.split_whitespace();
    let path = words.next().unwrap_or("nothing");
    let requests = words.next().unwrap_or("0");
    let errors = words.nth(1).unwrap_or("0");
    let since = results
        .get(3)
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("since ")))
        .unwrap_or("an unknown time");
    format!(
        "**{path}** fails most: {errors} of its {requests} requests ended in a server error, and they come in a row since {since}.\n\n\
         The table is in `report.md`; `sh errors.sh` makes it again from `access.log`. I changed nothing else."
    )
}

/// What a command printed, out of a tool result.
pub fn output_of(message: &Value) -> String {
    let text = message["content"].as_str().unwrap_or_default();
    let value: Value = serde_json::from_str(text).unwrap_or_else(|_| json!({"output": text}));
    value["output"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(output: &str) -> Value {
        json!({"role": "tool", "content": json!({"output": output, "exit_code": 0}).to_string()})
    }

    #[test]
    fn the_answer_is_made_of_what_was_printed() {
        let mut messages = vec![json!({"role": "user", "content": "go"})];
        let printed =
            ["", "", "/pay  9 requests  4 errors\n/x 1 requests 0 errors", "worst /pay\nsince 10:15", ""];
        for text in printed {
            assert!(next(&json!({ "messages": messages })).call.is_some());
            messages.push(result(text));
        }
        let last = next(&json!({ "messages": messages }));
        assert_eq!(last.call, None);
        assert!(
            last.say.contains("**/pay**")
                && last.say.contains("4 of its 9")
                && last.say.contains("since 10:15"),
            "{}",
            last.say
        );
    }
}
