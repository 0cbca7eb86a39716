//! What was typed and makes no sense: one line that says what, what was meant, and where to look.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use stowplan_model::near_miss;

/// What is wrong with what was typed, in one line: what, which one, what was meant, and the next
/// step. `verb` is the one that was typed, or the program itself.
pub(crate) fn wrong(error: &clap::Error, verb: &Command) -> String {
    let context = Context { error };
    let whose = verb.get_bin_name().unwrap_or("stowplan");
    let argument = context.argument();
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = context.text(ContextKind::InvalidSubcommand);
            no_such_verb(&name.unwrap_or_default(), verb)
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            if has_option(verb, &argument) {
                return format!("{argument} belongs behind the verb: {whose} {argument}");
            }
            let near = near_option(&argument, verb);
            format!("'{whose}' has no option '{argument}'{near} '{whose} --help' lists them")
        }
        ErrorKind::UnknownArgument => {
            format!("unexpected argument '{argument}'; '{whose} --help' says what there can be")
        }
        ErrorKind::InvalidValue => invalid_value(&context, &argument, whose),
        ErrorKind::ValueValidation => format!(
            "{argument} {}: {}",
            context.text(ContextKind::InvalidValue).unwrap_or_default(),
            reason(error)
        ),
        ErrorKind::MissingRequiredArgument => format!(
            "'{whose}' needs {}; '{whose} --help' has examples",
            context.missing().join(" and ")
        ),
        ErrorKind::ArgumentConflict => match context.prior() {
            Some(prior) if prior == argument => {
                format!("{argument} was given twice; give it once")
            }
            Some(prior) => format!("{argument} and {prior} exclude each other; give one of them"),
            None => first_paragraph(error),
        },
        _ => format!("{}; see '{whose} --help'", first_paragraph(error)),
    }
}

/// `there is no verb 'stdy'; did you mean 'study'? …`
pub(crate) fn no_such_verb(name: &str, root: &Command) -> String {
    if let Some((_, now)) = RENAMED.iter().find(|(before, _)| *before == name) {
        return format!("there is no verb '{name}'; it is 'stowplan {now}' now");
    }
    let verbs = root.get_subcommands().filter(|verb| !verb.is_hide_set());
    let near = match near_miss(name, verbs.map(Command::get_name)) {
        Some(verb) => format!("; did you mean '{verb}'?"),
        None => ";".to_owned(),
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
    let is = |option: &clap::Arg| {
        let short = option.get_short().map(|short| format!("-{short}"));
        let long = option.get_long().map(|long| format!("--{long}"));
        [short, long].contains(&Some(typed.to_owned()))
    };
    verb.get_arguments().any(is)
}

/// What is nearest to an option that does not exist.
fn near_option(option: &str, verb: &Command) -> String {
    let known = |now: &str| {
        let long = now.split(' ').next().unwrap_or(now);
        !long.starts_with('-') || has_option(verb, long)
    };
    let renamed = |(before, now): &&(&str, &str)| *before == option && known(now);
    if let Some((_, now)) = RENAMED.iter().find(renamed) {
        return format!("; it is '{now}' now;");
    }
    let longs: Vec<&str> = verb.get_arguments().filter_map(|a| a.get_long()).collect();
    let known = longs.into_iter().chain(["color", "help"]);
    match near_miss(option.trim_start_matches('-'), known) {
        Some(near) => format!("; did you mean '--{near}'?"),
        None => ";".to_owned(),
    }
}

fn invalid_value(context: &Context<'_>, argument: &str, whose: &str) -> String {
    let value = context.text(ContextKind::InvalidValue).unwrap_or_default();
    let valid = context.list(ContextKind::ValidValue);
    let one_of = format!("one of {}", valid.join(", "));
    match (value.is_empty(), valid.is_empty()) {
        (true, true) => format!("{argument} needs a value; '{whose} --help' says more"),
        (true, false) => format!("{argument} needs a value, {one_of}"),
        _ => {
            let near = near_miss(&value, valid.iter().map(String::as_str));
            let near = near.map(|near| format!("; did you mean '{near}'?"));
            format!(
                "{argument} {value}: it must be {one_of}{}",
                near.unwrap_or_default()
            )
        }
    }
}

/// Why a value was refused, in words for people who do not program.
fn reason(error: &clap::Error) -> String {
    let reason = error.source().map_or_else(String::new, ToString::to_string);
    match reason.as_str() {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "it must be a whole number, such as 20".to_owned()
        }
        "number too large to fit in target type" => "it is too large".to_owned(),
        "number too small to fit in target type" => "it is too small".to_owned(),
        _ => match range(&reason) {
            Some((low, high)) => format!("it must be from {low} to {high}"),
            None => reason,
        },
    }
}

/// The ends of `900 is not in 1..=64`.
fn range(reason: &str) -> Option<(&str, &str)> {
    let (_, range) = reason.split_once(" is not in ")?;
    range.split_once("..=")
}

/// What clap itself says first.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

/// What clap knows about an error.
struct Context<'e> {
    error: &'e clap::Error,
}

impl Context<'_> {
    fn text(&self, kind: ContextKind) -> Option<String> {
        self.list(kind).into_iter().next()
    }

    fn list(&self, kind: ContextKind) -> Vec<String> {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    /// The argument in question, without what stands for its value.
    fn argument(&self) -> String {
        let argument = self.text(ContextKind::InvalidArg).unwrap_or_default();
        bare(&argument)
    }

    fn prior(&self) -> Option<String> {
        self.text(ContextKind::PriorArg).map(|prior| bare(&prior))
    }

    fn missing(&self) -> Vec<String> {
        let missing = self.list(ContextKind::InvalidArg);
        missing.iter().map(|argument| bare(argument)).collect()
    }
}

/// `--rounds <N>` as `--rounds`, `<NEW>...` as `NEW`.
fn bare(argument: &str) -> String {
    if argument.starts_with('-') {
        let end = argument.find([' ', '=', '[']).unwrap_or(argument.len());
        return argument[..end].to_owned();
    }
    argument
        .trim_end_matches("...")
        .trim_matches(['<', '>', '[', ']'])
        .to_owned()
}
