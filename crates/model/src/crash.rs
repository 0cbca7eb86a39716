//! What the power-loss lab finds: which states a power cut could have left, and what was lost in them.

use crate::words::{data, words};
use crate::{Durability, DurabilityClaim};

words! {
    /// Which states a power cut may leave: what of the operations since the last sync is on the disk.
    #[derive(PartialOrd, Ord)]
    pub enum CrashModel {
        /// Names, sizes and truncations as a journal keeps them: a prefix. Of unsynced data any subset, in
        /// pieces of 4 KiB.
        Ordered = "ordered",
        /// The least that POSIX promises: a file's sync keeps its data and size, a directory's its names;
        /// of all else any subset.
        Strict = "strict",
        /// As `ordered`, but writes are kept or lost whole, except one, of which any subset of its sectors
        /// of 512 bytes is on the disk.
        Torn = "torn",
    }
}

impl CrashModel {
    /// What it takes for possible, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Ordered => {
                "names, sizes and truncations as a journal keeps them: a prefix; of unsynced data any \
                 subset, in pieces of 4 KiB"
            }
            Self::Strict => {
                "the least that POSIX promises: a file's sync keeps its data and size, a directory's \
                 its names; of all else any subset"
            }
            Self::Torn => {
                "as ordered, but writes are kept or lost whole, except one, of which any subset of its \
                 sectors of 512 bytes is on the disk"
            }
        }
    }
}

words! {
    /// What a crash state holds of what was acknowledged. Ordered: a later one is worse.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Fate {
        /// Everything that was acknowledged, whole and in order.
        #[default]
        Kept = "kept",
        /// An earlier state: the last acknowledged commits are gone.
        Lost = "lost",
        /// A later commit is there and an earlier one is not.
        Reordered = "reordered",
        /// A value or a transaction is there in part.
        Torn = "torn",
        /// A value is none that was ever written, or the engine's own check fails.
        Corrupt = "corrupt",
        /// It does not open.
        Unopenable = "unopenable" | "does not open",
    }
}

data! {
    /// What a judge found in one state.
    #[derive(Default, Eq)]
    pub struct Judged {
        /// What became of what was acknowledged.
        pub fate: Fate,
        /// Acknowledged commits that are not there.
        pub lost: u64 | default,
        /// The first of them.
        pub first_lost: Option<u64> | default,
        /// What was found, in a line.
        pub note: String | default,
    }

    /// A state to judge, as one line of JSON to a judge.
    #[derive(Eq)]
    pub struct ToJudge {
        /// The directory, which the judge may change.
        pub directory: std::path::PathBuf,
        /// The last commit that was acknowledged.
        pub acked: u64,
    }

    /// What was found in the states of one model.
    #[derive(Default)]
    pub struct Tally {
        /// States that were drawn.
        pub drawn: u64,
        /// Those that differ from each other, or in what had been acknowledged: each was judged once.
        pub states: u64,
        /// Of them the moments that were looked at one by one, before chance was asked.
        pub systematic: u64 = default,
        /// How many of them met each fate, in the order of [`Fate::ALL`].
        pub fates: [u64; 6],
        /// Those whose fate breaks the promise.
        pub broken: u64,
        /// The most acknowledged commits lost in one state.
        pub most_lost: u64,
        /// How many operations before the cut the oldest lost one had been acknowledged.
        pub oldest_operations: u64,
        /// How long before the cut the oldest lost one had been acknowledged, in nanoseconds.
        pub oldest_ns: u64,
        /// Different states besides, of which no judge said anything: it was killed, or did not end.
        pub unjudged: u64 = default,
        /// Why, of the first of them.
        pub unjudged_because: String = default,
    }

    /// A crash state in which something was lost.
    pub struct CrashFinding {
        /// What `--replay` takes.
        pub seed: u64,
        /// Which one it was of the moments that were looked at one by one; nothing where it was drawn.
        pub moment: Option<u64> = default,
        /// The last commit that was acknowledged before the cut.
        pub acked: u64 | default,
        /// What was found in it.
        pub judged: Judged,
        /// Whether that breaks the promise.
        pub broken: bool,
        /// Operations before the cut.
        pub cut: u64,
        /// The last of them, in words.
        pub after: String,
        /// The fewest losses that were found to do the same.
        pub shrunk: Shrunk,
    }

    /// The fewest losses that still have the same fate.
    #[derive(Default)]
    pub struct Shrunk {
        /// Operations before the cut.
        pub cut: u64,
        /// What is not on the disk: an operation and the piece of it.
        pub lost: Vec<(u64, u64)>,
        /// What is not on the disk, in words: the first ones.
        pub words: Vec<String>,
        /// States that were judged to find it.
        pub tried: u64,
        /// Whether fewer might do: no more were tried.
        pub unfinished: bool | default,
        /// What was found with these losses alone.
        pub judged: Option<Judged> | default,
    }

    /// What was found of one setting under one model.
    pub struct ModelFound {
        /// The model.
        pub model: CrashModel,
        /// Counts.
        pub tally: Tally,
        /// The first finding of each fate, the worst first.
        pub findings: Vec<CrashFinding>,
        /// A control: the same operations with every sync struck out. What it meets is what the judge of this
        /// setting can see.
        pub no_syncs: Tally | default,
    }

    /// One setting: a store with its settings, or a program.
    #[derive(Default)]
    pub struct CrashSetting {
        /// In reports: `sqlite:journal=wal,synchronous=full`.
        pub name: String,
        /// What it promises; a program promises what was asked with `--promise`.
        pub claim: DurabilityClaim,
        /// Whether it has transactions of several operations.
        pub transactions: bool,
        /// Operations recorded: writes, truncations, names, syncs.
        pub operations: u64,
        /// Of them syncs.
        pub syncs: u64,
        /// Commits acknowledged.
        pub acks: u64,
        /// All of these and the lines `base`: cuts are told by their number among them.
        pub length: u64 | default,
        /// The command of a program; empty of a store.
        pub program: String = default,
        /// The command that judged it.
        pub check: String = default,
        /// How long it ran, nanoseconds.
        pub ran_ns: u64,
        /// By model.
        pub found: Vec<ModelFound>,
        /// The other control, which is the same under every model: with everything synced at once nothing may
        /// fail.
        pub all_synced: Tally | default,
        /// What was found of the first state of that control that was not kept.
        pub synced_failure: Option<Judged> = default,
        /// Why it could not be tested.
        pub failed: Option<String> | default,
    }

    /// A run of the lab.
    pub struct CrashRun {
        /// The program's version.
        pub version: String,
        /// The seed of the workload and of all draws.
        pub seed: u64,
        /// States asked for, of each setting under each model.
        pub states: u64,
        /// The models.
        pub models: Vec<CrashModel>,
        /// The settings, in the order of the report.
        pub settings: Vec<CrashSetting>,
        /// States judged, those of controls and of shrinking included.
        pub judged: u64,
        /// How long judging took, nanoseconds.
        pub judging_ns: u64,
        /// Whether the run ended before it had done what was asked.
        pub interrupted: bool,
    }
}

