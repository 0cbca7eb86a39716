//! `stowplan advise`: whether the user's own data belongs into one database or into files.
//!
//! It makes a study of what a place holds, and runs it as any other.

use crate::cli::{DurabilityArgument, MeasureOptions};
use crate::error::{CliError, Exit};
use crate::kvtest::ColumnOptions;
use crate::screen::note;
use crate::study::{carry_out, resume};
use crate::{drivers, places};
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_harness::environment::examine;
use stowplan_harness::plan::{PlanOptions, plan};
use stowplan_harness::runner::AsPlanned;
use stowplan_model::{OddityKind, Study, Survey, format_bytes, format_count, format_size};

pub(crate) const EXAMPLES: &str = "\
Examples:
  stowplan advise pictures            files, or one SQLite database?
  stowplan advise pictures --reads sequential --overwrites 0%
                                      read in order, never replaced
  stowplan advise app.db --table files --column body
                                      would these be better off as files?
  stowplan advise pictures --save-study mine.toml --dry-run
                                      the study, to be changed and run by
                                      'stowplan study mine.toml'";

/// Time for measuring, unless given: with building, an answer takes about a minute.
const BUDGET: Duration = Duration::from_secs(40);
/// The most values that are measured: making more files takes longer than measuring them.
const MOST_VALUES: u64 = 2_000;
/// The most bytes of them, and the most of one: each store is built twice.
const MOST_BYTES: u64 = 48 << 20;
const LARGEST: u64 = 8 << 20;
/// Of the room on the disk, one in so many bytes is used by the values, of which there are some fifteen
/// copies.
const OF_ROOM: u64 = 40;
/// The dataset that is made of them.
const DATASET: &str = "mine";
/// Page sizes of the databases.
const PAGES: [u64; 3] = [4_096, 8_192, 16_384];
/// That of the database where only one is measured.
const PAGE: u64 = 8_192;
/// Bytes of made-up values at each size of the comparison by size: more than processors cache.
const BYTES_OF_A_SIZE: u64 = 36 << 20;

/// Options of `advise`.
#[derive(Debug, Args)]
pub(crate) struct AdviseOptions {
    /// Your directory of files, or your SQLite database with a column of blobs; it is only read.
    #[arg(value_name = "PLACE", required_unless_present = "resume")]
    place: Option<PathBuf>,
    /// Which column of which table, where it is not plain.
    #[command(flatten)]
    column: ColumnOptions,
    /// In which order values are read.
    #[arg(
        long,
        value_enum,
        value_name = "ORDER",
        default_value = "random",
        conflicts_with = "resume"
    )]
    reads: Reads,
    /// How much of what is done replaces values; 0% leaves replacements out, 100% leaves reads out.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "10%", conflicts_with = "resume")]
    overwrites: f64,
    /// Measure reads from storage also where they are left out otherwise (file systems in memory).
    #[arg(long, conflicts_with = "resume")]
    cold: bool,
    /// What a replacement survives once it is acknowledged.
    #[arg(
        long,
        value_enum,
        value_name = "CLASS",
        default_value = "durable",
        conflicts_with = "resume"
    )]
    durability: DurabilityArgument,
    /// Write the study to this file, which must not exist.
    #[arg(long, value_name = "FILE.toml", conflicts_with = "resume")]
    save_study: Option<PathBuf>,
    /// How to measure.
    #[command(flatten)]
    measure: MeasureOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reads {
    /// One here, one there.
    Random,
    /// One after the other.
    Sequential,
}

fn share(text: &str) -> Result<f64, String> {
    crate::values::percent_within(text, 0.0, 100.0)
}

