//! Which part of a page is worth reading: what is hidden goes, menus and the like go, and of the rest the part that
//! holds nearly all of the text.

use super::tag::Tag;
use super::tokens::Attributes;
use super::tree::{Id, Kind, Tree};

/// What becomes of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Kept,
    /// Around the content: menus, footers, banners.
    Around,
    /// Not to be seen.
    Hidden,
}

/// The part of a page that is read.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) root: Id,
    fates: Vec<Fate>,
    most: Fate,
}

impl Chosen {
    /// Whether a node is left out.
    pub(super) fn leaves_out(&self, id: Id) -> bool {
        self.fates[id] > self.most
    }
}

/// A part of less text than this is no article.
const WORTH: usize = 200;
/// In hundredths: what a part must hold to stand for the page, and what something around the content holds at most.
const MOST_OF_IT: usize = 80;
const AROUND_AT_MOST: usize = 40;

/// Chooses.
pub(super) fn choose(tree: &Tree<'_>) -> Chosen {
    let mut fates = vec![Fate::Kept; tree.nodes.len()];
    spread(tree, &mut fates, |id| if is_hidden(tree, id) { Fate::Hidden } else { Fate::Kept });
    let visible = Measure::new(tree, &fates, Fate::Kept);
    let all = visible.text(tree, 0);
    spread(tree, &mut fates, |id| {
        let small = visible.text(tree, id) * 100 <= all * AROUND_AT_MOST;
        if small && is_around(tree, id) { Fate::Around } else { Fate::Kept }
    });
    let kept = Measure::new(tree, &fates, Fate::Kept);
    // A page that is nothing but menus is read as it is.
    let most = if kept.text(tree, 0) * 10 < all { Fate::Around } else { Fate::Kept };
    let measure = if most == Fate::Kept { kept } else { Measure::new(tree, &fates, most) };
    Chosen { root: root(tree, &fates, &measure), fates, most }
}

/// What holds for an element holds for everything in it.
fn spread(tree: &Tree<'_>, fates: &mut [Fate], own: impl Fn(Id) -> Fate) {
    for id in 1..tree.nodes.len() {
        let inherited = fates[tree.nodes[id].parent].max(fates[id]);
        let own = if inherited < Fate::Hidden && tree.tag(id).is_some() { own(id) } else { Fate::Kept };
        fates[id] = inherited.max(own);
    }
}

/// How much text there is up to each node, so that any part is measured by two numbers.
struct Measure {
    text: Vec<usize>,
    outside_links: Vec<usize>,
}

impl Measure {
    fn new(tree: &Tree<'_>, fates: &[Fate], most: Fate) -> Self {
        let (mut text, mut outside_links) = (vec![0], vec![0]);
        let (mut total, mut plain, mut link_end) = (0, 0, 0);
        for (id, node) in tree.nodes.iter().enumerate() {
            match node.kind {
                Kind::Element(Tag::A, _) => link_end = link_end.max(node.end),
                Kind::Text(words) if fates[id] <= most => {
                    let letters = words.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
                    total += letters;
                    plain += if id < link_end { 0 } else { letters };
                }
                _ => {}
            }
            text.push(total);
            outside_links.push(plain);
        }
        Self { text, outside_links }
    }

    fn text(&self, tree: &Tree<'_>, id: Id) -> usize {
        self.text[tree.nodes[id].end] - self.text[id]
    }

    fn outside_links(&self, tree: &Tree<'_>, id: Id) -> usize {
        self.outside_links[tree.nodes[id].end] - self.outside_links[id]
    }
}

/// The element that is read.
fn root(tree: &Tree<'_>, fates: &[Fate], measure: &Measure) -> Id {
    let all = measure.text(tree, 0);
    let worth = |id: &Id, share: usize| {
        let text = measure.text(tree, *id);
        fates[*id] < Fate::Hidden && text >= WORTH.min(all) && text * 100 >= all * share
    };
    let is_main = |id: &Id| {
        tree.tag(*id) == Some(Tag::Main) || tree.attribute(*id, "role").is_some_and(|role| role == "main")
    };
    if let Some(main) = (1..tree.nodes.len()).find(|id| is_main(id) && worth(id, 25)) {
        return main;
    }
    let articles: Vec<Id> =
        (1..tree.nodes.len()).filter(|id| tree.tag(*id) == Some(Tag::Article)).take(2).collect();
    match articles[..] {
        [only] if worth(&only, 40) => only,
        _ => descend(tree, measure),
    }
}

