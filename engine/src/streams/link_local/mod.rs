//! Link-local transactions: those whose replay protection is their application's (seed 000, Persistence and bounds).
//!
//! Promise: whether a transaction is link-local follows from its envelope and its connection alone, and no application is
//! asked. A connection has one volatile window, which is never written and ends with the connection. Whatever is not
//! link-local, a relayed copy included, keeps its stream's durable window; so one transaction may pass once through each,
//! and a namespace that delegates its replay must act on a payload at most once by a key of its own. [`ReferenceNamespace`]
//! does.

mod reference_namespace;
#[cfg(test)]
mod tests;

pub use reference_namespace::{Epoch, NotActed, ReferenceNamespace, ReferenceSender};

use super::key::{Class, StreamKey};
use super::message::MessageKind;
use super::quota::MessageLimit;
use super::window::{Digest, Verdict, Window, WindowUndo, observe};
use crate::flaws::{Flaw, Flaws};
use crate::identity::Did;
use crate::units::Sequence;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a namespace takes upon itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delegates {
    /// To act on each payload at most once, over connections, generations, envelopes and restarts.
    pub replay: bool,
    /// To bound how many messages it takes.
    pub message_limit: bool,
}

/// Why a namespace cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamespaceError {
    /// The name does not fit.
    #[error("a namespace's name has 1 to 255 bytes, and {name:?} has {}", name.len())]
    Name {
        /// The name.
        name: String,
    },
    /// It was declared before.
    #[error("the namespace {name:?} is declared twice")]
    Twice {
        /// The name.
        name: String,
    },
}

/// A part of application traffic, told by how its data begins: kind, length of the name, name. The length makes sure that
/// no namespace begins like another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    prefix: Vec<u8>,
    delegates: Delegates,
}

impl Namespace {
    /// A namespace of this name.
    ///
    /// # Errors
    /// [`NamespaceError::Name`].
    pub fn new(name: &str, delegates: Delegates) -> Result<Self, NamespaceError> {
        let length = u8::try_from(name.len()).ok().filter(|length| *length > 0);
        let length = length.ok_or_else(|| NamespaceError::Name { name: name.to_owned() })?;
        let mut prefix = vec![MessageKind::Custom as u8, length];
        prefix.extend_from_slice(name.as_bytes());
        Ok(Self { prefix, delegates })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        String::from_utf8_lossy(&self.prefix[2..]).into_owned()
    }

    /// How the data of its transactions begins.
    #[must_use]
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }
}

/// The namespaces that were declared before anything arrived.
#[derive(Clone, Debug, Default)]
pub struct Namespaces(Vec<Namespace>);

impl Namespaces {
    /// One namespace more.
    ///
    /// # Errors
    /// [`NamespaceError::Twice`].
    pub fn declare(&mut self, namespace: Namespace) -> Result<(), NamespaceError> {
        if self.0.iter().any(|declared| declared.prefix == namespace.prefix) {
            return Err(NamespaceError::Twice { name: namespace.name() });
        }
        self.0.push(namespace);
        Ok(())
    }

    /// How a transaction of `stream` with this data is admitted when it came over `link`; `None` for what came over no
    /// authenticated connection: out of a relay inbox, say, or over one that is gone.
    #[must_use]
    pub fn treatment<'a>(
        &self,
        stream: &StreamKey,
        data: &[u8],
        link: Option<&'a Link>,
        flaws: Flaws,
    ) -> Treatment<'a> {
        if flaws.has(Flaw::VolatileWindowForUndeclared) && stream.class == Class::Application {
            let link_local = link.filter(|link| link.peer == stream.origin);
            return Treatment { link_local, limit: MessageLimit::Enforced };
        }
        let any_link = flaws.has(Flaw::VolatileWindowForRelayedCopies);
        // A namespace's prefix begins with a kind of class application, and so speaks for the class too.
        let declared = || self.0.iter().find(|namespace| data.starts_with(&namespace.prefix));
        let own = link.filter(|link| link.peer == stream.origin || any_link);
        let Some((link, namespace)) = own.and_then(|link| Some((link, declared()?))) else {
            return Treatment { link_local: None, limit: MessageLimit::Enforced };
        };
        Treatment {
            link_local: namespace.delegates.replay.then_some(link),
            limit: match namespace.delegates.message_limit {
                true => MessageLimit::Delegated,
                false => MessageLimit::Enforced,
            },
        }
    }
}

/// How one transaction is admitted.
#[derive(Clone, Copy, Debug)]
pub struct Treatment<'a> {
    /// The connection whose volatile window judges it; `None` where its stream's durable window does.
    pub link_local: Option<&'a Link>,
    /// Whether it needs a message token.
    pub limit: MessageLimit,
}

/// One generation of an authenticated connection, with its volatile window. Its origin, destination and class are fixed, so
/// it has at most one. The window ends with this value, which must not outlive the connection.
#[derive(Debug)]
pub struct Link {
    peer: Did,
    window: LinkWindow,
}

impl Link {
    /// A connection whose handshake has shown that `peer` is at the other end.
    #[must_use]
    pub fn authenticated(peer: Did) -> Self {
        Self { peer, window: LinkWindow::default() }
    }

    /// Who is at the other end.
    #[must_use]
    pub const fn peer(&self) -> Did {
        self.peer
    }

    /// Judges one link-local transaction, and accepts it where the verdict dispatches; then the second value takes it back.
    pub fn observe(&self, sequence: Sequence, digest: &Digest) -> (Verdict, Option<LinkUndo>) {
        let (verdict, undo) = observe(&mut self.window.locked(), sequence, digest);
        let accepted = verdict.kind().dispatches();
        (verdict, accepted.then(|| LinkUndo { window: self.window.clone(), undo }))
    }

    /// Whether any link-local transaction was accepted on this connection.
    #[must_use]
    pub fn has_window(&self) -> bool {
        self.window.locked().is_some()
    }
}

/// Shared with what takes an acceptance back, which may come after the connection has ended and then changes nothing that
/// anybody sees.
#[derive(Clone, Debug, Default)]
struct LinkWindow(Arc<Mutex<Option<Window>>>);

impl LinkWindow {
    /// No panic can happen while this lock is held.
    fn locked(&self) -> MutexGuard<'_, Option<Window>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes one acceptance by a link's window back; those after it must be taken back first.
#[must_use = "an acceptance whose transaction is refused is taken back"]
#[derive(Debug)]
pub struct LinkUndo {
    window: LinkWindow,
    /// `None` where the window began with it.
    undo: Option<WindowUndo>,
}

impl LinkUndo {
    /// The window is as it was.
    pub fn undo(self) {
        let mut window = self.window.locked();
        match (self.undo, &mut *window) {
            (Some(undo), Some(window)) => window.undo(&undo),
            (None, window) => *window = None,
            (Some(_), None) => {}
        }
    }
}
