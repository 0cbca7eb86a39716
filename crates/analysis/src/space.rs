//! What built stores take on disk, beside published figures.

use crate::{SpaceRow, gathered::Gathered};
use stowplan_model::{Cell, FootprintRecord, Plan, PublishedSpace, built_alike};

/// Bytes allocated per byte of the values, of a cell's store as it was built.
pub(crate) fn per_value_byte(cell: &Cell, gathered: &Gathered<'_>) -> Option<f64> {
    let mut built = gathered.footprints.iter().rev();
    let record = built.find(|r| !r.after_workloads && is_alike(cell, r))?;
    let allocated = record.footprint.allocated_bytes as f64;
    (record.value_bytes > 0).then(|| allocated / record.value_bytes as f64)
}

/// One row for all stores that are built alike, in the order of building.
pub(crate) fn rows(gathered: &Gathered<'_>) -> Vec<SpaceRow> {
    let plan = &gathered.run.plan;
    let mut rows: Vec<SpaceRow> = Vec::new();
    for record in gathered.footprints.iter().filter(|r| !r.after_workloads) {
        let row = row(record, plan);
        // A resumed run may have built a store anew.
        match rows.iter_mut().find(|known| known.instance == row.instance) {
            Some(known) => *known = row,
            None => rows.push(row),
        }
    }
    relate(&mut rows, plan);
    rows
}

fn row(record: &FootprintRecord, plan: &Plan) -> SpaceRow {
    let named = plan
        .study
        .space
        .iter()
        .find(|published| is_of(published, record, plan));
    let published = named
        .and_then(|published| Some((published.label.clone(), published.bytes?, published.count)));
    SpaceRow {
        instance: built_alike(&record.instance).to_owned(),
        label: named.map_or_else(|| description(record, plan), |named| named.label.clone()),
        footprint: record.footprint,
        value_bytes: record.value_bytes,
        ratio: None,
        published,
        published_ratio: None,
        published_of_as_many: named.is_some_and(|published| is_of_as_many(published, record, plan)),
    }
}

/// Relates every row to the store that the study names first, or else to the first built.
fn relate(rows: &mut [SpaceRow], plan: &Plan) {
    let first_named = plan.study.space.first().map(|named| &named.cell);
    let instance = plan
        .cells()
        .find(|cell| Some(&cell.id) == first_named)
        .map(|cell| built_alike(&cell.instance));
    let reference = rows
        .iter()
        .find(|row| Some(row.instance.as_str()) == instance)
        .or(rows.first())
        .cloned();
    let Some(reference) = reference else {
        return;
    };
    let share = |bytes: u64, of: u64| (of > 0).then(|| bytes as f64 / of as f64);
    let published = |row: &SpaceRow| row.published.as_ref().map(|(_, bytes, _)| *bytes);
    for row in rows {
        // Stores of other values take more or less for another reason.
        if row.value_bytes == reference.value_bytes {
            let of = reference.footprint.allocated_bytes;
            row.ratio = share(row.footprint.allocated_bytes, of);
        }
        row.published_ratio = published(row)
            .zip(published(&reference))
            .and_then(|(bytes, of)| share(bytes, of));
    }
}

/// `files, layout=tree`: kind and layout of a store that several cells may share, so that the
/// label of none of them would do.
fn description(record: &FootprintRecord, plan: &Plan) -> String {
    let Some(cell) = plan.cells().find(|cell| is_alike(cell, record)) else {
        return record.instance.clone();
    };
    let mut parts = vec![cell.store.kind.clone()];
    parts.extend(layout(cell));
    parts.extend(Some(format!("on {}", cell.on)).filter(|_| !cell.on.is_empty()));
    let text = parts.join(", ");
    if plan.datasets.len() > 1 {
        format!("{}: {text}", cell.dataset)
    } else {
        text
    }
}

/// The settings that shape the store, as `name=value`: those that its directory is named after.
fn layout(cell: &Cell) -> Vec<String> {
    let prefix = format!("{}.{}.", cell.dataset, cell.store.kind_in_paths());
    let Some(named_after) = built_alike(&cell.instance).strip_prefix(&prefix) else {
        return Vec::new();
    };
    let named_after = format!("-{named_after}-");
    let settings = cell.settings.iter();
    settings
        .filter(|(name, value)| named_after.contains(&format!("-{name}-{value}-")))
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

/// Whether a published figure is of this store.
fn is_of(published: &PublishedSpace, record: &FootprintRecord, plan: &Plan) -> bool {
    plan.cells()
        .any(|cell| cell.id == published.cell && is_alike(cell, record))
}

/// Whether a cell's store is built as the one that was weighed.
fn is_alike(cell: &Cell, record: &FootprintRecord) -> bool {
    built_alike(&cell.instance) == built_alike(&record.instance)
}

/// Whether a published figure is of as many values: space does not scale exactly, so of another number
/// only ratios can be set beside each other.
fn is_of_as_many(published: &PublishedSpace, record: &FootprintRecord, plan: &Plan) -> bool {
    plan.cells()
        .filter(|cell| cell.id == published.cell && is_alike(cell, record))
        .any(|cell| {
            let ours = plan
                .datasets
                .get(&cell.dataset)
                .map(|dataset| dataset.count);
            published.count.is_none() || published.count == ours
        })
}
