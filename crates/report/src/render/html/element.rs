//! Pieces of which everything on the page is made: links, headings, text.

use crate::document::{Badge, Span, Text, Tone, in_address};
use maud::{Markup, PreEscaped, html};

/// A heading; levels beyond those that HTML has are the last one.
pub(super) fn heading(level: u8, content: &Markup) -> Markup {
    let level = level.min(6);
    PreEscaped(format!("<h{level}>{}</h{level}>", content.0))
}

/// Text with its tones and links.
pub(super) fn text(text: &Text) -> Markup {
    let linked = text.0.chunk_by(|a, b| a.link == b.link);
    html! {
        @for spans in linked {
            @let content = html! { @for span in spans { (toned(span)) } };
            (link(spans[0].link.as_deref(), content))
        }
    }
}

/// Only an address that is visibly one becomes a link: study files are written by anyone.
fn link(to: Option<&str>, content: Markup) -> Markup {
    let here = to.and_then(|to| to.strip_prefix('#'));
    html! {
        @if let Some(name) = here {
            a href={ "#" (in_address(name)) } { (content) }
        } @else if let Some(to) = to.filter(|to| to.starts_with("https://")) {
            a href=(to) rel="noreferrer" { (content) }
        } @else {
            (content)
        }
    }
}

fn toned(span: &Span) -> Markup {
    let class = match span.tone {
        Tone::Plain => return html! { (span.text) },
        Tone::Strong => return html! { b { (span.text) } },
        Tone::Faint => "faint",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Warning => "doubtful",
    };
    html! { span class=(class) { (span.text) } }
}

/// A paragraph; one in a single tone has that tone as a whole.
pub(super) fn paragraph(content: &Text) -> Markup {
    let all = |tone| content.0.iter().all(|span| span.tone == tone);
    let hint = all(Tone::Faint).then_some("hint");
    let class = hint.or(all(Tone::Strong).then_some("headline"));
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
        Tone::Plain | Tone::Strong | Tone::Faint => "same",
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
    fn nothing_of_a_label_stays_markup_and_only_sections_and_encrypted_addresses_become_links() {
        let label = shown(&plain("</script><a href=\"x\">&"));
        assert_eq!(label, "&lt;/script&gt;&lt;a href=&quot;x&quot;&gt;&amp;");
        let safe = "<a href=\"https://a/&quot;b\" rel=\"noreferrer\">x</a>";
        for (to, expected) in [
            ("#finding-a b", "<a href=\"#finding-a-b\">x</a>"),
            ("https://a/\"b", safe),
            ("javascript:alert(1)", "x"),
            ("http://a", "x"),
            ("data:,", "x"),
            (" https://a", "x"),
        ] {
            let mut text = plain("x");
            text.0[0].link = Some(to.to_owned());
            assert_eq!(shown(&text), expected);
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
        let places = [0.0, 0.1, 0.15, 0.8, 1.0];
        let labels = places
            .into_iter()
            .zip(["1", "10", "1000", "9,000", "10,000"]);
        let shown = with_room(labels, 30.0).into_iter().map(|(_, label)| label);
        assert_eq!(shown.collect::<Vec<_>>(), ["1", "10", "9,000"]);
    }
}