/// Surveys a place, measures a sample of it in several ways, and says where it belongs.
pub(crate) fn advise(mut options: AdviseOptions) -> Result<Exit, CliError> {
    if let Some(directory) = &options.measure.resume {
        return resume(directory, &options.measure);
    }
    let Some(place) = options.place.clone() else {
        return Err(CliError::Usage("advise: name a PLACE".to_owned()));
    };
    let place = place.canonicalize().map_err(CliError::io("open", &place))?;
    let survey = places::survey(&options.column.at(&place))?;
    let work = options.measure.work.as_deref();
    let work = work.or(options.measure.output.as_deref().and_then(Path::parent));
    let mut made = Made::of(&survey, &options, work.unwrap_or(Path::new(".")))?;
    let (text, mut study) = made.study()?;
    if let Some(file) = &options.save_study {
        save(file, &text)?;
        if !options.measure.print.quiet {
            note(&format!(
                "the study is in {}; 'stowplan study {}' runs it again",
                file.display(),
                file.display()
            ));
        }
    }
    let drivers = drivers::of_study(&mut study, &options.measure.driver)?;
    let planned = PlanOptions {
        rounds: options.measure.rounds,
        ..PlanOptions::default()
    };
    let plan = plan(study, &planned, &drivers)?;
    options.measure.budget.get_or_insert(BUDGET);
    carry_out(&plan, &drivers, &options.measure, |_| AsPlanned)
}

fn save(file: &Path, text: &str) -> Result<(), CliError> {
    let failed = || CliError::io("write the study to", file);
    let mut out = File::create_new(file).map_err(failed())?;
    out.write_all(text.as_bytes()).map_err(failed())
}

/// What a study is made of.
struct Made<'a> {
    survey: &'a Survey,
    options: &'a AdviseOptions,
    /// Values that are measured.
    count: u64,
    /// Whether storage can be read from that is no memory.
    storage: bool,
}

impl<'a> Made<'a> {
    fn of(survey: &'a Survey, options: &'a AdviseOptions, work: &Path) -> Result<Self, CliError> {
        let place = &survey.origin.place;
        if survey.values == 0 {
            return Err(CliError::Usage(format!(
                "{} holds no values; there is nothing to advise on",
                place.display()
            )));
        }
        if place.to_str().is_none() {
            return Err(CliError::Usage(format!(
                "{}: a study file is text, and this name is not; give the place a link with another name",
                place.display()
            )));
        }
        let file_system = examine(work).file_system;
        let most = MOST_BYTES.min(file_system.free_bytes / OF_ROOM);
        let count = most / mean_up_to(survey, LARGEST).max(1);
        if count == 0 {
            return Err(CliError::Usage(format!(
                "{} has {} free, too little to measure a sample; choose another place with --work",
                work.display(),
                format_bytes(file_system.free_bytes)
            )));
        }
        Ok(Self {
            survey,
            options,
            count: count.clamp(1, MOST_VALUES).min(survey.values),
            storage: !matches!(file_system.kind.as_str(), "tmpfs" | "ramfs" | "devtmpfs"),
        })
    }

    /// The study and its text, of as many values as can be drawn: fewer than were counted where some are
    /// too large, cannot be read or went away.
    fn study(&mut self) -> Result<(String, Study), CliError> {
        loop {
            let text = self.text();
            let mut study = Study::parse(&text, "advise.toml")?;
            places::look(&mut study)?;
            let drawn = study.datasets.get(DATASET);
            let drawn = drawn.map_or(self.count, |dataset| dataset.count);
            if drawn >= self.count {
                return Ok((text, study));
            }
            self.count = drawn;
        }
    }

    /// What decides most comes first: time may end before the last.
    fn text(&self) -> String {
        let mut text = self.head();
        let reads = self.options.overwrites < 1.0;
        if reads {
            text.push_str(&self.reads());
        }
        if self.options.overwrites > 0.0 {
            text.push_str(&self.replacements());
        }
        if reads && (self.storage || self.options.cold) {
            text.push_str(&self.cold());
        }
        if reads {
            text.push_str(&self.all());
            text.push_str(&self.by_size());
            text.push_str(&self.ways());
        }
        text
    }

