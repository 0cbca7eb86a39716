//! The states that a power cut may leave of a log, by model.
//!
//! Pure: a log in, trees out. What a cut loses is a set of *pieces*: a metadata operation is one piece,
//! a write as many as it touches blocks of the model's size. What is synced is never lost; of the rest
//! the model says which sets can be.

use crate::content::PAGE;
use crate::log::{Attributes, Log, Node, Operation, ROOT};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use stowplan_dataset::random::{Random, scatter_all};
use stowplan_model::{CrashFinding, CrashModel};

/// Bytes that a disk writes whole or not at all.
const SECTOR: u64 = 512;
/// The piece of a write that makes its file longer, whatever becomes of the data (`strict`).
const LENGTH: u32 = u32::MAX;
/// Moments that are looked at one by one.
const MOST_MOMENTS: usize = 4_000;
/// An operation that no sync has reached.
const NEVER: usize = usize::MAX;

/// A part of an operation that can be lost by itself: the operation's number, and the piece of it.
pub(crate) type Piece = (usize, u32);

/// What of the syncs in a log is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syncs {
    /// As the program made them.
    Recorded,
    /// None: what a control strikes out.
    None,
    /// Everything is on the disk at once.
    All,
}

/// A power cut: how many operations were before it, and what of them is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) at: usize,
    pub(crate) lost: BTreeSet<Piece>,
}

/// What is lost of what may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    Everything,
    /// And no name, length or attribute.
    Data,
    DataOf(Node),
}

/// A moment at which the power goes, and what is lost then.
pub(crate) type Moment = (usize, Loss);

/// A log under a model.
pub(crate) struct States<'l> {
    pub(crate) log: &'l Log,
    pub(crate) model: CrashModel,
    syncs: Syncs,
    /// As it lay there long before.
    base: Tree,
    /// The first operation that a cut may lose.
    from: usize,
    /// For each operation the sync that made it durable.
    durable_at: Vec<usize>,
    /// For each write, whether it made its file longer.
    extends: Vec<bool>,
    /// Cuts before and after which much is different.
    moments: Vec<usize>,
    /// Where commits were acknowledged: how many operations were before, when, and which.
    acks: Vec<(usize, u64, u64)>,
    /// Cuts right after acknowledgements of what no sync had reached yet.
    exposed: Vec<usize>,
}

/// Who owns the directory of the program: nobody asks.
const OWNER: Attributes = Attributes {
    mode: 0o755,
    uid: 0,
    gid: 0,
};

impl<'l> States<'l> {
    pub(crate) fn new(log: &'l Log, model: CrashModel, syncs: Syncs) -> Self {
        let base = |entry: &crate::log::Entry| entry.operation == Operation::Base;
        let from = log.entries.iter().rposition(base).map_or(0, |at| at + 1);
        let mut tree = Tree::new(OWNER);
        for entry in log.entries.iter().take(from) {
            tree.apply(&entry.operation, log);
        }
        let extends = extends(log);
        let durable_at = match syncs {
            Syncs::All => (0..log.entries.len()).collect(),
            Syncs::None => vec![NEVER; log.entries.len()],
            Syncs::Recorded => match model {
                CrashModel::Strict => by_posix(log),
                CrashModel::Ordered | CrashModel::Torn => by_journal(log, &extends),
            },
        };
        let places = log.entries.iter().enumerate().skip(from);
        let moments = places
            .clone()
            .filter(|(_, entry)| entry.operation.is_moment())
            .flat_map(|(at, _)| [at, at + 1])
            .collect();
        let acks = places.filter_map(|(at, entry)| match entry.operation {
            Operation::Ack { number } => Some((at + 1, entry.at_ns, number)),
            _ => None,
        });
        let acks: Vec<_> = acks.collect();
        Self {
            exposed: exposed(log, from, &durable_at, &acks),
            log,
            model,
            syncs,
            base: tree,
            from,
            durable_at,
            extends,
            moments,
            acks,
        }
    }

