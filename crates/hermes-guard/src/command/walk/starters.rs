//! Programs that start other programs, as a table: their options, and where the other one stands.

use super::options::Spec;
use crate::command::call::Via;

/// A program that runs another one.
pub(super) struct Starter {
    pub(super) names: &'static [&'static str],
    /// Words that must come first, one of each list: `run` in `uv run x`. An empty list stands for any word.
    pub(super) verbs: &'static [&'static [&'static str]],
    pub(super) spec: Spec,
    /// How many words come before the program: the time of `timeout 5 x`.
    pub(super) operands: usize,
    /// Options whose value is a command line.
    pub(super) code: &'static [&'static str],
    /// Options after which the program begins at once: `xterm -e x`.
    pub(super) ends: &'static [&'static str],
    pub(super) rest: Rest,
    pub(super) via: Via,
}

/// What the words after the options are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// A program with its arguments.
    Program,
    /// The same; without any a shell is started.
    ProgramOrShell,
    /// The same, behind `--` where there is one.
    BehindDashes,
    /// Put together, a command line.
    Line,
    /// Each of them a command line.
    Lines,
    /// Nothing that is run; options may stand among them.
    Nothing,
}

const fn of(names: &'static [&'static str], short: &'static str, long: &'static str) -> Starter {
    let spec = Spec { short, long };
    Starter {
        names,
        verbs: &[],
        spec,
        operands: 0,
        code: &[],
        ends: &[],
        rest: Rest::Program,
        via: Via::Line,
    }
}

impl Starter {
    const fn after(mut self, verbs: &'static [&'static [&'static str]]) -> Self {
        self.verbs = verbs;
        self
    }

    const fn operands(mut self, count: usize) -> Self {
        self.operands = count;
        self
    }

    const fn code(mut self, options: &'static [&'static str]) -> Self {
        self.code = options;
        self
    }

    const fn ends(mut self, options: &'static [&'static str]) -> Self {
        self.ends = options;
        self
    }

    const fn rest(mut self, rest: Rest) -> Self {
        self.rest = rest;
        self
    }

    const fn via(mut self, via: Via) -> Self {
        self.via = via;
        self
    }
}

const RUN: &[&[&str]] = &[&["run"]];
const EXEC: &[&[&str]] = &[&["exec"]];
const COMMAND: &[&str] = &["-c", "--command", "--session-command"];

