//! Pages as readable text: headings, paragraphs, lists, tables, links and code, without menus, scripts and what is
//! hidden. Linear in the size of the page; nothing a page holds makes it fail.

mod choose;
mod entities;
mod line;
mod render;
mod table;
mod tag;
mod tokens;
mod tree;

use url::Url;

/// A page as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readable {
    /// Its title; may be empty.
    pub title: String,
    /// Its text, as Markdown.
    pub text: String,
}

/// Makes a page readable. `base` is where it came from: links are made whole with it.
pub fn readable(html: &str, base: &Url) -> Readable {
    let tree = tree::Tree::parse(html);
    let base = tree.base.as_deref().and_then(|href| base.join(href).ok()).unwrap_or_else(|| base.clone());
    let chosen = choose::choose(&tree);
    let mut text = render::render(&tree, &chosen, &base);
    if text.is_empty() {
        text.clone_from(&tree.description);
    }
    Readable { title: title(&tree), text }
}

fn title(tree: &tree::Tree<'_>) -> String {
    let from_heading = || tree.first(tag::Tag::H1).map(|heading| tree.text_of(heading));
    let named = [&tree.title, &tree.shared_title].into_iter().find(|title| !title.is_empty());
    named.cloned().or_else(from_heading).unwrap_or_default()
}

#[cfg(test)]
mod tests;