    /// The seed of the state of this number among those that a seed begins.
    pub(crate) fn seed(seed: u64, model: CrashModel, number: u64) -> u64 {
        scatter_all(&[seed, model as u64, number])
    }

    /// The cut that a seed stands for.
    pub(crate) fn draw(&self, seed: u64) -> Cut {
        let mut random = Random::new(seed);
        let at = self.draw_moment(&mut random);
        let lost = self.draw_lost(&mut random, at);
        Cut { at, lost }
    }

    /// A moment at which everything is at rest: right after an acknowledgement, or at the end.
    pub(crate) fn draw_rest(&self, seed: u64, only_end: bool) -> Cut {
        let mut random = Random::new(seed);
        let picked = pick(&mut random, &self.acks).filter(|_| !only_end);
        Cut {
            at: picked.map_or(self.log.entries.len(), |ack| ack.0),
            lost: BTreeSet::new(),
        }
    }

    fn draw_moment(&self, random: &mut Random) -> usize {
        let end = self.log.entries.len();
        // A program that tells of one commit does so at its end.
        if random.below(8) == 0 {
            return end;
        }
        let (exposed, moment) = (pick(random, &self.exposed), pick(random, &self.moments));
        match (random.below(4), exposed, moment) {
            (0, Some(ack), _) => *ack,
            (0 | 1, _, Some(moment)) => *moment,
            _ => self.from + index(random, end - self.from.min(end) + 1),
        }
    }

    /// The last commit that was acknowledged before a cut.
    pub(crate) fn acked(&self, at: usize) -> u64 {
        let before = self.acks.partition_point(|ack| ack.0 <= at);
        let acked = self.acks.get(before.wrapping_sub(1));
        acked.map_or(0, |ack| ack.2)
    }

    /// How long before a cut a commit had been acknowledged: operations and nanoseconds.
    pub(crate) fn age(&self, at: usize, number: u64) -> (u64, u64) {
        let Some(ack) = self.acks.iter().find(|ack| ack.2 >= number) else {
            return (0, 0);
        };
        let last = self.log.entries.get(at.saturating_sub(1));
        let now = last.map_or(ack.1, |entry| entry.at_ns);
        let operations = at.saturating_sub(ack.0);
        (operations as u64, now.saturating_sub(ack.1))
    }

    /// What is not durable at a cut, in order: metadata, and pieces of data.
    fn pending(&self, at: usize) -> (Vec<Piece>, Vec<Piece>) {
        let (mut metadata, mut data) = (Vec::new(), Vec::new());
        let entries = self.log.entries.iter().enumerate();
        for (number, entry) in entries.take(at).skip(self.from) {
            let durable = self.durable_at.get(number).is_some_and(|sync| *sync < at);
            if durable || self.syncs == Syncs::All {
                continue;
            }
            if let Some((_, offset, bytes)) = self.write(number) {
                let pieces = self.pieces(offset, bytes.len());
                data.extend((0..pieces).map(|piece| (number, piece)));
                data.extend(self.grows(number).then_some((number, LENGTH)));
            } else if entry.operation.is_metadata() {
                metadata.push((number, 0));
            }
        }
        (metadata, data)
    }

    /// Whether a write makes its file longer as a piece of its own.
    fn grows(&self, number: usize) -> bool {
        self.model == CrashModel::Strict && self.extends.get(number) == Some(&true)
    }

    /// Bytes of a piece of a write.
    fn block(&self) -> u64 {
        match self.model {
            CrashModel::Ordered | CrashModel::Strict => PAGE,
            CrashModel::Torn => SECTOR,
        }
    }

    fn pieces(&self, offset: u64, len: usize) -> u32 {
        let block = self.block();
        let end = offset + len as u64;
        let pieces = end.div_ceil(block) - offset / block;
        u32::try_from(pieces).unwrap_or(LENGTH - 1)
    }

