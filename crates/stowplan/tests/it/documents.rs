//! What the documents say of the repository: links, commands, paths and names of tests in them, and the
//! rooms of docs/architecture.md against manifests and sources.

use crate::bench::Bench;
use crate::help::verbs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use stowplan_harness::drivers::{KNOWN, KnownDriver};

/// The crates of docs/architecture.md, from the top down.
const CRATES: [&str; 11] = [
    "stowplan", "report", "kvtest", "archive", "crashlab", "harness", "analysis", "driver",
    "stores", "dataset", "model",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    let text = std::fs::read_to_string(&path);
    assert!(text.is_ok(), "{}: {text:?}", path.display());
    text.unwrap()
}

/// The files below a directory of the repository whose names end in `ending`; not what builds and
/// runs leave, and nothing behind links.
fn files(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root().join(directory)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = directory.join(&name);
        let kind = entry.file_type().unwrap();
        let left = name == "target" || name.starts_with("stowplan-results") || name == "corpus";
        if kind.is_dir() && !left && (!name.starts_with('.') || name == ".ci") {
            files(&path, ending, found);
        } else if kind.is_file() && name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// The documents, by path, each as (number of the line, line, language of the fence it lies in).
fn documents() -> BTreeMap<PathBuf, Vec<(usize, String, Option<String>)>> {
    let mut paths = Vec::new();
    files(Path::new(""), ".md", &mut paths);
    assert!(paths.len() > 10, "{paths:?}");
    let documents = paths.into_iter().map(|path| {
        let mut fence: Option<String> = None;
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(read(&path).lines()) {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                fence = fence.is_none().then(|| language.to_owned());
            } else {
                lines.push((number, line.to_owned(), fence.clone()));
            }
        }
        assert_eq!(fence, None, "{}: a fence is not closed", path.display());
        (path, lines)
    });
    documents.collect()
}

