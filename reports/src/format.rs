//! Numbers, and a seed's levels, as people read them. Integers all the way, so that a figure is the same on every machine.

use groundhog_sim::plan::swarm::{Level, Levels};

/// `12,345`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Three figures and a unit: `412 ns`, `8.21 us`, `1.23 ms`, `48.2 s`.
#[must_use]
pub fn duration(ns: u64) -> String {
    let (unit_ns, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000_u64, "s"),
    };
    let decimals = match ns / unit_ns {
        0..10 => 2,
        10..100 => 1,
        _ => 0,
    };
    let scale = 10_u128.pow(decimals);
    let scaled = (u128::from(ns) * scale + u128::from(unit_ns / 2)) / u128::from(unit_ns);
    let (whole, rest) = (scaled / scale, scaled % scale);
    if decimals == 0 {
        let whole = u64::try_from(whole).unwrap_or(u64::MAX);
        format!("{} {unit}", count(whole))
    } else {
        format!("{whole}.{rest:0width$} {unit}", width = decimals as usize)
    }
}

/// A share in tenths of a percent, rounded to the nearest: `12.3 %`, and `0.1 %` for anything that is not nothing, and
/// `99.9 %` for anything that is not all.
pub(crate) fn share(part: u64, whole: u64) -> String {
    let per_mille = per_mille(part, whole);
    format!("{}.{} %", per_mille / 10, per_mille % 10)
}

/// A share in thousandths, rounded to the nearest, at least 1 for anything that is not nothing, and 1,000 only for all.
pub(crate) fn per_mille(part: u64, whole: u64) -> u64 {
    if whole == 0 || part == 0 {
        return 0;
    }
    let share = (u128::from(part) * 1_000 + u128::from(whole) / 2) / u128::from(whole);
    let share = u64::try_from(share).unwrap_or(u64::MAX).max(1);
    if part < whole { share.min(999) } else { share }
}

/// `1 seed`, `2 seeds`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// What a seed had of each kind of fault: what is left out is light.
pub(crate) fn swarm_words(levels: &Levels) -> String {
    let of = |wanted: Level| {
        let kinds = levels.iter().filter(|(_, level)| **level == wanted).map(|(kind, _)| kind.id());
        let kinds: Vec<&str> = kinds.collect();
        if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") }
    };
    format!("off: {}; heavy: {}", of(Level::Off), of(Level::Heavy))
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_written_here() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        let durations = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 us"),
            (12_340, "12.3 us"),
            (123_456, "123 us"),
            (1_234_567, "1.23 ms"),
            (48_249_000_000, "48.2 s"),
            (3_600_000_000_000, "3,600 s"),
        ];
        for (ns, text) in durations {
            assert_eq!(duration(ns), text);
        }
        assert_eq!(share(1, 1_000_000), "0.1 %");
        assert_eq!(share(0, 10), "0.0 %");
        assert_eq!(share(3, 4), "75.0 %");
        assert_eq!([share(1, 6), share(1, 3), share(2, 3)], ["16.7 %", "33.3 %", "66.7 %"]);
        assert_eq!([share(9_999, 10_000), share(7, 7), share(8, 7)], ["99.9 %", "100.0 %", "114.3 %"]);
        assert_eq!(per_mille(5, 0), 0);
        assert_eq!(hex(&[0, 255]), "00ff");
    }
}