    /// Where a piece of a write begins and ends, bytes.
    fn range(&self, offset: u64, len: usize, piece: u32) -> (u64, u64) {
        let (block, end) = (self.block(), offset + len as u64);
        let number = offset / block + u64::from(piece);
        (offset.max(number * block), end.min((number + 1) * block))
    }

    fn draw_lost(&self, random: &mut Random, at: usize) -> BTreeSet<Piece> {
        let (metadata, data) = self.pending(at);
        let (mut lost, torn) = match self.model {
            CrashModel::Torn => torn(random, &data),
            _ => (subset(random, &data, |piece| self.node(piece)), None),
        };
        match self.model {
            CrashModel::Strict => lost.extend(subset(random, &metadata, |_| 0)),
            model => {
                let goes_whole = |write| model == CrashModel::Torn && Some(write) != torn;
                lost = self.with_later_of_a_page(&data, &lost, goes_whole);
                lost.extend(suffix(random, &metadata));
            }
        }
        lost
    }

    /// The write of a number: to which file, from where on, and what.
    fn write(&self, number: usize) -> Option<(Node, u64, &[u8])> {
        match &self.log.entries.get(number)?.operation {
            Operation::Write { node, offset, data } => {
                Some((*node, *offset, self.log.written(data)))
            }
            _ => None,
        }
    }

    /// The file that a piece is of.
    fn node(&self, piece: Piece) -> Node {
        self.write(piece.0).map_or(0, |write| write.0)
    }

    /// The page of a file that a piece is written to.
    fn page(&self, (number, piece): Piece) -> (Node, u64) {
        let (node, offset, _) = self.write(number).unwrap_or_default();
        let block = self.block();
        (node, (offset / block + u64::from(piece)) * block / PAGE)
    }

