//! The elements that matter, by name.

/// An element's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    A,
    Article,
    Aside,
    Base,
    Blockquote,
    Body,
    Br,
    Button,
    Code,
    Dd,
    Details,
    Dialog,
    Dl,
    Dt,
    Footer,
    H1,
    H2,
    H3,
    H4,
    H5,
    H6,
    Head,
    Header,
    Hr,
    Html,
    Img,
    Li,
    Main,
    Menu,
    Meta,
    Nav,
    Ol,
    P,
    Pre,
    Q,
    Section,
    Summary,
    Table,
    Tbody,
    Td,
    Th,
    Title,
    Tr,
    Ul,
    /// Another element that stands on lines of its own.
    Block,
    /// Another element inside lines.
    Inline,
    /// One that has no content.
    Void,
    /// One whose content is not for reading.
    Dropped,
    /// One whose content is no markup and not for reading.
    RawDropped,
}

impl Tag {
    /// Of a name in any case.
    pub(super) fn of(name: &str) -> Self {
        let mut lower = [0_u8; 12];
        let Some(lower) = lower.get_mut(..name.len()) else { return Self::Inline };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        match &*lower {
            b"a" => Self::A,
            b"article" => Self::Article,
            b"aside" => Self::Aside,
            b"base" => Self::Base,
            b"blockquote" => Self::Blockquote,
            b"body" => Self::Body,
            b"br" => Self::Br,
            b"button" => Self::Button,
            b"code" | b"kbd" | b"samp" | b"tt" => Self::Code,
            b"dd" => Self::Dd,
            b"details" => Self::Details,
            b"dialog" => Self::Dialog,
            b"dl" => Self::Dl,
            b"dt" => Self::Dt,
            b"footer" => Self::Footer,
            b"h1" => Self::H1,
            b"h2" => Self::H2,
            b"h3" => Self::H3,
            b"h4" => Self::H4,
            b"h5" => Self::H5,
            b"h6" => Self::H6,
            b"head" => Self::Head,
            b"header" => Self::Header,
            b"hr" => Self::Hr,
            b"html" => Self::Html,
            b"img" => Self::Img,
            b"li" => Self::Li,
            b"main" => Self::Main,
            b"menu" => Self::Menu,
            b"meta" => Self::Meta,
            b"nav" => Self::Nav,
            b"ol" => Self::Ol,
            b"p" => Self::P,
            b"pre" | b"listing" => Self::Pre,
            b"q" => Self::Q,
            b"section" => Self::Section,
            b"summary" => Self::Summary,
            b"table" => Self::Table,
            b"tbody" | b"thead" | b"tfoot" => Self::Tbody,
            b"td" => Self::Td,
            b"th" => Self::Th,
            b"title" => Self::Title,
            b"tr" => Self::Tr,
            b"ul" | b"dir" => Self::Ul,
            b"address" | b"caption" | b"center" | b"div" | b"fieldset" | b"figcaption" | b"figure"
            | b"form" | b"hgroup" | b"legend" | b"search" => Self::Block,
            b"area" | b"col" | b"embed" | b"frame" | b"input" | b"link" | b"param" | b"source" | b"track"
            | b"wbr" => Self::Void,
            b"audio" | b"canvas" | b"datalist" | b"map" | b"object" | b"optgroup" | b"option" | b"select"
            | b"svg" | b"template" | b"video" | b"annotation" => Self::Dropped,
            b"iframe" | b"noembed" | b"noframes" | b"noscript" | b"script" | b"style" | b"textarea"
            | b"xmp" => Self::RawDropped,
            _ => Self::Inline,
        }
    }

    /// Whether its content is text without markup, up to its end tag.
    pub(super) fn is_raw(self) -> bool {
        matches!(self, Self::RawDropped | Self::Title)
    }

    /// Whether it never has content.
    pub(super) fn is_void(self) -> bool {
        matches!(self, Self::Void | Self::Br | Self::Hr | Self::Img | Self::Meta | Self::Base)
    }

    /// Whether it stands on lines of its own.
    pub(super) fn is_block(self) -> bool {
        !matches!(
            self,
            Self::A
                | Self::Base
                | Self::Br
                | Self::Button
                | Self::Code
                | Self::Img
                | Self::Inline
                | Self::Meta
                | Self::Q
                | Self::Title
                | Self::Void
                | Self::Dropped
                | Self::RawDropped
        )
    }

    /// Which heading it is.
    pub(super) fn heading(self) -> Option<usize> {
        let levels = [Self::H1, Self::H2, Self::H3, Self::H4, Self::H5, Self::H6];
        levels.iter().position(|tag| *tag == self).map(|place| place + 1)
    }

    /// The open elements that this one ends when it begins; the search for them stops at the second list.
    pub(super) fn ends(self) -> Option<(&'static [Self], &'static [Self])> {
        const LISTS: &[Tag] = &[Tag::Ul, Tag::Ol, Tag::Menu, Tag::Table, Tag::Blockquote];
        const IN_TABLE: &[Tag] = &[Tag::Table];
        const PARAGRAPH_SCOPE: &[Tag] =
            &[Tag::Table, Tag::Td, Tag::Th, Tag::Button, Tag::Blockquote, Tag::Li];
        match self {
            Self::Li => Some((&[Self::Li], LISTS)),
            Self::Dt | Self::Dd => Some((&[Self::Dt, Self::Dd], &[Self::Dl, Self::Table])),
            Self::Td | Self::Th => Some((&[Self::Td, Self::Th], IN_TABLE)),
            Self::Tr => Some((&[Self::Tr], IN_TABLE)),
            Self::Tbody => Some((&[Self::Tbody], IN_TABLE)),
            Self::A => Some((&[Self::A], &[Self::Table, Self::Td, Self::Th])),
            tag if tag.is_block() => Some((&[Self::P], PARAGRAPH_SCOPE)),
            _ => None,
        }
    }
}
