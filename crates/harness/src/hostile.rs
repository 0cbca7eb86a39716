//! What must hold of any bytes whatever in the files that this crate reads. Property tests damage
//! what was written, fuzz targets (`fuzz/`) find more by following the code.
//!
//! Each function panics where something does not hold.

#![expect(
    clippy::missing_panics_doc,
    reason = "a check says that it failed by panicking"
)]

pub use crate::environment::checks::hostile::system_files;

use crate::drivers::Drivers;
use crate::plan::{PlanOptions, describe, needs, plan};
use stowplan_model::Study;

/// A study that can be read is planned at each of its scales, or refused in words.
pub fn planned(study: &Study, drivers: &Drivers) {
    let scales = study.scales.keys().cloned().map(Some);
    for scale in std::iter::once(None).chain(scales) {
        let options = PlanOptions {
            scale,
            ..PlanOptions::default()
        };
        let Ok(plan) = plan(study.clone(), &options, drivers) else {
            continue;
        };
        let needs = needs(&plan, true);
        assert!(needs.least_seconds <= needs.most_seconds, "{needs:?}");
        let _ = describe(&plan, false, 80, Some(40), drivers);
    }
}
