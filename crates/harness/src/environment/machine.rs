//! Processor, memory, power, virtualisation.

use super::control_group;
use super::root::Root;
use std::path::Path;

/// The distribution's name for people.
pub(super) fn parse_distribution(os_release: &str) -> Option<String> {
    let value = os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?
        .trim();
    let name = value.trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The processor's model name. Not every architecture tells.
pub(super) fn parse_cpu_model(cpuinfo: &str) -> Option<String> {
    // x86 and others; boards with ARM; POWER; RISC-V.
    ["model name", "Model", "cpu", "uarch"]
        .iter()
        .find_map(|name| field(cpuinfo, name))
        .map(str::to_owned)
}

/// The value of the first `name : value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// Memory, in bytes; 0 where unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) total_bytes: u64,
    pub(super) available_bytes: u64,
}

/// The machine's memory, or less where a control group allows less: its limit counts the page
/// cache too.
pub(super) fn memory(root: &Root) -> Memory {
    let memory = parse_memory(&root.text("/proc/meminfo").unwrap_or_default());
    let limit = control_group::memory_limit(root).unwrap_or(u64::MAX);
    Memory {
        total_bytes: memory.total_bytes.min(limit),
        available_bytes: memory.available_bytes.min(limit),
    }
}

fn parse_memory(meminfo: &str) -> Memory {
    let bytes = |name| memory_field(meminfo, name).unwrap_or(0);
    Memory {
        total_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
    }
}

/// A field of `/proc/meminfo`, in bytes.
pub(super) fn memory_field(meminfo: &str, name: &str) -> Option<u64> {
    let kib = field(meminfo, name)?.strip_suffix("kB")?.trim();
    kib.parse::<u64>().ok()?.checked_mul(1024)
}

/// Load average over one minute.
pub(super) fn parse_load_average(text: &str) -> Option<f64> {
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    load.is_finite().then_some(load)
}

/// Whether a battery of the machine itself feeds it; unknown without any power supply.
pub(super) fn on_battery(root: &Root) -> Option<bool> {
    let mut answer = None;
    for supply in root.entries("/sys/class/power_supply") {
        let read = |name: &str| root.line(supply.join(name));
        // A mouse has a battery, too.
        if read("scope").as_deref() == Some("Device") {
            continue;
        }
        let discharging = read("type").as_deref() == Some("Battery")
            && read("status").as_deref() == Some("Discharging");
        answer = Some(discharging || answer == Some(true));
    }
    answer
}

