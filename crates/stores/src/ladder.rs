//! Putting ladders together: from the lowest rung up, each with one setting changed.

use crate::Kind;
use stowplan_model::{Rung, Settings, StoreSpec, Value, WorkloadSpec};

/// What a step should be made of: see [`Rung::isolated`].
pub(crate) type Isolated = &'static [(&'static str, f64)];

/// A step that a setting is: the setting; the value that it takes, and the others for which that is a step on the
/// way; what it does in a few words; and of what it should be made.
pub(crate) struct Step(
    pub(crate) &'static str,
    pub(crate) &'static [&'static str],
    pub(crate) &'static str,
    pub(crate) Isolated,
);

/// Makes a table of [`Step`]s: `setting = "value" | "or another": "what it does", "call" 1.0;`.
macro_rules! steps {
    ($($setting:ident = $value:literal $(| $other:literal)*: $is:literal $(, $call:literal $often:literal)*;)+) => {
        &[$(crate::ladder::Step(
            stringify!($setting),
            &[$value $(, $other)*],
            $is,
            &[$(($call, $often)),*],
        ),)+]
    };
}
pub(crate) use steps;

/// A ladder under construction.
pub(crate) struct Climb<'w> {
    kind: &'static Kind,
    whole: &'w Settings,
    /// The settings of the rung that was reached.
    now: Settings,
    workload: WorkloadSpec,
    rungs: Vec<Rung>,
}

impl<'w> Climb<'w> {
    /// Begins with the lowest rung, the floor that reads like this; the ones above it are of `kind`, with the
    /// settings of the whole as far as they are not set otherwise.
    pub(crate) fn from(
        (read, step, isolated): (&str, &str, Isolated),
        kind: &'static Kind,
        whole: &'w Settings,
    ) -> Self {
        let floor = StoreSpec {
            kind: "flat".to_owned(),
            settings: [("read".to_owned(), read.to_owned())].into(),
        };
        let mut climb = Self {
            kind,
            whole,
            now: whole.clone(),
            workload: WorkloadSpec::default(),
            rungs: Vec::new(),
        };
        climb.on(floor, step, isolated);
        climb
    }

    fn on(&mut self, store: StoreSpec, step: &str, isolated: Isolated) {
        let isolated = isolated.iter();
        self.rungs.push(Rung {
            store,
            workload: self.workload.clone(),
            step: step.to_owned(),
            isolated: isolated
                .map(|(call, often)| ((*call).to_owned(), *often))
                .collect(),
        });
    }

    /// The value of this word. A name or a word that is none would be a mistake in a ladder, which its test
    /// finds.
    fn value(&self, name: &str, word: &str) -> Value {
        let setting = self.kind.settings().iter().find(|s| s.name == name);
        let value = setting.and_then(|setting| setting.parse(word).ok());
        value.unwrap_or_else(|| Value::Word(String::new()))
    }

    /// Changes words among the settings, without a rung for it.
    pub(crate) fn set(&mut self, changes: &[(&str, &str)]) {
        for (name, word) in changes {
            self.now.set(name, self.value(name, word));
        }
    }

    /// In what the workload differs from that of the whole, from here on.
    pub(crate) fn under(&mut self, workload: WorkloadSpec) {
        self.workload = workload;
    }

    /// Whether the workload differs from that of the whole.
    pub(crate) fn has_workload(&self) -> bool {
        self.workload != WorkloadSpec::default()
    }

    /// Goes one rung up.
    pub(crate) fn rung(&mut self, step: &str, isolated: Isolated) {
        self.on(spec(self.kind, &self.now), step, isolated);
    }

    /// Goes one rung up to where a setting is as in the whole, unless it is.
    pub(crate) fn take(&mut self, name: &str, step: &str) {
        let whole = self.whole.get(name);
        if let Some(value) = whole.filter(|value| self.now.get(name) != Some(*value)) {
            self.now.set(name, value.clone());
            self.rung(step, &[]);
        }
    }

    /// Goes one rung up for each of these steps that the whole makes and the rung below it does not.
    pub(crate) fn steps(&mut self, steps: &[Step]) {
        for &Step(name, values, step, isolated) in steps {
            let is_made = |value| self.whole.get(name) == Some(&self.value(name, value));
            let value = self.value(name, values[0]);
            if values.iter().any(|value| is_made(value)) && self.now.get(name) != Some(&value) {
                self.now.set(name, value);
                self.rung(step, isolated);
            }
        }
    }

    /// The rungs; the last one is of all settings of the whole, also of those that its workload does not need.
    pub(crate) fn finish(mut self) -> Vec<Rung> {
        if let Some(last) = self.rungs.last_mut() {
            last.store = spec(self.kind, self.whole);
            last.workload = WorkloadSpec::default();
        }
        self.rungs
    }
}

