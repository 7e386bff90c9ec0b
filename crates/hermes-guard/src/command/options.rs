//! Options as programs read them: short ones written together (`-fsSLo x`), values glued on (`-ox`, `--output=x`) or in
//! the next word. Which options take a value is data, a line for each program.

use super::call::Call;
use super::word::Word;

/// How a program spells its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dash {
    /// Letters after one dash are options of their own.
    Letters,
    /// A word after one dash is one option: `-out x`.
    Words,
}

/// The options of some programs that take a value.
struct Shape {
    programs: &'static [&'static str],
    dash: Dash,
    /// Letters.
    short: &'static str,
    /// Words, without dashes.
    long: &'static str,
}

const fn letters(programs: &'static [&'static str], short: &'static str, long: &'static str) -> Shape {
    Shape { programs, dash: Dash::Letters, short, long }
}

const fn words(programs: &'static [&'static str], long: &'static str) -> Shape {
    Shape { programs, dash: Dash::Words, short: "", long }
}

/// What is known of programs. One that is not listed takes no values.
const SHAPES: &[Shape] = &[
    letters(
        &["curl"],
        "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        "output output-dir upload-file data data-ascii data-binary data-raw data-urlencode json form form-string \
         header user user-agent request cookie cookie-jar config cert key cacert capath proxy max-time connect-timeout \
         url referer retry retry-delay retry-max-time resolve connect-to write-out dump-header trace trace-ascii \
         stderr range limit-rate interface netrc-file unix-socket pass cert-type key-type pinnedpubkey etag-save \
         etag-compare hsts alt-svc proxy-user oauth2-bearer aws-sigv4 time-cond ciphers dns-servers libcurl",
    ),
    letters(
        &["wget"],
        "oaetOTwQPUilDABRXIS",
        "output-document output-file append-output directory-prefix post-file post-data body-file body-data method \
         header user password input-file tries timeout wait user-agent referer save-cookies load-cookies \
         ca-certificate certificate private-key execute limit-rate level reject accept domains exclude-domains \
         config warc-file",
    ),
    letters(
        &["http", "https", "xh"],
        "oahAps",
        "output auth auth-type session print style verify cert cert-key proxy timeout",
    ),
    words(
        &["aws"],
        "profile region output query endpoint-url cli-read-timeout cli-connect-timeout ca-bundle color",
    ),
    letters(
        &["kubectl", "oc", "k"],
        "nofslcLpk",
        "namespace context cluster user as as-group kubeconfig server token output filename selector container \
         field-selector template request-timeout certificate-authority client-certificate client-key replicas \
         cache-dir profile tls-server-name timeout grace-period sort-by",
    ),
    letters(
        &["gh", "glab"],
        "RXHfFbtBLqpa",
        "repo method header field raw-field hostname body title base limit jq template input",
    ),
    letters(
        &["docker", "podman", "nerdctl"],
        "HcleuvpwmhfaL",
        "host context config log-level env env-file user volume mount publish workdir name network net entrypoint memory \
         hostname cap-add cap-drop device pid ipc userns uts security-opt label platform restart cpus gpus ulimit add-host \
         dns tmpfs volumes-from link shm-size file project-name profile project-directory pull cgroupns runtime group-add \
         cidfile env-host log-driver log-opt filter format tag build-arg target",
    ),
    letters(
        &["systemctl", "loginctl", "journalctl"],
        "HMtpnoPsCSU",
        "host machine type state property lines output message when signal kill-whom kill-who kill-value root image \
         job-mode what preset-mode timestamp boot-loader-menu boot-loader-entry reboot-argument check-inhibitors \
         drop-in",
    ),
    letters(&["init", "telinit"], "te", ""),
    letters(&["heroku"], "ar", "app remote"),
    words(&["vault"], "address namespace ca-cert ca-path client-cert client-key format field mount"),
    letters(&["op"], "", "account config format session vault fields"),
    letters(&["helm"], "nf", "namespace kube-context kubeconfig values set timeout version"),
    letters(&["install"], "mgotS", "mode group owner target-directory suffix strip-program"),
    letters(&["cp", "mv", "ln"], "tS", "target-directory suffix"),
    letters(
        &["rsync"],
        "efMBT",
        "rsh rsync-path filter exclude include exclude-from include-from files-from backup-dir suffix \
         temp-dir compare-dest copy-dest link-dest log-file out-format partial-dir bwlimit timeout port chmod chown info",
    ),
    letters(&["scp", "sftp"], "cDFiJloPSXbBR", ""),
    letters(
        &["mysql", "mariadb"],
        "ehuPDSp",
        "execute host user port database socket password pager init-command default-character-set tee protocol \
         delimiter ssl-ca ssl-cert ssl-key defaults-file defaults-extra-file",
    ),
    letters(
        &["psql"],
        "cdfhopUvFRTLP",
        "command dbname file host output port username set variable field-separator record-separator log-file pset \
         table-attr",
    ),
    words(
        &["sqlite3", "sqlite", "duckdb"],
        "cmd init separator newline nullvalue mmap lookaside maxsize vfs c s f",
    ),
    letters(
        &["clickhouse-client", "clickhouse"],
        "hudqm",
        "host user database query port password format queries-file",
    ),
    letters(
        &["redis-cli", "valkey-cli"],
        "hpsanurixXDd",
        "user pass pattern host port eval pipe-timeout cacert cert key",
    ),
    words(&["mongosh", "mongo"], "eval host port username password authenticationDatabase file u p f"),
    letters(
        &["tar", "bsdtar"],
        "fCTXbgHIKLNVF",
        "file directory files-from exclude-from checkpoint-action to-command use-compress-program info-script \
         new-volume-script rmt-command rsh-command transform exclude owner group mode mtime strip-components \
         one-top-level tape-length level listed-incremental index-file xform warning format",
    ),
    letters(
        &["sort"],
        "oktST",
        "output key field-separator buffer-size temporary-directory compress-program files0-from parallel",
    ),
    letters(&["split"], "abClnt", "bytes lines line-bytes number filter suffix-length additional-suffix"),
    letters(&["zip"], "bntiTTx", "unzip-command temp-path"),
    letters(
        &["man"],
        "PHLmMSspreCRTE",
        "pager html sections manpath locale systems preprocessor prompt encoding",
    ),
    letters(&["git"], "CcO", "git-dir work-tree namespace config-env exec-path super-prefix attr-source"),
    letters(
        &["pkill", "pgrep", "skill"],
        "sgGPtuUFHr",
        "signal pgroup group parent session terminal euid uid pidfile ns nslist runstates older env cgroup",
    ),
    letters(&["killall"], "suoyZ", "signal user older-than younger-than context"),
    letters(&["chmod", "chown", "chgrp"], "", "reference from"),
    letters(&["setfacl"], "mxMXbk", "modify remove modify-file remove-file set set-file restore"),
    letters(&["parted"], "a", "align"),
    letters(&["mkfs", "mke2fs", "mkswap", "newfs"], "bCdDeEfgGiIJlLmMNoOrTtUpz", "label type uuid"),
    letters(&["qemu-img"], "fOotSlBFrTcm", "object image-opts output"),
    letters(
        &["gawk", "awk", "mawk", "nawk"],
        "fvFeEilo",
        "file assign field-separator source exec include load",
    ),
    letters(&["sed", "gsed"], "efl", "expression file line-length"),
    letters(&["go"], "opC", "toolexec vettool"),
];

