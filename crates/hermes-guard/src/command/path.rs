//! Where a word leads: paths in every spelling, and what is kept there.

use super::Context;
use super::word::{Piece, Word};
use crate::protected::{self, Own, Personal};

/// Directories below `/` whose loss is the loss of the machine or of everybody's files.
const TREES: &[&str] = &[
    "home",
    "root",
    "etc",
    "usr",
    "var",
    "bin",
    "sbin",
    "boot",
    "lib",
    "lib32",
    "lib64",
    "dev",
    "proc",
    "sys",
    "opt",
    "srv",
    "Users",
    "System",
    "Library",
    "Applications",
    "private",
];

/// What lies deeper and is as precious.
const DEEPER: &[&[&str]] = &[
    &["usr", "local"],
    &["usr", "lib32"],
    &["usr", "lib64"],
    &["usr", "lib", "x86_64-linux-gnu"],
    &["usr", "lib", "aarch64-linux-gnu"],
    &["var", "lib"],
    &["var", "lib", "dpkg"],
    &["var", "lib", "rpm"],
    &["var", "lib", "docker"],
    &["lib", "modules"],
    &["etc", "ssl"],
    &["etc", "ssh"],
    &["etc", "pam.d"],
    &["etc", "systemd"],
    &["etc", "passwd"],
    &["etc", "shadow"],
    &["etc", "sudoers"],
    &["etc", "fstab"],
];

/// Directories with the system's own settings and programs.
const SYSTEM: &[&[&str]] = &[
    &["etc"],
    &["boot"],
    &["bin"],
    &["sbin"],
    &["lib"],
    &["lib64"],
    &["usr", "bin"],
    &["usr", "sbin"],
    &["usr", "lib"],
    &["usr", "libexec"],
    &["usr", "share"],
    &["usr", "local", "sbin"],
    &["var", "spool", "cron"],
    &["private", "etc"],
    &["private", "var"],
    &["proc", "sys"],
    &["proc", "sysrq-trigger"],
    &["sys"],
    &["System"],
    &["Library"],
];

/// Devices that are no disk, by the beginning of their names: what else lies in `/dev` holds data, or the machine.
const DEVICES: &[&str] = &[
    "null",
    "zero",
    "full",
    "random",
    "urandom",
    "tty",
    "pts",
    "ptmx",
    "console",
    "stdin",
    "stdout",
    "stderr",
    "fd",
    "shm",
    "tcp",
    "udp",
    "input",
    "snd",
    "dri",
    "video",
    "media",
    "net",
    "kvm",
    "fuse",
    "log",
    "hidraw",
    "bus",
    "usb",
    "i2c",
    "spidev",
    "gpio",
    "rtc",
    "lp",
    "parport",
    "mqueue",
    "hugepages",
    "ppp",
    "vhost",
    "vfio",
    "serial",
    "nvidia",
    "dsp",
    "audio",
    "mixer",
    "uinput",
    "char",
    "kfd",
    "nvram",
    "cuse",
    "hwrng",
    "tpm",
    "cu.",
    "rfkill",
    "autofs",
    "userfaultfd",
    "loop-control",
];

/// A path taken apart: whole from `/`, without `.`, `..` and doubled slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The names from `/` on.
    names: Vec<Word>,
    /// Whether it ends in a slash, so that a link at the end is followed.
    follows: bool,
}

impl Route {
    /// Where a word leads from a directory. None for a relative word while the directory is not known, or when the
    /// beginning is not known.
    pub fn of(word: &Word, cwd: Option<&str>) -> Option<Self> {
        let mut parts = word.split_slashes();
        let absolute = parts.len() > 1 && parts.first().is_some_and(Word::is_empty);
        let mut names = Vec::new();
        if !absolute {
            if parts.first().is_some_and(Word::has_unknown) {
                return None;
            }
            parts.splice(0..0, Word::known(cwd?).split_slashes());
        }
        let follows = parts.len() > 1 && parts.last().is_some_and(Word::is_empty);
        for part in parts {
            match part.text().as_deref() {
                Some("" | ".") => {}
                Some("..") => {
                    names.pop();
                }
                _ => names.push(part),
            }
        }
        // The root that a process sees is a root like any other.
        let is_root = |names: &[Word]| matches!(names, [proc, _, root, ..] if proc.may_be("proc") && root.may_be("root"));
        while is_root(&names) {
            names.drain(..3);
        }
        Some(Self { names, follows })
    }

