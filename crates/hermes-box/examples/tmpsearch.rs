//! tmp
#![allow(missing_docs, clippy::all, clippy::pedantic, clippy::unwrap_used, clippy::print_stdout)]
use hermes_box::proto::exec::*;
use hermes_box::server::*;
use std::process::{Command, Stdio};
use std::time::Instant;
fn main() {
    hermes_box::daemon::main_if_invoked();
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let prog = std::env::args().nth(2).unwrap();
    let mut o = AgentOptions::new(std::env::vars_os().collect(), "/tmp");
    o.shim = ShimProgram(prog.clone().into());
    let local = hermes_box::local::serve_in_process(o).unwrap();
    let mut t: [Vec<f64>; 8] = Default::default();
    for _ in 0..n {
        let mut k = 0;
        let mut m = |f: &mut dyn FnMut()| {
            let b = Instant::now();
            f();
            t[k].push(b.elapsed().as_secs_f64() * 1e3);
            k += 1;
        };
        m(&mut || {
            Command::new("/bin/true").stdin(Stdio::null()).output().unwrap();
        });
        m(&mut || {
            local.run(ExecRequest::argv(["/bin/true"])).unwrap();
        });
        m(&mut || {
            Command::new("/bin/bash").args(["-c", "true"]).stdin(Stdio::null()).output().unwrap();
        });
        m(&mut || {
            local.run(ExecRequest::argv(["/bin/bash", "-c", "true"])).unwrap();
        });
        m(&mut || {
            local.run(ExecRequest { session: None, ..ExecRequest::shell("s", "true") }).unwrap();
        });
        m(&mut || {
            local.run(ExecRequest::shell("s", "true")).unwrap();
        });
        m(&mut || {
            local.info().unwrap();
        });
        m(&mut || {
            Command::new(&prog).arg("--version").stdin(Stdio::null()).output().unwrap();
        });
    }
    for (name, mut v) in [
        "direct true",
        "box argv true",
        "direct bash",
        "box argv bash",
        "box sh nosession",
        "box sh session",
        "info",
        "shim prog --version",
    ]
    .iter()
    .zip(t)
    {
        v.sort_by(f64::total_cmp);
        println!("{name:20} median {:.3} p10 {:.3}", v[n / 2], v[n / 10]);
    }
}
