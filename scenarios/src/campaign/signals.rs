//! Signals that ask the command to end: Ctrl-C, the SIGTERM of a timeout or of a machine that goes down, and the SIGHUP of
//! a terminal that is gone.
//!
//! Promise: each of them is counted from the moment at which [`count`] returns, so that the command says what it found and
//! how to go on, whoever ends it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Signals so close to each other are one request: `timeout` sends its signal to the process, and at once to the group that
/// the process is in.
const ONE_REQUEST: Duration = Duration::from_millis(200);

/// Counts requests to end from now on, on a thread of its own that never ends.
///
/// # Errors
/// When the system gives no thread or no signal handler.
pub fn count(requests: Arc<AtomicU8>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::listen()?
    };
    let listen = move || {
        runtime.block_on(async {
            let mut last: Option<Instant> = None;
            while signals.next().await {
                let now = Instant::now();
                if is_another(last, now) {
                    requests.fetch_add(1, Ordering::Relaxed);
                }
                last = Some(now);
            }
        });
    };
    std::thread::Builder::new().name("groundhog-signals".to_owned()).spawn(listen)?;
    Ok(())
}

/// Whether a signal that comes now is another request than the last one.
fn is_another(last: Option<Instant>, now: Instant) -> bool {
    last.is_none_or(|last| now.saturating_duration_since(last) > ONE_REQUEST)
}

/// The signals that are listened to.
#[cfg(unix)]
struct Signals(Vec<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        let status = std::fs::read_to_string("/proc/self/status").ok();
        kinds.extend(hears_hang_up(status.as_deref()).then(SignalKind::hangup));
        kinds.into_iter().map(signal).collect::<io::Result<_>>().map(Self)
    }

    /// Waits for the next one; `false` when there will be none.
    async fn next(&mut self) -> bool {
        std::future::poll_fn(|task| {
            let mut over = true;
            for signal in &mut self.0 {
                match signal.poll_recv(task) {
                    std::task::Poll::Ready(Some(())) => return std::task::Poll::Ready(true),
                    std::task::Poll::Ready(None) => {}
                    std::task::Poll::Pending => over = false,
                }
            }
            if over { std::task::Poll::Ready(false) } else { std::task::Poll::Pending }
        })
        .await
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}

/// Whether the loss of its terminal ends this process, from what the system says of it. Under `nohup` it does not, and who
/// listens would undo that; where the system does not say, the signal is left as it is.
#[cfg(unix)]
fn hears_hang_up(status: Option<&str>) -> bool {
    let ignored = status.and_then(|status| status.lines().find_map(|line| line.strip_prefix("SigIgn:")));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is signal 1, which is bit 0.
    ignored.is_some_and(|mask| mask & 1 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_follow_at_once_are_one_request() {
        let now = Instant::now();
        assert!(is_another(None, now));
        assert!(!is_another(Some(now), now + Duration::from_millis(3)));
        assert!(is_another(Some(now), now + Duration::from_secs(1)));
        assert!(
            !is_another(Some(now + Duration::from_secs(1)), now),
            "clocks of threads may differ a little"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_lost_terminal_is_heard_of_unless_somebody_said_to_ignore_it() {
        for (status, hears) in [
            (Some("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001000\nSigCgt:\t0\n"), true),
            (Some("SigIgn:\t0000000000000001\n"), false),
            (Some("SigIgn:\t0000000000001001\n"), false),
            (Some("SigIgn:\tno number\n"), false),
            (Some(""), false),
            (None, false),
        ] {
            assert_eq!(hears_hang_up(status), hears, "{status:?}");
        }
    }
}
