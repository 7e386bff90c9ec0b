//! Streams of any bytes: no panic, one end, and the same events however the bytes are cut.

#![no_main]

use hermes_model::{Event, Wire};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (which, size, bytes) = input;
    let wire = [Wire::Chat, Wire::Messages, Wire::Responses][usize::from(which) % 3];
    let whole = events(wire, std::iter::once(bytes));
    let cut = events(wire, bytes.chunks(usize::from(size).max(1)));
    assert_eq!(whole, cut);
    let ends = |event: &&Event| matches!(event, Event::Finished(_) | Event::ProviderError(_));
    assert_eq!(whole.iter().filter(ends).count(), 1);
    let _ = wire.decode_whole(bytes);
});

fn events<'a>(wire: Wire, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = wire.decoder();
    let mut events: Vec<Event> = pieces.flat_map(|piece| decoder.push(piece)).collect();
    events.extend(decoder.finish());
    events
}
