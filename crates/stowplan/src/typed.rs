//! What was typed and makes no sense: one line that says what, what was meant, and where to look.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use stowplan_model::{near_miss, suggestion};

/// Says in one line what is wrong with what was typed: what, which one, what was meant, and the next step.
/// `verb` is the one that was typed, or the program itself.
pub(crate) fn wrong(error: &clap::Error, verb: &Command) -> String {
    let whose = verb.get_bin_name().unwrap_or("stowplan");
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    let bare = |kind| {
        texts(kind)
            .iter()
            .map(|name| bare(name))
            .collect::<Vec<_>>()
    };
    let argument = bare(ContextKind::InvalidArg).join(" and ");
    let prior = bare(ContextKind::PriorArg).join(" and ");
    let value = texts(ContextKind::InvalidValue).concat();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            no_such_verb(&texts(ContextKind::InvalidSubcommand).concat(), verb)
        }
        ErrorKind::UnknownArgument if has_option(verb, &argument) => {
            format!("{argument} belongs behind the verb: {whose} {argument}")
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let near = near_option(&argument, verb);
            let all = whose.replacen("stowplan", "stowplan help", 1);
            format!("'{whose}' has no option '{argument}'{near} '{all}' lists them")
        }
        ErrorKind::UnknownArgument => {
            format!("unexpected argument '{argument}'; '{whose} --help' says what there can be")
        }
        ErrorKind::InvalidValue => {
            let valid = texts(ContextKind::ValidValue);
            let one_of = format!("one of {}", valid.join(", "));
            match (value.as_str(), valid.is_empty()) {
                ("", true) => format!("{argument} needs a value; '{whose} --help' says more"),
                ("", false) => format!("{argument} needs a value, {one_of}"),
                (value, _) => {
                    let near = suggestion(value, valid.iter().map(String::as_str));
                    format!("{argument} {value}: it must be {one_of}{near}")
                }
            }
        }
        ErrorKind::ValueValidation => format!("{argument} {value}: {}", reason(error)),
        ErrorKind::MissingRequiredArgument => {
            format!("'{whose}' needs {argument}; '{whose} --help' has examples")
        }
        ErrorKind::ArgumentConflict if prior.is_empty() => first_paragraph(error),
        ErrorKind::ArgumentConflict if prior == argument => {
            format!("{argument} was given twice; give it once")
        }
        ErrorKind::ArgumentConflict => {
            format!("{argument} and {prior} exclude each other; give one of them")
        }
        _ => format!("{}; see '{whose} --help'", first_paragraph(error)),
    }
}

/// `there is no verb 'stdy'; did you mean 'study'? …`
pub(crate) fn no_such_verb(name: &str, root: &Command) -> String {
    if let Some((_, now)) = RENAMED.iter().find(|(before, _)| *before == name) {
        return format!("there is no verb '{name}'; it is 'stowplan {now}' now");
    }
    let near = match suggestion(name, root.get_subcommands().map(Command::get_name)) {
        none if none.is_empty() => ";".to_owned(),
        near => near,
    };
    let whose = root.get_bin_name().unwrap_or("stowplan");
    format!("there is no verb '{name}'{near} '{whose} --help' lists them")
}

/// Verbs and options of stowplan 0.2, and what to type instead.
const RENAMED: [(&str, &str); 9] = [
    ("init", "kvtest init"),
    ("export", "kvtest export"),
    ("studies", "list studies"),
    ("stores", "list stores"),
    ("--resume", "stowplan resume DIR"),
    ("--output", "--to FILE"),
    ("-o", "--to FILE"),
    ("--markdown", "--format md"),
    ("--store", "--no-deflate"),
];

/// Whether the verb has the option, so that it was refused because it stands before the verb.
fn has_option(verb: &Command, typed: &str) -> bool {
    verb.get_arguments().any(|option| {
        let short = option.get_short().map(|short| format!("-{short}"));
        let long = option.get_long().map(|long| format!("--{long}"));
        [short, long].contains(&Some(typed.to_owned()))
    })
}

/// What an option that does not exist is called now, or the nearest one that does.
fn near_option(option: &str, verb: &Command) -> String {
    let known = |now: &str| {
        let long = now.split(' ').next().unwrap_or(now);
        !long.starts_with('-') || has_option(verb, long)
    };
    let renamed = |(before, now): &&(&str, &str)| *before == option && known(now);
    if let Some((_, now)) = RENAMED.iter().find(renamed) {
        return format!("; it is '{now}' now;");
    }
    let longs = verb.get_arguments().filter_map(|a| a.get_long());
    match near_miss(
        option.trim_start_matches('-'),
        longs.chain(["color", "help"]),
    ) {
        Some(near) => format!("; did you mean '--{near}'?"),
        None => ";".to_owned(),
    }
}

/// Why a value was refused, in words for people who do not program.
fn reason(error: &clap::Error) -> String {
    let reason = error.source().map_or_else(String::new, ToString::to_string);
    let range = reason.split_once(" is not in ");
    match (
        reason.as_str(),
        range.and_then(|(_, range)| range.split_once("..=")),
    ) {
        ("invalid digit found in string" | "cannot parse integer from empty string", _) => {
            "it must be a whole number, such as 20".to_owned()
        }
        ("number too large to fit in target type", _) => "it is too large".to_owned(),
        ("number too small to fit in target type", _) => "it is too small".to_owned(),
        // Of `900 is not in 1..=64`.
        (_, Some((low, high))) => format!("it must be from {low} to {high}"),
        _ => reason,
    }
}

/// What clap itself says first.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// `--rounds <N>` as `--rounds`, `<NEW>...` as `NEW`.
fn bare(argument: &str) -> String {
    if argument.starts_with('-') {
        let end = argument.find([' ', '=', '[']).unwrap_or(argument.len());
        return argument[..end].to_owned();
    }
    let name = argument.trim_end_matches("...");
    name.trim_matches(['<', '>', '[', ']']).to_owned()
}
