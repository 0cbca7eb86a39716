//! The records of a run, sorted by what they are about.

use crate::labels;
use std::borrow::Cow;
use std::collections::BTreeMap;
use stowplan_model::{
    BlockKind, Cell, CellFailure, CellId, Comparison, DriverCost, FootprintRecord, HarnessCost,
    Measurement, Phases, PreparationRecord, Record, RunEnd, RunHeader, SCHEMA_VERSION, Session,
    Settings, Verification, Warning, is_one_run,
};
use thiserror::Error;

/// Why records cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnalysisError {
    /// No record is the run's header.
    #[error(
        "there is no header of a run in it, which says what was measured; is it a result.jsonl of \
         stowplan, and is its first line whole?"
    )]
    NoHeader,
    /// Its lines are not those of one run in their order.
    #[error(
        "its header is not the first line, or not the only one: lines are in another order than they \
         were written in, or several results are in one file; give the result as it was written, and \
         each by itself"
    )]
    NotOneRun,
    /// The result was written by a later version.
    #[error(
        "the result has schema {found}, this program reads up to {known}; use a newer stowplan"
    )]
    Schema {
        /// Its schema.
        found: u32,
        /// The newest one that can be read.
        known: u32,
    },
}

/// Everything a run recorded, by kind and cell.
#[derive(Debug)]
pub(crate) struct Gathered<'a> {
    /// The header, its plan with what was added to it and with labels that tell cells apart.
    pub(crate) run: Cow<'a, RunHeader>,
    measurements: BTreeMap<&'a CellId, Vec<&'a Measurement>>,
    /// The sessions after the first.
    pub(crate) resumed: Vec<&'a Session>,
    /// The boots of the system that the sessions ran in, each once, as far as they are known.
    pub(crate) boots: Vec<&'a str>,
    /// For each measurement above, the session that made it, from 0.
    made_in: BTreeMap<&'a CellId, Vec<usize>>,
    pub(crate) effective: BTreeMap<&'a CellId, &'a Settings>,
    pub(crate) verifications: BTreeMap<&'a CellId, &'a Verification>,
    pub(crate) footprints: Vec<&'a FootprintRecord>,
    /// Each with the session that recorded it, from 0.
    pub(crate) warnings: Vec<(usize, &'a Warning)>,
    pub(crate) harness_cost: Option<HarnessCost>,
    /// Of drivers with a name, by it.
    pub(crate) driver_costs: BTreeMap<&'a str, &'a DriverCost>,
    pub(crate) preparation: Vec<&'a PreparationRecord>,
    pub(crate) failures: Vec<&'a CellFailure>,
    /// How the last session ended, with the seconds of all those that ended in order.
    pub(crate) end: Option<RunEnd>,
    /// Seconds of earlier sessions.
    earlier_seconds: f64,
    earlier_phases: Phases,
}

impl<'a> Gathered<'a> {
    /// Sorts records; of two that say the same thing (a resumed run), the later one counts.
    pub(crate) fn from(records: &'a [Record]) -> Result<Self, AnalysisError> {
        let mut gathered = Self::empty(header(records)?);
        for record in records {
            gathered.add(record);
        }
        if labels::are_ambiguous(&gathered.run.plan) {
            labels::make_distinct(&mut gathered.run.to_mut().plan);
        }
        Ok(gathered)
    }

    fn empty(run: &'a RunHeader) -> Self {
        Self {
            run: Cow::Borrowed(run),
            measurements: BTreeMap::new(),
            resumed: Vec::new(),
            boots: Vec::new(),
            made_in: BTreeMap::new(),
            effective: BTreeMap::new(),
            verifications: BTreeMap::new(),
            footprints: Vec::new(),
            warnings: Vec::new(),
            harness_cost: None,
            driver_costs: BTreeMap::new(),
            preparation: Vec::new(),
            failures: Vec::new(),
            end: None,
            earlier_seconds: 0.0,
            earlier_phases: Phases::default(),
        }
    }

