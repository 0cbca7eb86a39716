//! `stowplan man` and `stowplan completions`: made from the arguments themselves, so that they
//! cannot say anything else.

use crate::cli::{self, CompletionsOptions, ManOptions};
use crate::error::{CliError, Exit};
use crate::output::{Written, write_whole};
use crate::screen::print;
use crate::studies::{self, SCALES};
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::LazyLock;
use stowplan_model::suggestion;
use stowplan_stores::{Kind, registry};

/// The first line of every page: what begins with it may be replaced.
const MARK: &str = r#".\" Made by 'stowplan man'."#;
/// Verbs that have a page.
static PAGES: LazyLock<Vec<String>> =
    LazyLock::new(|| pages(&command()).into_iter().map(name_of).collect());

/// Prints a page of the manual, or writes all of them.
pub(crate) fn man(options: &ManOptions) -> Result<Exit, CliError> {
    let root = command();
    if let Some(directory) = &options.to {
        return write_pages(&root, directory);
    }
    let page = match &options.verb {
        None => page(&root),
        Some(verb) => page(find(&root, verb)?),
    };
    print(&page.map_err(CliError::io("make a page of", Path::new("the manual")))?);
    Ok(Exit::Done)
}

/// Prints what teaches a shell the verbs, the options, and the names of studies and stores.
pub(crate) fn completions(options: &CompletionsOptions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut with_names(), "stowplan", &mut script);
    print(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Arguments whose values have names: the verb, the argument, and the names.
fn named() -> [(&'static str, &'static str, Vec<&'static str>); 8] {
    let stores: Vec<&str> = registry::all().map(Kind::name).collect();
    let studies: Vec<&str> = studies::names().collect();
    [
        ("man", "verb", PAGES.iter().map(String::as_str).collect()),
        ("study", "study", studies.clone()),
        ("study", "scale", SCALES.into()),
        ("doctor", "study", studies),
        ("doctor", "scale", SCALES.into()),
        ("list", "name", stores.clone()),
        ("crossover", "a", stores.clone()),
        ("crossover", "b", stores),
    ]
}

/// The arguments with these names; what is typed may be something else all the same.
fn with_names() -> Command {
    named()
        .into_iter()
        .fold(cli::command(), |root, (verb, argument, names)| {
            root.mut_subcommand(verb, |verb| {
                verb.mut_arg(argument, |a| {
                    a.value_parser(PossibleValuesParser::new(names))
                })
            })
        })
}

/// The arguments, with what clap adds to each verb.
fn command() -> Command {
    let mut command = cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// The verbs, and theirs, which have pages of their own.
fn pages(root: &Command) -> Vec<&Command> {
    let with_own = |verb| std::iter::once(verb).chain(Command::get_subcommands(verb));
    let pages = root.get_subcommands().flat_map(with_own);
    pages.filter(|verb| verb.get_name() != "help").collect()
}

/// What a verb's page is called: `study`, `kvtest-run`.
fn name_of(verb: &Command) -> String {
    let name = verb.get_display_name().unwrap_or(verb.get_name());
    name.strip_prefix("stowplan-").unwrap_or(name).to_owned()
}

fn find<'c>(root: &'c Command, name: &str) -> Result<&'c Command, CliError> {
    let mut known = pages(root).into_iter();
    let found = known.find(|verb| name_of(verb) == name);
    found.ok_or_else(|| {
        let names: Vec<String> = pages(root).into_iter().map(name_of).collect();
        let near = suggestion(name, names.iter().map(String::as_str));
        CliError::Usage(format!("there is no page of '{name}'{near}"))
    })
}

fn write_pages(root: &Command, directory: &Path) -> Result<Exit, CliError> {
    fs::create_dir_all(directory).map_err(CliError::io("create directory", directory))?;
    for command in std::iter::once(root).chain(pages(root)) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = directory.join(format!("{name}.1"));
        let text = page(command).map_err(CliError::io("make", &path))?;
        replace(&path, &text)?;
    }
    Ok(Exit::Done)
}

/// Writes a page where there is none, or only one that was made before.
fn replace(path: &Path, text: &str) -> Result<(), CliError> {
    match write_whole(path, text, |start| start.starts_with(MARK.as_bytes()))? {
        Written::Yes => Ok(()),
        Written::NotOurs => Err(CliError::Usage(format!(
            "{} was not made by 'stowplan man', so it is left as it is; move it away, or give \
             another --to",
            path.display()
        ))),
    }
}

/// The page of stowplan itself or of a verb. Texts whose layout says something keep it, which is
/// why not all of it is left to clap.
fn page(command: &Command) -> io::Result<String> {
    let man = Man::new(command.clone())
        .source(concat!("stowplan ", env!("CARGO_PKG_VERSION")))
        .manual("Stowplan");
    let mut page = format!("{MARK}\n").into_bytes();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    section(&mut page, "DESCRIPTION", &about)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(examples) = command.get_after_long_help() {
        let text = examples.to_string();
        let text = text.trim_start_matches("Examples:\n");
        section(&mut page, "EXAMPLES", text)?;
    }
    section(&mut page, "EXIT STATUS", EXIT_STATUS)?;
    section(&mut page, "ENVIRONMENT", ENVIRONMENT)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

const EXIT_STATUS: &str = "  0     done
  1     a cell failed, a regression or a problem was found
  2     what was typed or given makes no sense
  130   interrupted, with everything measured so far saved";

const ENVIRONMENT: &str = "  NO_COLOR    if it is set, there is no colour";

/// A section of a page: paragraphs are filled, except those with an indented line.
fn section(page: &mut Vec<u8>, title: &str, text: &str) -> io::Result<()> {
    let mut section = Roff::new();
    section.control("SH", [title]);
    for (index, paragraph) in text.split("\n\n").enumerate() {
        let laid_out = paragraph.lines().any(|line| line.starts_with(' '));
        if index > 0 {
            section.control("PP", []);
        }
        if laid_out {
            section.control("nf", []);
        }
        for line in paragraph.lines() {
            section.text([roman(line)]);
        }
        if laid_out {
            section.control("fi", []);
        }
    }
    section.to_writer(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_verb_has_a_page_with_every_option() {
        let root = command();
        let all = pages(&root);
        assert!(all.len() >= 12, "{}", all.len());
        for verb in all {
            let page = page(verb).unwrap().replace("\\-", "-");
            for argument in verb.get_arguments().filter(|a| !a.is_hide_set()) {
                if let Some(long) = argument.get_long() {
                    assert!(
                        page.contains(&format!("--{long}")),
                        "{}: --{long}\n{page}",
                        verb.get_name()
                    );
                }
            }
            assert!(
                verb.get_after_long_help().is_none() || page.contains(".SH EXAMPLES"),
                "{page}"
            );
        }
        assert!(!page(&root).unwrap().contains("worker"), "it is hidden");
    }

    #[test]
    fn no_line_of_an_example_is_broken_in_a_terminal() {
        let root = command();
        for command in std::iter::once(&root).chain(pages(&root)) {
            let text = command.get_after_long_help().map(ToString::to_string);
            for line in text.unwrap_or_default().lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn names_that_are_completed_are_no_duty() {
        with_names().debug_assert();
        cli::command().debug_assert();
    }
}