    /// Lost pieces, and all later ones of their pages: a page in memory holds every write up to some
    /// moment, and gets to the disk as of one. Of a write that goes as a whole, all goes with its first page.
    fn with_later_of_a_page(
        &self,
        data: &[Piece],
        lost: &BTreeSet<Piece>,
        goes_whole: impl Fn(usize) -> bool,
    ) -> BTreeSet<Piece> {
        let (mut stale, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for write in data.chunk_by(|a, b| a.0 == b.0) {
            let is_gone =
                |piece: &Piece| lost.contains(piece) || stale.contains(&self.page(*piece));
            let of_write: Vec<Piece> = match write
                .iter()
                .any(|piece| is_gone(piece) && goes_whole(piece.0))
            {
                true => write.to_vec(),
                false => write.iter().copied().filter(&is_gone).collect(),
            };
            stale.extend(of_write.iter().map(|piece| self.page(*piece)));
            gone.extend(of_write);
        }
        gone
    }

    /// Of lost pieces those after which nothing of their page was kept, and of so many writes at most that are
    /// not lost as a whole.
    fn last_of_each_page(
        &self,
        data: &[Piece],
        lost: &BTreeSet<Piece>,
        mut in_part: usize,
    ) -> BTreeSet<Piece> {
        let (mut kept, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for write in data.chunk_by(|a, b| a.0 == b.0).rev() {
            let is_last =
                |piece: &Piece| lost.contains(piece) && !kept.contains(&self.page(*piece));
            let (mut last, others): (Vec<Piece>, Vec<Piece>) =
                write.iter().copied().partition(is_last);
            kept.extend(others.iter().map(|piece| self.page(*piece)));
            if !others.is_empty() && !last.is_empty() {
                match in_part.checked_sub(1) {
                    Some(fewer) => in_part = fewer,
                    None => kept.extend(last.drain(..).map(|piece| self.page(piece))),
                }
            }
            gone.extend(last);
        }
        gone
    }

    /// The nearest cut that the model allows which loses no more than this one.
    pub(crate) fn allowed(&self, cut: &Cut) -> Cut {
        let (metadata, data) = self.pending(cut.at);
        let is_lost = |piece: &&Piece| cut.lost.contains(*piece);
        let in_part = match self.model {
            CrashModel::Strict => {
                let lost = metadata.iter().chain(&data).filter(is_lost);
                let (at, lost) = (cut.at, lost.copied().collect());
                return Cut { at, lost };
            }
            CrashModel::Ordered => usize::MAX,
            CrashModel::Torn => 1,
        };
        let mut lost = self.last_of_each_page(&data, &cut.lost, in_part);
        lost.extend(metadata.iter().rev().take_while(is_lost));
        Cut { at: cut.at, lost }
    }

    /// What is there after a cut.
    pub(crate) fn tree(&self, cut: &Cut) -> Tree {
        let mut tree = self.base.clone();
        let entries = self.log.entries.iter().enumerate();
        for (number, entry) in entries.take(cut.at).skip(self.from) {
            let mut lost = cut.lost.range((number, 0)..=(number, LENGTH)).peekable();
            if lost.peek().is_none() {
                tree.apply(&entry.operation, self.log);
                continue;
            }
            match &entry.operation {
                Operation::Write { node, .. } => {
                    let lost: BTreeSet<u32> = lost.map(|piece| piece.1).collect();
                    self.write_in_part(&mut tree, *node, &lost, number);
                }
                Operation::Make {
                    node,
                    kind,
                    attributes,
                    ..
                } => tree.make_nameless(*node, kind, *attributes),
                _ => {}
            }
        }
        tree
    }

    fn write_in_part(&self, tree: &mut Tree, node: Node, lost: &BTreeSet<u32>, number: usize) {
        let (_, offset, data) = self.write(number).unwrap_or_default();
        let Some(content) = tree.content_mut(node) else {
            return;
        };
        let end = offset + data.len() as u64;
        for piece in 0..self.pieces(offset, data.len()) {
            if lost.contains(&piece) {
                continue;
            }
            let (begin, stop) = self.range(offset, data.len(), piece);
            let range = |at: u64| usize::try_from(at - offset).unwrap_or(usize::MAX);
            if let Some(kept) = data.get(range(begin)..range(stop)) {
                content.write(begin, kept);
            }
        }
        if self.grows(number) && !lost.contains(&LENGTH) && content.len() < end {
            content.resize(end);
        }
    }

    /// An operation in words, with the name that the file had then.
    pub(crate) fn describe(&self, number: usize) -> String {
        let Some(entry) = self.log.entries.get(number) else {
            return "the start".to_owned();
        };
        let mut tree = self.base.clone();
        let entries = self.log.entries.iter().skip(self.from);
        for entry in entries.take((number + 1).saturating_sub(self.from)) {
            tree.apply(&entry.operation, self.log);
        }
        in_words(&tree, &entry.operation)
    }

    /// What is lost of an operation in words: of a write the first bytes of it and how many, unless all is.
    pub(crate) fn describe_lost(&self, number: usize, pieces: &[u32]) -> String {
        let whole = self.describe(number);
        let Some((_, offset, data)) = self.write(number) else {
            return whole;
        };
        let of_data = pieces.iter().filter(|piece| **piece != LENGTH);
        let ranges = of_data.map(|piece| self.range(offset, data.len(), *piece));
        let lost: u64 = ranges.clone().map(|(begin, end)| end - begin).sum();
        match ranges.map(|range| range.0).min() {
            None => format!("the length by the {whole}"),
            Some(_) if lost == data.len() as u64 => whole,
            Some(first) => format!("{lost} bytes, the first at {first}, of the {whole}"),
        }
    }

    /// Every operation before a cut in words, a line each, and which of them are lost.
    pub(crate) fn listed(&self, cut: &Cut) -> String {
        let mut tree = Tree::new(OWNER);
        let entries = self.log.entries.iter().enumerate().take(cut.at);
        let lines = entries.map(|(number, entry)| {
            tree.apply(&entry.operation, self.log);
            let pieces = cut.lost.range((number, 0)..=(number, LENGTH)).count();
            let lost = match pieces {
                0 => String::new(),
                1 => "  LOST (1 piece)".to_owned(),
                pieces => format!("  LOST ({pieces} pieces)"),
            };
            let words = in_words(&tree, &entry.operation);
            format!("{:>7} {words}{lost}\n", number + 1)
        });
        lines.collect()
    }

    /// What is looked at before chance is asked: right before each sync, right after each acknowledgement and at the
    /// end, everything that a cut may lose is lost, or all data and no name, or the data of one file. Of more than
    /// [`MOST_MOMENTS`] so many, at equal distances.
    pub(crate) fn systematic(&self) -> Vec<Moment> {
        let mut found = Vec::new();
        let entries = self.log.entries.iter().enumerate().skip(self.from);
        let moments = entries.filter_map(|(at, entry)| match entry.operation {
            Operation::Sync { .. } => Some(at),
            Operation::Ack { .. } => Some(at + 1),
            _ => None,
        });
        for at in moments.chain([self.log.entries.len()]) {
            let (metadata, data) = self.pending(at);
            let files: BTreeSet<Node> = data.iter().map(|piece| self.node(*piece)).collect();
            found.push((at, Loss::Everything));
            if !metadata.is_empty() && !data.is_empty() {
                found.push((at, Loss::Data));
            }
            if files.len() > 1 {
                found.extend(files.into_iter().map(|file| (at, Loss::DataOf(file))));
            }
        }
        let step = found.len().div_ceil(MOST_MOMENTS).max(1);
        found.into_iter().step_by(step).collect()
    }

    /// The cut of a moment.
    pub(crate) fn cut_at(&self, (at, loss): Moment) -> Cut {
        let (metadata, mut data) = self.pending(at);
        let metadata = match loss {
            Loss::Everything => metadata,
            Loss::Data | Loss::DataOf(_) => Vec::new(),
        };
        if let Loss::DataOf(file) = loss {
            data.retain(|piece| self.node(*piece) == file);
        }
        let lost = metadata.into_iter().chain(data).collect();
        Cut { at, lost }
    }

    /// The cut that a finding was made by.
    pub(crate) fn cut_of(&self, finding: &CrashFinding) -> Option<Cut> {
        match finding.moment {
            Some(moment) => {
                let moment = usize::try_from(moment).ok()?;
                let moments = self.systematic();
                moments.get(moment).map(|moment| self.cut_at(*moment))
            }
            None => Some(self.draw(finding.seed)),
        }
    }
}

/// An operation in words, by the names after it.
fn in_words(tree: &Tree, operation: &Operation) -> String {
    let node = operation.node();
    match node.filter(|_| directories(operation).is_empty()) {
        None => operation.to_string(),
        Some(ROOT) => format!("{operation} of the directory"),
        Some(node) => {
            let name = tree.name_of(node);
            let name = name.unwrap_or_else(|| "a file without a name".to_owned());
            format!("{operation} of {name}")
        }
    }
}

/// For each operation, whether it is a write that made its file longer.
fn extends(log: &Log) -> Vec<bool> {
    let mut lengths: HashMap<Node, u64> = HashMap::new();
    let longer = |entry: &crate::log::Entry| match &entry.operation {
        Operation::Write { node, offset, data } => {
            let length = lengths.entry(*node).or_default();
            let end = offset + data.len() as u64;
            let longer = end > *length;
            *length = end.max(*length);
            longer
        }
        Operation::Resize { node, len } => {
            lengths.insert(*node, *len);
            false
        }
        _ => false,
    };
    log.entries.iter().map(longer).collect()
}

/// The directories whose names an operation changes.
fn directories(operation: &Operation) -> Vec<Node> {
    match operation {
        Operation::Make { at, .. } | Operation::Link { at, .. } | Operation::Unlink { at, .. } => {
            vec![at.parent]
        }
        Operation::Rename { from, to, .. } => vec![from.parent, to.parent],
        _ => Vec::new(),
    }
}

/// The sync that made each operation durable, by which of them a sync reaches: asked of every operation in turn.
fn synced(log: &Log, mut reached: impl FnMut(usize, &Operation) -> Vec<usize>) -> Vec<usize> {
    let mut durable = vec![NEVER; log.entries.len()];
    for (number, entry) in log.entries.iter().enumerate() {
        for reached in reached(number, &entry.operation) {
            if let Some(durable) = durable.get_mut(reached) {
                *durable = number;
            }
        }
    }
    durable
}

/// A file's sync keeps its data, its size and its attributes, fdatasync all but the attributes; a
/// directory's the names in it. A rename from one directory to another is kept by the sync of the new one.
fn by_posix(log: &Log) -> Vec<usize> {
    let mut pending: HashMap<Node, Vec<usize>> = HashMap::new();
    let is_attributes = |number: &usize| {
        let entry = log.entries.get(*number);
        entry.is_some_and(|entry| matches!(entry.operation, Operation::Attributes { .. }))
    };
    synced(log, |number, operation| {
        if let Operation::Sync { node, data_only } = operation {
            let waiting = pending.remove(node).unwrap_or_default();
            let stays = |waiting: &usize| *data_only && is_attributes(waiting);
            let (later, reached) = waiting.into_iter().partition(stays);
            pending.insert(*node, later);
            return reached;
        }
        let of = directories(operation).last().copied().or(operation.node());
        if let Some(node) = of {
            pending.entry(node).or_default().push(number);
        }
        Vec::new()
    })
}

/// The last entries of a journal that are about a file.
#[derive(Clone, Copy, Default)]
struct About {
    any: Option<usize>,
    /// Without which its data cannot be read: it was made, or its length changed.
    data: Option<usize>,
}

/// A journal keeps metadata in order. A sync keeps the file's data, and the journal up to the last
/// entry that is about the file: as XFS forces its log, and ext4 commits at least. For fdatasync that is
/// the last one which its data needs: ext4 waits for no other.
fn by_journal(log: &Log, extends: &[bool]) -> Vec<usize> {
    let mut data: HashMap<Node, Vec<usize>> = HashMap::new();
    let mut journal: VecDeque<usize> = VecDeque::new();
    let mut last: HashMap<Node, About> = HashMap::new();
    synced(log, |number, operation| {
        if let Operation::Sync { node, data_only } = operation {
            let mut reached = data.remove(node).unwrap_or_default();
            let about = last.get(node).copied().unwrap_or_default();
            let up_to = if *data_only { about.data } else { about.any };
            let kept = journal.partition_point(|entry| Some(*entry) <= up_to);
            reached.extend(journal.drain(..kept));
            return reached;
        }
        if operation.is_metadata() {
            journal.push_back(number);
        }
        if let Operation::Write { node, .. } = operation {
            data.entry(*node).or_default().push(number);
        }
        let extends = extends.get(number) == Some(&true);
        for (node, needed) in concerned(operation, extends) {
            let about = last.entry(node).or_default();
            about.any = Some(number);
            if needed {
                about.data = Some(number);
            }
        }
        Vec::new()
    })
}

/// The files and directories that an entry of the journal is about, and whether their data cannot be
/// read without it: that it was made, or its length changed. Of a directory the names are the data.
fn concerned(operation: &Operation, extends: bool) -> impl Iterator<Item = (Node, bool)> {
    let of_data = matches!(operation, Operation::Write { .. });
    let needed = matches!(
        operation,
        Operation::Make { .. } | Operation::Clear { .. } | Operation::Resize { .. }
    );
    let node = operation.node().filter(|_| extends || !of_data);
    let directories = directories(operation).into_iter();
    let directories = directories.map(|directory| (directory, true));
    directories.chain(node.map(|node| (node, needed || of_data)))
}

/// A number below `end`, which is more than 0.
fn index(random: &mut Random, end: usize) -> usize {
    usize::try_from(random.below(end as u64)).unwrap_or(0)
}

fn pick<'t, T>(random: &mut Random, from: &'t [T]) -> Option<&'t T> {
    from.get(index(random, from.len()))
}

