//! What built stores take on disk, beside published figures.

use crate::{SpaceRow, gathered::Gathered};
use stowplan_model::{FootprintRecord, Plan, PublishedSpace, Role};

/// One row per built store, in the order of building.
pub(crate) fn rows(gathered: &Gathered<'_>) -> Vec<SpaceRow> {
    let mut rows: Vec<SpaceRow> = Vec::new();
    for record in gathered.footprints.iter().filter(|r| !r.after_workloads) {
        let row = row(record, &gathered.run.plan);
        // A resumed run may have built a store anew.
        match rows.iter_mut().find(|known| known.instance == row.instance) {
            Some(known) => *known = row,
            None => rows.push(row),
        }
    }
    rows
}

fn row(record: &FootprintRecord, plan: &Plan) -> SpaceRow {
    let label = plan
        .cells()
        .filter(|cell| cell.role != Role::Control)
        .find(|cell| cell.instance == record.instance)
        .map_or_else(|| record.instance.clone(), |cell| cell.label.clone());
    let published = plan
        .study
        .space
        .iter()
        .find(|published| is_comparable(published, record, plan))
        .and_then(|published| Some((published.label.clone(), published.bytes?, published.count)));
    SpaceRow {
        instance: record.instance.clone(),
        label,
        footprint: record.footprint,
        value_bytes: record.value_bytes,
        published,
    }
}

/// Whether a published figure is of this store with as many values: space does not scale
/// exactly, so a figure for another number of values says nothing.
fn is_comparable(published: &PublishedSpace, record: &FootprintRecord, plan: &Plan) -> bool {
    plan.cells()
        .filter(|cell| cell.id == published.cell && cell.instance == record.instance)
        .any(|cell| {
            let ours = plan
                .datasets
                .get(&cell.dataset)
                .map(|dataset| dataset.count);
            published.count.is_none() || published.count == ours
        })
}
