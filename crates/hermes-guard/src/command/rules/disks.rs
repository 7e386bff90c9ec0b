//! Whole disks.

use super::written::written;
use super::{Rule, dangerous, hardline};
use crate::command::Context;
use crate::command::call::Call;
use crate::command::options::Options;
use crate::command::path::{Kept, Last, is_device, kept};
use crate::command::word::Word;

pub(super) const RULES: &[Rule] = &[
    hardline("format-disk", "it makes a new file system where another one may be", formats),
    hardline("write-disk", "it writes over a whole disk", writes_raw),
    dangerous("partition-disk", "it changes partitions, volumes or what protects a disk", partitions),
    dangerous("wipe-file", "it overwrites a file so that nothing can bring it back", wipes),
];

/// Programs that make file systems, other than those called `mkfs.…`.
const MAKERS: &[&str] = &[
    "mkfs",
    "mke2fs",
    "newfs",
    "mkswap",
    "mkdosfs",
    "mkntfs",
    "mkexfatfs",
    "mkreiserfs",
    "jfs_mkfs",
    "mkudffs",
    "hformat",
    "newfs_msdos",
    "newfs_hfs",
    "newfs_apfs",
    "zerofree",
];

fn formats(call: &Call, _: &Context<'_>) -> bool {
    let Some(name) = call.name() else { return false };
    if call.only_asks_for_help() {
        return false;
    }
    // The program behind the one that holds many.
    if matches!(name.as_str(), "busybox" | "toybox") {
        let inner = Call { words: call.args().to_vec(), ..call.clone() };
        return inner.name().is_some_and(|name| is_maker(&name)) && onto_disk(&inner);
    }
    match name.as_str() {
        "nvme" => call.has_any(&["format", "sanitize", "write-zeroes", "write-uncor", "delete-ns"]),
        "bcachefs" => call.has("format") && onto_disk(call),
        name => is_maker(name) && onto_disk(call),
    }
}

fn is_maker(name: &str) -> bool {
    name.starts_with("mkfs.") || MAKERS.contains(&name)
}

/// Whether a new file system goes onto a disk, or somewhere that is not known. In a file it harms nobody.
fn onto_disk(call: &Call) -> bool {
    let operands = Options::of(call).operands;
    let is_file = |word: &Word| word.text().is_some_and(|text| text.contains(['.', '/']));
    let on_device = |word: &Word| is_device(word, call.cwd.as_deref());
    // An option that takes a value may be missing in our list: whatever leads to a device counts.
    call.args().iter().any(on_device)
        || operands.iter().any(Word::has_unknown)
        || !operands.iter().any(is_file)
}

fn is_raw(word: &Word, call: &Call, sight: &Context<'_>) -> bool {
    kept(word, call.cwd.as_deref(), sight, Last::Followed) == Some(Kept::RawDisk)
}

fn writes_raw(call: &Call, sight: &Context<'_>) -> bool {
    if call.via != crate::command::call::Via::Remote
        && !call.is(&["chmod", "chown", "chattr", "setfacl", "ln", "link", "touch"])
        && written(call).iter().any(|word| is_raw(word, call, sight))
    {
        return true;
    }
    match call.name().as_deref() {
        Some("shred" | "wipefs" | "blkdiscard" | "badblocks" | "scrub") => {
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
        _ => false,
    }
}

/// Programs that change what is on disks whatever they are told, unless they only show.
const CHANGERS: &[&str] = &[
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "sgdisk",
    "wipefs",
    "blkdiscard",
    "lvremove",
    "vgremove",
    "pvremove",
    "lvreduce",
    "vgreduce",
    "pvcreate",
    "vgcreate",
    "badblocks",
    "hdparm",
    "grub-install",
    "e2fsck",
    "resize2fs",
    "tune2fs",
    "xfs_repair",
    "fsck",
    "vgcfgrestore",
    "pvresize",
    "partx",
];

/// Verbs of programs that look after disks.
const DISK_VERBS: &[(&str, &[&str])] = &[
    ("zpool", &["destroy", "labelclear", "create", "remove", "detach", "replace", "clear"]),
    ("zfs", &["destroy", "rollback"]),
    ("btrfs", &["subvolume", "device", "balance"]),
    ("cryptsetup", &["luksFormat", "erase", "luksErase", "luksKillSlot", "luksRemoveKey", "reencrypt"]),
    ("diskutil", &["eraseDisk", "eraseVolume", "partitionDisk", "zeroDisk", "secureErase", "reformat"]),
    ("dmsetup", &["remove", "remove_all", "wipe_table", "load", "create"]),
    ("lvm", &["lvremove", "vgremove", "pvremove", "lvreduce", "pvcreate", "vgreduce"]),
];

fn partitions(call: &Call, _: &Context<'_>) -> bool {
    if call.only_asks_for_help() {
        return false;
    }
    let Some(name) = call.name() else { return false };
    let verbs = call.texts();
    if let Some((_, wanted)) = DISK_VERBS.iter().find(|(program, _)| *program == name) {
        let only_shows =
            verbs.iter().any(|verb| matches!(verb.as_str(), "list" | "show" | "status" | "stats" | "usage"));
        return !only_shows && verbs.iter().any(|verb| wanted.contains(&verb.as_str()));
    }
    let shows = call.has_any(&["-l", "--list", "-n", "-N"]);
    match name.as_str() {
        // What follows `print` is another order.
        "parted" => {
            let orders = Options::of(call).verbs();
            let only_prints = orders.iter().skip(1).all(|order| {
                matches!(
                    order.as_str(),
                    "print"
                        | "unit"
                        | "free"
                        | "s"
                        | "B"
                        | "MiB"
                        | "GiB"
                        | "MB"
                        | "GB"
                        | "help"
                        | "list"
                        | "all"
                        | "devices"
                )
            });
            !(call.has_any(&["-l", "--list"]) || orders.len() > 1 && only_prints)
        }
        "hdparm" => !call.args().iter().all(|word| {
            let text = word.beginning();
            !text.starts_with('-')
                || matches!(text.as_str(), "-I" | "-i" | "-t" | "-T" | "-tT" | "-Tt" | "-g" | "-C")
        }),
        "tune2fs" => !call.has("-l"),
        "debugfs" => call.has("-w"),
        "mdadm" => {
            !call.has_any(&["--detail", "-D", "--examine", "-E", "--query", "-Q", "--monitor", "--scan"])
        }
        "dd" => {
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
        name => (CHANGERS.contains(&name) || name.starts_with("fsck.")) && !shows,
    }
}

fn wipes(call: &Call, _: &Context<'_>) -> bool {
    call.is(&["shred", "srm", "wipe", "scrub"]) && !call.only_asks_for_help()
}
