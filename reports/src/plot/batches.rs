//! How large batches were.

use super::axis::{Axis, linear, place};
use super::{AXIS, Area, CLASS_COLOURS, Drawn, GRID, Size, figure, label_style};
use crate::folder::ReportError;
use crate::format::count;
use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::collections::BTreeMap;

/// One bar: a range of sizes that ends at a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bar {
    label: String,
    batches: u64,
}

/// Draws a bar for each doubling of the size; `None` when there was no batch.
pub(crate) fn batch_sizes(sizes: &BTreeMap<u32, u64>) -> Result<Option<Markup>, ReportError> {
    let bars = bars(sizes);
    let Some(most) = bars.iter().map(|bar| bar.batches).max() else { return Ok(None) };
    figure("batch sizes", "Batches by their size in records", |area, size| draw(area, size, &bars, most))
        .map(Some)
}

fn bars(sizes: &BTreeMap<u32, u64>) -> Vec<Bar> {
    let Some(largest) = sizes.keys().copied().max() else { return Vec::new() };
    let mut bars = Vec::new();
    if let Some(empty) = sizes.get(&0) {
        bars.push(Bar { label: "0".to_owned(), batches: *empty });
    }
    let (mut from, mut until) = (1_u32, 1_u32);
    while from <= largest {
        let batches = sizes.range(from..=until).map(|(_, batches)| batches).sum();
        let label = if from == until { from.to_string() } else { format!("{from}\u{2013}{until}") };
        bars.push(Bar { label, batches });
        let Some(next) = until.checked_add(1) else { break };
        (from, until) = (next, until.saturating_mul(2));
    }
    bars
}

fn draw(area: &Area<'_>, size: Size, bars: &[Bar], most: u64) -> Drawn {
    let (values, top) = linear(most + most / 10, 5);
    let every = bars.len().div_ceil(size.labels.max(1) + 2).max(1);
    let middles = (0..bars.len()).step_by(every).map(|index| index as f64).collect();
    let right = bars.len().max(4) as f64 - 0.5;
    let mut chart = ChartBuilder::on(area)
        .margin_top(10)
        .margin_right(34)
        .x_label_area_size(30)
        .y_label_area_size(62)
        .build_cartesian_2d(
            Axis { range: -0.5..right, labels: middles },
            Axis { range: 0.0..place(top), labels: values.into_iter().map(place).collect() },
        )?;
    let name =
        |middle: &f64| bars.get(middle.round() as usize).map_or(String::new(), |bar| bar.label.clone());
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(bars.len())
        .x_label_formatter(&name)
        .y_label_formatter(&|value| count(value.round() as u64))
        .label_style(label_style())
        .axis_style(AXIS)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .draw()?;
    let above = label_style().pos(Pos::new(HPos::Center, VPos::Bottom));
    for (index, bar) in bars.iter().enumerate().filter(|(_, bar)| bar.batches > 0) {
        let (middle, height) = (index as f64, place(bar.batches));
        let corners = [(middle - 0.32, 0.0), (middle + 0.32, height)];
        chart.draw_series([Rectangle::new(corners, CLASS_COLOURS[0].filled())])?;
        if size.labels >= bars.len() {
            let text =
                EmptyElement::at((middle, height)) + Text::new(count(bar.batches), (0, -3), above.clone());
            chart.draw_series([text])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_batch_is_in_one_bar() {
        let sizes = BTreeMap::from([(0, 2), (1, 5), (2, 4), (3, 3), (4, 3), (5, 1), (64, 9), (65, 1)]);
        let bars = bars(&sizes);
        assert_eq!(bars.iter().map(|bar| bar.batches).sum::<u64>(), sizes.values().sum::<u64>());
        let labels: Vec<_> = bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels[..5], ["0", "1", "2", "3\u{2013}4", "5\u{2013}8"]);
        assert_eq!(bars[3].batches, 6);
        assert_eq!(bars.last().unwrap().label, "65\u{2013}128");
    }

    #[test]
    fn the_largest_size_ends_the_bars() {
        let sizes = BTreeMap::from([(u32::MAX, 1)]);
        assert_eq!(bars(&sizes).iter().map(|bar| bar.batches).sum::<u64>(), 1);
        assert!(bars(&BTreeMap::new()).is_empty());
    }
}