/// Cuts right after acknowledgements of a change, made since the one before, that was not durable then:
/// a promise that one forgotten sync breaks is broken in a few operations only, until the next sync.
fn exposed(log: &Log, from: usize, durable_at: &[usize], acks: &[(usize, u64, u64)]) -> Vec<usize> {
    let mut since = from;
    let ends = acks.iter().map(|ack| ack.0);
    let open = ends.filter(|at| {
        let changes = std::mem::replace(&mut since, *at)..*at;
        changes.into_iter().any(|number| {
            let operation = log.entries.get(number).map(|entry| &entry.operation);
            let changed = operation.is_some_and(|operation| {
                operation.is_metadata() || matches!(operation, Operation::Write { .. })
            });
            changed && durable_at.get(number).is_some_and(|sync| sync >= at)
        })
    });
    open.collect()
}

/// The share of pieces that are kept: the ends are where most is found.
fn share(random: &mut Random) -> f64 {
    *pick(random, &[0.0, 0.1, 0.5, 0.9, 1.0]).unwrap_or(&0.5)
}

/// Pieces that are lost, each with a chance that all have in common, or those of a file.
fn subset(random: &mut Random, pieces: &[Piece], file: impl Fn(Piece) -> Node) -> BTreeSet<Piece> {
    let by_file = random.below(2) == 0;
    let all = share(random);
    let mut shares: BTreeMap<Node, f64> = BTreeMap::new();
    let lost = pieces.iter().filter(|piece| {
        let keep = match by_file {
            true => *shares.entry(file(**piece)).or_insert_with(|| share(random)),
            false => all,
        };
        random.unit() >= keep
    });
    lost.copied().collect()
}