impl Fate {
    /// Whether a store that claims this had promised otherwise. Below `consistent` nothing is promised
    /// about power cuts. The order of commits is promised where there are transactions.
    pub fn breaks(self, claim: DurabilityClaim, transactions: bool) -> bool {
        if claim.class < Durability::Consistent {
            return false;
        }
        match self {
            Self::Kept => false,
            Self::Lost => claim.class == Durability::Durable && !claim.delayed,
            Self::Reordered => {
                transactions || (claim.class == Durability::Durable && !claim.delayed)
            }
            Self::Torn => claim.atomic,
            Self::Corrupt | Self::Unopenable => true,
        }
    }
}

impl Judged {
    /// A fate, and what was found.
    pub fn of(fate: Fate, note: impl Into<String>) -> Self {
        Self {
            fate,
            note: note.into(),
            ..Self::default()
        }
    }
}

impl Tally {
    /// How many met this fate.
    pub fn of(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// Counts those of another one in.
    pub fn add(&mut self, other: &Self) {
        for (ours, theirs) in self.fates.iter_mut().zip(other.fates) {
            *ours += theirs;
        }
        self.drawn += other.drawn;
        self.states += other.states;
        self.systematic += other.systematic;
        self.broken += other.broken;
        self.unjudged += other.unjudged;
    }

    /// Those that did not keep everything.
    pub fn not_kept(&self) -> u64 {
        self.states.saturating_sub(self.of(Fate::Kept))
    }

    /// Those that are worse than an earlier state.
    pub fn damaged(&self) -> u64 {
        self.not_kept().saturating_sub(self.of(Fate::Lost))
    }

    /// Whether these, of a control without syncs, show what must be seen of this claim: that its promise
    /// breaks, and where none is made about power, anything.
    pub fn shows_failure_of(&self, claim: DurabilityClaim) -> bool {
        match claim.class >= Durability::Consistent {
            true => self.broken > 0,
            false => self.not_kept() > 0,
        }
    }
}

impl CrashSetting {
    /// Whether anything may be claimed of what was found under a model: with everything synced nothing
    /// fails, and without any sync the promise is broken, as far as one is made about power.
    pub fn claims(&self, found: &ModelFound) -> bool {
        let synced = &self.all_synced;
        found.no_syncs.shows_failure_of(self.claim)
            && synced.states > 0
            && synced.not_kept() + synced.unjudged == 0
    }

