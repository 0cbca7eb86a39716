//! Short ways to write several comparisons: one that is like another, and one with a list of numbers of
//! threads; and a dataset's origin, and sizes that are like those of a place.
//!
//! All are spelled out in the document, in which every value keeps its place in the text. So the types of a
//! study know nothing of them, and what is said of a study holds of each comparison, and says where.

use crate::suggestion;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The key that names the other comparison.
pub(super) const LIKE: &str = "like";
/// What a workload consists of.
const MIX: &str = "mix";

/// A value of the document, with its place.
pub(super) type Entry<'i> = Spanned<DeValue<'i>>;

/// What is wrong with a comparison that should be like one that does not stand before it; it is left out.
#[derive(Debug)]
pub(super) struct Unlike<'i> {
    /// The place of the name, in bytes from the start of the text, and what is wrong there.
    pub(super) mistake: (usize, String),
    /// The comparison, and the name.
    pub(super) left_out: [DeValue<'i>; 2],
}

/// Replaces what is written in short in a study by what it stands for.
pub(super) fn spell_out<'i>(study: &mut DeTable<'i>) -> Vec<Unlike<'i>> {
    if let Some(DeValue::Table(datasets)) = study.get_mut("datasets").map(Spanned::get_mut) {
        datasets
            .iter_mut()
            .for_each(|(_, dataset)| spell_out_dataset(dataset.get_mut()));
    }
    spell_out_comparisons(study)
}

/// `from = "DIR"` is that place, `size = { like = "DIR" }` a distribution.
fn spell_out_dataset(dataset: &mut DeValue<'_>) {
    let DeValue::Table(dataset) = dataset else {
        return;
    };
    let key = |name: &'static str, at: Range<usize>| Spanned::new(at, name.into());
    if let Some(from) = dataset
        .get_mut("from")
        .filter(|from| from.get_ref().is_str())
    {
        let place = [(key("place", from.span()), from.clone())];
        *from.get_mut() = DeValue::Table(place.into_iter().collect());
    }
    let Some(DeValue::Table(size)) = dataset.get_mut("size").map(Spanned::get_mut) else {
        return;
    };
    if let Some(at) = size.get(LIKE).map(Spanned::span) {
        let like = Spanned::new(at.clone(), DeValue::String(LIKE.into()));
        size.entry(key("distribution", at)).or_insert(like);
    }
}

fn spell_out_comparisons<'i>(study: &mut DeTable<'i>) -> Vec<Unlike<'i>> {
    let Some(DeValue::Array(all)) = study.get_mut("comparison").map(Spanned::get_mut) else {
        return Vec::new();
    };
    let (mut unlike, mut before, mut spelled_out) = (Vec::new(), Vec::new(), DeArray::new());
    let mut incomplete: Vec<Entry<'i>> = Vec::new();
    for mut entry in all.iter().cloned() {
        // What is like an incomplete one is so itself, and that was told.
        if incomplete
            .iter()
            .any(|other| like(&entry).is_some_and(|name| id(other) == Some(name)))
        {
            incomplete.push(entry);
            continue;
        }
        if let Err(lost) = complete_by(&mut entry, &before) {
            unlike.push(lost);
            incomplete.push(entry);
            continue;
        }
        match of_each_number(&entry) {
            Some(each) => each.into_iter().for_each(|entry| spelled_out.push(entry)),
            None => spelled_out.push(entry.clone()),
        }
        before.push(entry);
    }
    *all = spelled_out;
    unlike
}

/// The comparison that one says it is like.
fn like<'t>(comparison: &'t Entry<'_>) -> Option<&'t str> {
    comparison.get_ref().get(LIKE)?.get_ref().as_str()
}

fn id<'t>(comparison: &'t Entry<'_>) -> Option<&'t str> {
    comparison.get_ref().get("id")?.get_ref().as_str()
}

/// Gives a comparison what it lacks of the one that it is like.
fn complete_by<'i>(entry: &mut Entry<'i>, before: &[Entry<'i>]) -> Result<(), Unlike<'i>> {
    let DeValue::Table(table) = entry.get_mut() else {
        return Ok(());
    };
    let Some(named) = table.remove(LIKE) else {
        return Ok(());
    };
    let name = named.get_ref().as_str().unwrap_or_default();
    let other = before.iter().find(|other| id(other) == Some(name));
    if let Some(other) = other.and_then(|other| other.get_ref().as_table()) {
        complete(table, other);
        return Ok(());
    }
    let near = suggestion(name, before.iter().filter_map(id));
    let message = match name {
        "" => "like names a comparison that stands before, by its id".to_owned(),
        name => format!(
            "unknown comparison '{}' (it must stand before){near}",
            name.escape_debug()
        ),
    };
    Err(Unlike {
        mistake: (named.span().start, message),
        left_out: [entry.get_ref().clone(), named.into_inner()],
    })
}

/// Adds what a table lacks of another one; so it goes on below a key at which both have a table, but for the
/// parts of a mix, which are shares of the whole.
fn complete<'i>(table: &mut DeTable<'i>, other: &DeTable<'i>) {
    for (key, value) in other {
        match (table.get_mut(key).map(Spanned::get_mut), value.get_ref()) {
            (None, _) => {
                table.insert(key.clone(), value.clone());
            }
            (Some(DeValue::Table(own)), DeValue::Table(others)) if key.get_ref() != MIX => {
                complete(own, others);
            }
            (Some(_), _) => {}
        }
    }
}

