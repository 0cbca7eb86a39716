//! What built stores take on disk, beside published figures.

use crate::{SpaceRow, gathered::Gathered};
use stowplan_model::{Cell, FootprintRecord, Plan, PublishedRow, built_alike};

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
    let mut asked = plan.study.space();
    let named = asked.find(|published| is_of(published, record, plan));
    let label = named.and_then(|named| named.label.clone());
    let label = label.unwrap_or_else(|| description(record, plan));
    let bytes = named.and_then(|named| Some((named.bytes?, named.count)));
    SpaceRow {
        instance: built_alike(&record.instance).to_owned(),
        footprint: record.footprint,
        value_bytes: record.value_bytes,
        ratio: None,
        published: bytes.map(|(bytes, count)| (label.clone(), bytes, count)),
        published_ratio: None,
        label,
    }
}

/// Relates every row to the store that the study names first, or else to the first built.
fn relate(rows: &mut [SpaceRow], plan: &Plan) {
    let first_named = plan.study.space().next();
    let first_named = first_named.and_then(|named| named.cell.as_ref());
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
fn is_of(published: &PublishedRow, record: &FootprintRecord, plan: &Plan) -> bool {
    plan.cells()
        .any(|cell| published.cell.as_ref() == Some(&cell.id) && is_alike(cell, record))
}

/// Whether a cell's store is built as the one that was weighed.
fn is_alike(cell: &Cell, record: &FootprintRecord) -> bool {
    built_alike(&cell.instance) == built_alike(&record.instance)
}
