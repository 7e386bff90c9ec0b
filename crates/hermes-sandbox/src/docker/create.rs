//! Making a container: image, host, request, and one `run` that leaves nothing behind when it fails.

use std::path::Path;

use super::args::{self, Host};
use super::cleanup::{self, Removal};
use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use super::image;
use super::info;
use super::inspect::{self, State};
use super::labels;
use super::maker::{Maker, Place, Single};
use super::mounts::{Mount, Source};
use super::points;
use super::site::{self, Site};
use super::spec::{self, AgentMounts, CreateSpec, Facts, PROGRAM, PROGRAM_DIR, RUN_DIR, Writable};
use super::targets::{Absent, Access};
use super::volume;
use crate::config::Reuse;
use crate::error::SandboxError;
use crate::files;
use crate::install::our_system;
use crate::notice::Notice;
use crate::registry::Reach;

/// Makes and starts a container. [`EngineError::NameTaken`] means that somebody else was faster.
pub fn create(
    maker: &Maker<'_>,
    progress: &mut dyn FnMut(&str),
) -> Result<(Place, Vec<Notice>), SandboxError> {
    let image_name = spec::image_name(maker.config, maker.context);
    let image = image::require(maker.engine, &image_name, maker.config.container.pull_timeout, progress)?;
    let info = engine_info(maker.engine)?;
    let single = match maker.config.container.reuse {
        Reuse::AcrossProcesses => Single::No,
        Reuse::Never => Single::Yes,
    };
    let name = maker.name(single)?;
    let mut site = site::find(maker.engine, &info);
    let mut plain = info.refuses(our_system().1);
    loop {
        let agent = match site {
            Site::Here => mounted_agent(maker, &name)?,
            Site::Elsewhere { .. } if plain.is_some() => no_agent(),
            Site::Elsewhere { .. } => agent_in_volume(maker, &image_name)?,
        };
        let facts = Facts { identity: maker.identity, image: Some(&image), agent, site: site.clone() };
        let (mut spec, mut notices) = spec::build(maker.config, maker.context, &facts)?;
        spec.name.clone_from(&name);
        spec.plain.clone_from(&plain);
        notices.extend(plain.clone().map(|reason| Notice::PlainExec { reason }));
        make_sources(&spec)?;
        make_directories(&spec)?;
        match run(maker.engine, &spec, info.host(), &mut notices) {
            Ok(id) => return Ok((place(id, spec), notices)),
            // It does not see our files after all: it is in a machine of its own, or we are in a container.
            Err(error) if site == Site::Here && error.lacks_program(PROGRAM) => {
                site = Site::Elsewhere { endpoint: "an engine that does not see our files".to_owned() };
            }
            Err(error) => match error.refuses_program(PROGRAM) {
                Some(reason) if plain.is_none() => plain = Some(reason.to_owned()),
                _ => return Err(error.into()),
            },
        }
    }
}

/// How our program would get in, where it cannot run anyway.
fn no_agent() -> AgentMounts {
    AgentMounts { program: Mount::volume("", PROGRAM_DIR), program_hash: String::new(), run: None }
}

