//! The program `hermes-box`; everything is in the library.

fn main() {
    hermes_box::shim::main_if_invoked();
    std::process::exit(hermes_box::daemon::main(std::env::args_os().skip(1)));
}