    /// The path, if it is known and no pattern.
    pub fn text(&self) -> Option<String> {
        let mut path = String::new();
        for name in &self.names {
            if name.has_glob() {
                return None;
            }
            path.push('/');
            path.push_str(&name.text()?);
        }
        Some(if path.is_empty() { "/".to_owned() } else { path })
    }

    /// The path as it is written, patterns included.
    pub fn shown(&self) -> String {
        self.names.iter().fold(String::new(), |path, name| path + "/" + &name.shown())
    }

    /// The same path with links followed: all of it, or all but the last name when that one itself is meant.
    fn resolved(&self, sight: &Context<'_>, last: Last) -> Option<Self> {
        let resolve = sight.resolve?;
        let known = self.names.iter().take_while(|name| !name.has_glob() && !name.has_unknown()).count();
        let whole = known == self.names.len() && last == Last::Itself && !self.follows;
        let upto = if whole { known.saturating_sub(1) } else { known };
        let head = Self { names: self.names[..upto].to_vec(), follows: false };
        let real = resolve(&head.text()?)?;
        let mut names: Vec<Word> = Word::known(real).split_slashes();
        names.retain(|name| !name.is_empty());
        names.extend(self.names[upto..].iter().cloned());
        Some(Self { names, follows: self.follows })
    }

    /// Whether it may be this path or one of those a pattern in it stands for.
    pub fn may_be(&self, path: &[&str]) -> bool {
        self.names.len() == path.len()
            && self.names.iter().zip(path).all(|(name, wanted)| name.may_be(wanted))
    }

    fn may_be_below(&self, path: &[&str]) -> bool {
        self.names.len() >= path.len()
            && self.names.iter().zip(path).all(|(name, wanted)| name.may_be(wanted))
    }

    /// Whether it stands for everything in this directory: `dir/*`, `dir/.*`, `dir/**`.
    fn is_all_of(&self, path: &[&str]) -> bool {
        let Some((last, dir)) = self.names.split_last() else { return false };
        dir.len() == path.len()
            && dir.iter().zip(path).all(|(name, wanted)| name.may_be(wanted))
            && is_everything(last)
    }

    /// The last name.
    fn last(&self) -> Option<String> {
        self.names.last()?.text()
    }
}

/// Whether the last name of a path is meant itself or, if it is a link, what it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// Itself: `rm link` removes the link.
    Itself,
    /// What it leads to: `> link` writes through it.
    Followed,
}

/// Whether a name stands for all there is.
fn is_everything(name: &Word) -> bool {
    let only_wild = |piece: &Piece| match piece {
        Piece::Glob(glob) => glob.starts_with(['*', '?', '[']),
        Piece::Text(text) => text == ".",
        Piece::Unknown => false,
    };
    name.has_glob() && name.0.iter().all(only_wild)
}

/// Whether losing what the word names would be the end: the root, a system directory, a home, or all there is in one.
pub fn is_precious_tree(word: &Word, cwd: Option<&str>, sight: &Context<'_>) -> bool {
    let Some(route) = Route::of(word, cwd) else { return false };
    let real_home = sight.real_home();
    let precious = |route: &Route| {
        if route.names.is_empty() || route.is_all_of(&[]) {
            return true;
        }
        // The home of somebody else.
        if let [above, home] = route.names.as_slice()
            && (above.may_be("home") || above.may_be("Users"))
            && !home.has_unknown()
        {
            return true;
        }
        let homes = [names(sight.home), names(&real_home)];
        TREES.iter().any(|tree| route.may_be(&[tree]) || route.is_all_of(&[tree]))
            || SYSTEM.iter().chain(DEEPER).any(|tree| route.may_be(tree) || route.is_all_of(tree))
            || is_somebodys_home(route)
            || homes.iter().filter(|home| !home.is_empty()).any(|home| {
                route.is_all_of(home) || (1..=home.len()).any(|length| route.may_be(&home[..length]))
            })
    };
    precious(&route) || route.resolved(sight, Last::Itself).is_some_and(|route| precious(&route))
}

/// Whether it is the home of any user, or all there is in one.
fn is_somebodys_home(route: &Route) -> bool {
    let whole = |last: Option<&Word>| last.is_none_or(is_everything);
    match route.names.as_slice() {
        [homes, user, rest @ ..] if homes.may_be("home") || homes.may_be("Users") => {
            rest.len() < 2 && !user.has_unknown() && whole(rest.first())
        }
        _ => false,
    }
}