impl Shape {
    fn of(name: &str) -> Option<&'static Self> {
        let family = if name.starts_with("mkfs.") { "mkfs" } else { name };
        SHAPES.iter().find(|shape| shape.programs.contains(&family))
    }

    /// The whole name of a long option, if it takes a value. It may be cut short, as long as two letters are left.
    fn long_name(&self, given: &str) -> Option<&'static str> {
        let mut names = self.long.split_whitespace();
        let fits = |name: &&str| {
            *name == given || self.dash == Dash::Letters && given.len() > 1 && name.starts_with(given)
        };
        self.long.split_whitespace().find(|name| *name == given).or_else(|| names.find(fits))
    }
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name with dashes: `-o`, `--output`.
    pub name: String,
    /// Its value.
    pub value: Option<Word>,
}

/// The arguments of a program, told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The options in order.
    pub given: Vec<Given>,
    /// What is no option and no option's value.
    pub operands: Vec<Word>,
}

impl Options {
    /// Reads the arguments of a call.
    pub fn of(call: &Call) -> Self {
        Self::until(call, usize::MAX)
    }

    /// Reads the arguments up to the operand with this number; what follows it is another program's.
    pub fn until(call: &Call, last: usize) -> Self {
        let shape = call.name().and_then(|name| Shape::of(&name));
        let mut options = Self::default();
        let mut rest = call.args();
        while let Some((word, after)) = rest.split_first() {
            let text = word.beginning();
            if options.operands.len() >= last || text == "--" && !word.has_unknown() {
                options
                    .operands
                    .extend((if options.operands.len() >= last { rest } else { after }).iter().cloned());
                break;
            }
            rest = after;
            if text.len() < 2 || !text.starts_with('-') {
                options.operands.push(word.clone());
            } else if text.starts_with("--") || shape.is_some_and(|shape| shape.dash == Dash::Words) {
                rest = options.long(word, &text, after, shape);
            } else {
                rest = options.cluster(word, &text, after, shape);
            }
        }
        options
    }

