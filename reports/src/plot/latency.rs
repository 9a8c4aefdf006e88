//! Latency by percentile, both axes logarithmic: the horizontal one in 1 / (1 - percentile), so that the tail has room.

use super::axis::{Axis, decades, log10, thinned};
use super::{AXIS, Area, CLASS_COLOURS, Drawn, GRID, Size, figure, label_style};
use crate::folder::ReportError;
use crate::format::duration;
use crate::latency::SAMPLES_ABOVE;
use groundhog_engine::streams::key::Class;
use groundhog_sim::outcome::Latency;
use hdrhistogram::Histogram;
use maud::Markup;
use plotters::prelude::*;
use std::collections::BTreeMap;

/// Which of a message's two beginnings a latency is measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The intended time of sending.
    Intended,
    /// The actual time of sending.
    Sent,
}

impl From {
    pub(crate) fn of(self, latency: &Latency) -> &Histogram<u64> {
        match self {
            From::Intended => &latency.from_intended,
            From::Sent => &latency.from_sent,
        }
    }
}

/// Points a half distance; the lines are smooth at twice what the files hold.
const TICKS_PER_HALF_DISTANCE: u32 = 10;

struct Curve {
    colour: RGBColor,
    class: usize,
    line: Vec<(f64, f64)>,
    max: (f64, f64),
}

/// Draws every class that has samples; `None` when none has.
pub(crate) fn latency(
    latencies: &BTreeMap<Class, Latency>,
    from: From,
) -> Result<Option<Markup>, ReportError> {
    let histograms: Vec<(Class, &Histogram<u64>)> = latencies
        .values()
        .map(|latency| (latency.class, from.of(latency)))
        .filter(|(_, histogram)| !histogram.is_empty())
        .collect();
    let least = histograms.iter().map(|(_, histogram)| histogram.min()).min();
    let most = histograms.iter().map(|(_, histogram)| histogram.max()).max();
    let samples = histograms.iter().map(|(_, histogram)| histogram.len()).max();
    let (Some(least), Some(most), Some(samples)) = (least, most, samples) else { return Ok(None) };
    let curves: Vec<Curve> = histograms.iter().map(|(class, histogram)| curve(*class, histogram)).collect();
    let steps = decades(least, most);
    let right = log10(samples.max(100));
    let description = match from {
        From::Intended => "Latency by percentile for each class, from the intended time of sending",
        From::Sent => "Latency by percentile for each class, from the actual time of sending",
    };
    figure("latency", description, |area, size| draw(area, size, &curves, &steps, right)).map(Some)
}

fn curve(class: Class, histogram: &Histogram<u64>) -> Curve {
    let mut below = 0;
    let mut line = vec![(0.0, log10(histogram.min()))];
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        below += step.count_since_last_iteration();
        if histogram.len() - below < SAMPLES_ABOVE {
            break;
        }
        line.push((-(1.0 - step.quantile_iterated_to()).log10(), log10(step.value_iterated_to())));
    }
    let max = (log10(histogram.len()), log10(histogram.max()));
    Curve { colour: CLASS_COLOURS[class.index()], class: class.index(), line, max }
}

fn draw(area: &Area<'_>, size: Size, curves: &[Curve], steps: &[u64], right: f64) -> Drawn {
    let (bottom, top) = (log10(steps[0]), log10(steps[steps.len() - 1]));
    let labelled: Vec<f64> = thinned(steps, 9).into_iter().map(log10).collect();
    let percentiles = percentile_labels(right, size.labels);
    let points = percentiles.iter().map(|(place, _)| *place).collect();
    let mut chart = ChartBuilder::on(area)
        .margin_top(10)
        .margin_right(34)
        .x_label_area_size(30)
        .y_label_area_size(62)
        .build_cartesian_2d(
            Axis { range: 0.0..right * 1.03, labels: points },
            Axis { range: bottom..top, labels: labelled },
        )?;
    let name = |place: &f64| {
        let near = percentiles.iter().find(|(at, _)| (at - place).abs() < 1e-9);
        near.map_or(String::new(), |(_, label)| label.clone())
    };
    chart
        .configure_mesh()
        .x_labels(percentiles.len())
        .x_label_formatter(&name)
        .y_label_formatter(&|place| plain_duration(*place))
        .label_style(label_style())
        .axis_style(AXIS)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .draw()?;
    for curve in curves {
        chart.draw_series(LineSeries::new(curve.line.iter().copied(), curve.colour.stroke_width(2)))?;
        let (at, style) = (curve.max, curve.colour.filled());
        let marker = match curve.class {
            0 => Circle::new(at, 4, style).into_dyn(),
            1 => TriangleMarker::new(at, 5, style).into_dyn(),
            2 => (EmptyElement::at(at) + Rectangle::new([(-4, -4), (4, 4)], style)).into_dyn(),
            _ => Cross::new(at, 4, curve.colour.stroke_width(2)).into_dyn(),
        };
        chart.plotting_area().draw(&marker)?;
    }
    Ok(())
}

/// `0 %`, `50 %`, `90 %`, `99 %`, ... as far as the axis goes, at most `most` of them.
fn percentile_labels(right: f64, most: usize) -> Vec<(f64, String)> {
    let mut labels =
        vec![(0.0, "0 %".to_owned()), (2_f64.log10(), "50 %".to_owned()), (1.0, "90 %".to_owned())];
    let (mut nines, mut place) = (2_usize, 2.0);
    while place <= right {
        let rest = "9".repeat(nines - 2);
        let dot = if rest.is_empty() { "" } else { "." };
        labels.push((place, format!("99{dot}{rest} %")));
        nines += 1;
        place += 1.0;
    }
    // The first ones are the least needed: the axis is there for the tail.
    while labels.len() > most {
        labels.remove(if labels.len() > 2 { 1 } else { 0 });
    }
    labels
}

/// The duration at a place of the vertical axis, which is a step of 1, 2 or 5 times a power of ten, without decimals.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a step, below 2^64")]
fn plain_duration(place: f64) -> String {
    let text = duration(10_f64.powf(place).round() as u64);
    match text.split_once('.') {
        Some((whole, rest)) => {
            let unit = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            format!("{whole}{unit}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_names_percentiles_as_far_as_samples_go() {
        let names = |right, most| {
            let labels = percentile_labels(right, most);
            labels.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(names(2.5, 9), "0 %, 50 %, 90 %, 99 %");
        assert_eq!(names(4.0, 9), "0 %, 50 %, 90 %, 99 %, 99.9 %, 99.99 %");
        assert_eq!(names(4.0, 4), "0 %, 99 %, 99.9 %, 99.99 %");
    }

    #[test]
    fn a_line_ends_where_fewer_than_ten_samples_lie_above() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for value in 1..=1_000_u64 {
            histogram.record(value * 1_000).unwrap();
        }
        let curve = curve(Class::E2e, &histogram);
        let (last, _) = curve.line[curve.line.len() - 1];
        assert!(last <= 2.0 + 1e-9, "the line goes to {last}, past 99 %");
        assert!(last > 1.7, "the line stops at {last}");
    }

    #[test]
    fn steps_of_the_axis_are_whole() {
        for (ns, text) in [(1, "1 ns"), (5_000, "5 us"), (200_000, "200 us"), (10_000_000_000, "10 s")] {
            assert_eq!(plain_duration(log10(ns)), text);
        }
    }
}