/// What a file is, as far as writing or reading it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A whole disk or a partition.
    RawDisk,
    /// Settings or programs of the system.
    System,
    /// What a shell runs when it starts.
    ShellStart,
    /// Logins and keys.
    Secret,
    /// Our own settings, keys and records of consent.
    Ours(Own),
}

/// What the word names, if that is anything special.
pub fn kept(word: &Word, cwd: Option<&str>, sight: &Context<'_>, last: Last) -> Option<Kept> {
    let by_name = || {
        // Even where the directory is not known the name may tell.
        let name = word.split_slashes().last()?.text()?;
        kept_by_name(&name)
    };
    let Some(route) = Route::of(word, cwd) else { return by_name() };
    kept_at(&route, sight).or_else(|| kept_at(&route.resolved(sight, last)?, sight))
}

fn kept_at(route: &Route, sight: &Context<'_>) -> Option<Kept> {
    if is_raw_disk(route) {
        return Some(Kept::RawDisk);
    }
    if route.names.is_empty() {
        return Some(Kept::System);
    }
    if let Some(own) = ours(route, sight) {
        return Some(Kept::Ours(own));
    }
    if SYSTEM.iter().any(|dir| route.may_be_below(dir)) || route.may_be(&["var", "run", "docker.sock"]) {
        return Some(Kept::System);
    }
    match personal(route, sight) {
        Some(Personal::Start | Personal::Program) => return Some(Kept::ShellStart),
        Some(Personal::Login) if !is_public_name(route) => return Some(Kept::Secret),
        _ => {}
    }
    if protected::is_repository_record(&route.names) {
        return Some(Kept::ShellStart);
    }
    if let Some(kept) = route.last().as_deref().and_then(kept_by_name) {
        return Some(kept);
    }
    (is_secret(&route.shown(), sight) || may_be_secret(route)).then_some(Kept::Secret)
}

/// Whether a path leads to logins or keys. Names of directories that anybody may use for something else count only
/// where programs keep such things.
fn is_secret(path: &str, sight: &Context<'_>) -> bool {
    const COMMON: &[&str] = &["pairing", "gcloud", "mcp-tokens"];
    const ENDS: &[&str] =
        &["/gh/hosts.yml", "/.cargo/credentials.toml", "/.cargo/credentials", "/rclone/rclone.conf"];
    if ENDS.iter().any(|end| path.ends_with(end)) {
        return true;
    }
    let kept_there = |dir: &str| !dir.is_empty() && path.starts_with(dir);
    if kept_there(sight.hermes_home) || path.contains("/.config/") {
        return crate::is_secret_path(std::path::Path::new(path));
    }
    let rest: std::path::PathBuf = path.split('/').filter(|name| !COMMON.contains(name)).collect();
    crate::is_secret_path(&rest)
}

/// Whether a pattern that begins like the name of a file with keys may stand for it.
fn may_be_secret(route: &Route) -> bool {
    const NAMES: &[&str] =
        &[".env", ".netrc", ".npmrc", ".pgpass", ".git-credentials", "id_rsa", "id_ed25519", "auth.json"];
    let Some(last) = route.names.last().filter(|name| name.has_glob()) else { return false };
    let begins = matches!(last.0.first(), Some(Piece::Text(text)) if !text.is_empty());
    begins && NAMES.iter().any(|name| last.may_be(name))
}

fn kept_by_name(name: &str) -> Option<Kept> {
    if protected::is_shell_file(name) {
        return Some(Kept::ShellStart);
    }
    crate::is_secret_path(std::path::Path::new(name)).then_some(Kept::Secret)
}

/// What of ours it is: of any profile, where this home is and where it usually is.
fn ours(route: &Route, sight: &Context<'_>) -> Option<Own> {
    let usual = format!("{}/.hermes", sight.home);
    let homes = [sight.hermes_home, if sight.home.is_empty() { "" } else { usual.as_str() }];
    homes.iter().filter(|home| !home.is_empty()).find_map(|home| ours_below(route, &names(home)))
}

