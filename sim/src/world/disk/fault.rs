//! What can be done to one operation so that it fails, or lies, or damages what it writes.
//!
//! Promise: a fault strikes exactly one operation. That an operation is slow or stuck is a matter of time, and a
//! write-back is asked for by itself: those belong to the caller.

use groundhog_engine::host::disk::DiskRequest;

/// A fault of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpFault {
    /// Anything but a flush fails with an input/output error and has no effect.
    Error,
    /// No space left: a create or a rename fails without effect, a write too, and a file flush fails as in
    /// [`OpFault::FailedFlush`].
    NoSpace,
    /// A file flush fails. The error goes once to each handle then open; the pages turn clean, so that their unflushed
    /// bytes may be lost although later flushes succeed; reads still give the new bytes.
    FailedFlush,
    /// A directory flush fails. The name changes so far turn clean: no later flush writes them.
    FailedDirectoryFlush {
        /// The file system turns read-only until the next life.
        read_only: bool,
    },
    /// A file flush or a directory flush reports success and makes nothing durable. A later truthful one does.
    LyingFlush,
    /// One sector of a write cannot be read once it has left the page cache, until it is written again.
    BadSector {
        /// Which of the sectors that the write touches, modulo their number.
        sector: u32,
    },
    /// One bit of a write is flipped on its way to the disk.
    FlippedBit {
        /// Which of the written bits, modulo their number.
        bit: u64,
    },
}

impl OpFault {
    /// Whether this fault can strike this operation.
    #[must_use]
    pub const fn strikes(self, request: &DiskRequest) -> bool {
        use DiskRequest as R;
        match self {
            OpFault::Error => !matches!(request, R::Flush { .. } | R::FlushDirectory { .. }),
            OpFault::NoSpace => {
                matches!(
                    request,
                    R::Create { .. }
                        | R::CreateDirectory { .. }
                        | R::Write { .. }
                        | R::Flush { .. }
                        | R::Rename { .. }
                )
            }
            OpFault::FailedFlush => matches!(request, R::Flush { .. }),
            OpFault::FailedDirectoryFlush { .. } => matches!(request, R::FlushDirectory { .. }),
            OpFault::LyingFlush => matches!(request, R::Flush { .. } | R::FlushDirectory { .. }),
            OpFault::BadSector { .. } | OpFault::FlippedBit { .. } => matches!(request, R::Write { .. }),
        }
    }
}
