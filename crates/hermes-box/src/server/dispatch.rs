//! From a call to whoever answers it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Agent;
use super::call::CallContext;
use crate::proto::call::Call;
use crate::proto::fault::Fault;
use crate::proto::wire::Wire;

/// Performs a call; its answer, encoded.
pub(crate) fn perform(agent: &Arc<Agent>, context: &Arc<CallContext>, call: Call) -> Result<Vec<u8>, Fault> {
    match call {
        Call::Info => Ok(agent.info().to_bytes()),
        Call::Shutdown => {
            agent.shut_down();
            Ok(().to_bytes())
        }
        Call::Exec(request) => {
            agent.enlist(context)?;
            let _busy = agent.activity.begin();
            agent.activity.commands.fetch_add(1, Ordering::SeqCst);
            agent.exec(context, &request).map(|exit| exit.to_bytes())
        }
        Call::Session(name) => agent.session_info(&name).map(|info| info.to_bytes()),
        Call::SessionForget(name) => agent.sessions.forget(&name).map(|()| ().to_bytes()),
        Call::EndLeftRunning(id) => {
            agent.left.end(Some(id), agent.options.grace);
            Ok(().to_bytes())
        }
        _ => Err(Fault::Invalid("not known here".into())),
    }
}
