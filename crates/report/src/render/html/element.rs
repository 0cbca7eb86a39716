//! Pieces of which everything on the page is made: names, links, headings, text.

use crate::document::{Badge, Span, Text, Tone};
use maud::{Markup, html};

/// A name as an `id` or in a link to one.
pub(super) fn id(name: &str) -> String {
    let keep = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        }
    };
    name.chars().map(keep).collect()
}

/// A heading; levels beyond those that HTML has are the last one.
pub(super) fn heading(level: u8, content: &Markup) -> Markup {
    match level {
        ..=2 => html! { h2 { (content) } },
        3 => html! { h3 { (content) } },
        4 => html! { h4 { (content) } },
        5 => html! { h5 { (content) } },
        6.. => html! { h6 { (content) } },
    }
}

/// Text with its tones and links.
pub(super) fn text(text: &Text) -> Markup {
    let linked = text.0.chunk_by(|a, b| a.link == b.link);
    html! {
        @for spans in linked {
            @let content = html! { @for span in spans { (toned(span)) } };
            @match spans.first().and_then(|span| span.link.as_deref()).and_then(target) {
                Some(Target::Here(id)) => a href={ "#" (id) } { (content) },
                Some(Target::Elsewhere(address)) => a href=(address) rel="noreferrer" { (content) },
                None => (content),
            }
        }
    }
}

/// Where a link may lead.
enum Target<'a> {
    Here(String),
    Elsewhere(&'a str),
}

/// Only an address that is visibly one becomes a link: study files are written by anyone.
fn target(link: &str) -> Option<Target<'_>> {
    match link.strip_prefix('#') {
        Some(name) => Some(Target::Here(id(name))),
        None if link.starts_with("https://") => Some(Target::Elsewhere(link)),
        None => None,
    }
}

fn toned(span: &Span) -> Markup {
    let content = &span.text;
    match span.tone {
        Tone::Plain => html! { (content) },
        Tone::Strong => html! { b { (content) } },
        Tone::Faint => html! { span.faint { (content) } },
        Tone::Good => html! { span.good { (content) } },
        Tone::Bad => html! { span.bad { (content) } },
        Tone::Warning => html! { span.doubtful { (content) } },
        Tone::Ours => html! { span.of-ours { (content) } },
        Tone::Published => html! { span.of-published { (content) } },
    }
}

/// A paragraph; one in a single tone has that tone as a whole.
pub(super) fn paragraph(content: &Text) -> Markup {
    let class = ["hint", "headline"]
        .into_iter()
        .zip([Tone::Faint, Tone::Strong])
        .find(|(_, tone)| content.0.iter().all(|span| span.tone == *tone))
        .map(|(class, _)| class);
    html! { p class=[class] { (text(content)) } "\n" }
}

/// A word as a small label; its colour repeats what the word says.
pub(super) fn badge(badge: &Badge) -> Markup {
    html! { span class={ "badge " (tone_class(badge.tone)) } { (badge.word) } }
}

/// The colours of what was found.
pub(super) fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "faster",
        Tone::Bad => "slower",
        Tone::Warning => "open",
        Tone::Plain | Tone::Strong | Tone::Faint | Tone::Ours | Tone::Published => "same",
    }
}

/// A share as a percentage within the drawing.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
}

/// Where a label hangs: at an end of the axis it would be cut in half.
pub(super) fn text_anchor(at: f64) -> &'static str {
    match at {
        at if at < 0.03 => "start",
        at if at > 0.97 => "end",
        _ => "middle",
    }
}

/// Which of the labels at these places, rising, have room beside each other; where the shortest axis
/// has about `characters`.
pub(super) fn with_room<'a>(
    labels: impl IntoIterator<Item = (f64, &'a str)>,
    characters: f64,
) -> Vec<(f64, &'a str)> {
    let mut shown = Vec::new();
    let mut free = f64::NEG_INFINITY;
    for (at, label) in labels {
        let width = f64::from(u16::try_from(label.chars().count()).unwrap_or(u16::MAX));
        let (before, behind) = match text_anchor(at) {
            "start" => (0.0, width),
            "end" => (width, 0.0),
            _ => (width / 2.0, width / 2.0),
        };
        if at - before / characters >= free {
            shown.push((at, label));
            free = at + (behind + 1.0) / characters;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{faint, plain, strong};

    fn shown(text: &Text) -> String {
        super::text(text).into_string()
    }

    #[test]
    fn nothing_of_a_label_stays_markup() {
        let label = plain("</script><a href=\"x\">&");
        assert_eq!(
            shown(&label),
            "&lt;/script&gt;&lt;a href=&quot;x&quot;&gt;&amp;"
        );
        assert_eq!(id("a b/\"c"), "a-b--c");
    }

    #[test]
    fn only_sections_and_encrypted_addresses_become_links() {
        let to = |link: &str| {
            shown(&Text(vec![Span {
                text: "x".to_owned(),
                tone: Tone::Plain,
                link: Some(link.to_owned()),
            }]))
        };
        assert_eq!(to("#finding-a b"), "<a href=\"#finding-a-b\">x</a>");
        assert_eq!(
            to("https://a.example/\"b"),
            "<a href=\"https://a.example/&quot;b\" rel=\"noreferrer\">x</a>"
        );
        for other in ["javascript:alert(1)", "http://a", "data:,", " https://a"] {
            assert_eq!(to(other), "x");
        }
    }

    #[test]
    fn pieces_with_one_target_are_one_link() {
        let text = plain("a ").then(strong("b")).linked("#c").then(faint("d"));
        let expected = "<a href=\"#c\">a <b>b</b></a><span class=\"faint\">d</span>";
        assert_eq!(shown(&text), expected);
    }

    #[test]
    fn labels_that_would_overlap_are_left_out() {
        let shown = with_room(
            [
                (0.0, "1"),
                (0.1, "10"),
                (0.15, "1000"),
                (0.8, "9,000"),
                (1.0, "10,000"),
            ],
            30.0,
        );
        let shown: Vec<&str> = shown.into_iter().map(|(_, label)| label).collect();
        assert_eq!(shown, ["1", "10", "9,000"]);
    }
}
