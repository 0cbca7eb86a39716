//! `result.jsonl`: read, analysed, and shown in every format.

use crate::shared::shown;

pub(crate) fn look(data: &[u8]) {
    stowplan_model::hostile::result(data);
    shown(data);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let all = crate::measured_run::records();
    let whole = all.iter().map(crate::shared::line).collect::<Vec<_>>();
    // The header, and a few of the measurements: what is short is fuzzed faster.
    let few = whole
        .iter()
        .take(1)
        .chain(whole.iter().skip(1).step_by(whole.len() / 12 + 1));
    vec![few.flatten().copied().collect(), whole.concat()]
}
