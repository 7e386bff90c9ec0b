//! Tool names as models write them, put right.

/// What a name turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named<'a> {
    /// It is the name of a tool.
    Exact(&'a str),
    /// It is meant to be this one.
    Repaired(&'a str),
    /// No tool has this name, nor a similar one.
    Unknown,
}

/// Two names at least this alike, in percent, are one misspelt.
const ALIKE: usize = 70;
/// Longer names are not looked at closely.
const LONGEST: usize = 128;

/// Finds the tool a name means among those there are.
pub fn find<'a>(name: &str, tools: impl IntoIterator<Item = &'a str>) -> Named<'a> {
    let tools: Vec<&str> = tools.into_iter().collect();
    let known = |wanted: &str| tools.iter().find(|tool| **tool == wanted).copied();
    if let Some(tool) = known(name) {
        return Named::Exact(tool);
    }
    if name.len() > LONGEST {
        return Named::Unknown;
    }
    for spelling in spellings(name) {
        if let Some(tool) = known(&spelling) {
            return Named::Repaired(tool);
        }
    }
    let plain = separated(name.trim()).to_lowercase();
    let mut alike: Vec<(usize, &str)> = tools
        .iter()
        .map(|tool| (likeness(&plain, tool), *tool))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.cmp(a));
    match alike.as_slice() {
        [(_, tool)] => Named::Repaired(tool),
        // Of two that are as close, neither is meant more than the other.
        [(first, tool), (second, _), ..] if first > second => Named::Repaired(tool),
        _ => Named::Unknown,
    }
}

/// What the model is told about a name nobody knows.
pub fn unknown<'a>(name: &str, tools: impl IntoIterator<Item = &'a str>) -> String {
    let tools: Vec<&str> = tools.into_iter().collect();
    let name: String = name.chars().take(LONGEST).collect();
    format!("there is no tool \"{name}\"; the tools are: {}", tools.join(", "))
}

/// Ways the same name is written.
fn spellings(name: &str) -> Vec<String> {
    let mut all = Vec::new();
    for base in [separated(name.trim()).to_lowercase(), snake(name.trim())] {
        let mut rest = base.as_str();
        all.push(base.clone());
        for _ in 0..2 {
            let Some(shorter) = rest.strip_suffix("_tool").or_else(|| rest.strip_suffix("tool")) else {
                break;
            };
            rest = shorter.trim_end_matches('_');
            all.push(rest.to_owned());
        }
        // `functions.terminal`, `default_api:terminal`
        if let Some(last) = base.rsplit(['.', ':', '/']).next() {
            all.push(last.to_owned());
        }
    }
    all.retain(|spelling| !spelling.is_empty());
    all
}

fn separated(name: &str) -> String {
    name.replace(['-', ' '], "_")
}

/// `ReadFile` becomes `read_file`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = '_';
    for c in separated(name).chars() {
        if c.is_uppercase() && !before.is_uppercase() && before != '_' {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        before = c;
    }
    out
}

/// How alike two names are, in percent: the letters that need not change.
fn likeness(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let longest = a.len().max(b.len());
    if longest == 0 {
        return 0;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    (longest - row[b.len()]) * 100 / longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOOLS: [&str; 6] = ["process", "read_file", "search_files", "terminal", "todo", "write_file"];

    #[test]
    fn slips_are_put_right() {
        for (written, meant) in [
            ("Terminal", "terminal"),
            ("read-file", "read_file"),
            ("ReadFile", "read_file"),
            ("READ FILE", "read_file"),
            ("terminal_tool", "terminal"),
            ("TerminalTool", "terminal"),
            ("terminal_tool_tool", "terminal"),
            ("functions.terminal", "terminal"),
            ("default_api:todo", "todo"),
            ("search_file", "search_files"),
            ("terminl", "terminal"),
            (" process ", "process"),
        ] {
            assert_eq!(find(written, TOOLS), Named::Repaired(meant), "{written}");
        }
        assert_eq!(find("todo", TOOLS), Named::Exact("todo"));
    }

    #[test]
    fn strangers_stay_unknown() {
        for name in ["", "bash", "browser_click", "_tool", "ead_file_write_file", &"x".repeat(10_000)] {
            assert_eq!(find(name, TOOLS), Named::Unknown, "{name}");
        }
        assert_eq!(find("tod1", ["tod2", "tod3"]), Named::Unknown, "two are as close");
        assert!(unknown("bash", TOOLS).ends_with("todo, write_file"));
    }

    proptest! {
        #[test]
        fn any_name_is_answered(name in "\\PC{0,60}") {
            match find(&name, TOOLS) {
                Named::Exact(tool) => prop_assert_eq!(tool, name.as_str()),
                Named::Repaired(tool) => prop_assert!(TOOLS.contains(&tool)),
                Named::Unknown => prop_assert!(!TOOLS.contains(&name.as_str())),
            }
        }
    }
}
