//! How the box program is called.

/// The socket's name in the agent's run directory.
pub const SOCKET_NAME: &str = "box.sock";

/// Arguments that make it serve on a socket.
pub fn serve(socket: &str) -> Vec<String> {
    ["serve", "--socket", socket].map(str::to_owned).to_vec()
}

/// Arguments that make it a bridge between its own input and output and a socket.
pub fn connect(socket: &str) -> Vec<String> {
    ["connect", "--socket", socket].map(str::to_owned).to_vec()
}

/// The same for an agent that is started if it does not run.
pub fn connect_and_start(name: &str) -> Vec<String> {
    ["connect", "--start", name].map(str::to_owned).to_vec()
}