pub(super) const STARTERS: &[Starter] = &[
    // Other rights.
    of(
        &["sudo"],
        "u:g:h:p:C:D:R:T:U:r:t:c:a:",
        "user= group= host= prompt= close-from= chdir= chroot= command-timeout= other-user= role= type= login shell stdin \
         set-home preserve-env? non-interactive background edit",
    ),
    of(&["doas"], "u:C:a:", ""),
    of(&["pkexec"], "", "user= disable-internal-agent keep-cwd"),
    of(&["gosu", "su-exec", "setuidgid", "s6-setuidgid"], "", "").operands(1),
    of(&["chpst"], "u:U:b:e:/:n:l:L:m:d:o:p:f:c:t:r:", ""),
    of(
        &["su", "ksu"],
        "c:g:G:s:w:C:",
        "command= session-command= group= supp-group= shell= whitelist-environment= login fast pty",
    )
    .code(COMMAND)
    .rest(Rest::Nothing),
    of(
        &["runuser"],
        "u:g:G:s:c:w:",
        "user= group= supp-group= shell= command= session-command= whitelist-environment= login",
    )
    .code(COMMAND),
    of(
        &["setpriv"],
        "",
        "ruid= euid= reuid= rgid= egid= regid= groups= inh-caps= ambient-caps= bounding-set= securebits= pdeathsig= \
         selinux-label= apparmor-profile= landlock-access= landlock-rule= seccomp-filter= ptracer= no-new-privs",
    ),
    of(&["newgrp"], "", "").operands(1).rest(Rest::ProgramOrShell),
    // Other surroundings.
    of(
        &["env"],
        "u:C:S:P:a:",
        "unset= chdir= split-string= argv0= ignore-environment null debug block-signal? default-signal? ignore-signal?",
    ),
    of(&["cross-env"], "", ""),
    of(&["cross-env-shell"], "", "").rest(Rest::Line),
    of(&["nice"], "n:", "adjustment="),
    of(&["ionice"], "c:n:p:P:u:", "class= classdata= pid= pgid= uid= ignore"),
    of(&["prlimit"], "p:o:", "pid= output="),
    of(&["choom"], "n:p:", "adjust= pid="),
    of(&["numactl"], "N:C:m:p:i:P:w:", "cpunodebind= physcpubind= membind= preferred= interleave= weighted-interleave="),
    of(&["chrt"], "T:P:D:", "sched-runtime= sched-period= sched-deadline=").operands(1),
    of(&["taskset"], "", "").operands(1),
    of(&["cgexec"], "g:", ""),
    of(&["trickle"], "d:u:w:t:l:n:p:", ""),
    of(&["cpulimit"], "l:p:e:c:P:", "limit= pid= exe= path= cpu="),
    of(&["faketime"], "f:m:p:", "").operands(1),
    of(&["setarch"], "", "").rest(Rest::ProgramOrShell),
    of(&["linux32", "linux64", "i386", "x86_64", "uname26"], "", "").rest(Rest::ProgramOrShell),
    of(&["chroot"], "", "userspec= groups= skip-chdir").operands(1).rest(Rest::ProgramOrShell),
    of(
        &["unshare"],
        "S:G:R:w:l:m::u::i::n::p::U::C::T::",
        "mount? uts? ipc? net? pid? user? cgroup? time? setuid= setgid= root= wd= map-user= map-group= map-users= \
         map-groups= propagation= setgroups= kill-child? mount-proc? monotonic= boottime= load-interp= fork map-root-user",
    )
    .rest(Rest::ProgramOrShell),
    of(
        &["nsenter"],
        "t:S:G:W:r::w::m::u::i::n::p::C::U::T::",
        "target= setuid= setgid= wdns= root? wd? mount? uts? ipc? net? pid? cgroup? user? time? all",
    )
    .rest(Rest::ProgramOrShell),
    of(
        &["bwrap"],
        "",
        "bind== ro-bind== dev-bind== bind-try== ro-bind-try== dev-bind-try== symlink== setenv== chmod== file== bind-data== \
         ro-bind-data== dev= proc= tmpfs= mqueue= dir= chdir= unsetenv= uid= gid= hostname= lock-file= sync-fd= info-fd= \
         json-status-fd= block-fd= userns-block-fd= userns= userns2= pidns= exec-label= file-label= seccomp= \
         add-seccomp-fd= cap-add= cap-drop= size= perms= args= argv0= remount-ro=",
    ),
    of(&["proot"], "r:b:w:m:q:k:R:S:i:", ""),
    of(&["firejail"], "", ""),
    of(&["capsh"], "", ""),
    of(&["ip"], "n:", "netns=").after(&[&["netns"], &["exec"], &[]]),
    of(&["lxc", "incus"], "", "env= cwd= user= group= mode=").after(&[&["exec"], &[]]).rest(Rest::BehindDashes).via(Via::Remote),
    of(&["machinectl"], "E:M:H:", "setenv= machine= host= uid=").after(&[&["shell"], &[]]).via(Via::Remote),
    // Beside something else.
    of(&["timeout", "gtimeout"], "s:k:", "signal= kill-after= foreground preserve-status verbose").operands(1),
    of(&["time", "gtime"], "o:f:", "output= format= append portability quiet verbose"),
    of(&["stdbuf", "gstdbuf"], "i:o:e:", "input= output= error="),
    of(
        &[
            "nohup", "setsid", "builtin", "busybox", "toybox", "unbuffer", "winpty", "catchsegv", "dbus-launch", "chronic",
            "ts", "eatmydata", "run-one", "nocache", "valgrind", "pasuspender", "watchexec",
        ],
        "",
        "",
    ),
    of(&["fakeroot"], "l:s:i:b:", "lib= faked="),
    of(&["caffeinate"], "t:w:", ""),
    of(&["rlwrap"], "b:C:D:f:F:g:H:l:M:O:P:q:s:S:t:w:z:a::m::p::", ""),
    of(&["dbus-run-session"], "", "config-file= dbus-daemon="),
    of(&["tini"], "p:e:", ""),
    of(&["dumb-init"], "r:", "rewrite="),
    of(&["proxychains", "proxychains4"], "f:", ""),
    of(&["torsocks", "torify"], "u:p:a:P:", "user= pass= address= port="),
    of(&["daemonize"], "a:c:e:E:l:o:p:u:", ""),
    of(&["sshpass"], "p:f:d:P:", ""),
    of(&["ssh-agent"], "a:t:E:O:P:", ""),
    of(&["command"], "", ""),
    of(&["exec"], "a:", ""),
    of(
        &["strace"],
        "o:e:p:s:E:u:a:b:I:O:P:S:U:X:K:",
        "output= trace= expr= attach= user= username= env= columns= string-limit= trace-path= signal= status= summary-sort-by= \
         abbrev= verbose= raw= read= write= fault= inject= const-print-style= interruptible= detach-on= follow-forks",
    ),
    of(&["ltrace"], "o:e:p:s:u:a:A:D:F:l:n:w:x:", "output= library= where= indent="),
    of(&["xvfb-run"], "n:s:e:f:p:w:", "server-num= server-args= error-file= auth-file= xauth-protocol= wait="),
    of(
        &["systemd-run"],
        "E:M:H:p:u:",
        "unit= property= description= slice= uid= gid= nice= working-directory= setenv= on-active= on-boot= on-startup= \
         on-unit-active= on-unit-inactive= on-calendar= timer-property= path-property= socket-property= host= machine= \
         service-type= background= job-mode= user scope pty pipe wait collect",
    ),
    of(&["systemd-inhibit"], "", "what= who= why= mode="),
    of(&["systemd-cat"], "t:p:", "identifier= priority= stderr-priority= level-prefix= namespace="),
    of(&["flock"], "w:E:c:", "wait= timeout= conflict-exit-code= command= exclusive shared unlock nonblock close no-fork")
        .operands(1)
        .code(COMMAND),
    of(&["entr"], "s:", "").code(&["-s"]),
    of(&["dtach", "abduco"], "n:c:A:N:r:e:", ""),
    of(
        &["ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1"],
        "",
        "library-path= argv0= preload= audit= inhibit-rpath= glibc-hwcaps-prepend= glibc-hwcaps-mask=",
    ),
    of(&["perf"], "e:o:p:t:C:F:c:u:D:G:I:r:x:", "event= output= pid= tid= cpu= freq= count= uid= delay= repeat= interval-print=")
        .after(&[&["record", "stat", "trace"]]),
    of(&["xterm", "uxterm", "rxvt", "urxvt", "alacritty", "konsole", "st", "foot", "terminator", "kitty", "wezterm"], "", "")
        .ends(&["-e"])
        .rest(Rest::Nothing),
    of(&["gnome-terminal", "xfce4-terminal", "mate-terminal", "tilix"], "e:x:", "command= title= working-directory=")
        .code(&["-e", "--command"])
        .ends(&["-x"])
        .rest(Rest::BehindDashes),
    // Once for each of many things.
    of(
        &["xargs", "gxargs"],
        "I:n:P:d:a:L:s:E:J:R:S:i::e::l::",
        "replace? eof? max-lines? max-args= max-procs= delimiter= arg-file= max-chars= process-slot-var= null \
         no-run-if-empty interactive verbose exit show-limits open-tty",
    )
    .via(Via::Many),
    of(
        &["parallel"],
        "j:P:a:N:n:S:I:L:E:d:C:s:W:D:",
        "jobs= max-procs= arg-file= delay= timeout= sshlogin= joblog= results= colsep= delimiter= tmpdir= retries= max-args= \
         max-replace-args= workdir= env= memfree= load= nice= replace? keep-order bar progress dry-run will-cite",
    )
    .via(Via::Many),
    // Command lines.
    of(&["watch", "gwatch"], "n:q:s:d::", "interval= equexit= shotsdir= differences? beep color chgexit errexit exec no-title precise")
        .rest(Rest::Line),
    of(&["eval"], "", "").rest(Rest::Line),
    of(
        &["script"],
        "c:E:B:I:O:T:m:o:t::",
        "command= echo= log-in= log-out= log-io= log-timing= output-limit= logging-format= timing? append flush quiet return",
    )
    .code(COMMAND)
    .rest(Rest::Nothing),
    of(&["nix-shell"], "A:I:", "run= command= arg== argstr== attr=").code(&["--run", "--command"]).rest(Rest::Nothing),
    of(&["hyperfine"], "w:m:M:r:p:s:c:S:n:u:L:P:", "warmup= min-runs= max-runs= runs= prepare= setup= cleanup= conclude= shell= \
         command-name= parameter-list== export-json= export-csv= export-markdown= style= reference= time-unit=")
        .code(&["-p", "-s", "-c", "--prepare", "--setup", "--cleanup", "--conclude", "--reference"])
        .rest(Rest::Lines),
    of(&["concurrently"], "n:c:s:l:m:p:t:", "names= prefix-colors= success= prefix= max-processes= restart-tries=").rest(Rest::Lines),
    of(&["nodemon"], "x:w:e:i:d:C:", "exec= watch= ext= ignore= delay= config=").code(&["-x", "--exec"]).rest(Rest::Nothing),
    of(&["mapfile", "readarray"], "d:n:O:s:u:C:c:", "").code(&["-C"]).rest(Rest::Nothing),
    of(&["complete", "compgen"], "C:F:o:A:G:W:P:S:X:", "").code(&["-C"]).rest(Rest::Nothing),
    of(&["fzf", "sk"], "q:f:d:n:m::", "preview= query= filter= delimiter= nth= with-nth= height= header= prompt= bind= expect=")
        .code(&["--preview"])
        .rest(Rest::Nothing),
    of(&["ansible"], "a:m:i:u:f:l:e:t:M:B:P:c:T:", "args= module-name= inventory= user= forks= limit= extra-vars=")
        .code(&["-a", "--args"])
        .rest(Rest::Nothing)
        .via(Via::Remote),
    of(&["vagrant"], "c:", "command=").after(&[&["ssh"]]).code(COMMAND).rest(Rest::Nothing).via(Via::Remote),
    of(&["gcloud"], "", "command= project= zone=").after(&[&["compute"], &["ssh"]]).code(COMMAND).rest(Rest::Nothing).via(Via::Remote),
    of(&["adb"], "s:t:H:P:L:", "").after(&[&["shell"]]).rest(Rest::Line).via(Via::Remote),
    of(&["pdsh"], "w:x:l:t:u:f:R:", "").rest(Rest::Line).via(Via::Remote),
    // Programs of a project.
    of(
        &["uv"],
        "p:w:",
        "with= with-requirements= with-editable= python= directory= project= extra= group= env-file= index-url= index= \
         default-index= cache-dir= config-file= package= only-group= no-group= link-mode= resolution= prerelease= color=",
    )
    .after(RUN),
    of(&["poetry"], "C:P:", "directory= project=").after(RUN),
    of(&["pdm"], "p:c:", "project= config=").after(RUN),
    of(&["hatch"], "e:p:", "env= project=").after(RUN),
    of(&["pipenv", "op", "dotenv", "dotenvx", "foreman", "rye"], "f:e:p:d:", "env-file= file= env= port= procfile=").after(RUN).rest(Rest::BehindDashes),
    of(&["pixi"], "e:", "environment= manifest-path=").after(RUN),
    of(&["doppler"], "p:c:t:", "project= config= token= command=").after(RUN).code(&["--command"]).rest(Rest::BehindDashes),
    of(&["conda", "mamba", "micromamba"], "n:p:", "name= prefix= cwd= no-capture-output live-stream").after(RUN),
    of(&["bundle", "rbenv", "pyenv", "nodenv", "asdf"], "", "gemfile=").after(EXEC),
    of(&["npm"], "c:w:p:C:", "call= workspace= package= prefix=").after(&[&["exec", "x"]]).code(&["-c", "--call"]),
    of(&["npx", "pnpx", "bunx"], "c:p:w:", "call= package= workspace=").code(&["-c", "--call"]),
    of(&["pnpm"], "C:F:c", "dir= filter= package=").after(&[&["exec", "dlx"]]),
    of(&["yarn"], "p:", "package= cwd=").after(&[&["exec", "dlx"]]),
    of(&["mise"], "C:c:j:", "cd= command= jobs=").after(&[&["exec", "x"]]).code(&["-c", "--command"]).rest(Rest::BehindDashes),
    of(&["aws-vault"], "d:t:", "duration= mfa-token= region=").after(&[&["exec"], &[]]).rest(Rest::BehindDashes),
    of(&["direnv"], "", "").after(&[&["exec"], &[]]),
    of(&["nix"], "f:I:i:", "arg== argstr== file= override-input== option== set-env-var==").after(&[&["develop", "shell", "run"]]).ends(&["-c", "--command"]).rest(Rest::Nothing),
];

/// The row for a program.
pub(super) fn starter(name: &str) -> Option<&'static Starter> {
    STARTERS.iter().find(|starter| starter.names.contains(&name))
}
