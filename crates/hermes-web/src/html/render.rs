//! The chosen part of a page as Markdown.

use url::Url;

use super::choose::Chosen;
use super::entities::decode;
use super::line::{Writer, Written};
use super::table;
use super::tag::Tag;
use super::tree::{Id, Kind, Tree, one_line};

/// Longer addresses are left out, with their text kept.
const LONGEST_LINK: usize = 1000;
/// The same for pictures, whose addresses say less.
const LONGEST_PICTURE: usize = 300;

/// Writes the chosen part.
pub(super) fn render(tree: &Tree<'_>, chosen: &Chosen, base: &Url) -> String {
    let mut renderer =
        Renderer { tree, chosen, base, out: Writer::new(), mode: Mode::Blocks, link: Link::Outside };
    renderer.element(chosen.root);
    renderer.out.finish().text
}

/// What is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Blocks one below the other.
    Blocks,
    /// One line: a heading, a cell, the text of a link.
    Line,
    /// Words without marks: code inside a line.
    Plain,
}

/// Whether what is written is the text of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Inside,
    Outside,
}

pub(super) struct Renderer<'t, 'h> {
    pub(super) tree: &'t Tree<'h>,
    chosen: &'t Chosen,
    base: &'t Url,
    pub(super) out: Writer,
    mode: Mode,
    link: Link,
}

impl Renderer<'_, '_> {
    pub(super) fn leaves_out(&self, id: Id) -> bool {
        self.chosen.leaves_out(id)
    }

    pub(super) fn inside(&mut self, id: Id) {
        for child in self.tree.children(id) {
            self.node(child);
        }
    }

    fn node(&mut self, id: Id) {
        if self.leaves_out(id) || self.out.is_full() {
            return;
        }
        match self.tree.nodes[id].kind {
            Kind::Text(text) => self.out.text(&decode(text)),
            Kind::Element(..) => self.element(id),
        }
    }

    fn element(&mut self, id: Id) {
        let tag = self.tree.tag(id).unwrap_or(Tag::Block);
        match (tag, self.mode) {
            (Tag::Br, _) => self.out.line_break(),
            (Tag::Img, Mode::Plain) => {}
            (Tag::Img, _) => self.picture(id),
            (Tag::A, Mode::Blocks | Mode::Line) if self.link == Link::Outside => self.link(id),
            (Tag::Code, Mode::Blocks | Mode::Line) => self.code(id),
            (Tag::Q, _) => {
                self.out.verbatim("“");
                self.inside(id);
                self.out.verbatim("”");
            }
            (_, Mode::Blocks) if tag.is_block() => self.block(tag, id),
            (_, _) if tag.is_block() => {
                // In one line, blocks are only apart.
                self.out.space();
                self.inside(id);
                self.out.space();
            }
            _ => self.inside(id),
        }
    }

    fn block(&mut self, tag: Tag, id: Id) {
        match tag {
            Tag::Hr => {
                self.out.end_block();
                self.out.line("---");
                self.out.end_block();
            }
            Tag::Pre => self.pre(id),
            Tag::Blockquote => self.prefixed(id, "> ", "> "),
            Tag::Ul | Tag::Ol | Tag::Menu => self.list(tag, id),
            // Outside a list.
            Tag::Li => self.item(id, "- "),
            Tag::Dd => {
                self.out.end_line();
                self.out.begin(": ", "  ");
                self.inside(id);
                self.out.end();
                self.out.end_line();
            }
            Tag::Dt | Tag::Tr => {
                self.out.end_line();
                self.inside(id);
                self.out.end_line();
            }
            Tag::Td | Tag::Th => {
                self.out.space();
                self.inside(id);
                self.out.space();
            }
            Tag::Table => table::table(self, id),
            _ => {
                if let Some(level) = tag.heading() {
                    return self.heading(level, id);
                }
                self.out.end_block();
                self.inside(id);
                self.out.end_block();
            }
        }
    }

    fn heading(&mut self, level: usize, id: Id) {
        let text = one_line(&self.captured(id, Mode::Line).text);
        if text.is_empty() {
            return;
        }
        self.out.end_block();
        self.out.verbatim(&format!("{} {text}", "#".repeat(level)));
        self.out.end_block();
    }

    fn prefixed(&mut self, id: Id, first: &str, rest: &str) {
        self.out.end_block();
        self.out.begin(first, rest);
        self.inside(id);
        self.out.end();
        self.out.end_block();
    }

    fn list(&mut self, tag: Tag, id: Id) {
        // A list in a list goes on right below its line.
        let nested = self.tree.tag(self.tree.nodes[id].parent) == Some(Tag::Li);
        let apart = |out: &mut Writer| if nested { out.end_line() } else { out.end_block() };
        apart(&mut self.out);
        let start = self.tree.attribute(id, "start").and_then(|start| start.parse().ok());
        let mut number: i64 = start.filter(|start| (0..1_000_000).contains(start)).unwrap_or(1);
        for child in self.tree.children(id) {
            if self.tree.tag(child) == Some(Tag::Li) && !self.leaves_out(child) {
                let mark = if tag == Tag::Ol { format!("{number}. ") } else { "- ".to_owned() };
                number += 1;
                self.item(child, &mark);
            } else {
                self.node(child);
            }
        }
        apart(&mut self.out);
    }