/// The spec of a store that says no more than it has to.
fn spec(kind: &Kind, settings: &Settings) -> StoreSpec {
    let described = kind.settings().iter();
    let told = described.filter_map(|setting| {
        let value = settings.get(setting.name)?;
        let default = setting.parse(setting.default).ok();
        (default.as_ref() != Some(value)).then(|| (setting.name.to_owned(), value.to_string()))
    });
    StoreSpec {
        kind: kind.name().to_owned(),
        settings: told.collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::registry;
    use std::collections::BTreeSet;
    use stowplan_model::{Operation, PerTransaction, Workload};

    const BUDGET: u64 = 4_096_000;

    fn workload(operation: Operation, per_transaction: PerTransaction) -> Workload {
        Workload {
            operation,
            per_transaction,
            ..Workload::default()
        }
    }

    /// The specs of a ladder, from the bottom up, each with its workload where that differs.
    fn specs(spec: &str, workload: &Workload) -> Vec<String> {
        let whole = registry::resolve(&spec.parse().unwrap(), BUDGET).unwrap();
        let rungs = whole.kind.ladder(&whole.settings, workload);
        if let Some(last) = rungs.last() {
            let last = registry::resolve(&last.store, BUDGET).unwrap();
            assert_eq!(last.settings, whole.settings, "{spec}");
        }
        let told = |rung: &stowplan_model::Rung| match rung.workload.per_transaction {
            None => rung.store.to_string(),
            Some(per) => format!("{} ({per:?})", rung.store),
        };
        rungs.iter().map(told).collect()
    }

    #[test]
    fn every_ladder_ends_with_the_store_itself_and_every_rung_can_do_its_work_and_is_another() {
        let all = |operation| workload(operation, PerTransaction::All);
        let each = |operation| workload(operation, PerTransaction::Operations(1));
        let mut seen = 0;
        for kind in registry::all() {
            for spec in crate::conformance::each_setting(kind) {
                let Ok(whole) = registry::resolve(&spec, BUDGET) else {
                    continue;
                };
                for workload in [
                    all(Operation::Read),
                    each(Operation::Read),
                    all(Operation::Overwrite),
                    each(Operation::Overwrite),
                    all(Operation::Scan),
                ] {
                    let rungs = whole.kind.ladder(&whole.settings, &workload);
                    let Some(last) = rungs.last() else { continue };
                    assert!(rungs.len() > 1, "{spec}");
                    let last = registry::resolve(&last.store, BUDGET).unwrap();
                    assert_eq!(last.settings, whole.settings, "{spec}");
                    let mut told = BTreeSet::new();
                    for rung in &rungs {
                        let resolved = registry::resolve(&rung.store, BUDGET)
                            .unwrap_or_else(|e| panic!("{spec}: {e}"));
                        let missing = resolved.capabilities.missing(&workload);
                        assert_eq!(missing, None, "{spec}: {}", rung.store);
                        let cell = format!("{} {:?}", rung.store, rung.workload);
                        assert!(told.insert(cell), "{spec}: {} twice", rung.store);
                        assert!(!rung.step.is_empty());
                        for (call, _) in &rung.isolated {
                            let primitive = format!("primitive:call={call}").parse().unwrap();
                            let resolved = registry::resolve(&primitive, BUDGET).unwrap();
                            let missing = resolved.capabilities.missing(&workload);
                            assert_eq!(missing, None, "{spec}: {call}");
                        }
                    }
                    seen += 1;
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn a_file_that_is_read_as_kvtest_does_is_taken_apart_step_by_step() {
        let read = workload(Operation::Read, PerTransaction::All);
        assert_eq!(
            specs("files:open=path,stat=stat,read=stdio,buffer=fresh", &read),
            [
                "flat:read=pread",
                "files:open=kept,stat=none",
                "files:stat=none",
                "files:open=path,stat=none",
                "files:open=path,stat=stat",
                "files:open=path,read=stdio,stat=stat",
                "files:buffer=fresh,open=path,read=stdio,stat=stat",
            ]
        );
        assert_eq!(
            specs("files", &read),
            [
                "flat:read=pread",
                "files:open=kept,stat=none",
                "files:stat=none",
                "files",
            ]
        );
        assert_eq!(
            specs("files:layout=tree,write=rename", &read),
            [
                "flat:read=pread",
                "files:open=kept,stat=none",
                "files:stat=none",
                "files:layout=tree,stat=none",
                "files:layout=tree,write=rename",
            ]
        );
    }

    #[test]
    fn a_file_that_is_overwritten_is_taken_apart_down_to_the_write() {
        let overwrite = workload(Operation::Overwrite, PerTransaction::All);
        assert_eq!(
            specs("files:write=rename,fsync=directory", &overwrite),
            [
                "flat:read=pread",
                "files:open=kept,write=in-place",
                "files:write=in-place",
                "files:write=rename",
                "files:fsync=file,write=rename",
                "files:fsync=directory,write=rename",
            ]
        );
    }

    #[test]
    fn a_select_is_taken_apart_down_to_the_mapped_bytes() {
        let each = workload(Operation::Read, PerTransaction::Operations(1));
        assert_eq!(
            specs("sqlite:statement=each", &each),
            [
                "flat:read=mmap",
                "sqlite:api=blob,cache=17179869184,mmap=2000000000,preload=on (All)",
                "sqlite:cache=17179869184,mmap=2000000000,preload=on (All)",
                "sqlite:cache=17179869184,preload=on (All)",
                "sqlite:cache=4096000 (All)",
                "sqlite:cache=4096000,statement=each (All)",
                "sqlite:cache=4096000,statement=each",
            ]
        );
    }
}