/// Hypervisor and container, where they are recognised.
pub(super) fn virtualisation(root: &Root, kernel: &str) -> Option<String> {
    let container = container(root).map(str::to_owned);
    let parts = [guest(root, kernel), container].into_iter().flatten();
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the machine is a guest of. The processor says that it is one; whose, may show in vendor or product.
fn guest(root: &Root, kernel: &str) -> Option<String> {
    const KNOWN: [&str; 6] = [
        "KVM",
        "QEMU",
        "VMware",
        "VirtualBox",
        "Google Compute Engine",
        "HVM domU",
    ];
    if kernel.to_lowercase().contains("microsoft") {
        return Some("Windows Subsystem for Linux".to_owned());
    }
    let cpuinfo = root.text("/proc/cpuinfo").unwrap_or_default();
    let flags = field(&cpuinfo, "flags").unwrap_or_default();
    let is_guest = flags.split(' ').any(|flag| flag == "hypervisor");
    let said = |name| root.line(Path::new("/sys/class/dmi/id").join(name));
    let vendor = said("sys_vendor").unwrap_or_default();
    let signs = format!("{vendor} {}", said("product_name").unwrap_or_default());
    let known = KNOWN.into_iter().find(|sign| signs.contains(sign));
    match known.unwrap_or(&vendor) {
        name if known.is_some() || (is_guest && !name.is_empty()) => {
            Some(format!("virtual machine ({name})"))
        }
        _ => is_guest.then(|| "virtual machine".to_owned()),
    }
}

fn container(root: &Root) -> Option<&'static str> {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    match () {
        () if groups.contains("kubepods") => Some("Kubernetes pod"),
        () if root.has("/run/.containerenv") || groups.contains("libpod") => {
            Some("Podman container")
        }
        () if root.has("/.dockerenv") || groups.contains("/docker") => Some("Docker container"),
        () if groups.contains("/lxc") => Some("LXC container"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::root::MadeUp;
    use super::*;
    use proptest::prelude::*;

    const CPUINFO: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n\
        model\t\t: 207\nmodel name\t: Intel(R) Xeon(R) Processor\n\
        flags\t\t: fpu rdrand hypervisor lahf_lm\n\nprocessor\t: 1\n";

    #[test]
    fn the_distribution_is_its_pretty_name() {
        let text = "NAME=\"Debian GNU/Linux\"\n\
                    PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\n";
        assert_eq!(
            parse_distribution(text).unwrap(),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(parse_distribution("PRETTY_NAME=Arch\n").unwrap(), "Arch");
        assert_eq!(parse_distribution("NAME=x\n"), None);
    }

    #[test]
    fn the_processor_is_its_model_name_where_there_is_one() {
        assert_eq!(
            parse_cpu_model(CPUINFO).unwrap(),
            "Intel(R) Xeon(R) Processor"
        );
        let raspberry = "processor\t: 0\nCPU part\t: 0xd08\n\nModel\t\t: Raspberry Pi 4\n";
        assert_eq!(parse_cpu_model(raspberry).unwrap(), "Raspberry Pi 4");
        assert_eq!(parse_cpu_model("processor : 0\nCPU part : 0xd0c\n"), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        let text = "MemTotal:       24682416 kB\nMemFree:        24370120 kB\n\
                    MemAvailable:   24346944 kB\n";
        let memory = Memory {
            total_bytes: 24_682_416 * 1024,
            available_bytes: 24_346_944 * 1024,
        };
        assert_eq!(parse_memory(text), memory);
        assert_eq!(parse_memory(""), Memory::default());
    }

    #[test]
    fn the_load_is_the_first_number() {
        assert_eq!(parse_load_average("0.01 0.13 0.14 1/86 9049\n"), Some(0.01));
        assert_eq!(parse_load_average("NaN 1 1"), None);
    }

    #[test]
    fn a_discharging_battery_counts_unless_it_is_a_peripheral_s() {
        let tree = MadeUp::of(&[]);
        let supply = |name: &str, files: &[(&str, &str)]| {
            for (file, text) in files {
                tree.write(&format!("/sys/class/power_supply/{name}/{file}"), text);
            }
        };
        assert_eq!(on_battery(&tree.root()), None);
        supply("AC", &[("type", "Mains\n"), ("online", "0\n")]);
        supply(
            "mouse",
            &[
                ("type", "Battery\n"),
                ("scope", "Device\n"),
                ("status", "Discharging\n"),
            ],
        );
        assert_eq!(on_battery(&tree.root()), Some(false));
        supply(
            "BAT0",
            &[("type", "Battery\n"), ("status", "Discharging\n")],
        );
        assert_eq!(on_battery(&tree.root()), Some(true));
    }

    #[test]
    fn virtual_machines_and_containers_are_told() {
        let told = |files: &[(&str, &str)]| virtualisation(&MadeUp::of(files).root(), "6.1");
        let flagged = ("/proc/cpuinfo", "flags\t: fpu hypervisor\n");
        let docker = ("/.dockerenv", "");
        let dmi = |name: &str| format!("/sys/class/dmi/id/{name}");
        let (vendor, product) = (dmi("sys_vendor"), dmi("product_name"));
        let amazon = [(&*vendor, "Amazon EC2\n"), (&*product, "c5.large\n")];
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&[flagged, docker]).unwrap(),
            "virtual machine, Docker container"
        );
        assert_eq!(
            told(&[flagged, amazon[0], amazon[1]]).unwrap(),
            "virtual machine (Amazon EC2)"
        );
        assert_eq!(told(&amazon), None, "bare metal");
        let pod = ("/proc/self/cgroup", "0::/kubepods/burstable");
        assert_eq!(
            told(&[(&*vendor, "QEMU\n"), pod]).unwrap(),
            "virtual machine (QEMU), Kubernetes pod"
        );
    }

    proptest! {
        #[test]
        fn garbage_is_unknown_and_never_a_panic(text in "\\PC{0,200}") {
            let _ = parse_distribution(&text);
            let _ = parse_cpu_model(&text);
            let _ = parse_memory(&text);
            let _ = parse_load_average(&text);
        }
    }
}
