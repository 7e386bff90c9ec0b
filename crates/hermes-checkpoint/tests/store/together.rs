//! Several programs at one store.

use std::fs;

use hermes_checkpoint::{Limits, Place, Taken};

use crate::support::{Bench, checkpoints};

#[test]
fn two_programs_lose_nothing_of_each_other() {
    let bench = Bench::with(Limits { snapshots: 100, ..Limits::default() });
    let (base, work) = (bench.base.clone(), bench.work.clone());
    let worker = |name: &'static str| {
        let (base, work) = (base.clone(), work.clone());
        std::thread::spawn(move || {
            let checkpoints = checkpoints(&base, Limits { snapshots: 100, ..Limits::default() });
            let mut made = Vec::new();
            for turn in 0..8 {
                fs::write(work.join(name), turn.to_string()).unwrap();
                if let Taken::Made(id) = checkpoints.take(&Place::host(&work), name).unwrap() {
                    made.push(id.to_string());
                }
            }
            made
        })
    };
    let mut made = Vec::new();
    for thread in [worker("a"), worker("b")] {
        made.extend(thread.join().unwrap());
    }
    let listed: Vec<String> =
        bench.checkpoints.list(&bench.place.key).unwrap().into_iter().map(|snapshot| snapshot.hash).collect();
    assert_eq!(listed.len(), made.len());
    assert!(made.iter().all(|id| listed.contains(id)));
    bench.git(&["fsck", "--strict"]);
}

#[test]
fn two_programs_make_one_store() {
    let bench = Bench::new();
    bench.write("a", "1");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (base, work) = (bench.base.clone(), bench.work.clone());
            std::thread::spawn(move || {
                checkpoints(&base, Limits::default()).take(&Place::host(&work), "x").unwrap()
            })
        })
        .collect();
    let made: Vec<Taken> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(made.iter().filter(|taken| matches!(taken, Taken::Made(_))).count(), 1, "{made:?}");
    assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 1);
}
