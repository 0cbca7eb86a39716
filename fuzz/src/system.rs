//! `/proc`, `/sys` and `/etc`, as the doctor and the record of a machine read them.

use std::path::Path;

pub(crate) fn look(data: &[u8]) {
    stowplan_harness::hostile::system_files(data).expect("a made-up machine");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let files = [
        "/etc/os-release",
        "/proc/meminfo",
        "/proc/loadavg",
        "/proc/stat",
        "/proc/self/stat",
        "/proc/self/cgroup",
        "/proc/self/mountinfo",
        "/proc/pressure/io",
        "/sys/devices/system/cpu/online",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ];
    let mut seeds: Vec<Vec<u8>> = files
        .iter()
        .filter_map(|file| std::fs::read(Path::new(file)).ok())
        .collect();
    seeds.iter_mut().for_each(|seed| seed.truncate(2_000));
    seeds.push(b"model name\t: AMD Ryzen 7 7840U\nflags\t: fpu hypervisor\n".to_vec());
    seeds.push(
        b"27 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw\n0::/user.slice\n16384K\n".to_vec(),
    );
    seeds.push(b"pswpin 1\npswpout 2\ncpu  100 0 50 800 10 0 0 0 0 0\nnr_throttled 3\n".to_vec());
    seeds
}
