//! What two runs of one plan do not share, in words.
//!
//! Promise: of an event both sides are told, and time, node and task, each once where the two sides agree; lines fit the
//! width.

use crate::campaign::check::Difference;
use crate::print::text::wrapped;
use groundhog_reports::count;
use groundhog_sim::figures::Unlike;
use groundhog_sim::ledger::compare::{Divergence, RecordedEvent};
use groundhog_sim::ledger::timeline::without_time_and_place;

/// Columns of a label, its indent included.
const LABEL: usize = 11;

/// What differs, and the text below it: labelled lines of at most `width` columns. `whose` names the plan.
pub fn words(difference: &Difference, whose: &str, width: usize) -> (&'static str, String) {
    let mut lines = Lines { text: String::new(), width };
    match difference {
        Difference::Event(divergence) => {
            lines.text.push_str(&format!("{whose}, at event {}", count(divergence.index)));
            lines.event(divergence);
            ("not deterministic", lines.text)
        }
        Difference::Figure(Unlike { name, left, right }) => {
            let nothing = || "nothing".to_owned();
            lines.text.push_str(&format!("{whose}: equal events, unlike figures"));
            lines.item("figure", name);
            lines.item("here", &left.clone().unwrap_or_else(nothing));
            lines.item("there", &right.clone().unwrap_or_else(nothing));
            ("defect of the ledger", lines.text)
        }
        Difference::NowAndThen { among, pairs } => {
            lines.text.push_str(&format!("{whose}, now and then"));
            let among = format!("events {} to {}", count(among.start), count(among.end.saturating_sub(1)));
            lines.item("first", &format!("{among} hold the first that differed in two runs"));
            lines.item("then", &format!("{pairs} pairs of runs, compared event by event, were equal"));
            ("not deterministic", lines.text)
        }
        Difference::Failed { there } => {
            lines.text.push_str(&format!("{whose}, only one run has an outcome"));
            lines.item("here", "an outcome");
            lines.item("there", there);
            ("not deterministic", lines.text)
        }
    }
}

struct Lines {
    text: String,
    width: usize,
}

impl Lines {
    fn item(&mut self, label: &str, words: &str) {
        let words = wrapped(words, self.width, LABEL);
        self.text.push_str(&format!("\n  {label:<width$}{words}", width = LABEL - 2));
    }

    /// What both sides have in common is said once.
    fn both(&mut self, label: &str, here: Option<String>, there: Option<String>) {
        match (here, there) {
            (Some(here), Some(there)) if here != there => {
                self.item(label, &format!("{here} (here)"));
                self.item("", &format!("{there} (there)"));
            }
            (Some(one), _) | (None, Some(one)) => self.item(label, &one),
            (None, None) => {}
        }
    }

    fn event(&mut self, Divergence { left, right, .. }: &Divergence) {
        let sides = [left.as_ref(), right.as_ref()];
        let both = |say: fn(&RecordedEvent) -> String| sides.map(|side| side.map(say));
        for (label, say) in [("time", time as fn(&RecordedEvent) -> String), ("node", node), ("task", task)] {
            let [here, there] = both(say);
            self.both(label, here, there);
        }
        let [here, there] = both(|event| without_time_and_place(&event.line).to_owned());
        let over = || "nothing: the run was over".to_owned();
        let alike = here == there;
        self.item("here", &here.unwrap_or_else(over));
        self.item("there", &there.unwrap_or_else(over));
        if let (true, Some(left), Some(right)) = (alike, left, right) {
            let same =
                left.encoded.iter().zip(&right.encoded).take_while(|(left, right)| left == right).count();
            let byte = |event: &RecordedEvent| {
                event.encoded.get(same).map_or_else(|| "none".to_owned(), |byte| format!("{byte:02x}"))
            };
            let (here, there) = (byte(left), byte(right));
            self.item("bytes", &format!("the first unlike one is byte {same}: {here} here, {there} there"));
        }
    }
}

/// To the nanosecond: less would hide where two runs part.
fn time(event: &RecordedEvent) -> String {
    format!("{}.{:09} s", event.at.0 / 1_000_000_000, event.at.0 % 1_000_000_000)
}

fn node(event: &RecordedEvent) -> String {
    match (event.node, event.life) {
        (Some(node), Some(life)) => format!("{}, life {}", node.0, life.0),
        (Some(node), None) => node.0.to_string(),
        (None, _) => "none".to_owned(),
    }
}

fn task(event: &RecordedEvent) -> String {
    event.task.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_sim::units::{Life, NodeId, SimTime};

    fn event(at: u64, text: &str, encoded: &[u8]) -> RecordedEvent {
        RecordedEvent {
            index: 2_314,
            at: SimTime(at),
            node: Some(NodeId(3)),
            life: Some(Life(1)),
            task: "sender of application".to_owned(),
            encoded: encoded.to_vec(),
            line: format!("{:>4}.{:06} s n3.1    {text}", at / 1_000_000_000, at / 1_000 % 1_000_000),
        }
    }

    fn of(left: Option<RecordedEvent>, right: Option<RecordedEvent>) -> String {
        let divergence = Divergence { index: 2_314, left, right };
        let (what, text) = words(&Difference::Event(Box::new(divergence)), "crash-mid-batch seed 7", 80);
        assert_eq!(what, "not deterministic");
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80), "{text}");
        text
    }

    #[test]
    fn an_event_is_told_with_what_both_sides_share_said_once() {
        let (one, other) =
            (event(412_345_678, "send  one", &[1, 2]), event(412_345_678, "send  other", &[1, 3]));
        assert_eq!(
            of(Some(one.clone()), Some(other)),
            "crash-mid-batch seed 7, at event 2,314\n  time     0.412345678 s\n  node     3, life 1\n  \
             task     sender of application\n  here     send one\n  there    send other"
        );
        let mut later = event(500_000_000, "send  one", &[1, 3]);
        later.task = "reader of control from node 2".to_owned();
        assert_eq!(
            of(Some(one.clone()), Some(later)),
            "crash-mid-batch seed 7, at event 2,314\n  time     0.412345678 s (here)\n           0.500000000 s (there)\n  \
             node     3, life 1\n  task     sender of application (here)\n           \
             reader of control from node 2 (there)\n  here     send one\n  there    send one\n  \
             bytes    the first unlike one is byte 1: 02 here, 03 there"
        );
        assert!(of(Some(one.clone()), None).ends_with("send one\n  there    nothing: the run was over"));
        assert!(of(None, Some(one)).contains("\n  here     nothing: the run was over\n"));
    }

    #[test]
    fn a_figure_is_named_with_both_values_and_is_a_defect_of_the_ledger() {
        let unlike = Unlike { name: "messages intended".to_owned(), left: Some("3".to_owned()), right: None };
        let (what, text) = words(&Difference::Figure(unlike), "a seed 1", 80);
        assert_eq!(what, "defect of the ledger");
        assert!(text.ends_with("\n  figure   messages intended\n  here     3\n  there    nothing"), "{text}");
    }

    #[test]
    fn runs_that_differ_now_and_then_say_among_which_events_and_how_often_they_were_equal() {
        let (_, text) = words(&Difference::NowAndThen { among: 3_072..4_096, pairs: 5 }, "a seed 1", 80);
        assert!(text.contains("events 3,072 to 4,095 hold the first") && text.contains("5 pairs"), "{text}");
    }
}
