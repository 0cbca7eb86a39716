//! Blocks that did not measure what they should (R9).

use crate::Result;
use crate::job::Reported;
use stowplan_model::{CacheState, Cell, Measurement, Settings};

/// How often a block is measured that did not measure what it should, before no other try is made.
pub(super) const ATTEMPTS: u32 = 4;

/// Share of a warm read block's wall time for which its thread may have been neither running nor
/// waiting for a CPU.
const ABSENT_SHARE: f64 = 0.05;

/// Why a block is measured again; never for its time alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoiled {
    /// It should have been warm.
    ReadFromStorage,
    /// The thread neither ran nor waited for a CPU, though nothing made it sleep.
    TakenAway,
}

/// Whether a warm read block, which has nothing to wait for, shows that it did not run undisturbed.
fn spoiled(cell: &Cell, measurement: &Measurement) -> Option<Spoiled> {
    if cell.workload.cache != CacheState::Warm || cell.workload.operation.writes() {
        return None;
    }
    let absent = measurement.absent_share().unwrap_or(0.0);
    match () {
        () if measurement.in_blocks > 0 => Some(Spoiled::ReadFromStorage),
        () if absent > ABSENT_SHARE && measurement.voluntary_switches == 0 => {
            Some(Spoiled::TakenAway)
        }
        () => None,
    }
}

/// A block that was measured until nothing could be gained by trying again.
pub(super) struct Attempted {
    /// The last attempt.
    pub(super) measurement: Measurement,
    /// Settings that the engine reported.
    pub(super) effective: Settings,
    /// It should have been warm, and read from storage in each attempt.
    pub(super) read_from_storage: bool,
    /// Whether the data was read in again, in order.
    pub(super) warmed: bool,
}

/// Measures a block, again where a covariate says that it did not measure what it should (R9).
/// `measure` is told how many attempts there were before; `warm` fills the page cache again.
pub(super) fn attempt(
    cell: &Cell,
    mut measure: impl FnMut(u32) -> Result<(Measurement, Reported)>,
    warm: impl Fn() -> Result<()>,
) -> Result<Attempted> {
    let (mut repeats, mut warmed) = (0, false);
    loop {
        let (mut measurement, reported) = measure(repeats)?;
        measurement.repeats = repeats;
        repeats += 1;
        let last = repeats == ATTEMPTS;
        let read_from_storage = match spoiled(cell, &measurement) {
            Some(Spoiled::ReadFromStorage) => {
                warm()?;
                warmed = true;
                true
            }
            // On a machine that is taken away all the time no better block will come.
            Some(Spoiled::TakenAway) if !last => continue,
            Some(Spoiled::TakenAway) | None => false,
        };
        if last || !read_from_storage {
            return Ok(Attempted {
                measurement,
                effective: reported.effective,
                read_from_storage,
                warmed,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanOptions, plan};
    use stowplan_model::{Operation, Study};

    fn warm_read() -> Cell {
        let study = r#"
            name = "t"
            title = "t"
            question = "?"
            datasets.d = { count = 10, size = { distribution = "fixed", bytes = 10 } }
            comparison = [{ id = "c", title = "c", dataset = "d", baseline = "f", cells = { f = { store = "files" } } }]
        "#;
        let study = Study::parse(study, "t.toml").unwrap();
        plan(
            study,
            &PlanOptions::default(),
            &crate::drivers::Drivers::built_in(),
        )
        .unwrap()
        .comparisons[0]
            .cells[0]
            .clone()
    }

    fn block() -> Measurement {
        Measurement {
            wall_ns: 100,
            run_delay_ns: Some(0),
            thread_cpu_ns: 100,
            ..Measurement::default()
        }
    }

    #[test]
    fn a_warm_read_that_touched_the_disk_is_spoiled_and_a_write_or_cold_read_is_not() {
        let touched = Measurement {
            in_blocks: 8,
            ..block()
        };
        let mut cell = warm_read();
        assert!(matches!(
            spoiled(&cell, &touched),
            Some(Spoiled::ReadFromStorage)
        ));
        assert!(spoiled(&cell, &block()).is_none());
        cell.workload.cache = CacheState::Cold;
        assert!(spoiled(&cell, &touched).is_none());
        cell.workload.cache = CacheState::Warm;
        cell.workload.operation = Operation::Overwrite;
        assert!(spoiled(&cell, &touched).is_none());
    }

    #[test]
    fn a_read_from_which_the_machine_was_taken_away_is_spoiled_whatever_its_time() {
        let cell = warm_read();
        let absent = Measurement {
            thread_cpu_ns: 90,
            ..block()
        };
        assert!(matches!(spoiled(&cell, &absent), Some(Spoiled::TakenAway)));
        let waited = Measurement {
            run_delay_ns: Some(10),
            ..absent.clone()
        };
        assert!(
            spoiled(&cell, &waited).is_none(),
            "waiting for a CPU is subtracted"
        );
        let slept = Measurement {
            voluntary_switches: 1,
            ..absent
        };
        assert!(
            spoiled(&cell, &slept).is_none(),
            "sleeping is the store's own doing"
        );
        let slow = Measurement {
            wall_ns: 10_000,
            thread_cpu_ns: 10_000,
            ..block()
        };
        assert!(spoiled(&cell, &slow).is_none(), "never for its time");
    }

    #[test]
    fn a_block_is_tried_again_until_it_is_sound_and_no_more_than_four_times() {
        let cell = warm_read();
        let tried = |sound_at: u32| {
            let warmed = std::cell::Cell::new(0);
            let attempted = attempt(
                &cell,
                |repeats| {
                    let in_blocks = u64::from(repeats < sound_at);
                    let measurement = Measurement {
                        in_blocks,
                        ..block()
                    };
                    Ok((measurement, Reported::default()))
                },
                || {
                    warmed.set(warmed.get() + 1);
                    Ok(())
                },
            )
            .unwrap();
            let repeats = attempted.measurement.repeats;
            assert_eq!(attempted.warmed, warmed.get() > 0);
            (repeats, attempted.read_from_storage, warmed.get())
        };
        assert_eq!(tried(0), (0, false, 0));
        assert_eq!(tried(2), (2, false, 2));
        assert_eq!(tried(9), (3, true, 4));
    }
}
