//! What was typed and makes no sense: what clap says of it, in one line, and where to look.

use clap::Command;
use clap::error::ContextKind;

/// Verbs and options of stowplan 0.2, and what to type instead.
const RENAMED: [(&str, &str); 9] = [
    ("init", "kvtest init"),
    ("export", "kvtest export"),
    ("studies", "list studies"),
    ("stores", "list stores"),
    ("--resume", "resume DIR"),
    ("--output", "--to FILE"),
    ("-o", "--to FILE"),
    ("--markdown", "--format md"),
    ("--store", "--no-deflate"),
];
/// Paragraphs that take more room than they tell.
const LEFT_OUT: [&str; 3] = ["Usage:", "For more information", "tip: to pass"];
/// Words that are a programmer's, and everybody's for them.
const IN_WORDS: [(&str, &str); 6] = [
    ("subcommand", "verb"),
    ("invalid digit found in string", WHOLE),
    ("cannot parse integer from empty string", WHOLE),
    ("number too large to fit in target type", "it is too large"),
    ("number too small to fit in target type", "it is too small"),
    (
        "tip: some similar arguments exist: ",
        "did you mean one of ",
    ),
];
const WHOLE: &str = "it must be a whole number, such as 20";

/// Says in one line what is wrong with what was typed: what, which one, what was meant, and the next step.
/// `verb` is the one that was typed, or the program itself.
pub(crate) fn wrong(error: &clap::Error, verb: &Command) -> String {
    let text = error.to_string();
    let is_told = |paragraph: &&str| {
        let text = paragraph.trim_start();
        !LEFT_OUT.iter().any(|start| text.starts_with(start))
    };
    let paragraphs = text.split("\n\n").filter(is_told);
    let lines = paragraphs.map(|paragraph| {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        // `tip: a similar argument exists: '--scale'`
        match line.split_once(" exists: ") {
            Some((tip, meant)) if tip.starts_with("tip: a similar") => {
                format!("did you mean {meant}?")
            }
            _ => line,
        }
    });
    let said = lines.collect::<Vec<_>>().join("; ");
    let said = said.strip_prefix("error: ").unwrap_or(&said);
    let said = IN_WORDS
        .iter()
        .fold(said.to_owned(), |said, (theirs, ours)| {
            said.replace(theirs, ours)
        });
    let whose = verb.get_bin_name().unwrap_or("stowplan");
    let help = whose.replacen("stowplan", "stowplan help", 1);
    let next = now(error, verb).unwrap_or_else(|| format!("'{help}' says more"));
    format!("{said}; {next}")
}

/// What a verb or an option that does not exist any more is called now.
fn now(error: &clap::Error, verb: &Command) -> Option<String> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let typed = kinds.into_iter().find_map(|kind| error.get(kind))?;
    let typed = typed.to_string();
    let (_, now) = RENAMED.iter().find(|(before, _)| *before == typed)?;
    let Some(option) = now.strip_prefix("--") else {
        return Some(format!("it is 'stowplan {now}' now"));
    };
    let long = option.split(' ').next();
    let mut known = verb.get_arguments();
    let has_it = known.any(|argument| argument.get_long() == long);
    has_it.then(|| format!("it is '{now}' now"))
}
