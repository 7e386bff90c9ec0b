//! Any text as a shell command: it is read or refused, never with a panic; what is printed can be read again.
#![no_main]

use hermes_guard::shell::{Variables, parse, print, sites, trace, tree};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(script) = parse(text) else { return };
    tree(&script);
    for site in sites(&script) {
        assert!(site.command.span.end <= text.len());
        assert!(text.is_char_boundary(site.command.span.start) && text.is_char_boundary(site.command.span.end));
    }
    trace(&script, &mut Variables::new(), &mut |site, variables| {
        for word in &site.simple().words {
            variables.resolve(word);
        }
        site.input(variables);
    });
    let printed = print(&script);
    let again = parse(&printed);
    assert!(again.is_ok(), "{printed:?}: {again:?}");
});
