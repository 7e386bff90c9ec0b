//! Containers that another program made (`sleep infinity`): our agent is brought in and started by `exec`.

use super::cli::{Engine, Request, deadline};
use super::errors::EngineError;
use super::inspect::Observed;
use super::maker::Place;
use crate::agent_command;
use crate::host::call::Output;
use crate::install::{self, Survey};
use crate::program::Program;
use crate::registry::Reach;

/// Where a guest keeps logs and long output.
const DIRECTORY: &str = "/var/lib/hermes-box";

/// Makes sure our program is in it and its agent runs.
pub fn prepare(engine: &dyn Engine, program: Program, seen: &Observed) -> Result<Place, EngineError> {
    let place = |program: String, plain: Option<String>| Place {
        id: seen.id.clone(),
        name: seen.name.clone(),
        fields: None,
        program,
        plain,
        reach: Reach::Exec,
    };
    let path = match install(engine, program, seen)? {
        Installed::At(path) => path,
        Installed::Nowhere(reason) => return Ok(place(String::new(), Some(reason))),
    };
    let mut args = vec!["exec".to_owned(), "-d".to_owned(), seen.id.clone(), path.clone()];
    args.extend(agent_command::guest(DIRECTORY));
    // Where one runs already, the second leaves at once.
    engine.demand(&Request::new("starting the agent", &seen.name, deadline::CHANGE, args))?;
    Ok(place(path, None))
}

/// Where our program is in it.
enum Installed {
    At(String),
    /// It cannot run there, for this reason.
    Nowhere(String),
}

fn install(engine: &dyn Engine, program: Program, seen: &Observed) -> Result<Installed, EngineError> {
    let output = sh(engine, seen, "looking around", install::survey_script(program), None)?;
    let survey = install::read_survey(&text(&output)).ok_or_else(|| cannot("it has no working shell"))?;
    if let Some(path) = survey.program {
        return Ok(Installed::At(path));
    }
    let (system, machine) = install::our_system();
    if (survey.system.as_str(), survey.machine.as_str()) != (system, machine) {
        let Survey { system, machine: theirs, .. } = survey;
        let reason = format!("it is a {system} {theirs} system, and the program we bring is for {machine}");
        return Ok(Installed::Nowhere(reason));
    }
    let bytes = Some(program.bytes().to_vec());
    let output = sh(engine, seen, "copying the box program", install::upload_script(program), bytes)?;
    Ok(install::read_upload(&text(&output)).map_or_else(Installed::Nowhere, Installed::At))
}

fn sh(
    engine: &dyn Engine,
    seen: &Observed,
    doing: &str,
    script: String,
    stdin: Option<Vec<u8>>,
) -> Result<Output, EngineError> {
    let args =
        ["exec".to_owned(), "-i".to_owned(), seen.id.clone(), "sh".to_owned(), "-c".to_owned(), script];
    let mut request = Request::new(doing, &seen.name, deadline::COPY, args);
    request.stdin = stdin;
    let output = engine.ask(&request, None)?;
    // The scripts say in their output what went wrong; only an engine that could not run them says nothing.
    if output.code != 0 && !text(&output).contains('=') {
        return Err(engine.refusal(&request, &output));
    }
    Ok(output)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn cannot(reason: &str) -> EngineError {
    EngineError::CannotStart {
        detail: format!("our agent cannot run in a container of another program: {reason}"),
    }
}