    /// `--output x`, `--output=x`, `--outp x`, `-output x`
    fn long<'w>(&mut self, word: &Word, text: &str, after: &'w [Word], shape: Option<&Shape>) -> &'w [Word] {
        let bare = text.trim_start_matches('-');
        if let Some((name, _)) = bare.split_once('=') {
            let dashes = &text[..text.len() - bare.len()];
            let value = word.without_prefix(&format!("{dashes}{name}="));
            let name = shape.and_then(|shape| shape.long_name(name)).unwrap_or(name);
            self.given.push(Given { name: format!("--{name}"), value });
            return after;
        }
        let Some(name) = shape.and_then(|shape| shape.long_name(bare)) else {
            self.given.push(Given { name: format!("--{bare}"), value: None });
            return after;
        };
        self.given.push(Given { name: format!("--{name}"), value: after.first().cloned() });
        after.get(1..).unwrap_or_default()
    }

    /// `-rf`, `-ofile`, `-fsSLo file`
    fn cluster<'w>(
        &mut self,
        word: &Word,
        text: &str,
        after: &'w [Word],
        shape: Option<&Shape>,
    ) -> &'w [Word] {
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            if !shape.is_some_and(|shape| shape.short.contains(letter)) {
                self.given.push(Given { name, value: None });
                continue;
            }
            let end = at + letter.len_utf8();
            let glued = word.without_prefix(&text[..end]).filter(|rest| !rest.is_empty());
            let taken = glued.is_none();
            self.given.push(Given { name, value: glued.or_else(|| after.first().cloned()) });
            return if taken { after.get(1..).unwrap_or_default() } else { after };
        }
        after
    }

    /// Whether one of these options is given.
    pub fn has(&self, names: &[&str]) -> bool {
        self.given.iter().any(|given| names.contains(&given.name.as_str()))
    }

    /// The values of these options, in order.
    pub fn values<'o>(&'o self, names: &'o [&str]) -> impl Iterator<Item = &'o Word> {
        self.given
            .iter()
            .filter(|given| names.contains(&given.name.as_str()))
            .filter_map(|given| given.value.as_ref())
    }

    /// The known texts of the operands; one that is not known ends them.
    pub fn verbs(&self) -> Vec<String> {
        self.operands.iter().map_while(Word::text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Options {
        Options::of(&Call { words: line.split(' ').map(Word::known).collect(), ..Call::default() })
    }

    fn shown(words: &[Word]) -> Vec<String> {
        words.iter().map(Word::shown).collect()
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        for line in
            ["curl -fsSLo f u", "curl -of u", "curl --output f u", "curl --output=f u", "curl --outp f u"]
        {
            let options = read(line);
            let values: Vec<String> = options.values(&["-o", "--output"]).map(Word::shown).collect();
            assert_eq!(values, ["f"], "{line}");
            assert_eq!(shown(&options.operands), ["u"], "{line}");
        }
    }

    #[test]
    fn verbs_are_found_behind_values() {
        assert_eq!(read("aws --profile p s3 rm x").verbs(), ["s3", "rm", "x"]);
        assert_eq!(read("kubectl -n x get secret y -oyaml").verbs(), ["get", "secret", "y"]);
        assert_eq!(read("systemctl -H host reboot").verbs(), ["reboot"]);
        assert_eq!(read("unknown -x y z").verbs(), ["y", "z"]);
        assert_eq!(read("rm -- -x").verbs(), ["-x"]);
    }

    #[test]
    fn another_programs_words_are_left_alone() {
        let call = Call {
            words: "docker run -itv /:/h alpine ls -v x".split(' ').map(Word::known).collect(),
            ..Call::default()
        };
        let options = Options::until(&call, 2);
        assert_eq!(shown(&options.operands), ["run", "alpine", "ls", "-v", "x"]);
        assert_eq!(options.values(&["-v"]).map(Word::shown).collect::<Vec<_>>(), ["/:/h"]);
    }
}
