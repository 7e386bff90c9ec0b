//! Files that are written by tools: which of them a person should know of first.

use std::path::{Path, PathBuf};

use hermes_guard::command::{self, Context, Finding, Judgement};

/// Decides about files that are written, moved or removed: the same as about a command that writes there, so that what may
/// happen does not depend on the tool. Where nothing may be written at all is settled by the tools.
pub(super) fn judge(paths: &[PathBuf], sight: &Context<'_>) -> Judgement {
    let mut findings = Vec::new();
    for path in paths {
        let part = path.display().to_string();
        match command::judge(&writing_to(path), sight) {
            Judgement::Allowed => {}
            Judgement::Ask { findings: found } => {
                findings.extend(found.into_iter().map(|finding| Finding { part: part.clone(), ..finding }));
            }
            Judgement::Refused { finding } => {
                return Judgement::Refused { finding: Finding { part, ..finding } };
            }
        }
    }
    if findings.is_empty() { Judgement::Allowed } else { Judgement::Ask { findings } }
}

/// A command line that writes to a file and does nothing else.
fn writing_to(path: &Path) -> String {
    format!(": > '{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str) -> Vec<String> {
        let sight = Context { home: "/home/ada", hermes_home: "/home/ada/.hermes", ..Context::default() };
        match judge(&[PathBuf::from(path)], &sight) {
            Judgement::Allowed => Vec::new(),
            Judgement::Ask { findings } => {
                assert!(findings.iter().all(|finding| finding.part == path), "{findings:?}");
                findings.into_iter().map(|finding| finding.rule).collect()
            }
            Judgement::Refused { finding } => vec![format!("never: {}", finding.rule)],
        }
    }

    #[test]
    fn tools_are_asked_about_where_commands_are() {
        for path in ["/usr/bin/x", "/usr/sbin/it's", "/lib/y", "/bin/ls", "/usr/lib/python3/a b.py"] {
            assert_eq!(rules(path), ["write-system"], "{path}");
        }
        assert_eq!(rules("/a/.env"), ["write-secret"]);
        for path in ["/home/ada/x/it's $(here).rs", "/tmp/x", "/usr/local/bin/x", "/srv/app/usr/bin/x"] {
            assert_eq!(rules(path), Vec::<String>::new(), "{path}");
        }
    }
}
