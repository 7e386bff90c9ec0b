//! Cards of the board that a model looks at before anybody works on them: written out, split, or compared with what was
//! done. What is asked and how answers are read is pure; asking is [`SideModel`]'s.
//!
//! [`SideModel`]: crate::assembly::SideModel

pub mod decompose;
pub mod judge;
pub mod specify;

/// A text as it is shown to the model, not longer than it should be.
fn shown(text: &str, longest: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let kept: String = text.chars().take(longest).collect();
    format!("{kept} […]")
}
