//! What a place of the user's holds: numbers, sizes, and what is odd about it.

use crate::document::{Block, Content, Detail, Document, bullets, facts, paragraph};
use crate::histogram::sizes_figure;
use crate::value::{count, counted};
use crate::words::halves;
use serde::Serialize;
use stowplan_model::{Oddity, Origin, Survey, format_bytes};

/// What is odd, by its name, and what becomes of it in an archive.
const ODD: &str = include_str!("words/odd.txt");

/// So much of a name is shown, in characters.
const SHOWN: usize = 48;

/// A survey as a program reads it.
#[derive(Debug, Serialize)]
struct Surveyed<'s> {
    tool_version: &'s str,
    #[serde(flatten)]
    survey: &'s Survey,
    /// For a study file.
    datasets: String,
}

/// As one JSON document; sizes are in bytes.
///
/// # Errors
/// None that is known: every key is a text.
pub fn json(survey: &Survey, tool_version: &str) -> Result<String, serde_json::Error> {
    crate::json::of(
        "survey",
        &Surveyed {
            tool_version,
            survey,
            datasets: datasets(survey),
        },
    )
}

/// What was found, and what of it a study needs.
#[must_use]
pub fn document(survey: &Survey) -> Document {
    let mut blocks = vec![facts(numbers(survey)).at(Detail::Answer)];
    blocks.extend(sizes_figure(survey));
    blocks.extend(odd(survey));
    blocks.extend(for_studies(survey));
    Document {
        kind: "Stowplan stat".to_owned(),
        title: survey.origin.place.display().to_string(),
        blocks,
        ..Document::default()
    }
}

/// The values in a sentence: `20,000 files, 812 MB, which take 903 MB on ext4; half are below …`.
#[must_use]
pub fn sentence(survey: &Survey) -> String {
    let what = match survey.page_size {
        Some(_) => counted(survey.values, "value"),
        None => counted(survey.values, "file"),
    };
    let takes = match (survey.page_size, &survey.file_system) {
        (Some(page), _) => format!(
            "in a database of {} with pages of {}",
            format_bytes(survey.allocated_bytes),
            stowplan_model::format_size(page)
        ),
        (None, Some(kind)) => format!(
            "which take {} on {kind}",
            format_bytes(survey.allocated_bytes)
        ),
        (None, None) => format!("which take {}", format_bytes(survey.allocated_bytes)),
    };
    let sizes = match survey.smallest == survey.largest {
        true => format!("all have {}", format_bytes(survey.largest)),
        false => format!(
            "half have at most {}, 95% at most {}",
            format_bytes(survey.median),
            format_bytes(survey.percentile_95)
        ),
    };
    format!("{what}, {}, {takes}; {sizes}.", format_bytes(survey.bytes))
}

