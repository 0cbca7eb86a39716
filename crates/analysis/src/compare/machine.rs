//! What changed around the measurements: the machine, its state, and the program.

use super::Difference;
use crate::Analysis;
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::{Environment, Fact, FactOf};

/// One fact about the surroundings that is not the same in both results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentChange {
    /// What, and how it reads in each.
    #[serde(flatten)]
    pub difference: Difference,
    /// Whether it makes NEW's machine another one than BASE's, or the place there: its kernel, file
    /// system or device.
    pub another_machine: bool,
}

/// What the fact about an engine's build options is called, before its name.
const OPTIONS_OF: &str = "build options of ";

/// The facts of one environment. Figures that change by the minute (load, free memory, free space)
/// are none of them; what an engine was built with is a fact of its own.
fn facts(environment: &Environment) -> Vec<Fact> {
    let facts = environment.facts().into_iter();
    let lasting = facts.filter(|fact| fact.of != FactOf::Moment);
    lasting
        .flat_map(|fact| {
            let text = fact.value.as_deref().unwrap_or_default();
            let text = text.strip_suffix(')').filter(|_| fact.of == FactOf::Engine);
            let Some((version, options)) = text.and_then(|text| text.split_once(" (")) else {
                return vec![fact];
            };
            let options_of = format!("{OPTIONS_OF}{}", fact.name);
            let parts = [(fact.name.clone(), version), (options_of, options)];
            let parts = parts.map(|(name, value)| Fact {
                name,
                value: Some(value.to_owned()),
                of: FactOf::Engine,
            });
            parts.into()
        })
        .collect()
}

/// Everything that is not the same in the sessions of both sides; in which boots of the system they
/// ran comes last, where that is known of all.
pub(super) fn changes(base: &[&Analysis], new: &[&Analysis]) -> Vec<EnvironmentChange> {
    let all = || base.iter().chain(new);
    let boots_known = all().all(|session| !session.boots.is_empty());
    let of_session = |session: &&Analysis| {
        let mut facts = facts(&session.run.environment);
        facts.extend(boots_known.then(|| boots(session)));
        facts
    };
    let of = |side: &[&Analysis]| side.iter().map(of_session).collect::<Vec<_>>();
    of_facts(&of(base), &of(new))
}

/// The boots that a session ran in, each by as much of its name as tells it from others.
fn boots(session: &Analysis) -> Fact {
    let boots = session.boots.iter();
    let boots = boots.map(|boot| boot.chars().take(8).collect());
    Fact {
        name: "boot of the system".to_owned(),
        value: listed(boots),
        of: FactOf::Setup,
    }
}

/// Everything that is not the same, in the order in which it is told; what only one side has (an
/// engine, a device) as well. Of several sessions each value is told once. What makes another machine
/// is told where it is not the same in all of them, anything else where the sides differ by it.
fn of_facts(base: &[Vec<Fact>], new: &[Vec<Fact>]) -> Vec<EnvironmentChange> {
    let values = |side: &[Vec<Fact>], name: &str| -> BTreeSet<Option<String>> {
        let of = |facts: &Vec<Fact>| facts.iter().find(|fact| fact.name == name)?.value.clone();
        side.iter().map(of).collect()
    };
    let mut told = BTreeSet::new();
    let all = base.iter().chain(new).flatten();
    let all = all.filter(|fact| told.insert(&fact.name));
    let changes = all.filter_map(|fact| {
        let [was, is] = [base, new].map(|side| values(side, &fact.name));
        let another_machine = matches!(fact.of, FactOf::Machine | FactOf::Place);
        if was == is && (was.len() == 1 || !another_machine) {
            return None;
        }
        let [was, is] = match fact.name.starts_with(OPTIONS_OF) {
            // How an engine was built that the other one does not have is no change.
            true if was.contains(&None) || is.contains(&None) => return None,
            true => [only_in(&was, &is), only_in(&is, &was)],
            false => [was, is].map(|values| listed(values.into_iter().flatten())),
        };
        (was.is_some() || is.is_some()).then(|| EnvironmentChange {
            difference: Difference::of(&fact.name, was, is),
            another_machine,
        })
    });
    changes.collect()
}

