//! A figure over a load that doubles from point to point: what was simulated as points, what a formula says as a line.

use super::axis::{Axis, linear, place};
use super::{AXIS, Area, CLASS_COLOURS, Drawn, GRID, NEUTRAL, Size, figure, label_style};
use crate::folder::ReportError;
use crate::format::count;
use maud::Markup;
use plotters::prelude::*;

/// One curve: points in order of the load.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub name: String,
    /// Load, what was simulated, what the formula says.
    pub points: Vec<(u64, u64, u64)>,
}

/// Draws every curve, and the bound that none may pass.
pub(crate) fn curves(description: &str, curves: &[Curve], bound: Option<u64>) -> Result<Markup, ReportError> {
    figure("sizing", description, |area, size| draw(area, size, curves, bound))
}

fn draw(area: &Area<'_>, size: Size, curves: &[Curve], bound: Option<u64>) -> Drawn {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let most = points().flat_map(|(_, simulated, formula)| [*simulated, *formula]).chain(bound).max();
    let (values, top) = linear(most.unwrap_or(1), 6);
    let mut loads: Vec<u64> = points().map(|(load, _, _)| *load).collect();
    loads.sort_unstable();
    loads.dedup();
    let at = |load: u64| place(loads.iter().position(|known| *known == load).unwrap_or(0) as u64);
    let labels = (0..loads.len()).map(|index| place(index as u64)).collect();
    let right = place(loads.len().max(2) as u64) - 0.6;
    let mut chart = ChartBuilder::on(area)
        .margin_top(10)
        .margin_right(34)
        .x_label_area_size(30)
        .y_label_area_size(62)
        .build_cartesian_2d(
            Axis { range: -0.4..right, labels },
            Axis { range: 0.0..place(top), labels: values.into_iter().map(place).collect() },
        )?;
    let name = |middle: &f64| {
        loads
            .iter()
            .enumerate()
            .find(|(index, _)| (place(*index as u64) - middle).abs() < 0.1)
            .map_or(String::new(), |(_, load)| count(*load))
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(size.labels.min(loads.len()).max(2))
        .x_label_formatter(&name)
        .y_label_formatter(&|value| count(value.round().abs() as u64))
        .label_style(label_style())
        .axis_style(AXIS)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .draw()?;
    if let Some(bound) = bound {
        let line = [(-0.4, place(bound)), (right, place(bound))];
        chart.draw_series(LineSeries::new(line, NEUTRAL.stroke_width(2)))?;
    }
    for (curve, colour) in curves.iter().zip(CLASS_COLOURS) {
        let formula = curve.points.iter().map(|(load, _, formula)| (at(*load), place(*formula)));
        chart.draw_series(LineSeries::new(formula, colour.stroke_width(2)))?;
        let simulated = curve.points.iter().map(|(load, simulated, _)| (at(*load), place(*simulated)));
        chart.draw_series(simulated.map(|point| Circle::new(point, 4, colour.filled())))?;
    }
    Ok(())
}