    fn head(&self) -> String {
        let Survey {
            origin,
            values,
            bytes,
            largest,
            ..
        } = self.survey;
        let place = quoted(&origin.place.to_string_lossy());
        let column = [
            ("table", &origin.table),
            ("column", &origin.column),
            ("key", &origin.key),
        ];
        let column: String = column
            .into_iter()
            .filter_map(|(name, value)| Some(format!(", {name} = {}", quoted(value.as_ref()?))))
            .collect();
        let (left_out, limit) = match *largest > LARGEST {
            true => (
                format!(" Values above {} were left out.", format_size(LARGEST)),
                format!(", largest = {LARGEST}"),
            ),
            false => (String::new(), String::new()),
        };
        let unreadable = match self.survey.count_of(OddityKind::Unreadable) {
            0 => String::new(),
            many => format!(
                " Left out, as they cannot be read: {} files or directories.",
                format_count(many)
            ),
        };
        let order = match self.options.reads {
            Reads::Random => "one here, one there",
            Reads::Sequential => "one after the other",
        };
        let question = format!(
            "Files or one database? {} of {} values, drawn by their sizes, read {order}.{left_out}{unreadable}",
            format_count(self.count),
            format_count(*values)
        );
        let about = stowplan_report::survey::sentence(self.survey);
        format!(
            "# Made by 'stowplan advise'; 'stowplan study' runs it.\n\
             name = \"advise\"\ntitle = \"Where this data belongs\"\nquestion = {}\n\n\
             [advise]\nplace = {place}\nin_database = {}\nabout = {}\n\
             values = {values}\nbytes = {bytes}\nlargest = {largest}\n\n\
             [datasets.{DATASET}]\nfrom = {{ place = {place}{column}{limit} }}\ncount = {}\n",
            quoted(&question),
            self.survey.page_size.is_some(),
            quoted(&about),
            self.count
        )
    }

