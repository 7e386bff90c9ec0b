//! Whole disks.

use super::{Rule, dangerous, hardline};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::path::{Kept, Last, kept};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    hardline("format-disk", "it makes a new file system where another one may be", formats),
    hardline("write-disk", "it writes over a whole disk", writes_raw),
    dangerous("partition-disk", "it changes partitions, volumes or what protects a disk", partitions),
    dangerous("wipe-file", "it overwrites a file so that nothing can bring it back", wipes),
];

fn formats(call: &Call, _: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    if name == "busybox" || call.only_asks_for_help() {
        return false;
    }
    // A file system in a file harms nobody.
    let into_file = call
        .operands()
        .iter()
        .any(|word| word.text().is_some_and(|text| !text.starts_with("/dev/") && text.contains(['.', '/'])));
    let makes =
        name == "mkfs" || name.starts_with("mkfs.") || matches!(name.as_str(), "mke2fs" | "newfs" | "mkswap");
    makes && !into_file || name == "nvme" && call.has_any(&["format", "sanitize"])
}

fn is_raw(word: &Word, call: &Call, sight: &Context<'_>) -> bool {
    kept(word, call.cwd.as_deref(), sight, Last::Followed) == Some(Kept::RawDisk)
}

fn writes_raw(call: &Call, sight: &Context<'_>) -> bool {
    if call.writes.iter().any(|word| is_raw(word, call, sight)) {
        return true;
    }
    match call.name().as_deref() {
        Some("dd" | "dcfldd" | "pv") => {
            let target = call.value_of(&["of="]).or_else(|| call.value_of(&["-o", "--output"]));
            target.is_some_and(|word| is_raw(&word, call, sight))
        }
        Some("tee" | "shred" | "wipefs" | "blkdiscard" | "badblocks" | "truncate" | "scrub") => {
            call.operands().iter().any(|word| is_raw(word, call, sight))
        }
        Some("tar" | "bsdtar") => {
            call.operands().iter().any(|word| is_raw(word, call, sight)) && !call.short('x')
        }
        Some("socat") => call
            .texts()
            .iter()
            .flat_map(|text| text.split([':', ',']))
            .any(|part| part.starts_with("/dev/") && is_raw(&Word::known(part), call, sight)),
        Some("cp" | "mv" | "install" | "cat") => call
            .operands()
            .last()
            .is_some_and(|word| call.name().as_deref() != Some("cat") && is_raw(word, call, sight)),
        _ => false,
    }
}

fn partitions(call: &Call, _: &Context<'_>) -> bool {
    if call.only_asks_for_help() || call.has_any(&["-l", "--list", "print"]) {
        return false;
    }
    let verb = call.path().get(1).cloned().unwrap_or_default();
    match call.name().as_deref() {
        Some(
            "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "parted" | "wipefs" | "blkdiscard"
            | "lvremove" | "vgremove" | "pvremove" | "badblocks" | "hdparm",
        ) => true,
        Some("zpool" | "zfs" | "btrfs") => {
            matches!(verb.as_str(), "destroy" | "labelclear" | "rollback" | "subvolume")
        }
        Some("cryptsetup") => call.has_any(&["luksFormat", "erase", "luksErase", "luksKillSlot"]),
        Some("diskutil") => {
            matches!(verb.as_str(), "eraseDisk" | "eraseVolume" | "partitionDisk" | "zeroDisk")
        }
        Some("dd") => {
            let target = call.value_of(&["of="]);
            target.is_some_and(|word| {
                word.is_blank()
                    || word.text().is_some_and(|text| {
                        text.starts_with("/dev/")
                            && !matches!(
                                text.as_str(),
                                "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"
                            )
                    })
            })
        }
        _ => false,
    }
}

fn wipes(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["shred", "srm", "wipe", "scrub"]) && !call.only_asks_for_help()
}
