//! How the box program is called.

/// The socket's name in the agent's run directory.
pub const SOCKET_NAME: &str = "box.sock";

/// Arguments that make it serve on a socket.
pub fn serve(socket: &str) -> Vec<String> {
    ["serve", "--socket", socket].map(str::to_owned).to_vec()
}
