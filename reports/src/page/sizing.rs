//! The page of one question about sizes.

use super::frame::page;
use crate::folder::ReportError;
use crate::plot::{self, CLASS_COLOURS, Curve, NEUTRAL};
use maud::html;

/// Points of a curve: load, simulated, by the formula.
pub type CurvePoints = Vec<(u64, u64, u64)>;

/// What a question about sizes was answered with.
#[derive(Clone, Debug)]
pub struct Sizing<'a> {
    /// The question.
    pub title: &'a str,
    /// The answer, in one sentence.
    pub answer: &'a str,
    /// What the plot shows over what.
    pub plotted: &'a str,
    /// The name and the points of each curve.
    pub curves: Vec<(String, CurvePoints)>,
    /// What is never passed.
    pub bound: Option<(&'a str, u64)>,
    /// The head of the table.
    pub head: Vec<&'a str>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
    /// The command that gives it again.
    pub repeat: &'a str,
}

/// The page, as HTML.
///
/// # Errors
/// [`ReportError`] when the plot cannot be drawn.
pub fn of_sizing(sizing: &Sizing<'_>) -> Result<String, ReportError> {
    let curves: Vec<Curve> = sizing
        .curves
        .iter()
        .map(|(name, points)| Curve { name: name.clone(), points: points.clone() })
        .collect();
    let drawn = plot::curves(sizing.plotted, &curves, sizing.bound.map(|(_, bound)| bound))?;
    let series = curves.iter().zip(CLASS_COLOURS).map(|(curve, colour)| (curve.name.as_str(), colour));
    let entries: Vec<_> = series.chain(sizing.bound.map(|(name, _)| (name, NEUTRAL))).collect();
    let body = html! {
        header { h1 { (sizing.title) } p { (sizing.answer) } dl.facts { dt { "Repeat" } dd { code { (sizing.repeat) } } } }
        main {
            h2 { (sizing.plotted) }
            p.note { "Points are simulated, lines are what the formula says." }
            figure { (plot::key(entries, false)) (drawn) }
            div.scroll { table {
                thead { tr { @for name in &sizing.head { th.n { (name) } } } }
                tbody { @for row in &sizing.rows { tr { @for cell in row { td.n { (cell) } } } } }
            } }
        }
    };
    Ok(page(sizing.title, &body))
}
