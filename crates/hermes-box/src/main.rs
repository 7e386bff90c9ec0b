//! The program `hermes-box`.

fn main() {
    hermes_box::shim::main_if_invoked();
}