/// Makes sure that a container could be made from these settings, before a working one is given up for it: a typo or an
/// image that cannot be had must not cost what is in the old one.
pub fn rehearse(maker: &Maker<'_>, progress: &mut dyn FnMut(&str)) -> Result<(), SandboxError> {
    let image_name = spec::image_name(maker.config, maker.context);
    let image = image::require(maker.engine, &image_name, maker.config.container.pull_timeout, progress)?;
    let info = engine_info(maker.engine)?;
    let site = site::find(maker.engine, &info);
    let plain = info.refuses(our_system().1);
    let agent = match site {
        _ if plain.is_some() => no_agent(),
        Site::Here => AgentMounts {
            program: Mount::bind(maker.program.write_out(&maker.context.cache_dir)?, PROGRAM_DIR).read_only(),
            program_hash: maker.program.short_hash().to_owned(),
            run: None,
        },
        Site::Elsewhere { .. } => agent_in_volume(maker, &image_name)?,
    };
    let facts = Facts { identity: maker.identity, image: Some(&image), agent, site };
    let (mut spec, _) = spec::build(maker.config, maker.context, &facts)?;
    spec.plain = plain;
    make_sources(&spec)?;
    spec.name = format!("{}-rehearsal-{}", maker.name(Single::No)?, std::process::id());
    let run = args::rehearsal(&spec, &info.host());
    let mut request = Request::new("trying the changed settings", &spec.name, deadline::CREATE, run.args);
    request.stdin = (!run.env_file.is_empty()).then_some(run.env_file);
    request.env = run.inherited;
    match engine_answer(maker.engine, &request) {
        Ok(stdout) => {
            if let Some(id) = container_id(&stdout) {
                // Never started, so nothing is lost; the sweep removes it should this fail.
                let _ = cleanup::remove(maker.engine, &id, Removal::OnlyStopped);
            }
            Ok(())
        }
        // Both are dealt with when it is made in earnest.
        Err(EngineError::LimitUnsupported { .. }) => Ok(()),
        Err(error) if error.lacks_program(PROGRAM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn engine_answer(engine: &dyn Engine, request: &Request<'_>) -> Result<Vec<u8>, EngineError> {
    let output = engine.ask(request, None)?;
    if output.code == 0 { Ok(output.stdout) } else { Err(engine.refusal(request, &output)) }
}

fn engine_info(engine: &dyn Engine) -> Result<info::Info, EngineError> {
    match info::ask(engine) {
        // An engine that describes itself in its own way may still run containers as the others do.
        Err(EngineError::Gibberish { .. } | EngineError::Failed { .. }) => Ok(info::Info::unknown()),
        other => other,
    }
}

fn place(id: String, spec: CreateSpec) -> Place {
    Place {
        id,
        name: spec.name,
        reach: if spec.agent.run.is_some() { Reach::Socket } else { Reach::Exec },
        fields: Some(spec.fields),
        program: PROGRAM.to_owned(),
        plain: spec.plain,
    }
}

fn mounted_agent(maker: &Maker<'_>, name: &str) -> Result<AgentMounts, SandboxError> {
    let program = maker.program.write_out(&maker.context.cache_dir)?;
    let run_dir = maker.registry.run_dir(name);
    let run = maker.registry.prepare(name).map_err(SandboxError::file("make the directory", run_dir))?;
    Ok(AgentMounts {
        program: Mount::bind(program, PROGRAM_DIR).read_only(),
        program_hash: maker.program.short_hash().to_owned(),
        run: Some(Mount::bind(run, RUN_DIR)),
    })
}

fn agent_in_volume(maker: &Maker<'_>, image: &str) -> Result<AgentMounts, SandboxError> {
    let name = volume::fill(maker.engine, maker.program, image)?;
    Ok(AgentMounts {
        program: Mount::volume(name, PROGRAM_DIR).read_only(),
        program_hash: maker.program.short_hash().to_owned(),
        run: None,
    })
}

/// Makes the sources that are ours to make; the others are a reason not to go on.
fn make_sources(spec: &CreateSpec) -> Result<(), SandboxError> {
    for absent in &spec.absent {
        match absent {
            Absent::Make { path, access } => {
                let make = match access {
                    Access::Usual => files::usual_dir,
                    Access::Private => files::private_dir,
                };
                make(path).map_err(SandboxError::file("make the directory", path))?;
            }
            Absent::Refuse(error) => return Err(error.clone().into()),
        }
    }
    Ok(())
}

/// Directories the engine would otherwise make as root.
fn make_directories(spec: &CreateSpec) -> Result<(), SandboxError> {
    let Writable::Kept { home, workspace } = &spec.writable else { return Ok(()) };
    for dir in [Some(home), workspace.as_ref()].into_iter().flatten() {
        files::private_dir(dir).map_err(SandboxError::file("make the directory", dir))?;
    }
    for mount in &spec.mounts {
        if let (Source::Path(source), Some(inside)) = (&mount.source, mount.target.strip_prefix("/root/")) {
            points::prepare(home, Path::new(inside), source.is_dir());
        }
    }
    Ok(())
}

/// Runs it; a limit that turns out not to be enforceable is left out and reported.
fn run(
    engine: &dyn Engine,
    spec: &CreateSpec,
    mut host: Host,
    notices: &mut Vec<Notice>,
) -> Result<String, EngineError> {
    for (limit, _) in spec::limit_values(&spec.limits) {
        if host.unenforceable.contains(&limit) {
            let reason = "the engine's host does not support it".to_owned();
            notices.push(Notice::NotEnforced { limit, reason });
        }
    }
    loop {
        match run_once(engine, spec, &host) {
            Err(EngineError::LimitUnsupported { limit, detail }) if !host.unenforceable.contains(&limit) => {
                host.unenforceable.push(limit);
                notices.push(Notice::NotEnforced { limit, reason: detail });
            }
            other => return other,
        }
    }
}

fn run_once(engine: &dyn Engine, spec: &CreateSpec, host: &Host) -> Result<String, EngineError> {
    let run = args::run(spec, host);
    let mut request = Request::new("creating the container", &spec.name, deadline::CREATE, run.args);
    request.stdin = (!run.env_file.is_empty()).then_some(run.env_file);
    request.env = run.inherited;
    let answer = engine.ask(&request, None);
    let id = answer.as_ref().ok().and_then(|output| container_id(&output.stdout));
    let error = match answer {
        Ok(output) if output.code == 0 => match id {
            Some(id) => return Ok(id),
            None => EngineError::Gibberish {
                doing: request.doing.to_owned(),
                detail: "it printed no container id".to_owned(),
            },
        },
        Ok(output) => {
            let refusal = engine.refusal(&request, &output);
            match refusal {
                EngineError::ImageMissing { .. } => EngineError::ImageMissing { image: spec.image.clone() },
                other => other,
            }
        }
        Err(error) => error,
    };
    tidy(engine, spec, id.as_deref(), &error);
    Err(error)
}

/// The id is the last line: warnings of the engine may come before it.
fn container_id(stdout: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stdout);
    let id = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    (id.len() >= 12 && id.bytes().all(|b| b.is_ascii_hexdigit())).then(|| id.to_owned())
}

/// Takes away what a failed `run` left: by the id it printed, else what has our name and never started.
/// The name alone may already be somebody else's working container.
fn tidy(engine: &dyn Engine, spec: &CreateSpec, id: Option<&str>, error: &EngineError) {
    if matches!(error, EngineError::NameTaken { .. }) {
        return;
    }
    let corpse = match id {
        Some(id) => Some(id.to_owned()),
        None => inspect::look_at(engine, &spec.name)
            .ok()
            .flatten()
            .filter(|seen| seen.state == State::Created)
            .filter(|seen| seen.label(labels::FINGERPRINT) == Some(spec.fields.fingerprint().as_str()))
            .map(|seen| seen.id),
    };
    if let Some(id) = corpse {
        // What is not removed now is removed by the next start, which finds it under our name.
        let _ = cleanup::remove(engine, &id, Removal::OnlyStopped);
    }
}