/// A comparison for each number of threads, if there is a list of them. What is wrong in the list is told of
/// the comparison as it stands.
fn of_each_number<'i>(entry: &Entry<'i>) -> Option<Vec<Entry<'i>>> {
    let workload = entry.get_ref().get("workload")?.get_ref();
    let threads = workload.get("threads")?.get_ref().as_array()?;
    let each = threads.iter().map(|number| of_number(entry, number));
    each.collect::<Option<Vec<_>>>()
        .filter(|each| !each.is_empty())
}

fn of_number<'i>(entry: &Entry<'i>, number: &Entry<'i>) -> Option<Entry<'i>> {
    let written = number.get_ref().as_integer()?;
    let written = u32::from_str_radix(written.as_str(), written.radix()).ok()?;
    let threads = if written == 1 { "thread" } else { "threads" };
    let mut entry = entry.clone();
    let DeValue::Table(table) = entry.get_mut() else {
        return None;
    };
    for (key, more) in [
        ("id", format!("-{written}")),
        ("title", format!(", {written} {threads}")),
    ] {
        if let Some(DeValue::String(text)) = table.get_mut(key).map(Spanned::get_mut) {
            *text = format!("{text}{more}").into();
        }
    }
    let DeValue::Table(workload) = table.get_mut("workload")?.get_mut() else {
        return None;
    };
    *workload.get_mut("threads")? = number.clone();
    Some(entry)
}

#[cfg(test)]
pub(super) mod tests {
    use crate::Study;

    pub(in crate::study) const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 10
size = { distribution = "fixed", bytes = 1 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", per_transaction = 1 }
baseline = "files"
max_rounds = 20
[comparison.cells]
files = { store = "files", label = "files" }
sqlite = { store = "sqlite", label = "SQLite" }
[[comparison]]
id = "write"
title = "Writes"
like = "read"
workload = { operation = "overwrite" }
[comparison.cells]
sqlite = { store = "sqlite:synchronous=off" }
"#;

    /// The second comparison with all that it has from the first.
    const WRITTEN_OUT: &str = r#"[[comparison]]
id = "write"
title = "Writes"
dataset = "blobs"
workload = { operation = "overwrite", per_transaction = 1 }
baseline = "files"
max_rounds = 20
[comparison.cells]
files = { store = "files", label = "files" }
sqlite = { store = "sqlite:synchronous=off", label = "SQLite" }
"#;

    fn study(text: &str) -> Study {
        Study::parse(text, "t.toml").unwrap()
    }

    #[test]
    fn a_comparison_that_is_like_another_one_has_what_it_does_not_say_itself() {
        let (first, _) = STUDY.split_once("[[comparison]]\nid = \"write\"").unwrap();
        assert_eq!(study(STUDY), study(&format!("{first}{WRITTEN_OUT}")));
        // A mix is that of the comparison itself as a whole.
        let mixed = "operation = \"mix\", mix = { read = 50, overwrite = 50 }";
        let text = STUDY.replace("operation = \"read\"", mixed);
        let text = text.replace("operation = \"overwrite\"", "mix = { read = 100 }");
        let mix = study(&text).comparisons[1].workload.mix.unwrap();
        assert_eq!((mix.read, mix.overwrite), (100, 0));
    }

    #[test]
    fn a_list_of_threads_stands_for_a_comparison_of_each_also_where_another_one_is_like_it() {
        let of = |threads: &str| {
            let threads = format!("per_transaction = 1, threads = {threads}");
            study(&STUDY.replace("per_transaction = 1", &threads)).comparisons
        };
        let all = of("[1, 4]");
        let all = all.iter();
        let told = all.map(|c| (c.id.as_str(), c.title.as_str(), c.workload.threads));
        let wanted = [
            ("read-1", "Reads, 1 thread", Some(1)),
            ("read-4", "Reads, 4 threads", Some(4)),
            ("write-1", "Writes, 1 thread", Some(1)),
            ("write-4", "Writes, 4 threads", Some(4)),
        ];
        assert_eq!(told.collect::<Vec<_>>(), wanted);
        assert_eq!(of("[0x10]")[0].id, "read-16");
    }
}