/// The last of them, from one on that is drawn.
fn suffix(random: &mut Random, pieces: &[Piece]) -> Vec<Piece> {
    let kept = match random.below(4) {
        0 => 0,
        1 => pieces.len(),
        _ => index(random, pieces.len() + 1),
    };
    pieces.get(kept..).unwrap_or_default().to_vec()
}

/// Writes that are lost whole, and one of which some of its sectors are; and which that is.
fn torn(random: &mut Random, data: &[Piece]) -> (BTreeSet<Piece>, Option<usize>) {
    let mut writes: Vec<usize> = data.iter().map(|piece| piece.0).collect();
    writes.dedup();
    let torn = pick(random, &writes).copied();
    let keep = share(random);
    let whole: BTreeSet<usize> = writes
        .into_iter()
        .filter(|_| random.unit() >= keep)
        .collect();
    let (of_torn, others): (Vec<Piece>, Vec<Piece>) = data
        .iter()
        .copied()
        .partition(|piece| Some(piece.0) == torn);
    let lost = others.into_iter().filter(|piece| whole.contains(&piece.0));
    (lost.chain(sectors(random, &of_torn)).collect(), torn)
}

/// The sectors of a write that are lost: its end, its beginning, some in the middle, all but some in the
/// middle, or any. Of a long write, any would hardly ever be one of the others.
fn sectors(random: &mut Random, write: &[Piece]) -> Vec<Piece> {
    let (from, to) = (
        index(random, write.len() + 1),
        index(random, write.len() + 1),
    );
    let middle = from.min(to)..from.max(to);
    let shape = random.below(5);
    let lost = write.iter().enumerate().filter(|(at, _)| match shape {
        0 => *at >= from,
        1 => *at < from,
        2 => middle.contains(at),
        3 => !middle.contains(at),
        _ => random.below(2) == 0,
    });
    lost.map(|(_, piece)| *piece).collect()
}

#[cfg(test)]
mod tests;