/// What the survey adds to kvtest's lines.
fn spread(survey: &Survey) -> [(&'static str, String); 3] {
    let sigma = format!("{:.2}, of the sizes' natural logarithms", survey.sigma);
    [
        ("Median size", exact(survey.median)),
        ("95% have at most", exact(survey.percentile_95)),
        ("Sigma", sigma),
    ]
}

fn exact(bytes: u64) -> String {
    match bytes < 1_000 {
        true => format!("{bytes} B"),
        false => format!("{} ({})", count(bytes), format_bytes(bytes)),
    }
}

/// Names and values; what a place does not have is left out.
fn numbers(survey: &Survey) -> Vec<(&'static str, String)> {
    let Origin {
        table, column, key, ..
    } = &survey.origin;
    let column = table.as_ref().zip(column.as_ref());
    let values = match column {
        Some((table, column)) => format!("{} in {table}.{column}", count(survey.values)),
        None => {
            let inside = counted_directories(survey.directories + 1);
            let links = match survey.links {
                0 => String::new(),
                links => format!(", {}", counted(links, "symbolic link")),
            };
            format!("{} in {inside}{links}", counted(survey.values, "file"))
        }
    };
    let key = key.clone().unwrap_or("the numbers of rows".to_owned());
    let on = survey.file_system.as_ref();
    let on = on.map_or_else(String::new, |kind| format!(" on {kind}"));
    let facts = [
        ("Values", values),
        ("Keys", column.map(|_| key).unwrap_or_default()),
        ("Bytes of values", exact(survey.bytes)),
        (
            "Allocated bytes",
            format!("{}{on}", exact(survey.allocated_bytes)),
        ),
        ("Page size", survey.page_size.map(count).unwrap_or_default()),
    ];
    let of_values = (survey.values > 0).then(|| of_values(survey));
    let of_values = of_values.into_iter().flatten();
    facts.into_iter().chain(of_values).collect()
}

fn of_values(survey: &Survey) -> Vec<(&'static str, String)> {
    let ends = [survey.smallest, survey.largest].map(exact).join(", ");
    let sizes = [
        ("Smallest, largest", ends),
        ("Mean size", exact(survey.mean())),
    ];
    let names = match survey.page_size {
        Some(_) => vec![("Longest key", counted(survey.longest_name, "byte"))],
        None => {
            let path = count(survey.longest_path);
            let longest = format!("{}, {path} bytes", survey.longest_name);
            vec![
                ("Depth", counted(survey.depth, "level")),
                ("Longest name, path", longest),
            ]
        }
    };
    sizes
        .into_iter()
        .chain(spread(survey))
        .chain([("Empty values", count(survey.empty))])
        .chain(names)
        .collect()
}

fn counted_directories(directories: u64) -> String {
    match directories {
        1 => "1 directory".to_owned(),
        many => format!("{} directories", count(many)),
    }
}

/// What an archive cannot hold, or loses.
fn odd(survey: &Survey) -> Vec<Block> {
    if survey.odd.is_empty() {
        return Vec::new();
    }
    let items = survey.odd.iter().map(|odd| {
        let (what, becomes) = halves(ODD, &format!("{:?}", odd.kind));
        format!(
            "{} {what}: {becomes} (such as {})",
            count(odd.count),
            examples(odd)
        )
    });
    let lead = paragraph("Odd, and what becomes of it in an SQLite Archive:");
    [lead].into_iter().chain(bullets(items)).collect()
}

fn examples(odd: &Oddity) -> String {
    let cut = |name: &String| match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.clone(),
    };
    let named: Vec<String> = odd.examples.iter().map(cut).collect();
    named.join(", ")
}

/// A `[datasets]` block for a study file, ready to be pasted.
fn for_studies(survey: &Survey) -> Vec<Block> {
    if survey.values == 0 {
        return Vec::new();
    }
    let datasets = Content::Verbatim(datasets(survey));
    let blocks = [paragraph("For a study file:"), datasets.into()];
    blocks.map(|block: Block| block.at(Detail::Full)).into()
}

/// A dataset of these values, or of made-up ones alike.
fn datasets(survey: &Survey) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let Origin {
        place,
        table,
        column,
        key,
        ..
    } = &survey.origin;
    let place = text(&place.to_string_lossy());
    let from = match (table, column) {
        (Some(table), Some(column)) => {
            let key = key.as_deref().map(text);
            let key = key.map_or_else(String::new, |key| format!(", key = {key}"));
            format!(
                "{{ place = {place}, table = {}, column = {}{key} }}",
                text(table),
                text(column)
            )
        }
        _ => place.clone(),
    };
    let alike = match table {
        // Of a database, one column has to be meant by its name alone.
        Some(_) => String::new(),
        None => format!(
            "\n# made-up bytes, sizes as here\n[datasets.alike]\n\
             count = {}\nsize = {{ like = {place} }}\n",
            survey.values
        ),
    };
    // No line may be broken: in a table on one line that would be no TOML.
    format!(
        "# these values, byte for byte; with count = N, N of them\n[datasets.mine]\n\
         from = {from}\n{alike}\n\
         # made-up bytes, sizes by a curve\n[datasets.curve]\ncount = {}\n\n\
         [datasets.curve.size]\ndistribution = \"log-normal\"\n\
         median = {}\nsigma = {:.2}\nmax = {}\n",
        survey.values,
        survey.median.max(1),
        survey.sigma,
        survey.largest.max(1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::terminal::{self, TerminalOptions};

    #[test]
    fn a_block_for_studies_and_a_sentence_say_how_much_there_is() {
        let survey = Survey {
            file_system: Some("ext4".to_owned()),
            values: 3,
            bytes: 61_000,
            allocated_bytes: 69_632,
            largest: 40_000,
            median: 20_000,
            percentile_95: 40_000,
            ..Survey::default()
        };
        let options = TerminalOptions {
            width: 80,
            colour: false,
            detail: Detail::Full,
        };
        let text = terminal::render(&document(&survey), &options);
        assert!(text.contains("[datasets.mine]"), "{text}");
        assert!(text.contains("median = 20000"), "{text}");
        let said = "3 files, 61 kB, which take 69.6 kB on ext4; half have at most 20 kB, 95% at \
                    most 40 kB.";
        assert_eq!(sentence(&survey), said);
    }
}
