//! Tables: those that hold data as tables, those that only put things in places as what they hold.

use super::render::Renderer;
use super::tag::Tag;
use super::tree::{Id, Kind};

/// Wider ones are not for reading as a table.
const MOST_COLUMNS: usize = 40;
/// Longer cells hold texts, not data.
const LONGEST_CELL: usize = 600;

/// Writes a table.
pub(super) fn table(renderer: &mut Renderer<'_, '_>, id: Id) {
    let rows = if is_layout(renderer, id) { Vec::new() } else { rows(renderer, id) };
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cells: Vec<Vec<String>> = if rows.len() >= 2 && (2..=MOST_COLUMNS).contains(&columns) {
        rows.iter().map(|row| row.iter().map(|cell| renderer.cell(*cell)).collect()).collect()
    } else {
        Vec::new()
    };
    let is_text = cells.iter().flatten().any(|cell| cell.len() > LONGEST_CELL);
    renderer.out.end_block();
    if cells.is_empty() || is_text {
        renderer.inside(id);
    } else {
        write(renderer, id, columns, &cells);
    }
    renderer.out.end_block();
}

fn write(renderer: &mut Renderer<'_, '_>, id: Id, columns: usize, cells: &[Vec<String>]) {
    if let Some(caption) = caption(renderer, id) {
        renderer.out.line(&caption);
        renderer.out.end_block();
    }
    for (place, row) in cells.iter().enumerate() {
        let mut line = String::from("|");
        for column in 0..columns {
            let cell = row.get(column).map(|cell| cell.replace('|', "\\|")).unwrap_or_default();
            line.push(' ');
            line.push_str(&cell);
            line.push_str(if cell.is_empty() { "|" } else { " |" });
        }
        renderer.out.line(&line);
        if place == 0 {
            renderer.out.line(&format!("|{}", " --- |".repeat(columns)));
        }
    }
}

fn caption(renderer: &mut Renderer<'_, '_>, id: Id) -> Option<String> {
    let is_caption =
        |child: &Id| renderer.tree.tag(*child) == Some(Tag::Block) && !renderer.leaves_out(*child);
    let found = renderer.tree.children(id).find(is_caption)?;
    Some(renderer.cell(found)).filter(|text| !text.is_empty())
}

/// Whether it only puts things in places: it says so, or holds what no cell of a table holds.
fn is_layout(renderer: &Renderer<'_, '_>, id: Id) -> bool {
    let tree = renderer.tree;
    let said = tree.attribute(id, "role").is_some_and(|role| role == "presentation" || role == "none");
    let holds = |node: &super::tree::Node<'_>| match node.kind {
        Kind::Element(tag, _) => {
            matches!(tag, Tag::Table | Tag::Pre | Tag::Article) || tag.heading().is_some()
        }
        Kind::Text(_) => false,
    };
    said || tree.nodes[id + 1..tree.nodes[id].end].iter().any(holds)
}

/// The cells of each row.
fn rows(renderer: &Renderer<'_, '_>, id: Id) -> Vec<Vec<Id>> {
    let tree = renderer.tree;
    let mut rows: Vec<Vec<Id>> = Vec::new();
    for at in id + 1..tree.nodes[id].end {
        if renderer.leaves_out(at) {
            continue;
        }
        match tree.tag(at) {
            Some(Tag::Tr) => rows.push(Vec::new()),
            Some(Tag::Td | Tag::Th) => match rows.last_mut() {
                Some(row) => row.push(at),
                // A cell without a row begins one.
                None => rows.push(vec![at]),
            },
            _ => {}
        }
    }
    rows.retain(|row| !row.is_empty());
    rows
}
