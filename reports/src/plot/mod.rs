//! Plots as SVG without fonts, for a page that has its own.
//!
//! Promise: a plot is drawn for a wide page and again for a narrow one, so that its labels keep their size; its colours are
//! plain attributes that the page's style replaces in the dark; lines differ by dashes too.

mod axis;
mod batches;
mod curve;
mod latency;
mod time;
mod usage;

pub(crate) use batches::batch_sizes;
pub(crate) use curve::{Curve, curves};
pub(crate) use latency::{From, latency};
pub(crate) use time::{TimePlot, dispatched, over_time, refused, written};
pub(crate) use usage::{STALLED, bounds_in_use};

use crate::folder::ReportError;
use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;

/// Colours of the four classes in lane order: a palette that the colour-blind can tell apart.
pub(crate) const CLASS_COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// What belongs to no class.
pub(crate) const NEUTRAL: RGBColor = RGBColor(91, 101, 112);

const TEXT: RGBColor = RGBColor(68, 76, 84);
const GRID: RGBColor = RGBColor(222, 226, 230);
const AXIS: RGBColor = RGBColor(150, 158, 166);
const SHADE: RGBColor = RGBColor(176, 137, 47);

/// The size of a plot, and what fits on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub width: u32,
    pub height: u32,
    /// Labels that fit on the horizontal axis.
    pub labels: usize,
}

const WIDE: Size = Size { width: 880, height: 320, labels: 9 };
const NARROW: Size = Size { width: 420, height: 300, labels: 5 };

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What drawing fails with, in words.
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Draws a plot for both widths.
fn figure(
    plot: &'static str,
    description: &str,
    draw: impl Fn(&Area<'_>, Size) -> Drawn,
) -> Result<Markup, ReportError> {
    let wide = svg(plot, description, WIDE, &draw)?;
    let narrow = svg(plot, description, NARROW, &draw)?;
    Ok(html! {
        div.wide { (PreEscaped(wide)) }
        div.narrow { (PreEscaped(narrow)) }
    })
}

fn svg(
    plot: &'static str,
    description: &str,
    size: Size,
    draw: &impl Fn(&Area<'_>, Size) -> Drawn,
) -> Result<String, ReportError> {
    let failed = |reason: String| ReportError::Plot { plot, reason };
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (size.width, size.height)).into_drawing_area();
        draw(&root, size).map_err(|error| failed(error.to_string()))?;
        root.present().map_err(|error| failed(error.to_string()))?;
    }
    // The page decides how wide a plot stands; the view box keeps its proportions.
    let begin = text.find("viewBox").ok_or_else(|| failed("it has no view box".to_owned()))?;
    let label = html! { (description) }.into_string();
    let opened = format!("<svg role=\"img\" aria-label=\"{label}\" ");
    Ok(format!("{opened}{}", &text[begin..]).replace(" xmlns=\"http://www.w3.org/2000/svg\"", ""))
}

fn label_style<'a>() -> TextStyle<'a> {
    ("sans-serif", 15).into_font().color(&TEXT)
}

/// The key of a plot: a short line in each series' colour and dashes, with its name; with `shaded`, what the shades mean.
pub(crate) fn key<'a>(entries: impl IntoIterator<Item = (&'a str, RGBColor)>, shaded: bool) -> Markup {
    html! {
        p.key {
            @for (name, colour) in entries {
                span {
                    svg.swatch viewBox="0 0 30 10" aria-hidden="true" {
                        line x1="0" y1="5" x2="30" y2="5" stroke=(colour_attribute(colour)) stroke-width="2.5" {}
                    }
                    (name)
                }
            }
            @if shaded {
                span { span.shade aria-hidden="true" {} "faults on, the stronger the more at once" }
            }
        }
    }
}

/// A colour as the SVG backend writes it.
pub(crate) fn colour_attribute(RGBColor(red, green, blue): RGBColor) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}
