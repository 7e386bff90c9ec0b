//! `hermes profile export` and `import`.

use std::path::PathBuf;
use std::process::ExitCode;

use hermes_home::profiles::Limits;

use super::args::{Export, Import};
use super::change::{joined, usage};
use super::database::Sqlite;
use super::{Context, alias, done};
use crate::ui;

/// Packs a profile.
pub fn export(context: &Context, args: Export) -> anyhow::Result<ExitCode> {
    let file = PathBuf::from(format!("{}.tar.gz", args.target));
    let output = match args.output {
        Some(dir) if dir.is_dir() => dir.join(file),
        Some(path) => path,
        None => file,
    };
    let exported = context.profiles.export(&args.target, &output, &Sqlite)?;
    if !exported.left_out.is_empty() {
        ui::warn(&format!(
            "an archive carries no links, sockets or devices: {} left out",
            joined(&exported.left_out)
        ));
    }
    done(&[format!(
        "exported profile \"{}\" to {} ({}, {}), without keys and logins",
        args.target,
        exported.path.display(),
        ui::count(exported.files as u64, "file"),
        size(exported.bytes)
    )])
}

/// A size as people say it.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KB", "MB", "GB"];
    let step = (0..UNITS.len() - 1).take_while(|i| bytes >= 1000u64.pow(*i as u32 + 1)).count();
    if step == 0 {
        return format!("{bytes} {}", UNITS[0]);
    }
    format!("{:.1} {}", bytes as f64 / 1000f64.powi(step as i32), UNITS[step])
}

/// Makes a profile from an archive.
pub fn import(context: &Context, args: &Import) -> anyhow::Result<ExitCode> {
    let imported = context.profiles.import(&args.archive, args.name.as_ref(), Limits::default())?;
    let (name, path) = (&imported.name, &imported.path);
    let mut lines = vec![format!(
        "imported profile \"{name}\" with {} into {}",
        ui::count(imported.files as u64, "file"),
        context.shown(path)
    )];
    let alias = alias::try_add(context, name);
    lines.extend(alias.clone());
    lines.push(format!(
        "keys and logins are not part of an archive: put keys into {}/.env",
        context.shown(path)
    ));
    lines.push(usage(name));
    let ended = done(&lines)?;
    if !imported.left_out.is_empty() {
        ui::warn(&format!(
            "the archive holds files with keys or logins, which were left out: {}",
            joined(&imported.left_out)
        ));
    }
    if !imported.runnable.is_empty() {
        ui::warn(&format!(
            "it brings {}: if you do not know where the archive comes from, look at them before you use the profile",
            imported.runnable.join(", ")
        ));
    }
    if alias.is_some() {
        alias::hint_about_path(context);
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_a_fitting_unit() {
        let shown = [0, 999, 1000, 1_234_567, 5_000_000_000_000].map(size);
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 KB", "1.2 MB", "5000.0 GB"]);
    }
}