fn ours_below(route: &Route, home: &[&str]) -> Option<Own> {
    if home.is_empty() {
        return None;
    }
    // The homes of profiles lie in the one that all of them share.
    let (root, active) = match home {
        [root @ .., "profiles", name] if !root.is_empty() => (root, Some(*name)),
        root => (root, None),
    };
    if route.may_be(root) || route.may_be(home) {
        return Some(Own::Home);
    }
    if !route.may_be_below(root) {
        return None;
    }
    let rest = &route.names[root.len()..];
    match rest {
        [profiles] if profiles.may_be("profiles") => Some(Own::Home),
        [profiles, owner, rest @ ..] if profiles.may_be("profiles") => {
            let other = || (!active.is_some_and(|active| owner.may_be(active))).then_some(Own::Other);
            if rest.is_empty() { Some(Own::Home) } else { protected::own(rest).or_else(other) }
        }
        rest => protected::own(rest),
    }
}

/// What of the user's login it is, in any home it could lie in.
fn personal(route: &Route, sight: &Context<'_>) -> Option<Personal> {
    let mine = names(sight.home);
    let below = |length: usize| route.names.get(length..).and_then(protected::personal);
    let in_mine = || (!mine.is_empty() && route.may_be_below(&mine)).then(|| below(mine.len())).flatten();
    let usual = || match route.names.as_slice() {
        [root, ..] if root.may_be("root") => below(1),
        [homes, ..] if homes.may_be("home") || homes.may_be("Users") => below(2),
        _ => None,
    };
    in_mine().or_else(usual)
}

/// What lies beside keys and is made to be shown.
fn is_public_name(route: &Route) -> bool {
    route.last().is_some_and(|name| name.rsplit('.').next() == Some("pub"))
}

impl protected::Name for Word {
    fn is(&self, name: &str) -> bool {
        self.may_be(name)
    }

    fn begins(&self, start: &str) -> bool {
        self.beginning().starts_with(start) || self.may_be(start)
    }
}

/// Whether it is something in `/dev` that holds data: a disk, a partition, a volume, memory.
fn is_raw_disk(route: &Route) -> bool {
    let [dev, device, ..] = route.names.as_slice() else { return false };
    if !dev.may_be("dev") || device.has_unknown() && device.beginning().is_empty() {
        return false;
    }
    let name = device.beginning();
    !DEVICES.iter().any(|known| name.starts_with(known))
}

/// Whether it is a device at all.
pub fn is_device(word: &Word, cwd: Option<&str>) -> bool {
    Route::of(word, cwd).is_some_and(|route| route.names.len() > 1 && route.names[0].may_be("dev"))
}

/// Whether it is a file of the system that only its administrator may read: passwords, keys, networks.
pub fn is_system_secret(route: &Route) -> bool {
    const FILES: &[&str] = &["shadow", "gshadow", "shadow-", "gshadow-", "sudoers"];
    const DIRS: &[&[&str]] = &[
        &["etc", "sudoers.d"],
        &["etc", "NetworkManager", "system-connections"],
        &["etc", "ssl", "private"],
        &["etc", "letsencrypt", "live"],
        &["etc", "wireguard"],
        &["run", "secrets"],
        &["var", "run", "secrets"],
    ];
    let host_key = matches!(route.names.as_slice(), [etc, ssh, key] if etc.may_be("etc") && ssh.may_be("ssh") && {
        let name = key.shown();
        name.starts_with("ssh_host_") && name.rsplit('.').next() != Some("pub")
    });
    FILES.iter().any(|file| route.may_be(&["etc", file]))
        || DIRS.iter().any(|dir| route.may_be_below(dir))
        || host_key
}

/// Whether the word is the home directory, one that holds it, or the settings of all programs in it.
pub fn holds_home(word: &Word, cwd: Option<&str>, sight: &Context<'_>) -> bool {
    let home = names(sight.home);
    let Some(route) = Route::of(word, cwd).filter(|_| !home.is_empty()) else { return false };
    let mut settings = home.clone();
    settings.push(".config");
    (0..=home.len()).any(|length| route.may_be(&home[..length])) || route.may_be(&settings)
}

/// Whether the word is the home directory itself.
pub fn is_home(word: &Word, cwd: Option<&str>, sight: &Context<'_>) -> bool {
    let home = names(sight.home);
    !home.is_empty() && Route::of(word, cwd).is_some_and(|route| route.may_be(&home))
}

/// The names of a known path.
fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".").collect()
}
