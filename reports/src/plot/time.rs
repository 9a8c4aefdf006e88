//! Rates over simulated time, with the faults behind them.

use super::axis::{Axis, linear, place};
use super::{AXIS, Area, CLASS_COLOURS, Drawn, GRID, NEUTRAL, SHADE, Size, figure, label_style};
use crate::folder::ReportError;
use crate::format::count;
use groundhog_engine::streams::key::Class;
use groundhog_sim::outcome::{Outcome, Slice};
use maud::Markup;
use plotters::prelude::*;

/// Points that a line has at most; more slices are added up to so many.
const MOST_POINTS: usize = 240;

const NS_PER_S: u128 = 1_000_000_000;

/// One line of a plot over time: counts by slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Series {
    pub name: &'static str,
    pub colour: RGBColor,
    pub counts: Vec<u64>,
}

/// What the numbers of a plot's lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// Counts by slice, shown as a rate a second.
    Rate,
    /// Thousandths of a bound, the most of each slice.
    ShareOfBound,
}

/// A plot over time and what its lines are.
#[derive(Clone, Debug)]
pub(crate) struct TimePlot {
    pub title: &'static str,
    pub series: Vec<Series>,
    pub shows: Shows,
    /// Spans of time marked along the top: colour, from, until, in nanoseconds.
    pub spans: Vec<(RGBColor, u64, u64)>,
}

/// Messages intended and, by class, dispatched.
pub(crate) fn dispatched(slices: &[Slice]) -> TimePlot {
    let mut series = vec![Series {
        name: "intended",
        colour: NEUTRAL,
        counts: slices.iter().map(|slice| slice.intended).collect(),
    }];
    for class in Class::ALL {
        let counts: Vec<u64> = slices.iter().map(|slice| slice.dispatched[class.index()]).collect();
        series.push(Series { name: class.id(), colour: CLASS_COLOURS[class.index()], counts });
    }
    series.retain(|series| series.counts.iter().any(|count| *count > 0));
    TimePlot { title: "Messages a second of simulated time", series, shows: Shows::Rate, spans: Vec::new() }
}

/// Admissions refused, or answered with a refusing verdict.
pub(crate) fn refused(slices: &[Slice]) -> TimePlot {
    let counts = slices.iter().map(|slice| slice.refused).collect();
    one("Admissions refused a second of simulated time", "refused", 1, counts)
}

/// Records made durable.
pub(crate) fn written(slices: &[Slice]) -> TimePlot {
    let mut plot = one(
        "Batches and records durable a second of simulated time",
        "records",
        0,
        slices.iter().map(|slice| slice.records).collect(),
    );
    let batches = slices.iter().map(|slice| slice.batches).collect();
    plot.series.extend(one("", "batches", 2, batches).series);
    plot
}

fn one(title: &'static str, name: &'static str, colour: usize, counts: Vec<u64>) -> TimePlot {
    let mut series = vec![Series { name, colour: CLASS_COLOURS[colour], counts }];
    series.retain(|series| series.counts.iter().any(|count| *count > 0));
    TimePlot { title, series, shows: Shows::Rate, spans: Vec::new() }
}

/// Draws `plot` over the whole run; `None` when it has nothing to show.
pub(crate) fn over_time(plot: &TimePlot, outcome: &Outcome) -> Result<Option<Markup>, ReportError> {
    if plot.series.is_empty() || outcome.slice_ns == 0 {
        return Ok(None);
    }
    let slices = plot.series.iter().map(|series| series.counts.len()).max().unwrap_or(0);
    let together = slices.div_ceil(MOST_POINTS).max(1);
    let step_ns = outcome.slice_ns.saturating_mul(together as u64);
    let lines: Vec<(RGBColor, Vec<u64>)> =
        plot.series.iter().map(|series| (series.colour, plot.points(series, together, step_ns))).collect();
    let most = lines.iter().flat_map(|(_, rates)| rates).copied().max().unwrap_or(0);
    let until_ns = outcome.covered.0.max(step_ns);
    figure("a figure over time", plot.title, |area, size| {
        let shades = shades(outcome, until_ns, size.width);
        draw(
            area,
            size,
            &Drawing {
                lines: &lines,
                shows: plot.shows,
                spans: &plot.spans,
                step_ns,
                most,
                until_ns,
                shades,
            },
        )
    })
    .map(Some)
}

impl TimePlot {
    fn points(&self, series: &Series, together: usize, step_ns: u64) -> Vec<u64> {
        match self.shows {
            Shows::Rate => rates(&series.counts, together, step_ns),
            Shows::ShareOfBound => {
                let most = |counts: &[u64]| counts.iter().copied().max().unwrap_or(0);
                series.counts.chunks(together).map(most).collect()
            }
        }
    }
}