    /// What was counted under all models.
    pub fn sum(&self) -> Tally {
        let mut sum = Tally::default();
        for found in &self.found {
            sum.add(&found.tally);
        }
        sum
    }

    /// Whether a promise was broken under a model.
    pub fn breaks(&self, found: &ModelFound) -> bool {
        self.claims(found) && found.tally.broken > 0
    }

    /// Whether a promise was broken.
    pub fn is_broken(&self) -> bool {
        self.found.iter().any(|found| self.breaks(found))
    }

    /// The states of which no judge said anything, of the controls too, and why.
    pub fn unjudged(&self) -> (u64, &str) {
        let of_models = self.found.iter();
        let of_models = of_models.flat_map(|each| [&each.tally, &each.no_syncs]);
        let all = of_models.chain([&self.all_synced]);
        all.fold((0, ""), |(number, why), tally| {
            let first = [why, &tally.unjudged_because];
            let first = first.into_iter().find(|why| !why.is_empty());
            (number + tally.unjudged, first.unwrap_or_default())
        })
    }

    /// Whether every state was judged, and the controls allow a claim under each model.
    pub fn is_tested(&self) -> bool {
        self.failed.is_none()
            && !self.found.is_empty()
            && self.found.iter().all(|found| self.claims(found))
            && self.unjudged().0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(class: Durability, atomic: bool) -> DurabilityClaim {
        DurabilityClaim {
            class,
            atomic,
            delayed: false,
        }
    }

    #[test]
    fn what_breaks_a_promise_follows_from_its_class() {
        use Durability::{Consistent, Durable, ProcessCrash};
        for (class, first) in [(ProcessCrash, 6), (Consistent, 2), (Durable, 1)] {
            let fates = Fate::ALL.into_iter();
            let breaking = fates.filter(|fate| fate.breaks(claim(class, true), true));
            assert_eq!(breaking.collect::<Vec<_>>(), Fate::ALL[first..]);
        }
        assert!(!Fate::Torn.breaks(claim(Consistent, false), true));
        assert!(!Fate::Reordered.breaks(claim(Consistent, true), false));
    }

    /// A setting of which this many states were kept, lost and torn: of its controls, and of itself.
    fn setting(class: Durability, no_syncs: [u64; 3], synced: [u64; 2]) -> CrashSetting {
        let claim = claim(class, true);
        let tally = |[kept, lost, torn]: [u64; 3]| {
            let broken = |fate: Fate, count| if fate.breaks(claim, true) { count } else { 0 };
            Tally {
                states: kept + lost + torn,
                fates: [kept, lost, 0, torn, 0, 0],
                broken: broken(Fate::Lost, lost) + broken(Fate::Torn, torn),
                ..Tally::default()
            }
        };
        CrashSetting {
            name: "mine".to_owned(),
            claim,
            transactions: true,
            acks: 1,
            found: vec![ModelFound {
                model: CrashModel::Torn,
                tally: tally([5, 3, 2]),
                findings: Vec::new(),
                no_syncs: tally(no_syncs),
            }],
            all_synced: tally([synced[0], synced[1], 0]),
            ..CrashSetting::default()
        }
    }

    #[test]
    fn nothing_is_claimed_or_broken_unless_the_bad_control_breaks_the_promise_and_the_good_one_fails_never()
     {
        use Durability::{Consistent, Durable, ProcessCrash};
        for (class, no_syncs, synced, claims) in [
            (Durable, [1, 1, 0], [5, 0], true),
            (Durable, [2, 0, 0], [5, 0], false),
            (Durable, [1, 1, 0], [4, 1], false),
            (Durable, [1, 1, 0], [0, 0], false),
            // That a judge sees losses says nothing of one who promises that nothing but them comes.
            (Consistent, [1, 1, 0], [5, 0], false),
            (Consistent, [1, 0, 1], [5, 0], true),
            // Nothing is promised: whatever fails shows that the judge looks.
            (ProcessCrash, [1, 1, 0], [5, 0], true),
            (ProcessCrash, [2, 0, 0], [5, 0], false),
        ] {
            let mut setting = setting(class, no_syncs, synced);
            assert_eq!(setting.is_tested(), claims, "{setting:?}");
            let breaks = claims && class != ProcessCrash;
            assert_eq!(setting.is_broken(), breaks, "{setting:?}");
            // A state that was not judged leaves it untested.
            setting.found[0].no_syncs.unjudged = 1;
            setting.found[0].no_syncs.unjudged_because = "killed".to_owned();
            assert_eq!(
                (setting.unjudged(), setting.is_tested()),
                ((1, "killed"), false)
            );
        }
    }
}