    fn order(&self) -> &'static str {
        match self.options.reads {
            Reads::Random => "random",
            Reads::Sequential => "ascending",
        }
    }

    /// The store of files: in directories if the user's are.
    fn files(&self) -> &'static str {
        match self.survey.depth {
            0 => "files",
            _ => "files:layout=tree",
        }
    }

    fn reads(&self) -> String {
        let databases: String = PAGES
            .iter()
            .map(|page| {
                // The smallest is the first by its name: others are advised where they are shown to be faster.
                format!(
                    "sql-{page:05} = {{ store = \"sqlite:key=text,page_size={page}\", label = \"SQLite, pages of {} KiB\" }}\n",
                    page / 1024
                )
            })
            .collect();
        comparison(
            "read",
            "Reads, in memory",
            &format!("order = \"{}\"", self.order()),
            &format!("{}{databases}", self.baseline()),
        )
    }

    /// Other ways to the values of a database.
    fn ways(&self) -> String {
        let ways = format!(
            "map-{PAGE} = {{ store = \"sqlite:key=text,page_size={PAGE},mmap=1GiB\", label = \"SQLite, mapped\" }}\n\
             blob-{PAGE} = {{ store = \"sqlite:api=blob,page_size={PAGE}\", label = \"SQLite, blob API by row number\" }}\n"
        );
        comparison(
            "ways",
            "Reads of a database, mapped and by the blob API",
            &format!("order = \"{}\"", self.order()),
            &format!("{}{ways}", self.pair()),
        )
    }

    fn baseline(&self) -> String {
        format!(
            "files = {{ store = \"{}\", label = \"files\" }}\n",
            self.files()
        )
    }

    /// The baseline, and the one database beside it.
    fn pair(&self) -> String {
        format!(
            "{}sql-{PAGE} = {{ store = \"sqlite:key=text,page_size={PAGE}\", label = \"SQLite, pages of {} KiB\" }}\n",
            self.baseline(),
            PAGE / 1024
        )
    }

    fn cold(&self) -> String {
        let workload = format!("order = \"{}\", cache = \"cold\"", self.order());
        comparison("cold", "Reads, from the disk", &workload, &self.pair())
    }

    fn all(&self) -> String {
        let workload = format!("order = \"ascending\", operations = {}", self.count);
        comparison("all", "Reading all values", &workload, &self.pair())
    }

    /// Both promise what was asked for.
    fn replacements(&self) -> String {
        let (files, journal) = match self.options.durability {
            DurabilityArgument::None => ("write=truncate", "journal=off,synchronous=off"),
            DurabilityArgument::ProcessCrash => ("write=rename", "journal=wal,synchronous=off"),
            DurabilityArgument::Consistent => {
                ("write=rename,fsync=file", "journal=wal,synchronous=normal")
            }
            DurabilityArgument::Durable => (
                "write=rename,fsync=directory",
                "journal=wal,synchronous=full",
            ),
        };
        let separator = if self.files().contains(':') { ',' } else { ':' };
        comparison(
            "replace",
            "Replacing one value",
            "operation = \"overwrite\", per_transaction = 1",
            &format!(
                "files = {{ store = \"{}{separator}{files}\", label = \"files\" }}\n\
                 sql-{PAGE} = {{ store = \"sqlite:key=text,page_size={PAGE},{journal}\", label = \"SQLite, pages of {} KiB\" }}\n",
                self.files(),
                PAGE / 1024
            ),
        )
    }

    /// Sizes around those of most values; nothing where these are too much alike to be split.
    fn by_size(&self) -> String {
        let sizes = sizes(self.survey);
        if sizes.len() < 3 {
            return String::new();
        }
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        format!(
            "\n[[matrix]]\nid = \"split\"\ntitle = \"Inside or outside, by size\"\n\
             sizes = [{}]\nbytes = {BYTES_OF_A_SIZE}\n\
             internal = {{ store = \"sqlite:key=text\", label = \"SQLite\" }}\n\
             row_setting = \"page_size\"\nrows = [{PAGE}]\n\
             external = {{ store = \"{}\", label = \"files\" }}\nmax_rounds = 20\n",
            sizes.join(", "),
            self.files()
        )
    }
}

/// The mean of the values of at most so many bytes.
fn mean_up_to(survey: &Survey, largest: u64) -> u64 {
    let bins = survey.histogram.iter().filter(|bin| bin.from <= largest);
    let (values, bytes) = bins.fold((0u64, 0u64), |(values, bytes), bin| {
        let middle = bin.from.midpoint(bin.to.min(largest));
        (
            values + bin.values,
            bytes.saturating_add(middle.saturating_mul(bin.values)),
        )
    });
    bytes.checked_div(values).unwrap_or(0)
}

/// Powers of four from an eighth of the median to the largest value, within 1 KiB and 1 MiB.
fn sizes(survey: &Survey) -> Vec<u64> {
    let from = (survey.median / 8)
        .clamp(1 << 10, 64 << 10)
        .next_power_of_two();
    let to = survey.largest.min(1 << 20);
    std::iter::successors(Some(from), |size| Some(size * 4))
        .take_while(|size| *size <= to)
        .collect()
}

