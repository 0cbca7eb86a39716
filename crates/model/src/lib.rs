//! The words of Stowplan as types.
//!
//! What belongs here: the vocabulary that every other crate shares, its text forms (parsing and
//! display) and its serde forms. What does not: files, clocks, terminals, or any judgement about
//! a measurement (that is `stowplan-analysis`).

mod capabilities;
mod cell;
mod checkup;
mod crash;
mod dataset;
mod durability;
mod environment;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
mod keyed;
mod measurement;
mod neighbours;
#[cfg(test)]
mod properties;
mod protocol;
mod result;
mod scanned;
mod settings;
mod size;
mod spec;
mod statistic;
mod study;
mod suggest;
mod survey;
mod words;
mod workload;

pub use capabilities::{Capabilities, Footprint};
pub use cell::{
    Cell, CellId, Comparison, Contrast, Extension, JudgedBefore, OF_CELL, Plan, Role, Sought,
    Sweep, built_alike,
};
pub use checkup::{Check, CheckGroup, CheckState, Checkup};
pub use crash::{
    CrashFinding, CrashModel, CrashRun, CrashSetting, Fate, Judged, ModelFound, Shrunk, Tally,
    ToJudge,
};
pub use dataset::{Content, DatasetSpec, Origin, SizeBin, SizeDistribution};
pub use durability::{Durability, DurabilityClaim};
pub use environment::{
    Change, Device, Environment, Fact, FactOf, FileSystem, Warning, WarningKind,
};
pub use keyed::KeySurvey;
pub use measurement::{
    BlockKind, CallCounter, DeviceCounters, IoCounters, Measurement, MetadataReads,
    NETWORK_RECEIVED, NETWORK_SENT, Residency, SERVER_CPU, SyncCalls, SystemCalls, Verification,
    WallBreakdown,
};
pub use neighbours::{Kind as NeighbourKind, Neighbours};
pub use protocol::{
    At, Describe, Described, Dump, FromDriver, Inspect, Inspected, Kind, Load, Measured,
    PROTOCOL_NAME, PROTOCOL_VERSION, PayloadSource, Payloads, Rest, Run, Rung, STRACE_MARK,
    STRACE_VARIABLE, Share, ToDriver, Usage, UsageCounter, Want, WireError, decode, encode,
};
pub use result::{
    CellFailure, DriverCost, EffectiveSettings, FileSystemsRecord, FootprintRecord, HarnessCost,
    Phases, PreparationRecord, Record, RunEnd, RunHeader, RunOutcome, SCHEMA_VERSION, Session,
    is_one_run, read_records, read_result,
};
pub use scanned::{Scanned, ScannerCounts};
pub use settings::{Setting, SettingError, SettingKind, Settings, Value};
pub use size::{
    ParseSizeError, format_bytes, format_count, format_size, parse_count, parse_size, spec_size,
};
pub use spec::{SpecError, StoreSpec};
pub use statistic::Statistic;
pub use study::{
    Across, AdviseSpec, Axis, CellSpec, ClaimMeasure, ClaimSpec, ComparisonSpec, DriverSpec,
    FigureSpec, LadderSpec, MOST_ROUNDS, MatrixScale, MatrixSpec, Measure, PublishedMatrix,
    PublishedRow, Reading, RungSpec, ScaleSpec, Study, StudyError, StudyFile, TestSpec,
    server_variable,
};
pub use suggest::{near_miss, suggestion};
pub use survey::{Oddity, OddityKind, PythonReads, Seconds, Survey, Took, WholeSet};
pub use workload::{
    AccessOrder, Action, CacheState, Delivery, EarlierPhases, Mix, Operation, PerTransaction,
    Workload, WorkloadSpec,
};
