//! A page as a tree: elements in the order they begin, with the end tags that authors leave out put in. Depth and
//! number of elements are bounded.

use std::borrow::Cow;

use super::entities::decode;
use super::tag::Tag;
use super::tokens::{Attributes, Token, Tokens};

/// Deeper elements are put beside each other.
const DEEPEST: usize = 200;
/// What comes after this many nodes is left out.
const MOST_NODES: usize = 300_000;

/// A place in a [`Tree`].
pub(super) type Id = usize;

/// An element or a text.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) parent: Id,
    /// One past the last node inside.
    pub(super) end: Id,
    pub(super) kind: Kind<'a>,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    Element(Tag, Attributes<'a>),
    /// As it is written: entities are not decoded yet.
    Text(&'a str),
}

/// A page. Node 0 stands for all of it.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) title: String,
    /// The title for links in social networks.
    pub(super) shared_title: String,
    pub(super) description: String,
    pub(super) base: Option<String>,
}

/// An element that has begun and not ended.
struct Open<'a> {
    id: Id,
    tag: Tag,
    name: &'a str,
}

impl<'a> Tree<'a> {
    pub(super) fn parse(html: &'a str) -> Self {
        let root = Node { parent: 0, end: 0, kind: Kind::Text("") };
        let tree = Self {
            nodes: vec![root],
            title: String::new(),
            shared_title: String::new(),
            description: String::new(),
            base: None,
        };
        let mut building = Building { tree, open: Vec::new() };
        for token in Tokens::new(html) {
            if building.tree.nodes.len() >= MOST_NODES {
                break;
            }
            building.take(token);
        }
        building.close_to(0);
        let mut tree = building.tree;
        tree.nodes[0].end = tree.nodes.len();
        tree
    }

    /// The nodes directly inside.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.nodes[id].end;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.nodes[child].end.max(child + 1);
                child
            })
        })
    }

    pub(super) fn tag(&self, id: Id) -> Option<Tag> {
        if let Kind::Element(tag, _) = self.nodes[id].kind { Some(tag) } else { None }
    }

    pub(super) fn attribute(&self, id: Id, name: &str) -> Option<Cow<'a, str>> {
        if let Kind::Element(_, attributes) = self.nodes[id].kind { attributes.get(name) } else { None }
    }

    /// The first element of a kind.
    pub(super) fn first(&self, tag: Tag) -> Option<Id> {
        (0..self.nodes.len()).find(|id| self.tag(*id) == Some(tag))
    }

    /// All text inside, in one line.
    pub(super) fn text_of(&self, id: Id) -> String {
        let texts = self.nodes[id..self.nodes[id].end].iter().filter_map(|node| match node.kind {
            Kind::Text(text) => Some(decode(text)),
            Kind::Element(..) => None,
        });
        one_line(&texts.collect::<String>())
    }
}

/// White space of any kind becomes one space.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Building<'a> {
    tree: Tree<'a>,
    open: Vec<Open<'a>>,
}

impl<'a> Building<'a> {
    fn take(&mut self, token: Token<'a>) {
        match token {
            Token::Text(text) => self.text(text),
            Token::Open { tag, name, attributes } => self.begin(tag, name, attributes),
            Token::Close { tag, name } => self.end(tag, name),
        }
    }

    fn text(&mut self, text: &'a str) {
        match self.open.last().map(|open| open.tag) {
            Some(Tag::RawDropped) => {}
            Some(Tag::Title) => {
                if self.tree.title.is_empty() {
                    self.tree.title = one_line(&decode(text));
                }
            }
            _ => {
                self.push(Kind::Text(text));
            }
        }
    }

    fn begin(&mut self, tag: Tag, name: &'a str, attributes: Attributes<'a>) {
        // A drawing has a title of its own.
        let tag = if tag == Tag::Title && !self.tree.title.is_empty() { Tag::RawDropped } else { tag };
        match tag {
            Tag::Meta => return self.meta(attributes),
            Tag::Base => {
                if self.tree.base.is_none() {
                    self.tree.base = attributes.get("href").map(Cow::into_owned);
                }
                return;
            }
            Tag::Void => return,
            // One of each is enough; more of them only say what the page already is.
            Tag::Html | Tag::Body if self.is_open(tag) => return,
            Tag::Body => self.end(Tag::Head, "head"),
            _ => {}
        }
        if let Some((ended, stop)) = tag.ends() {
            self.end_first_of(ended, stop);
        }
        let id = self.push(Kind::Element(tag, attributes));
        if !tag.is_void() && self.open.len() < DEEPEST {
            self.open.push(Open { id, tag, name });
        }
    }

    fn is_open(&self, tag: Tag) -> bool {
        self.open.iter().any(|open| open.tag == tag)
    }

    /// Ends the innermost open element of these kinds, unless one of the others is nearer.
    fn end_first_of(&mut self, ended: &[Tag], stop: &[Tag]) {
        let from_top =
            self.open.iter().rev().position(|open| ended.contains(&open.tag) || stop.contains(&open.tag));
        let Some(place) = from_top.map(|depth| self.open.len() - 1 - depth) else { return };
        if ended.contains(&self.open[place].tag) {
            self.close_to(place);
        }
    }

    fn end(&mut self, tag: Tag, name: &str) {
        if tag == Tag::P && !self.is_open(Tag::P) {
            // Browsers make an empty paragraph of a lost end tag, which is a break between texts.
            self.push(Kind::Element(Tag::P, NO_ATTRIBUTES));
            return;
        }
        let same = |open: &Open<'_>| open.tag == tag && open.name.eq_ignore_ascii_case(name);
        // A cell's content does not end the table around it.
        let wall = |open: &Open<'_>| {
            matches!(open.tag, Tag::Td | Tag::Th)
                && !matches!(tag, Tag::Table | Tag::Tr | Tag::Tbody | Tag::Td | Tag::Th)
        };
        for place in (0..self.open.len()).rev() {
            if same(&self.open[place]) {
                return self.close_to(place);
            }
            if wall(&self.open[place]) {
                return;
            }
        }
    }

    fn close_to(&mut self, place: usize) {
        let end = self.tree.nodes.len();
        for open in self.open.drain(place..) {
            self.tree.nodes[open.id].end = end;
        }
    }

    fn push(&mut self, kind: Kind<'a>) -> Id {
        let id = self.tree.nodes.len();
        let parent = self.open.last().map_or(0, |open| open.id);
        self.tree.nodes.push(Node { parent, end: id + 1, kind });
        id
    }

    fn meta(&mut self, attributes: Attributes<'a>) {
        let name = attributes.get("name").or_else(|| attributes.get("property")).unwrap_or_default();
        let place = match &*name.to_ascii_lowercase() {
            "description" | "og:description" => &mut self.tree.description,
            "og:title" => &mut self.tree.shared_title,
            _ => return,
        };
        if place.is_empty() {
            *place = one_line(&attributes.get("content").unwrap_or_default());
        }
    }
}

const NO_ATTRIBUTES: Attributes<'static> = Attributes::NONE;
