//! A net below the table of starters: whatever a program is, words in it that are themselves one of the worst commands are
//! judged as such. Programs that only show, search or keep their words are free.

use super::starters::starter;
use super::{Flow, Trouble, Walk};
use crate::command::call::{Call, Via};
use crate::command::other::LANGUAGES;
use crate::command::rules::{self, Severity};
use crate::command::word::Word;

/// How many words of one command are tried as the beginning of another, and how many as a text of one.
const MOST_TRIES: usize = 8;

/// Programs that begin the worst commands, or run what follows.
const WORST: &str = "\
    rm grm srm rimraf shred dd mkfs find mv kill killall5 wipefs blkdiscard sudo doas env sh bash dash \
    zsh ksh ash busybox xargs eval timeout nohup chroot";

/// Programs that switch the machine off; words of other programs are often called the same.
const POWER: &str = "\
    shutdown reboot halt poweroff systemctl init telinit";

/// Programs that only show, compare, search or keep their words.
const SPEAKERS: &str = "\
    echo printf read test [ [[ : true false export declare typeset local readonly alias unalias unset \
    set shift type hash help history fc let expr return exit trap shopt getopts source . which whereis \
    whatis man info apropos tldr cheat grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk nawk jq \
    yq tr cut cat tee head tail wc sort uniq diff comm fold column less more strings ls touch mkdir stat \
    file basename dirname realpath readlink bat look git gh glab hg svn jj hub mail mailx mutt \
    notify-send logger wall write say espeak figlet toilet cowsay banner zenity whiptail dialog xmessage \
    gum curl wget http https xh slack telegram-send pbcopy xclip xsel wl-copy llm claude aider codex \
    hermes hermes-agent tmux screen pgrep pkill killall pidof crontab find gfind rm cp mv ln chmod chown \
    dd";

/// Programs whose texts are no commands: names of tests, statements, code that is read elsewhere.
const OTHER_TEXTS: &str = "\
    cargo go pytest jest vitest npm pnpm yarn python python3 ipython py pip pip3 gem apt apt-get \
    apt-cache dpkg dnf yum pacman apk brew snap rpm sqlite3 psql mysql mariadb mongosh redis-cli duckdb \
    vim vi nvim emacs nano ed ex osascript bash sh dash zsh ksh mksh ash fish nu csh tcsh rbash ssh sg \
    at batch bind socat expect pwsh";

/// Options whose values are words for people, whatever the program.
const SPOKEN: &str = "\
    -m --message --title --body --description --comment --text --subject --query --grep --pattern \
    --regexp --name --label --notes --prompt --data --reason --summary --content --input";

impl Walk<'_> {
    /// Tries the words of a program: each one that may begin another of the worst, and each text that may be one.
    pub(super) fn try_words(&mut self, call: &Call) {
        let Some(name) = call.name() else { return };
        let written = call.words.first().and_then(Word::text).unwrap_or_default();
        if self.trying || listed(SPEAKERS, &name) || self.state.functions.contains_key(&written) {
            return;
        }
        self.trying = true;
        self.try_tails(call, &name);
        if !is_read(&name) {
            self.try_texts(call, &name);
        }
        self.trying = false;
    }

    /// `cross-tool --opt rm -rf /`: the words from any one on.
    fn try_tails(&mut self, call: &Call, name: &str) {
        // Behind `sudo echo` stand words for people again.
        let speaks =
            |word: &Word| word.text().is_some_and(|text| listed(SPEAKERS, &text) && !may_begin_with(&text));
        let end = call.args().iter().position(speaks).map_or(call.words.len(), |at| at + 1);
        let places: Vec<usize> =
            (1..end).filter(|at| may_begin(&call.words[*at..])).take(MOST_TRIES).collect();
        let via =
            if matches!(name, "docker" | "podman" | "nerdctl" | "kubectl") { Via::Remote } else { call.via };
        for at in places {
            let words = call.words[at..].to_vec();
            self.spend(words.iter().map(Word::weight).sum());
            let kept = self.attempt(|walk| walk.start(call, words, via));
            self.look.calls.extend(kept);
        }
    }

    /// `tool --exec 'rm -rf /'`: a text of several words.
    fn try_texts(&mut self, call: &Call, name: &str) {
        let mut texts: Vec<String> = Vec::new();
        let mut spoken = false;
        for word in call.args() {
            let Some(text) = word.text().filter(|text| text.len() <= crate::shell::MAX_LENGTH) else {
                continue;
            };
            let (option, value) = match text.split_once('=') {
                Some((option, value)) if option.starts_with('-') || name == "make" => {
                    (option.to_owned(), value.to_owned())
                }
                _ => (text.clone(), text.clone()),
            };
            if !spoken && !listed(SPOKEN, &option) && value.trim().contains([' ', '\t', '\n']) {
                texts.push(value);
            }
            spoken = listed(SPOKEN, &text);
        }
        texts.retain(|text| WORST.split(' ').chain(POWER.split(' ')).any(|name| text.contains(name)));
        for text in texts.into_iter().take(MOST_TRIES) {
            let found = self.attempt(|walk| walk.line_apart(&text, &Flow::default()));
            if !found.is_empty() {
                let part = if call.part.is_empty() { call.shown() } else { call.part.clone() };
                self.look.troubles.push(Trouble::Hands { part, text });
            }
        }
    }

    /// Walks through something that may be run, and gives what in it nobody could allow.
    fn attempt(&mut self, walk: impl FnOnce(&mut Self)) -> Vec<Call> {
        let state = self.save();
        let (calls, troubles) = (self.look.calls.len(), self.look.troubles.len());
        walk(self);
        self.state = state;
        // Only too much work counts: that words which may be none are nested deep says nothing.
        self.look.troubles.truncate(troubles);
        let mut found = self.look.calls.split_off(calls);
        found.retain(|call| self.is_worst(call));
        found
    }

    /// Whether nobody could allow a program.
    pub(super) fn is_worst(&self, call: &Call) -> bool {
        rules::all().any(|rule| rule.severity == Severity::Hardline && (rule.hits)(call, self.sight))
    }
}

/// Whether the texts of a program are read where it is known what they are.
fn is_read(name: &str) -> bool {
    listed(OTHER_TEXTS, name)
        || starter(name).is_some()
        || LANGUAGES.iter().any(|language| language.names.contains(&name))
}

/// Whether words begin like one of the worst commands.
fn may_begin(words: &[Word]) -> bool {
    let Some(first) = words.first() else { return false };
    let call = Call { words: vec![first.clone()], ..Call::default() };
    let Some(name) = call.name() else { return false };
    if may_begin_with(&name) {
        return words.len() > 1;
    }
    // A verb of another program is no program: it says itself what it is.
    let path = first.beginning().contains('/');
    let now = words
        .get(1)
        .and_then(Word::text)
        .is_some_and(|next| next == "now" || next != "--" && next.starts_with(['-', '+']));
    listed(POWER, &name) && (path || now && name != "systemctl" && name != "init")
}

fn may_begin_with(name: &str) -> bool {
    listed(WORST, name) || name.starts_with("mkfs.")
}

/// Whether a name stands in a list with blanks between the names.
fn listed(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|listed| listed == name)
}
