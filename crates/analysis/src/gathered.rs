//! The records of a run, sorted by what they are about.

use crate::AnalysisError;
use std::borrow::Cow;
use std::collections::BTreeMap;
use stowplan_model::{
    CellFailure, CellId, FootprintRecord, HarnessCost, Measurement, PreparationRecord, Record,
    RunEnd, RunHeader, SCHEMA_VERSION, Settings, Verification, Warning,
};

/// Everything a run recorded, by kind and cell.
#[derive(Debug)]
pub(crate) struct Gathered<'a> {
    /// The header, its plan with what was added to it.
    pub(crate) run: Cow<'a, RunHeader>,
    measurements: BTreeMap<&'a CellId, Vec<&'a Measurement>>,
    pub(crate) effective: BTreeMap<&'a CellId, &'a Settings>,
    pub(crate) verifications: BTreeMap<&'a CellId, &'a Verification>,
    pub(crate) footprints: Vec<&'a FootprintRecord>,
    pub(crate) warnings: Vec<&'a Warning>,
    pub(crate) harness_cost: Option<HarnessCost>,
    pub(crate) preparation: Vec<&'a PreparationRecord>,
    pub(crate) failures: Vec<&'a CellFailure>,
    pub(crate) end: Option<&'a RunEnd>,
}

impl<'a> Gathered<'a> {
    /// Sorts records; of two that say the same thing (a resumed run), the later one counts.
    pub(crate) fn from(records: &'a [Record]) -> Result<Self, AnalysisError> {
        let Some((Record::Run(run), rest)) = records.split_first() else {
            return Err(AnalysisError::NoHeader);
        };
        if run.schema > SCHEMA_VERSION {
            return Err(AnalysisError::Schema {
                found: run.schema,
                known: SCHEMA_VERSION,
            });
        }
        let mut gathered = Self::empty(run);
        for record in rest {
            gathered.add(record);
        }
        Ok(gathered)
    }

    fn empty(run: &'a RunHeader) -> Self {
        Self {
            run: Cow::Borrowed(run),
            measurements: BTreeMap::new(),
            effective: BTreeMap::new(),
            verifications: BTreeMap::new(),
            footprints: Vec::new(),
            warnings: Vec::new(),
            harness_cost: None,
            preparation: Vec::new(),
            failures: Vec::new(),
            end: None,
        }
    }

    fn add(&mut self, record: &'a Record) {
        match record {
            Record::Extension(more) => self.run.to_mut().plan.extend(more),
            Record::Warning(warning) => self.warnings.push(warning),
            Record::HarnessCost(cost) => self.harness_cost = Some(*cost),
            Record::Preparation(preparation) => self.preparation.push(preparation),
            Record::Footprint(footprint) => self.footprints.push(footprint),
            Record::Effective(effective) => {
                self.effective.insert(&effective.cell, &effective.settings);
            }
            Record::Verification(verification) => {
                self.verifications.insert(&verification.cell, verification);
            }
            Record::Measurement(measurement) => {
                let cell = self.measurements.entry(&measurement.cell).or_default();
                cell.push(measurement);
            }
            Record::Failure(failure) => {
                // What a store did before it failed may be part of the failure.
                self.measurements.remove(&failure.cell);
                self.failures.push(failure);
            }
            Record::End(end) => self.end = Some(end),
            // A second header is that of the same run, resumed.
            Record::Run(_) | Record::Unknown => {}
        }
    }

    /// The measurements of a cell, in the order in which they were recorded.
    pub(crate) fn measurements(&self, cell: &CellId) -> &[&'a Measurement] {
        self.measurements.get(cell).map_or(&[], Vec::as_slice)
    }
}
