//! Latency as HdrHistogram's percentile distribution text, which its plotter reads.
//!
//! Promise: the text is what HdrHistogram's own `outputPercentileDistribution` prints with five ticks a half distance: the
//! columns, widths, digits and closing lines. Values are milliseconds, the unit that the plotter assumes.

use hdrhistogram::Histogram;
use std::fmt::Write as _;

/// Rows for each halving of the distance to 100 %, as HdrHistogram's default.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

const NS_PER_MS: f64 = 1_000_000.0;

/// The distribution of `nanoseconds`, in milliseconds. An empty histogram gives a table without rows.
#[must_use]
pub fn percentile_distribution(nanoseconds: &Histogram<u64>) -> String {
    let digits = usize::from(nanoseconds.sigfig());
    let mut text = String::with_capacity(8 * 1024);
    put(
        &mut text,
        format_args!(
            "{:>12} {:>14} {:>10} {:>14}\n\n",
            "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
        ),
    );
    let mut total = 0;
    for step in nanoseconds.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        total += step.count_since_last_iteration();
        let value = to_ms(step.value_iterated_to());
        let quantile = step.quantile_iterated_to();
        put(&mut text, format_args!("{value:12.digits$} {quantile:.12} {total:10}"));
        // The row of 100 % has no fourth column: its place on the axis is infinite.
        if quantile < 1.0 {
            put(&mut text, format_args!(" {:14.2}", 1.0 / (1.0 - quantile)));
        }
        text.push('\n');
    }
    debug_assert_eq!(total, nanoseconds.len(), "every sample is in one row");
    let (mean, deviation) = (nanoseconds.mean() / NS_PER_MS, nanoseconds.stdev() / NS_PER_MS);
    put(&mut text, format_args!("#[Mean    = {mean:12.digits$}, StdDeviation   = {deviation:12.digits$}]\n"));
    let (max, count) = (to_ms(nanoseconds.max()), nanoseconds.len());
    put(&mut text, format_args!("#[Max     = {max:12.digits$}, Total count    = {count:12}]\n"));
    let (buckets, sub_buckets) = (nanoseconds.buckets(), sub_buckets(nanoseconds.sigfig()));
    put(&mut text, format_args!("#[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]\n"));
    text
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a string takes everything");
}

#[expect(clippy::cast_precision_loss, reason = "only displayed, to a thousandth")]
fn to_ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS
}

/// Sub-buckets that HdrHistogram needs for `significant_digits`: the next power of two from 2 x 10^digits.
fn sub_buckets(significant_digits: u8) -> u64 {
    (2 * 10_u64.pow(u32::from(significant_digits))).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row {
        value_ms: f64,
        percentile: f64,
        total: u64,
        inverse: Option<f64>,
    }

    fn parse(text: &str) -> (Vec<Row>, Vec<&str>) {
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("       Value     Percentile TotalCount 1/(1-Percentile)"));
        assert_eq!(lines.next(), Some(""));
        let (comments, rows): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with('#'));
        let rows = rows.into_iter().map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            assert!((3..=4).contains(&fields.len()), "{line}");
            Row {
                value_ms: fields[0].parse().unwrap(),
                percentile: fields[1].parse().unwrap(),
                total: fields[2].parse().unwrap(),
                inverse: fields.get(3).map(|field| field.parse().unwrap()),
            }
        });
        (rows.collect(), comments)
    }

    #[test]
    fn the_text_parses_back_to_what_was_recorded() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for value in 1..=10_000_u64 {
            histogram.record(value * 1_000).unwrap();
        }
        let text = percentile_distribution(&histogram);
        let (rows, comments) = parse(&text);
        assert!(rows.len() > 40, "{} rows", rows.len());
        for pair in rows.windows(2) {
            assert!(pair[0].value_ms <= pair[1].value_ms && pair[0].total <= pair[1].total);
            assert!(pair[0].percentile < pair[1].percentile);
        }
        for row in &rows {
            let value_ns = (row.value_ms * NS_PER_MS).round() as u64;
            let counted = histogram.count_between(0, value_ns.saturating_sub(1_000));
            assert!(counted <= row.total && row.total <= histogram.len(), "at {} ms", row.value_ms);
            if let Some(inverse) = row.inverse {
                let expected = 1.0 / (1.0 - row.percentile);
                assert!((inverse - expected).abs() <= 0.01 + expected * 1e-6, "{inverse} for {expected}");
            }
        }
        let last = rows.last().unwrap();
        assert_eq!((last.total, last.inverse), (10_000, None));
        assert_eq!(format!("{:.3}", last.percentile), "1.000");
        assert_eq!(comments.len(), 3);
        assert!(comments[1].ends_with("Total count    =        10000]"), "{}", comments[1]);
        assert!(comments[2].ends_with("SubBuckets     =         2048]"), "{}", comments[2]);
    }

    #[test]
    fn an_empty_histogram_has_no_rows() {
        let text = percentile_distribution(&Histogram::<u64>::new(3).unwrap());
        let (rows, comments) = parse(&text);
        assert_eq!((rows.len(), comments.len()), (0, 3));
        assert!(!text.contains("NaN"), "{text}");
    }
}
