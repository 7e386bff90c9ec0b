//! YAML as people wrote it: a tree that remembers where every value stands, so that errors can name the line
//! and an edit can change one value and nothing else.
//!
//! Plain scalars are read as YAML 1.1 reads them (`yes`, `on`, `0x1F`), which is what existing files rely on.

mod edit;
mod parse;
mod scalar;

use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) use edit::to_json as json_of;
pub use edit::{EditError, set, unset};
pub use parse::{MAX_BYTES, ParseError, parse};
pub use scalar::{Scalar, render, resolve};

/// A parsed file.
#[derive(Debug, Clone, Default)]
pub struct Document {
    root: Option<Node>,
    anchors: BTreeMap<usize, Node>,
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// The bytes it occupies: exact for scalars (a block scalar's text without its header) and flow collections.
    pub span: Range<usize>,
    /// Its line, counted from 1.
    pub line: usize,
    /// Its column, counted in characters from 0.
    pub column: usize,
    /// The id of its anchor, 0 for none.
    pub anchor: usize,
}

/// What a node is.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A single value: its text without quotes, and how it was written.
    Scalar(String, Style),
    /// A list.
    Seq(Vec<Node>, Layout),
    /// A mapping, in the order written.
    Map(Vec<(Node, Node)>, Layout),
    /// `*name`: stands for the node with this anchor id.
    Alias(usize),
}

/// How a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: its text decides its type.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes.
    Double,
    /// As a block (`|` or `>`).
    Block,
    /// Forced to be text by an explicit tag.
    Tagged,
}

/// How a collection was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// By indentation.
    Block,
    /// In brackets or braces.
    Flow,
}

/// A node as JSON, with aliases and merge keys resolved.
pub fn to_json(doc: &Document, node: &Node) -> serde_json::Value {
    json_of(doc, Some(node))
}

/// How deep aliases may lead before a file is considered to go in circles.
const MAX_ALIAS_HOPS: usize = 32;

impl Document {
    /// The top of the file; `None` when it is empty or holds only comments.
    pub fn root(&self) -> Option<&Node> {
        self.root.as_ref()
    }

    /// Looks a dotted path up, through aliases and merge keys (`<<`).
    pub fn get(&self, path: &[&str]) -> Option<&Node> {
        let mut node = self.follow(self.root.as_ref()?)?;
        for key in path {
            node = self.follow(self.child(node, key, MAX_ALIAS_HOPS)?)?;
        }
        Some(node)
    }

    /// The entries of a mapping with merge keys applied, the first writer of a key winning.
    pub fn entries<'a>(&'a self, node: &'a Node) -> Vec<(&'a str, &'a Node)> {
        let mut found = Vec::new();
        self.collect_entries(node, MAX_ALIAS_HOPS, &mut found);
        found
    }

    /// The node an alias stands for; other nodes stand for themselves.
    pub fn follow<'a>(&'a self, node: &'a Node) -> Option<&'a Node> {
        let mut node = node;
        for _ in 0..MAX_ALIAS_HOPS {
            match node.kind {
                Kind::Alias(id) => node = self.anchors.get(&id)?,
                _ => return Some(node),
            }
        }
        None
    }

    fn child<'a>(&'a self, node: &'a Node, key: &str, hops: usize) -> Option<&'a Node> {
        match &node.kind {
            Kind::Map(..) => {
                let mut found = Vec::new();
                self.collect_entries(node, hops, &mut found);
                found.into_iter().find(|(k, _)| *k == key).map(|(_, v)| v)
            }
            Kind::Seq(items, _) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    fn collect_entries<'a>(&'a self, node: &'a Node, hops: usize, found: &mut Vec<(&'a str, &'a Node)>) {
        let Kind::Map(pairs, _) = &node.kind else { return };
        let mut merged = Vec::new();
        for (key, value) in pairs {
            match &key.kind {
                Kind::Scalar(text, Style::Plain) if text == "<<" => merged.push(value),
                Kind::Scalar(text, _) if !found.iter().any(|(k, _)| k == text) => found.push((text, value)),
                _ => {}
            }
        }
        if hops == 0 {
            return;
        }
        for value in merged {
            let Some(value) = self.follow(value) else { continue };
            match &value.kind {
                Kind::Seq(items, _) => {
                    for item in items.iter().filter_map(|i| self.follow(i)) {
                        self.collect_entries(item, hops - 1, found);
                    }
                }
                _ => self.collect_entries(value, hops - 1, found),
            }
        }
    }
}

impl Node {
    /// What it is, in the words of an error message.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Seq(..) => "a list",
            Kind::Map(..) => "a mapping",
            Kind::Alias(_) => "an alias",
            Kind::Scalar(text, style) => resolve(text, *style).describe(),
        }
    }

    /// Whether nothing was written (or `null`).
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(text, style) if resolve(text, *style) == Scalar::Null)
    }

    /// The byte after the last one this value really occupies, without trailing blank lines and comments.
    fn end(&self) -> usize {
        let inner = match &self.kind {
            Kind::Seq(items, Layout::Block) => items.last().map(Node::end),
            Kind::Map(pairs, Layout::Block) => pairs.last().map(|(k, v)| v.end().max(k.span.end)),
            _ => None,
        };
        inner.unwrap_or(self.span.end)
    }
}
