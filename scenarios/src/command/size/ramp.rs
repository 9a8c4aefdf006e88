//! Loads that are ramped, as the command line names them.

use crate::command::CallError;
use crate::target::TargetError;

/// Colours that a plot has for curves.
const MOST_CURVES: usize = 4;

/// Each load once, the least first.
pub fn rising<T: Ord + Copy>(loads: &[T]) -> Vec<T> {
    let mut loads = loads.to_vec();
    loads.sort_unstable();
    loads.dedup();
    loads
}

/// The same for what gets a curve each.
pub fn curves(option: &str, loads: &[u64]) -> Result<Vec<u64>, CallError> {
    let loads = rising(loads);
    if loads.len() > MOST_CURVES {
        let call = format!(
            "{option}: {} different values, and a plot tells {MOST_CURVES} curves apart; ask for fewer at once",
            loads.len()
        );
        return Err(TargetError::Call(call).into());
    }
    Ok(loads)
}

/// As the option takes them.
pub fn list<T: ToString>(loads: &[T]) -> String {
    loads.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_is_run_once_and_the_least_first() {
        assert_eq!(rising(&[8, 1, 8, 2]), [1, 2, 8]);
        assert_eq!(curves("--rotations", &[4, 3, 2, 1, 1]).ok(), Some(vec![1, 2, 3, 4]));
        assert_eq!(list(&[8, 1]), "8,1");
    }

    #[test]
    fn more_curves_than_a_plot_has_colours_are_refused() {
        let error = curves("--rotations", &[0, 1, 2, 3, 4]).expect_err("five");
        assert!(error.to_string().contains("--rotations: 5 different values"), "{error}");
    }
}
