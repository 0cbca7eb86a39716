//! What the system tells of the processor.

use std::path::Path;

/// Bytes of the last-level cache of the first processor, which others may share; the system's files lie below `root`.
#[must_use]
pub fn last_level_cache_bytes(root: &Path) -> Option<u64> {
    let caches = std::fs::read_dir(root.join("sys/devices/system/cpu/cpu0/cache")).ok()?;
    let levels = caches.flatten().filter_map(|cache| {
        let read = |name| std::fs::read_to_string(cache.path().join(name)).ok();
        let level: u32 = read("level")?.trim().parse().ok()?;
        let holds_data = read("type")?.trim() != "Instruction";
        let bytes = parse_cache_size(read("size")?.trim())?;
        holds_data.then_some((level, bytes))
    });
    levels.max().map(|(_, bytes)| bytes)
}

/// `266240K`.
fn parse_cache_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_sizes_have_units() {
        assert_eq!(parse_cache_size("266240K"), Some(272_629_760));
        assert_eq!(parse_cache_size("32M"), Some(32 << 20));
        assert_eq!(parse_cache_size("512"), Some(512));
        assert_eq!(parse_cache_size("12X"), None);
        assert_eq!(parse_cache_size("K"), None);
    }
}
