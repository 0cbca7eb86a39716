//! What people type: store specs, settings, sizes, counts, times, shares.

use crate::values;
use stowplan_model::hostile;
use stowplan_stores::registry;

const BUDGET: u64 = 4 << 20;

pub(crate) fn look(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let names: Vec<&str> = registry::all().map(|kind| kind.name()).collect();
    hostile::words(text, &names);
    if let Ok(time) = values::duration(text) {
        assert!((1.0..=1e7).contains(&time.as_secs_f64()));
    }
    if let Ok(share) = values::percent(text) {
        assert!((0.001..=0.5).contains(&share));
    }
    for read in [values::count, values::blob_size, values::page_size] {
        assert_ne!(read(text), Ok(0));
    }
    let _ = values::cache(text);
    if let Some(spec) = hostile::spec(text) {
        if let Ok(resolved) = registry::resolve(&spec, BUDGET) {
            let settings = resolved.settings.iter();
            assert!(settings.count() >= spec.settings.len());
        }
    }
    for kind in registry::all() {
        for setting in kind.settings() {
            hostile::setting(setting, text);
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let spelled = registry::all().filter_map(|kind| {
        let spec = kind.name().parse().ok()?;
        let resolved = registry::resolve(&spec, BUDGET).ok()?;
        Some(format!("{}:{}", kind.name(), resolved.settings))
    });
    let typed = [
        "10k", "10KiB", "1.5MB", "0x1000", "100_000", "3m", "1.5h", "90s", "2%", "0.02", "-2000",
        "+0X64",
    ];
    spelled
        .chain(typed.map(str::to_owned))
        .map(String::into_bytes)
        .collect()
}