/// What stands between backticks outside fences, with where it stands.
fn quoted() -> Vec<(String, String)> {
    let mut quoted = Vec::new();
    for (path, lines) in documents() {
        for (number, line, fence) in lines {
            if fence.is_none() {
                let spans = line.split('`').skip(1).step_by(2);
                quoted
                    .extend(spans.map(|s| (s.to_owned(), format!("{}:{number}", path.display()))));
            }
        }
    }
    quoted
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect()
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let documents = documents();
    let anchors = |path: &Path| -> BTreeSet<String> {
        let lines = documents.get(path).into_iter().flatten();
        let headings = lines.filter(|(_, line, fence)| line.starts_with('#') && fence.is_none());
        headings
            .map(|(_, line, _)| anchor(line.trim_start_matches('#')))
            .collect()
    };
    let mut wrong = Vec::new();
    let mut links = 0;
    for (path, lines) in &documents {
        for (number, line, fence) in lines {
            for rest in line.split("](").skip(1).filter(|_| fence.is_none()) {
                let target = rest.split([')', ' ']).next().unwrap();
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                links += 1;
                let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
                let beside = path.parent().unwrap().join(file);
                let there = if file.is_empty() {
                    path.clone()
                } else {
                    plain(&beside)
                };
                let leads = root().join(&there).exists()
                    && (fragment.is_empty() || anchors(&there).contains(fragment));
                if !leads {
                    wrong.push(format!("{}:{number}: {target}", path.display()));
                }
            }
        }
    }
    assert!(links > 30, "{links} links");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A path without `x/..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => assert!(plain.pop(), "{}", path.display()),
            part => plain.push(part),
        }
    }
    plain
}

/// What a document has whatever its language: headings by their depth, fenced blocks, and where links lead.
fn skeleton(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut links = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        fenced ^= is_fence;
        if fenced || is_fence {
            parts.push(line.to_owned());
        } else if line.starts_with('#') {
            parts.push(line.split(' ').next().unwrap().to_owned());
        } else {
            let targets = line.split("](").skip(1);
            links.extend(targets.map(|rest| rest.split(')').next().unwrap().to_owned()));
        }
    }
    links.retain(|link| !link.starts_with("README"));
    parts.extend(links);
    parts
}

#[test]
fn the_readme_in_chinese_has_the_headings_commands_outputs_and_links_of_the_other() {
    let (one, other) = (read("README.md"), read("README.zh-CN.md"));
    for (one, other) in skeleton(&one).iter().zip(&skeleton(&other)) {
        assert_eq!(one, other);
    }
    assert_eq!(skeleton(&one).len(), skeleton(&other).len());
    assert!(skeleton(&one).len() > 60, "{}", skeleton(&one).len());
}

#[test]
fn every_path_of_the_repository_that_a_document_names_exists() {
    let mut paths = 0;
    let mut wrong = Vec::new();
    for (text, place) in quoted() {
        let rooms = ["crates/", "docs/", "drivers/", "studies/", ".ci/", "fleet/"];
        let exact = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        // What is named by capitals is to be replaced.
        let replaced = text.chars().any(|c| c.is_ascii_uppercase());
        if exact && !replaced && rooms.iter().any(|room| text.starts_with(room)) {
            paths += 1;
            // The example of docs/adding-a-store.md is made by its reader.
            if !root().join(&text).exists() && text != "crates/stores/src/log.rs" {
                wrong.push(format!("{place}: {text}"));
            }
        }
    }
    assert!(paths > 20, "{paths} paths");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_crate_is_compiled_from_lies_in_its_directory_so_that_it_can_be_published() {
    let mut sources = Vec::new();
    files(Path::new("crates"), ".rs", &mut sources);
    let mut included = 0;
    for source in sources {
        let own: PathBuf = source.components().take(3).collect();
        for line in read(&source).split("include_str!(\"").skip(1) {
            let path = line.split('"').next().unwrap();
            let path = plain(&source.parent().unwrap().join(path));
            if own.ends_with("src") {
                included += 1;
                let of_crate = own.parent().unwrap();
                assert!(
                    path.starts_with(of_crate),
                    "{}: {}",
                    source.display(),
                    path.display()
                );
                assert!(root().join(&path).is_file(), "{}", path.display());
            }
        }
    }
    assert!(included > 10, "{included} files");
}

#[test]
fn every_test_that_the_method_names_exists() {
    let mut sources = Vec::new();
    files(Path::new("crates"), ".rs", &mut sources);
    let sources: Vec<String> = sources.iter().map(read).collect();
    let mut named = 0;
    for (text, place) in quoted() {
        let words = text.split('_').count();
        let is_name = text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if is_name && words > 4 && place.starts_with("docs/") {
            named += 1;
            let function = format!("fn {text}(");
            assert!(
                sources.iter().any(|source| source.contains(&function)),
                "{place}: {text}"
            );
        }
    }
    assert!(named > 10, "{named} tests are named");
}

/// The command lines in documents that begin with the program's name, or run it by cargo.
fn commands() -> Vec<(Vec<String>, String)> {
    let mut commands = Vec::new();
    for (path, lines) in documents() {
        let mut before = String::new();
        for (number, line, fence) in lines {
            if fence.as_deref() != Some("sh") {
                continue;
            }
            let line = std::mem::take(&mut before) + &line;
            if let Some(begun) = line.strip_suffix('\\') {
                before = begun.to_owned();
                continue;
            }
            commands.push((line, format!("{}:{number}", path.display())));
        }
    }
    commands.extend(quoted());
    let parsed = commands.into_iter().filter_map(|(line, place)| {
        let line = line.split(" # ").next().unwrap();
        let line = line.split(['|', '>', ';', '&']).next().unwrap().trim();
        let line = line.replace("cargo run --release -- ", "stowplan ");
        let rest = line.strip_prefix("stowplan ")?;
        Some((rest.split_whitespace().map(str::to_owned).collect(), place))
    });
    parsed.collect()
}

/// The options that the help of a verb lists.
fn options(bench: &Bench, verb: &str) -> BTreeSet<String> {
    let help = bench.run(&format!("help {verb}")).stdout();
    let words = help.split(|c: char| c.is_whitespace() || ",[=<".contains(c));
    words
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches(['.', ';', ':', '\'', ')']).to_owned())
        .collect()
}

#[test]
fn every_command_that_a_document_quotes_has_a_verb_and_options_that_exist() {
    let bench = Bench::new();
    let verbs = verbs();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (words, place) in commands() {
        let Some(verb) = words.first().filter(|word| !word.starts_with('-')) else {
            continue;
        };
        // A word in capitals is to be replaced; the worker's is hidden.
        if verb.chars().all(|c| c.is_ascii_uppercase())
            || verb == "worker"
            || verb.starts_with("crash-")
            || verb == "…"
        {
            continue;
        }
        checked += 1;
        if !verbs.contains(verb) {
            wrong.push(format!("{place}: no verb '{verb}'"));
            continue;
        }
        // kvtest has verbs of its own.
        let verb = words[..words.len().min(if verb == "kvtest" { 2 } else { 1 })].join(" ");
        let options = known
            .entry(verb.clone())
            .or_insert_with(|| options(&bench, &verb));
        for word in words.iter().filter(|word| word.starts_with("--")) {
            let name = word.split('=').next().unwrap();
            if !options.contains(name) {
                wrong.push(format!("{place}: '{verb}' has no option {name}"));
            }
        }
    }
    assert!(checked > 30, "{checked} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines of a table below a heading of docs/architecture.md, as their cells.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = read("docs/architecture.md");
    let section = text.split_once(&format!("\n{heading}\n"));
    assert!(section.is_some(), "docs/architecture.md has no '{heading}'");
    let (_, section) = section.unwrap();
    let section = section.split("\n#").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells = row.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// The words between backticks.
fn names(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The crates of the project that a manifest uses, tests aside.
fn uses(manifest: &str) -> BTreeSet<String> {
    let (_, dependencies) = manifest
        .split_once("\n[dependencies]\n")
        .unwrap_or_default();
    let dependencies = dependencies.split("\n[").next().unwrap();
    let lines = dependencies.lines();
    lines
        .filter_map(|line| line.strip_prefix("stowplan-"))
        .map(|line| line.split(['.', ' ', '=']).next().unwrap().to_owned())
        .collect()
}

/// The drivers that are crates: their names and manifests.
fn drivers() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root().join("drivers")).unwrap();
    let manifests = entries.filter_map(|entry| {
        let path = entry.unwrap().path();
        let manifest = std::fs::read_to_string(path.join("Cargo.toml")).ok()?;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Some((name, manifest))
    });
    manifests.collect()
}

#[test]
fn every_driver_is_known_to_whoever_lacks_it_and_makes_a_program_of_its_name_or_has_an_installer() {
    let drivers = drivers();
    let (crates, scripts): (Vec<_>, Vec<_>) = KNOWN
        .iter()
        .partition(|driver| driver.how_to_get().starts_with("cargo install "));
    let names = |known: &[&KnownDriver]| -> Vec<String> {
        known.iter().map(|driver| driver.name.to_owned()).collect()
    };
    assert_eq!(drivers.keys().cloned().collect::<Vec<_>>(), names(&crates));
    assert_eq!(installers(), names(&scripts));
    for (name, manifest) in drivers {
        let package = format!("\nname = \"stowplan-driver-{name}\"\n");
        assert!(manifest.contains(&package), "drivers/{name}");
    }
}

/// The drivers with a script that installs them; that of servers brings no driver.
fn installers() -> Vec<String> {
    let entries = std::fs::read_dir(root().join("drivers")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let installed = paths.filter(|path| path.join("install").exists());
    let names = installed.map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "servers").collect();
    names.sort();
    names
}

#[test]
fn crates_use_what_the_architecture_allows_and_nothing_above_them() {
    let rows = table("## The rooms");
    let listed: Vec<String> = rows.iter().map(|row| names(&row[0]).concat()).collect();
    assert_eq!(listed, CRATES);
    for (name, manifest) in drivers() {
        let allowed = ["driver", "model", "stores"].map(str::to_owned);
        assert_eq!(uses(&manifest), BTreeSet::from(allowed), "drivers/{name}");
    }
    for (index, (name, row)) in listed.iter().zip(&rows).enumerate() {
        let used = uses(&read(format!("crates/{name}/Cargo.toml")));
        let allowed: BTreeSet<String> = names(&row[2]).into_iter().collect();
        assert_eq!(used, allowed, "crates/{name} against docs/architecture.md");
        let below = &listed[index + 1..];
        assert!(
            used.iter().all(|used| below.contains(used)),
            "{name} uses what is not below it"
        );
    }
}

#[test]
fn drivers_are_tested_as_the_crates_at_the_top_so_that_what_both_have_is_built_once() {
    let profile = |path: &str| {
        let manifest: toml::Table = toml::from_str(&read(path)).unwrap();
        let mut profile = manifest["profile"]["dev"].as_table().unwrap().clone();
        let packages = profile.remove("package").unwrap();
        (profile, packages.as_table().unwrap().clone())
    };
    let (top, packages) = profile("Cargo.toml");
    let (drivers, theirs) = profile("drivers/Cargo.toml");
    assert_eq!(drivers, top);
    for (package, profile) in theirs {
        let same = packages.get(&package).unwrap_or(&profile);
        assert_eq!(same, &profile, "{package} of drivers/Cargo.toml");
    }
}

#[test]
fn every_crate_stands_in_the_architecture() {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.join("Cargo.toml").exists() {
            found.insert(name);
        }
    }
    assert_eq!(found, CRATES.map(str::to_owned).into());
}

/// The comments of a source as one text: where a line ends says nothing.
fn comments(source: &str) -> String {
    let lines = source
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("//"));
    let lines = lines.map(|line| line.trim_start_matches(['/', '!']).trim());
    lines.collect::<Vec<_>>().join(" ")
}

/// What follows each of these words, up to the end.
fn after<'a>(text: &'a str, words: &'a [&str]) -> impl Iterator<Item = &'a str> {
    words.iter().flat_map(|word| text.split(word).skip(1))
}

#[test]
fn every_part_of_the_method_that_a_comment_names_is_a_heading_of_it() {
    let method = read("docs/method.md");
    let headings: BTreeSet<&str> = method
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim())
        .collect();
    let rules: BTreeSet<&str> = headings
        .iter()
        .filter_map(|heading| Some(heading.split_once(':')?.0))
        .flat_map(|rules| rules.split(", "))
        .collect();
    let mut sources = Vec::new();
    files(Path::new("crates"), ".rs", &mut sources);
    let (mut wrong, mut named) = (Vec::new(), 0);
    for path in sources
        .iter()
        .filter(|path| !path.ends_with("documents.rs"))
    {
        let text = comments(&read(path));
        let quotes = ["METHOD \"", "docs/method.md, \"", "docs/method.md \""];
        for heading in after(&text, &quotes).map(|rest| rest.split('"').next().unwrap()) {
            named += 1;
            if !headings.contains(heading) {
                wrong.push(format!("{}: no heading \"{heading}\"", path.display()));
            }
        }
        for rest in after(&text, &["METHOD R"]) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if !rules.contains(format!("R{digits}").as_str()) {
                wrong.push(format!("{}: no rule R{digits}", path.display()));
            }
        }
        for section in ["METHOD §", "DESIGN §"] {
            if text.contains(section) {
                wrong.push(format!(
                    "{}: {section} of a text that is not here",
                    path.display()
                ));
            }
        }
    }
    assert!(named > 20, "{named}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
