//! What a person agreed to for the rest of a conversation.

use std::collections::HashSet;

use hermes_guard::command::Finding;

/// One agreement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Grant {
    /// This very command line in this directory: what it does depends on where it runs.
    Line {
        /// The line.
        line: String,
        /// The directory.
        directory: String,
    },
    /// What this rule finds in commands that begin with these words.
    Prefix {
        /// The rule.
        rule: String,
        /// The words.
        words: Vec<String>,
    },
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Grants(HashSet<Grant>);

impl Grants {
    pub(super) fn add(&mut self, grant: Grant) {
        self.0.insert(grant);
    }

    /// What is left to ask about.
    pub(super) fn uncovered(
        &self,
        line: &str,
        directory: Option<&str>,
        findings: Vec<Finding>,
    ) -> Vec<Finding> {
        let here =
            directory.map(|directory| Grant::Line { line: line.to_owned(), directory: directory.to_owned() });
        if here.is_some_and(|grant| self.0.contains(&grant)) {
            return Vec::new();
        }
        let covered = |finding: &Finding| prefix(finding).is_some_and(|grant| self.0.contains(&grant));
        findings.into_iter().filter(|finding| !covered(finding)).collect()
    }
}

/// The wider agreement a finding allows, if any.
pub(super) fn prefix(finding: &Finding) -> Option<Grant> {
    let words = finding.prefix.clone()?;
    Some(Grant::Prefix { rule: finding.rule.clone(), words })
}