    fn add(&mut self, record: &'a Record) {
        match record {
            Record::Extension(more) => self.run.to_mut().plan.extend(more),
            Record::Warning(warning) => self.warnings.push((self.resumed.len(), warning)),
            Record::HarnessCost(cost) => self.harness_cost = Some(*cost),
            Record::DriverCost(cost) => {
                self.driver_costs.insert(&cost.driver, cost);
            }
            Record::FileSystems(made) => {
                let known = &mut self.run.to_mut().environment.file_systems;
                known.extend(made.on.clone());
            }
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
                let sessions = self.made_in.entry(&measurement.cell).or_default();
                sessions.push(self.resumed.len());
            }
            Record::Failure(failure) => {
                // What a store did before it failed may be part of the failure.
                self.measurements.remove(&failure.cell);
                self.made_in.remove(&failure.cell);
                self.failures.push(failure);
            }
            Record::Session(session) => self.begin(session),
            Record::End(end) => {
                let mut end = end.clone();
                end.seconds += self.earlier_seconds;
                end.phases = end.phases.map(|phases| phases + self.earlier_phases);
                self.end = Some(end);
            }
            Record::Run(_) | Record::Newer(_) | Record::Unknown => {}
        }
    }

    fn begin(&mut self, session: &'a Session) {
        let boot = session.boot_id.as_deref();
        let boot = boot.filter(|boot| !self.boots.contains(boot));
        self.boots.extend(boot);
        if session.environment.is_some() {
            self.resume(session);
        }
    }

    /// What ended the session before is no longer how the run ended.
    fn resume(&mut self, session: &'a Session) {
        if let Some(end) = self.end.take() {
            self.earlier_seconds = end.seconds;
            self.earlier_phases = end.phases.unwrap_or_default();
            let measurements = &self.measurements;
            let begun = |cell: &Cell| {
                let blocks = measurements.get(&cell.id)?.iter();
                let blocks = blocks.filter(|block| block.block != BlockKind::Counting);
                blocks.map(|block| block.round.saturating_add(1)).max()
            };
            let next = |of: &Comparison| of.cells.iter().filter_map(begun).max().unwrap_or(0);
            self.run.to_mut().judge(next);
        }
        if let Some(rounds) = session.max_rounds {
            self.run.to_mut().raise_rounds(rounds);
        }
        self.resumed.push(session);
    }

    /// What the loop of a driver costs; that of the program itself, which has no name, is the harness's.
    pub(crate) fn driver_cost(&self, driver: &str) -> Option<&HarnessCost> {
        match driver {
            "" => self.harness_cost.as_ref(),
            driver => self.driver_costs.get(driver).map(|found| &found.cost),
        }
    }

    /// How many sessions the run has had.
    pub(crate) fn sessions(&self) -> usize {
        self.resumed.len() + 1
    }

    /// The measurements of a cell, in the order in which they were recorded.
    pub(crate) fn measurements(&self, cell: &CellId) -> &[&'a Measurement] {
        self.measurements.get(cell).map_or(&[], Vec::as_slice)
    }

    /// The blocks of a cell by the session that made them.
    pub(crate) fn by_session(&self, cell: &CellId) -> BTreeMap<usize, Vec<&'a Measurement>> {
        let mut found: BTreeMap<usize, Vec<&Measurement>> = BTreeMap::new();
        let sessions = self.made_in.get(cell).into_iter().flatten();
        for (session, measurement) in sessions.zip(self.measurements(cell)) {
            found.entry(*session).or_default().push(measurement);
        }
        found
    }
}

/// The header. It is the first record, unless that one was lost.
fn header(records: &[Record]) -> Result<&RunHeader, AnalysisError> {
    let refused = |found| AnalysisError::Schema {
        found,
        known: SCHEMA_VERSION,
    };
    for record in records {
        match record {
            Record::Run(run) if run.schema > SCHEMA_VERSION => return Err(refused(run.schema)),
            Record::Run(_) if !is_one_run(records) => return Err(AnalysisError::NotOneRun),
            Record::Run(run) => return Ok(run),
            Record::Newer(schema) => return Err(refused(*schema)),
            _ => {}
        }
    }
    Err(AnalysisError::NoHeader)
}