fn comparison(id: &str, title: &str, workload: &str, cells: &str) -> String {
    format!(
        "\n[[comparison]]\nid = \"{id}\"\ntitle = \"{title}\"\ndataset = \"{DATASET}\"\n\
         baseline = \"files\"\nworkload = {{ {workload} }}\n[comparison.cells]\n{cells}"
    )
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Verb};
    use clap::Parser;
    use stowplan_model::{Origin, SizeBin};

    fn options(arguments: &[&str]) -> AdviseOptions {
        let arguments = [&["stowplan", "advise", "place"], arguments].concat();
        match Arguments::parse_from(arguments).verb {
            Verb::Advise(options) => *options,
            verb => panic!("{verb:?}"),
        }
    }

    fn survey(place: &str, size: u64) -> Survey {
        Survey {
            origin: Origin {
                place: place.into(),
                ..Origin::default()
            },
            values: 20_000,
            bytes: 20_000 * size,
            median: size,
            percentile_95: 3 * size,
            largest: 10 * size,
            histogram: vec![SizeBin {
                from: size,
                to: 10 * size,
                values: 20_000,
            }],
            ..Survey::default()
        }
    }

    fn made(survey: &Survey, arguments: &[&str]) -> Study {
        let options = options(arguments);
        let made = Made::of(survey, &options, Path::new(".")).unwrap();
        let text = made.text();
        Study::parse(&text, "t.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn whatever_a_place_is_called_its_study_is_one() {
        for place in ["/data", "/a \"b\" \\c", "/ü\n{x}", "/]]"] {
            let study = made(&survey(place, 20_000), &[]);
            let advised = study.advise.unwrap();
            assert_eq!(advised.place, Path::new(place));
            let from = study.datasets["mine"].from.clone().unwrap();
            assert_eq!(from.place, Path::new(place));
        }
    }

    #[test]
    fn options_leave_out_what_is_never_done() {
        let ids = |arguments: &[&str]| {
            let study = made(&survey("/d", 20_000), arguments);
            let ids = study.comparisons.into_iter().map(|found| found.id);
            (ids.collect::<Vec<_>>().join(" "), study.matrices.len())
        };
        let (all, matrices) = ids(&["--cold"]);
        assert_eq!((all.as_str(), matrices), ("read replace cold all ways", 1));
        assert_eq!(
            ids(&["--overwrites", "0%", "--cold"]).0,
            "read cold all ways"
        );
        assert_eq!(ids(&["--overwrites", "100%"]), ("replace".to_owned(), 0));
    }

    #[test]
    fn a_sample_is_bounded_in_values_and_bytes_and_the_sizes_lie_around_the_median() {
        assert_eq!(
            made(&survey("/d", 1_000), &[]).datasets["mine"].count,
            MOST_VALUES
        );
        let large = made(&survey("/d", 1_000_000), &[]);
        assert!(large.datasets["mine"].count <= 48, "{large:?}");
        assert_eq!(
            large.datasets["mine"].from.clone().unwrap().largest,
            Some(LARGEST)
        );
        assert_eq!(
            sizes(&survey("/d", 27_000)),
            [4_096, 16_384, 65_536, 262_144]
        );
        assert!(sizes(&survey("/d", 100)).is_empty());
    }
    #[test]
    fn values_that_are_too_large_are_not_among_those_that_a_study_counts() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("place");
        std::fs::create_dir(&place).unwrap();
        for index in 0..10 {
            std::fs::write(place.join(format!("f{index}")), vec![index; 100_000]).unwrap();
        }
        let large = File::create(place.join("large")).unwrap();
        let origin = Origin {
            place: place.clone(),
            ..Origin::default()
        };
        for (index, bytes) in [9_000_000, 12_000_000].into_iter().enumerate() {
            large.set_len(bytes).unwrap();
            let options = options(&[]);
            let survey = places::survey(&origin).unwrap();
            let mut made = Made::of(&survey, &options, directory.path()).unwrap();
            let (text, study) = made.study().unwrap();
            assert!(text.contains("10 of 11 values"), "{text}");
            assert!(text.contains("operations = 10 "), "{text}");
            let spec = &study.datasets[DATASET];
            let path = directory.path().join(format!("data{index}"));
            let dataset = stowplan_archive::sample::write(spec, &path, &mut |_| ()).unwrap();
            assert_eq!((spec.count, dataset.count()), (10, 10), "{bytes}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_in_the_question() {
        let mut survey = survey("/d", 20_000);
        survey.odd.push(stowplan_model::Oddity {
            kind: OddityKind::Unreadable,
            count: 3,
            examples: Vec::new(),
        });
        let question = made(&survey, &[]).question;
        assert!(question.contains("cannot be read: 3 files"), "{question}");
    }
}
