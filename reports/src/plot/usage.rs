//! How much of each bound was in use over simulated time, at the node that used the most of it.

use super::time::{Series, Shows, TimePlot};
use super::{CLASS_COLOURS, NEUTRAL};
use groundhog_engine::streams::TableUse;
use groundhog_sim::outcome::{BoundUse, Outcome};
use plotters::style::RGBColor;

/// Beside the four of the classes.
const CUSTODY: RGBColor = RGBColor(148, 103, 0);

/// Spans in which custody refused mail.
pub(crate) const STALLED: RGBColor = RGBColor(179, 38, 30);

/// The bound's name, its line's colour, and how much of it was in use.
type Line = (&'static str, RGBColor, fn(&TableUse) -> u32);

/// The share of each bound that was in use.
pub(crate) fn bounds_in_use(outcome: &Outcome) -> TimePlot {
    let [blue, orange, green, pink] = CLASS_COLOURS;
    let lines: [Line; 6] = [
        ("streams of the fullest table", NEUTRAL, |used| used.streams),
        ("streams of the fullest slot", blue, |used| used.fullest_slot),
        ("streams of one table's pool", orange, |used| used.pool),
        ("streams of one table's inbox share", green, |used| used.inbox),
        ("streams of one table's own share", pink, |used| used.own),
        ("deliveries in one table's custody", CUSTODY, |used| used.custody),
    ];
    let series = lines.into_iter().filter_map(|(name, colour, used)| {
        let bound = outcome.bounds.iter().find(|bound| bound.name == name)?;
        let counts: Vec<u64> = outcome.slices.iter().map(|slice| share(used(&slice.tables), bound)).collect();
        counts.iter().any(|count| *count > 0).then_some(Series { name, colour, counts })
    });
    let spans = outcome.stalls.iter().map(|stall| (STALLED, stall.from.0, stall.until.0)).collect();
    let (series, shows) = (series.collect(), Shows::ShareOfBound);
    TimePlot { title: "Share of each bound in use", series, shows, spans }
}

/// In thousandths, rounded up, so that one stream shows.
fn share(used: u32, bound: &BoundUse) -> u64 {
    (u64::from(used) * 1_000).div_ceil(bound.bound.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_its_bound_and_one_stream_shows() {
        let bound = BoundUse { name: String::new(), most: 0, bound: 16_384 };
        assert_eq!([0, 1, 8_192, 16_384].map(|used| share(used, &bound)), [0, 1, 500, 1_000]);
    }
}