/// Goes into elements as long as one of them holds nearly all text that is in no link.
fn descend(tree: &Tree<'_>, measure: &Measure) -> Id {
    let all = measure.outside_links(tree, 0);
    let mut at = 0;
    loop {
        let holds = |id: &Id| measure.outside_links(tree, *id) * 100 >= all * MOST_OF_IT;
        match tree.children(at).find(holds) {
            Some(inner) if all >= WORTH && is_container(tree.tag(inner)) => at = inner,
            _ => return at,
        }
    }
}

fn is_container(tag: Option<Tag>) -> bool {
    use Tag::{Article, Block, Body, Html, Main, Section, Table, Tbody, Td, Tr};
    matches!(tag, Some(Article | Block | Body | Html | Main | Section | Table | Tbody | Td | Tr))
}

fn is_hidden(tree: &Tree<'_>, id: Id) -> bool {
    let Kind::Element(tag, attributes) = tree.nodes[id].kind else { return false };
    match tag {
        Tag::Dropped | Tag::RawDropped | Tag::Title | Tag::Head => true,
        Tag::Dialog => attributes.get("open").is_none(),
        _ => attributes.iter().any(|(name, value)| hides(name, value)),
    }
}

fn hides(name: &str, value: &str) -> bool {
    if name.eq_ignore_ascii_case("hidden") {
        return true;
    }
    if name.eq_ignore_ascii_case("aria-hidden") {
        return value.eq_ignore_ascii_case("true");
    }
    if !name.eq_ignore_ascii_case("style") {
        return false;
    }
    let plain: String = value.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    plain.split(';').any(|rule| {
        matches!(
            rule.trim_end_matches("!important"),
            "display:none" | "visibility:hidden" | "opacity:0" | "font-size:0" | "font-size:0px"
        )
    })
}

/// Words in the names that authors give to what stands around their texts.
const AROUND: &[&str] = &[
    "ad",
    "ads",
    "advert",
    "advertisement",
    "banner",
    "breadcrumb",
    "breadcrumbs",
    "consent",
    "cookie",
    "cookies",
    "footer",
    "gdpr",
    "lineno",
    "linenos",
    "menu",
    "nav",
    "navbar",
    "navigation",
    "newsletter",
    "noprint",
    "promo",
    "related",
    "share",
    "sharing",
    "sidebar",
    "skip",
    "skiplink",
    "social",
    "subscribe",
    "toolbar",
];

fn is_around(tree: &Tree<'_>, id: Id) -> bool {
    let Kind::Element(tag, attributes) = tree.nodes[id].kind else { return false };
    match tag {
        Tag::Nav | Tag::Footer | Tag::Menu | Tag::Button => true,
        Tag::Header | Tag::Aside if !in_content(tree, id) => true,
        Tag::Html | Tag::Body | Tag::Main | Tag::Article | Tag::Pre | Tag::Code | Tag::P => false,
        _ if tag.heading().is_some() => false,
        _ => is_named_so(attributes),
    }
}

/// A header of an article has its title; an aside of one is a note.
fn in_content(tree: &Tree<'_>, id: Id) -> bool {
    let mut at = id;
    while at != 0 {
        at = tree.nodes[at].parent;
        if matches!(tree.tag(at), Some(Tag::Main | Tag::Article)) {
            return true;
        }
    }
    false
}

fn is_named_so(attributes: Attributes<'_>) -> bool {
    attributes.iter().any(|(name, value)| {
        if name.eq_ignore_ascii_case("role") {
            const ROLES: &[&str] = &[
                "navigation",
                "banner",
                "contentinfo",
                "search",
                "complementary",
                "menu",
                "menubar",
                "toolbar",
                "dialog",
                "alertdialog",
            ];
            return ROLES.iter().any(|role| value.eq_ignore_ascii_case(role));
        }
        (name.eq_ignore_ascii_case("class") || name.eq_ignore_ascii_case("id")) && says_around(value)
    })
}

/// `site-nav`, `cookie_banner`; but not `has-sidebar` or `no-footer`, which say what is elsewhere.
fn says_around(value: &str) -> bool {
    value.split_ascii_whitespace().any(|name| {
        let mut words = name.split(['-', '_']).map(str::to_ascii_lowercase).peekable();
        let about = words
            .peek()
            .is_some_and(|first| matches!(first.as_str(), "has" | "no" | "with" | "without" | "is"));
        !about && words.any(|word| AROUND.contains(&word.as_str()))
    })
}