    fn item(&mut self, id: Id, mark: &str) {
        self.out.end_line();
        self.out.begin(mark, &" ".repeat(mark.len()));
        self.inside(id);
        self.out.end();
        self.out.end_item();
    }

    /// Code that keeps its lines.
    fn pre(&mut self, id: Id) {
        let mut code = String::new();
        for at in id + 1..self.tree.nodes[id].end {
            match self.tree.nodes[at].kind {
                _ if self.leaves_out(at) => {}
                Kind::Text(text) => code.push_str(&decode(text)),
                Kind::Element(Tag::Br, _) => code.push('\n'),
                Kind::Element(..) => {}
            }
        }
        let code = code.replace("\r\n", "\n");
        let code = code.strip_prefix('\n').unwrap_or(&code).trim_end();
        if code.trim().is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(code, '`').max(2) + 1);
        self.out.end_block();
        self.out.line(&format!("{fence}{}", self.language(id)));
        for line in code.split('\n') {
            self.out.line(line.trim_end_matches('\r'));
        }
        self.out.line(&fence);
        self.out.end_block();
    }

    /// The language that highlighters are told.
    fn language(&self, id: Id) -> String {
        let inner = self.tree.children(id).find(|child| self.tree.tag(*child) == Some(Tag::Code));
        let parent = self.tree.nodes[id].parent;
        let classes = [inner, Some(id), Some(parent)].into_iter().flatten();
        let named = classes.filter_map(|id| self.tree.attribute(id, "class")).find_map(|class| {
            let of = |name: &str| {
                let prefixes = ["language-", "lang-", "highlight-source-", "brush:"];
                prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).map(str::to_owned)
            };
            class.split_ascii_whitespace().find_map(of)
        });
        let is_name = |name: &String| {
            name.len() <= 20 && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-#".contains(c))
        };
        named.filter(is_name).unwrap_or_default()
    }

    fn code(&mut self, id: Id) {
        let written = self.captured(id, Mode::Plain);
        let text = one_line(&written.text);
        let marks = "`".repeat(longest_run(&text, '`') + 1);
        let edge = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        let marked = if text.is_empty() { text } else { format!("{marks}{edge}{text}{edge}{marks}") };
        self.put(&marked, &written);
    }

    fn link(&mut self, id: Id) {
        self.link = Link::Inside;
        let written = self.captured(id, Mode::Line);
        self.link = Link::Outside;
        let text = one_line(&written.text);
        let href = self.tree.attribute(id, "href").unwrap_or_default();
        // The little marks beside headings that lead to themselves.
        if href.starts_with('#') && matches!(text.as_str(), "#" | "¶" | "§" | "🔗" | "link") {
            return;
        }
        let marked = match self.address(&href, LONGEST_LINK) {
            Some(address) if !text.is_empty() && address != text => {
                format!("[{}]({address})", text.replace('[', "\\[").replace(']', "\\]"))
            }
            _ => text,
        };
        self.put(&marked, &written);
    }

    fn picture(&mut self, id: Id) {
        let about = one_line(&self.tree.attribute(id, "alt").unwrap_or_default());
        if about.is_empty() {
            return;
        }
        let source = self.tree.attribute(id, "src").unwrap_or_default();
        let address = self.address(&source, LONGEST_PICTURE).filter(|_| self.link == Link::Outside);
        match address {
            Some(address) => self.out.verbatim(&format!("![{}]({address})", about.replace(']', "\\]"))),
            None => self.out.verbatim(&format!("(image: {about})")),
        }
    }

    /// A whole address; nothing for places in the page itself, scripts and embedded data.
    fn address(&self, href: &str, longest: usize) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') || href.len() > longest {
            return None;
        }
        let url = self.base.join(href).ok()?;
        let known = matches!(url.scheme(), "http" | "https" | "mailto") && url.password().is_none();
        let text = String::from(url);
        let balanced = text.matches('(').count() == text.matches(')').count();
        let text = if balanced { text } else { text.replace('(', "%28").replace(')', "%29") };
        (known && text.len() <= longest).then_some(text)
    }

    /// What is inside, written apart.
    fn captured(&mut self, id: Id, mode: Mode) -> Written {
        let (outer, was) = (std::mem::replace(&mut self.out, Writer::new()), self.mode);
        self.mode = mode;
        self.inside(id);
        self.mode = was;
        std::mem::replace(&mut self.out, outer).finish()
    }

    /// What a cell holds, in one line.
    pub(super) fn cell(&mut self, id: Id) -> String {
        one_line(&self.captured(id, Mode::Line).text)
    }

    /// Puts a captured text back, with the white space that was around it.
    fn put(&mut self, text: &str, written: &Written) {
        if written.led {
            self.out.space();
        }
        self.out.verbatim(text);
        if written.trailed {
            self.out.space();
        }
    }
}

fn longest_run(text: &str, mark: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
