//! What systems could say.

use crate::hostile;
use proptest::prelude::*;
use proptest::test_runner::Config;

/// Failures are printed with what led to them, and leave no file behind.
fn cases(cases: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}

/// Lines as the system's files have them.
const LINES: &[&str] = &[
    "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"",
    "model name\t: AMD Ryzen 7 7840U",
    "MemTotal: 32000000 kB",
    "MemAvailable: 28000000 kB",
    "SwapTotal: 8 kB",
    "SwapFree: 9 kB",
    "Hugetlb: 0 kB",
    "0.05 0.03 0.01 1/900 4711",
    "cpu  100 0 50 800 10 0 0 40 0 0",
    "pswpin 18446744073709551615",
    "pswpout 1",
    "0::/user.slice",
    "4:cpu,cpuacct:/../../x",
    "27 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw",
    "27 1 ../..:2 / / rw - ext4 /dev/\\040x",
    "some avg10=0.10 avg60=0 avg300=0 total=1",
    "9 (bash) S 1 1 1 0 -1 4194304 9 0 0 0 7 3 0 0 20 0 1 0 5 1 1",
    "0-4294967295",
    "16384K",
    "max 100000",
    "1 0",
    "nr_throttled 3",
    "always [madvise] never",
    "45000",
    "Battery",
    "Discharging",
    "on",
];

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn whatever_the_system_s_files_say_the_machine_is_described(
        lines in prop::collection::vec(prop::sample::select(LINES), 0..12),
        at: usize, length in 0usize..9,
        with in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..6),
            any::<u64>().prop_map(|n| n.to_string().into_bytes()),
            any::<f64>().prop_map(|n| n.to_string().into_bytes()),
        ]
    ) {
        let mut text = lines.join("\n").into_bytes();
        let from = at % (text.len() + 1);
        let to = (from + length).min(text.len());
        text.splice(from..to, with);
        let checks = hostile::system_files(&text).unwrap();
        prop_assert!(checks.iter().all(|check| !check.found.is_empty()));
    }
}
