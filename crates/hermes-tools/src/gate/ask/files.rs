//! Files that are written by tools: which of them a person should know of first.

use std::path::PathBuf;

use hermes_guard::command::rules::{Harm, Severity};
use hermes_guard::command::{Finding, Judgement};

/// Decides about files that are written, moved or removed. Where nothing may be written at all is settled by the tools.
pub(super) fn judge(paths: &[PathBuf]) -> Judgement {
    let secret = paths.iter().filter(|path| hermes_guard::is_secret_path(path));
    let findings: Vec<Finding> = secret
        .map(|path| Finding {
            rule: "write-secret".to_owned(),
            severity: Severity::Dangerous,
            reason: "it changes a file that holds logins or keys".to_owned(),
            part: path.display().to_string(),
            prefix: None,
            harm: Harm::Here,
        })
        .collect();
    if findings.is_empty() { Judgement::Allowed } else { Judgement::Ask { findings } }
}