/// `6.1 or 6.12`; nothing of nothing.
fn listed(values: impl Iterator<Item = String>) -> Option<String> {
    let values: Vec<String> = values.collect();
    (!values.is_empty()).then(|| values.join(" or "))
}

/// The build options, of dozens, that the other side does not have.
fn only_in(lists: &BTreeSet<Option<String>>, other: &BTreeSet<Option<String>>) -> Option<String> {
    let items = |lists: &'_ BTreeSet<Option<String>>| -> BTreeSet<String> {
        let items = lists.iter().flatten().flat_map(|list| list.split(", "));
        items.map(str::to_owned).collect()
    };
    let only: Vec<String> = items(lists).difference(&items(other)).cloned().collect();
    (!only.is_empty()).then(|| only.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut Environment)) -> Vec<Fact> {
        let mut environment = Environment::default();
        change(&mut environment);
        facts(&environment)
    }

    /// What changed, with `!` where it makes another machine.
    fn told(base: &[Vec<Fact>], new: &[Vec<Fact>]) -> String {
        let all = of_facts(base, new).into_iter().map(|change| {
            let another = if change.another_machine { "!" } else { "" };
            let text = |text: Option<String>| text.unwrap_or_default();
            let Difference { what, base, new } = change.difference;
            format!("{what}{another} {} -> {}", text(base), text(new))
        });
        all.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn host_kernel_cpu_and_file_system_make_another_machine_settings_do_not_and_a_moment_is_no_change()
     {
        let base = || [with(|found| found.memory_bytes = 24 << 30)];
        let moment = with(|found| {
            found.memory_bytes = (24 << 30) - 1_000_000;
            found.memory_available_bytes = 5;
            found.load_average = Some(3.0);
        });
        assert_eq!(told(&base(), &[moment]), "");
        let new = with(|found| {
            found.memory_bytes = 24 << 30;
            found.governor = Some("powersave".to_owned());
            found.file_system.options = "noatime".to_owned();
            found.file_system.kind = "xfs".to_owned();
            found.kernel = "7.0".to_owned();
        });
        let told = told(&base(), &[new]);
        let expected = "kernel!  -> 7.0; governor  -> powersave; file system!  -> xfs; \
                        mount options  -> noatime";
        assert_eq!(told, expected);
    }

    #[test]
    fn of_engines_those_are_told_that_one_side_has_and_of_build_options_those_that_differ() {
        let engine = |name: &str, version: &str| {
            with(|found| {
                let engines = &mut found.engines;
                engines.insert(name.to_owned(), version.to_owned());
            })
        };
        let sqlite = |version: &str| [engine("SQLite", version)];
        let other = told(&sqlite("3.1 (A, B=1, C)"), &sqlite("3.2 (A, B=2, C)"));
        assert_eq!(
            other,
            "SQLite 3.1 -> 3.2; build options of SQLite B=1 -> B=2"
        );
        let (redb, lmdb) = (engine("redb", "4.0 (A, B)"), engine("lmdb", "0.9"));
        assert_eq!(told(&[redb], &[lmdb]), "redb 4.0 -> ; lmdb  -> 0.9");
    }

    #[test]
    fn of_several_sessions_each_value_is_told_once_and_a_machine_must_be_the_same_in_all() {
        let session = |kernel: &str, governor: &str| {
            with(|found| {
                found.kernel = kernel.to_owned();
                found.governor = Some(governor.to_owned());
            })
        };
        let (old, other) = (session("6.1", "powersave"), session("6.12", "performance"));
        let mixed = [old.clone(), other.clone(), other];
        let kernel = "kernel! 6.1 or 6.12 -> 6.1";
        assert_eq!(told(&mixed, &mixed), format!("{kernel} or 6.12"));
        let governor = "governor performance or powersave -> powersave";
        let same_governor = told(&mixed, &[old.clone(), old]);
        assert_eq!(same_governor, format!("{kernel}; {governor}"));
        assert_eq!(told(&mixed[1..2], &mixed[1..]), "");
    }
}