/// Counts of every `together` slices as a rate a second.
fn rates(counts: &[u64], together: usize, step_ns: u64) -> Vec<u64> {
    let rate = |counts: &[u64]| {
        let sum: u128 = counts.iter().map(|count| u128::from(*count)).sum();
        u64::try_from(sum * NS_PER_S / u128::from(step_ns)).unwrap_or(u64::MAX)
    };
    counts.chunks(together).map(rate).collect()
}

/// Where how many faults are on: (from, until, how many), in columns of the plot, none of them empty.
fn shades(outcome: &Outcome, until_ns: u64, columns: u32) -> Vec<(u32, u32, u32)> {
    let column = |ns: u64| {
        let place = u128::from(ns.min(until_ns)) * u128::from(columns) / u128::from(until_ns.max(1));
        place as usize
    };
    let mut on = vec![0_i64; columns as usize + 2];
    for span in &outcome.fault_spans {
        let from = column(span.from.0);
        let until = column(span.until.0).max(from + 1);
        on[from] += 1;
        on[until] -= 1;
    }
    let mut shades: Vec<(u32, u32, u32)> = Vec::new();
    let mut level = 0;
    for (place, change) in on.iter().enumerate().take(columns as usize + 1) {
        level += change;
        let (place, level) = (place as u32, u32::try_from(level).unwrap_or(0));
        match shades.last_mut() {
            Some((_, until, known)) if *known == level && *until == place => *until = place + 1,
            _ if level > 0 => shades.push((place, place + 1, level)),
            _ => {}
        }
    }
    shades
}

struct Drawing<'a> {
    lines: &'a [(RGBColor, Vec<u64>)],
    shows: Shows,
    /// Spans marked along the top, with their colour.
    spans: &'a [(RGBColor, u64, u64)],
    step_ns: u64,
    most: u64,
    until_ns: u64,
    shades: Vec<(u32, u32, u32)>,
}

fn draw(area: &Area<'_>, size: Size, drawing: &Drawing<'_>) -> Drawn {
    let (values, top) = linear(drawing.most, 6);
    let (times, _) = linear(drawing.until_ns, size.labels);
    let seconds: Vec<f64> = times.into_iter().filter(|ns| *ns <= drawing.until_ns).map(place).collect();
    let right = place(drawing.until_ns);
    let mut chart = ChartBuilder::on(area)
        .margin_top(10)
        .margin_right(34)
        .x_label_area_size(30)
        .y_label_area_size(62)
        .build_cartesian_2d(
            Axis { range: 0.0..right, labels: seconds },
            Axis { range: 0.0..place(top), labels: values.into_iter().map(place).collect() },
        )?;
    for (from, until, level) in &drawing.shades {
        let at = |column: u32| right * f64::from(column) / f64::from(size.width);
        // The more faults at once, the darker, up to six.
        let style = SHADE.mix(0.08 + 0.08 * f64::from((*level).min(6))).filled();
        let corners = [(at(*from), 0.0), (at(*until).min(right), place(top))];
        chart.draw_series([Rectangle::new(corners, style)])?;
    }
    chart
        .configure_mesh()
        .x_label_formatter(&|ns| time_label(*ns))
        .y_label_formatter(&|value| match drawing.shows {
            Shows::Rate => number_label(*value),
            Shows::ShareOfBound => share_label(*value),
        })
        .label_style(label_style())
        .axis_style(AXIS)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (colour, from, until) in drawing.spans {
        let ends = (place(*from), place(*until).max(place(*from) + right / 400.0).min(right));
        let corners = [(ends.0, place(top) * 0.965), (ends.1, place(top))];
        chart.draw_series([Rectangle::new(corners, colour.filled())])?;
    }
    for (colour, rates) in drawing.lines {
        let middle = |index: usize| place(drawing.step_ns) * (index as f64 + 0.5);
        let points = rates.iter().enumerate().map(|(index, rate)| (middle(index).min(right), place(*rate)));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label, below 2^64")]
fn number_label(value: f64) -> String {
    count(value.round() as u64)
}

fn share_label(per_mille: f64) -> String {
    format!("{} %", per_mille.round() / 10.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label, below 2^64")]
fn time_label(ns: f64) -> String {
    let ms = (ns / 1_000_000.0).round() as u64;
    if ms.is_multiple_of(1_000) { format!("{} s", count(ms / 1_000)) } else { format!("{} ms", count(ms)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_added_up_keep_the_rate() {
        assert_eq!(rates(&[10; 8], 1, 1_000_000_000), [10; 8]);
        assert_eq!(rates(&[10; 8], 4, 4_000_000_000), [10, 10]);
        assert_eq!(rates(&[5, 5], 1, 100_000_000), [50, 50]);
    }
}
