//! The network alone: one frame handed over and taken out again, at 10, 100 and 1,000 nodes.
//!
//! A message here is one send and one delivery, with the driver's heap between them and no fingerprint, no task and no law.
//! Nodes stand on a ring with eight links each, so that links grow with nodes and not with their square.

use bytes::Bytes;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use groundhog_engine::streams::key::Class;
use groundhog_sim::plan::{FrameName, LinkPlan};
use groundhog_sim::units::{NodeId, SimTime};
use groundhog_sim::world::network::{Connection, Delivery, FrameHandle, Network, Outgoing, Sent};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

const MESSAGES: u64 = 10_000;
const REACH: u16 = 4;

fn links(nodes: u16) -> Vec<LinkPlan> {
    let link = |a: u16, b: u16| LinkPlan {
        a: NodeId(a.min(b)),
        b: NodeId(a.max(b)),
        latency_us: 20_000,
        jitter_us: 10_000,
        bandwidth_bytes_per_s: 12_500_000,
        channels: 4,
        ordered: true,
        loss_per_mille: 1,
        duplicate_per_mille: 1,
    };
    (0..nodes).flat_map(|a| (1..=REACH).map(move |by| link(a, (a + by) % nodes))).collect()
}

struct World {
    network: Network,
    connections: Vec<(NodeId, Connection)>,
    heap: BinaryHeap<Reverse<(SimTime, u64, FrameHandle)>>,
    now: SimTime,
    sent: u64,
}

fn world(nodes: u16) -> World {
    let mut network = Network::new(1, usize::from(nodes), &links(nodes)).expect("the links can be");
    for id in 0..nodes {
        network.ready(NodeId(id));
    }
    let neighbours = |id: u16| (1..=REACH).map(move |by| (NodeId(id), NodeId((id + by) % nodes)));
    let connections = (0..nodes)
        .flat_map(neighbours)
        .map(|(from, to)| (from, network.connection(from, to).expect("every node is ready")));
    let connections = connections.collect();
    World { network, connections, heap: BinaryHeap::new(), now: SimTime(0), sent: 0 }
}

impl World {
    fn outgoing(&self, sequence: u64, bytes: &Bytes) -> Outgoing {
        let (from, connection) = self.connections[(sequence as usize * 7) % self.connections.len()];
        let class = Class::ALL[(sequence % 4) as usize];
        let name = FrameName { origin: from, destination: connection.peer, class, sequence, copy: 0 };
        Outgoing {
            from,
            to: connection.peer,
            class,
            channel: class as u8,
            generation: connection.generation,
            message: None,
            name,
            replay: None,
            tag: Default::default(),
            bytes: bytes.clone(),
        }
    }
}

/// Sends `MESSAGES` and takes what is due in between: simulated time moves so that a few thousand are in flight.
fn pass(world: &mut World, bytes: &Bytes) -> u64 {
    let mut delivered = 0;
    for _ in 0..MESSAGES {
        world.now = world.now.plus_ns(10_000);
        let outgoing = world.outgoing(world.sent, bytes);
        world.sent += 1;
        if let Sent::InFlight { number, scheduled, .. } = world.network.send(world.now, outgoing) {
            world.heap.push(Reverse((scheduled.deliver_at, number.0, scheduled.handle)));
        }
        while let Some(Reverse((at, _, _))) = world.heap.peek()
            && *at <= world.now
        {
            let Some(Reverse((at, number, handle))) = world.heap.pop() else { break };
            match world.network.deliver(at, handle) {
                Delivery::Delivered { frame, again, .. } => {
                    black_box(&frame);
                    delivered += 1;
                    if let Some(again) = again {
                        world.heap.push(Reverse((again.deliver_at, number, again.handle)));
                    }
                }
                Delivery::Postponed(later) => world.heap.push(Reverse((later, number, handle))),
                Delivery::Held | Delivery::Lost { .. } | Delivery::Gone => {}
            }
        }
    }
    delivered
}

fn network(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("network");
    group.throughput(Throughput::Elements(MESSAGES));
    let bytes = Bytes::from_static(&[0; 256]);
    for nodes in [10u16, 100, 1_000] {
        let mut world = world(nodes);
        pass(&mut world, &bytes);
        group.bench_function(BenchmarkId::new("send and deliver", nodes), |bencher| {
            bencher.iter(|| black_box(pass(&mut world, &bytes)));
        });
    }
    // What a single hand-over costs, without heap and delivery.
    group.throughput(Throughput::Elements(MESSAGES));
    group.bench_function("send alone, 100 nodes", |bencher| {
        bencher.iter_batched_ref(
            || world(100),
            |world| {
                for sequence in 0..MESSAGES {
                    let outgoing = world.outgoing(sequence, &bytes);
                    black_box(world.network.send(SimTime(sequence), outgoing));
                }
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, network);
criterion_main!(benches);
