//! What one request costs the simulated disk, when a store writes one record a batch as a durable admission does.

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use groundhog_engine::host::disk::{DiskAnswer, DiskPath, DiskRequest, FileHandle};
use groundhog_sim::plan::DiskProfile;
use groundhog_sim::world::disk::{Disk, DiskConfig};
use std::hint::black_box;

/// Records in the store, each rewritten in turn.
const RECORDS: usize = 2_000;

/// The requests that write one record: create, write, flush, rename, directory flush.
const REQUESTS: u64 = 5;

fn apply(disk: &mut Disk, request: &DiskRequest) -> Option<FileHandle> {
    match disk.apply(request, None).expect("nothing is in its way") {
        DiskAnswer::File(file) => Some(file),
        _ => None,
    }
}

/// One record written durably, as a batch of one.
fn write(disk: &mut Disk, directory: &DiskPath, temporary: &DiskPath, name: &DiskPath, bytes: &Bytes) {
    let create = DiskRequest::Create { path: temporary.clone() };
    let file = apply(disk, &create).expect("a handle");
    apply(disk, &DiskRequest::Write { file, offset: 0, bytes: bytes.clone() });
    apply(disk, &DiskRequest::Flush { file });
    disk.close(file);
    apply(disk, &DiskRequest::Rename { from: temporary.clone(), to: name.clone() });
    apply(disk, &DiskRequest::FlushDirectory { path: directory.clone() });
}

fn disk_requests(criterion: &mut Criterion) {
    let directory = DiskPath::new("data/transaction-replay");
    let names: Vec<DiskPath> = (0..RECORDS).map(|record| directory.join(&format!("{record:040x}"))).collect();
    let temporaries: Vec<DiskPath> =
        names.iter().map(|name| directory.join(&format!("{}.tmp", name.name()))).collect();
    let bytes = Bytes::from(vec![7; 1_300]);
    let mut group = criterion.benchmark_group("disk");
    for profile in [DiskProfile::Strict, DiskProfile::Ordered] {
        let directories = vec![DiskPath::new("data"), directory.clone()];
        let mut disk = Disk::new(DiskConfig { profile, capacity_bytes: None, directories, tag: |_| Some(1) });
        group.throughput(Throughput::Elements(RECORDS as u64 * REQUESTS));
        group.bench_function(format!("requests {profile:?}"), |bencher| {
            bencher.iter(|| {
                for (temporary, name) in temporaries.iter().zip(&names) {
                    write(&mut disk, &directory, temporary, name, &bytes);
                }
            });
        });
        group.throughput(Throughput::Elements(RECORDS as u64));
        group.bench_function(format!("certain {profile:?}"), |bencher| {
            bencher.iter(|| names.iter().for_each(|name| drop(black_box(disk.certain(name.as_str())))));
        });
    }
    group.finish();
}

criterion_group!(benches, disk_requests);
criterion_main!(benches);
