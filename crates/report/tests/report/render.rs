//! What holds of documents in text, whatever is in them.

use crate::sample_document::sample;
use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::test_runner::Config;
use stowplan_report::document::*;
use stowplan_report::render::markdown;
use stowplan_report::render::terminal::{TerminalOptions, render};
use stowplan_report::steers;
use unicode_width::UnicodeWidthStr as _;

fn terminal(document: &Document, width: usize, unicode: bool, detail: Detail) -> String {
    let options = TerminalOptions {
        width,
        colour: false,
        unicode,
        detail,
    };
    render(document, &options)
}

#[test]
fn no_line_of_a_document_is_cut_whatever_the_width() {
    for width in [60, 80, 120] {
        let text = terminal(&sample(), width, true, Detail::All);
        assert!(text.lines().all(|line| line.width() <= width), "{text}");
        for whole in [
            "[0.613, 0.793]",
            "1.58× as long",
            "[23.9, 31.1]",
            "[2.62, 3.31]",
        ] {
            assert!(text.contains(whole), "{whole} is not in\n{text}");
        }
    }
}

#[test]
fn a_document_says_the_same_with_colours() {
    let plain = terminal(&sample(), 80, true, Detail::All);
    let options = TerminalOptions {
        width: 80,
        colour: true,
        unicode: true,
        detail: Detail::All,
    };
    let coloured = render(&sample(), &options);
    let parts = coloured
        .split('\u{1b}')
        .enumerate()
        .map(|(index, part)| match index {
            0 => part,
            _ => part.split_once('m').unwrap().1,
        });
    assert_eq!(parts.collect::<String>(), plain);
}

#[test]
fn a_document_on_a_terminal() {
    assert_snapshot!(terminal(&sample(), 80, true, Detail::Normal), @r###"
    Where small values live
    The run was cut off; what it had measured until then is shown.

    What to do on this machine
    • Reads, warm, random order over all keys
      use “SQLite blob API, mmap”
      2.89 times as fast as files [2.62, 3.31]; noise up to 17%
    • Overwrites, each a transaction of its own, forced to the disk
      no verdict yet
      too few rounds (2 of 10) to compare
    • use LMDB (2 of 14)
      27.6× [23.9, 31.1]  Read: 200 rows, defaults
      4.11× [3.03, 4.69]  Drop the table with 200 rows, defaults; with bringing the
                          data to rest 1.77 ms
    • no verdict yet (1 of 14)
      Insert: 200 rows, defaults: measure again
    Why believe it? 10 rounds in random order; identical cells differ by up to 13%.

    Reads, warm, random order
    To read values of about 10.0 kB, prefer SQLite blob API to files.
                                              time vs
    cell                             time/op    files  interval        verdict
    files                            6.15 µs                           baseline
    SQLite blob API                  4.01 µs    0.709  [0.613, 0.793]  1.41× as fast
    floor: a file that stays open,   2.96 µs    0.481  [0.394, 0.550]  floor
    pread
    files by stdio | as kvtest       8.71 µs    1.580  [1.330, 1.660]  1.58× as long
    Noise: control 0.999 [0.857, 1.16]; 10 rounds.
    • Settings: 2 of 3 as the documentation says
      stowplan study why.toml \
          --rounds 20 # ``` �[31m

    Charts

    Six phases
    Less is faster.
    Too noisy to decide.
    files                      ███████████┊██████████│             1.00 [1.00, 1.00]
    SQLite blob API, mapped    █████████├─┊──────┤   │             0.62 [0.42, 0.82]
    into memory
    SQLite SELECT              ░░░░░░░░░░░┊░░░░░░├───│────────┤    1.10 [0.80, 1.40]
    files                                 ┊          │             no data
    Published: .NET, 2011
    SQL CE 4.0                 ▒▒▒▒▒▒▒▒▒▒▒┊▒▒▒▒▒▒▒▒▒▒│▒▒▒▒▒▒▒▒├──┤ 1.50 [1.40, 1.60]
                               0          0.5        1          1.5  ratio
    ┊ floor 0.48 (a file that stays open)   ├─┤ interval   ▒ published

    Step by step
    A read of a file
    one read of a file that    █████         2.90 µs [2.7, 3.1 µs]     alone 3.00 µs
    stays open
    open and close                  ███████  3.60 µs [3.4, 3.8 µs]
    what no step explains                  ┊ -0.20 µs [-0.4, -0.0 µs]
    the whole                  ···········├┤ 6.30 µs [6.1, 6.6 µs]
                               0 µs   4 µs

    By page size
    page size   10 KiB   20 KiB   50 KiB  100 KiB  200 KiB
         1024   1.60 ▲   1.30 ▲   1.00 ≈   0.70 ▼   0.40 ▼
         4096   1.70 ▲   1.40 ▲   1.10 ≈   0.80 ▼   0.50 ▼
    ▲ SQLite faster   ▼ files faster   ≈ equivalent within 5%
    • Up to 20 KiB, SQLite is faster.
    • From 100 KiB on, files are.

    By size of the values
    One thread
    1 KiB                            ┊  │   ┊      ├──●──┤      2.23 [1.86, 2.56]  ▲
    4 KiB                            ├───●─┤┊                   1.01 [0.84, 1.16]  ≈
    1 MiB     ├───●─┤                ┊  │   ┊                   0.27 [0.23, 0.31]  ▼
    8 MiB                            ┊  │   ┊                   no data            ·
            0.2             0.5         1            2           files over SQLite
    ▲ SQLite faster   ┊ 0.8 and 1.25, between which no difference matters

    Environment
      processor: made up, 2 cores
      file system: ext4
    Published at sqlite.org
    The page: report.html

    Method
    In rounds.
    "###);
}

#[test]
fn a_document_on_a_narrow_terminal_without_unicode() {
    assert_snapshot!(terminal(&sample(), 60, false, Detail::All), @r###"
    Where small values live
    a virtual machine, ext4   2 threads
    The run was cut off; what it had measured until then is
    shown.

    What to do on this machine
    * Reads, warm, random order over all keys
      use "SQLite blob API, mmap"
      2.89 times as fast as files [2.62, 3.31]; noise up to 17%
    * Overwrites, each a transaction of its own, forced to the
      disk
      no verdict yet
      too few rounds (2 of 10) to compare
    * use LMDB (2 of 14)
      27.6x [23.9, 31.1]  Read: 200 rows, defaults
      4.11x [3.03, 4.69]  Drop the table with 200 rows,
                          defaults; with bringing the data to
                          rest 1.77 ms
    * no verdict yet (1 of 14)
      Insert: 200 rows, defaults: measure again
    Why believe it? 10 rounds in random order; identical cells
    differ by up to 13%.

    Reads, warm, random order
    To read values of about 10.0 kB, prefer SQLite blob API to
    files.
                          time vs
    cell         time/op    files  interval        verdict
    files        6.15 us                           baseline
    SQLite blob  4.01 us    0.709  [0.613, 0.793]  1.41x as fast
    API
    floor: a     2.96 us    0.481  [0.394, 0.550]  floor
    file that
    stays open,
    pread
    files by     8.71 us    1.580  [1.330, 1.660]  1.58x as long
    stdio | as
    kvtest
    Noise: control 0.999 [0.857, 1.16]; 10 rounds.
    Settings
      files: sync=none
      SQLite: page_size=4096
      stowplan study why.toml \
          --rounds 20 # ``` ?[31m

    Charts

    Six phases
    Less is faster.
    Too noisy to decide.
    files                ######:######|        1.00 [1.00, 1.00]
    SQLite blob API,     #####[:----] |        0.62 [0.42, 0.82]
    mapped into memory
    SQLite SELECT        %%%%%%:%%%[--|----]   1.10 [0.80, 1.40]
    files                      :      |        no data
    Published: .NET, 2011
    SQL CE 4.0           ======:======|====[-] 1.50 [1.40, 1.60]
                         0      0.5   1      1.5  ratio
    : floor 0.48 (a file that stays open)   [-] interval
    = published

    Step by step
    A read of a file
    one read of a file   ######          2.90 us   alone 3.00 us
    that stays open
    open and close             ########  3.60 us
    what no step                       : -0.20 us
    explains
    the whole            .............[] 6.30 us
                         0 us    4 us
      2.90 us  one read of a file that stays open
               46% of the whole

    By page size
    page size   10 KiB   20 KiB   50 KiB  100 KiB  200 KiB
         1024   1.60 +   1.30 +   1.00 ~   0.70 -   0.40 -
         4096   1.70 +   1.40 +   1.10 ~   0.80 -   0.50 -
    + SQLite faster   - files faster   ~ equivalent within 5%
    * Up to 20 KiB, SQLite is faster.
    * From 100 KiB on, files are.

    By size of the values
    One thread
    1 KiB                 :  | :   [-o-]    2.23 [1.86, 2.56]  +
    4 KiB                 :[-o]:            1.01 [0.84, 1.16]  ~
    1 MiB    [-o]         :  | :            0.27 [0.23, 0.31]  -
    8 MiB                 :  | :            no data            .
           0.2       0.5     1      2        files over SQLite
    + SQLite faster
    : 0.8 and 1.25, between which no difference matters

    Environment
      processor: made up, 2 cores
      file system: ext4
    Published at sqlite.org
    The page: report.html

    Method
    In rounds.

    Empty, so without a heading
    everything
    "###);
}

#[test]
fn a_document_as_markdown() {
    assert_snapshot!(markdown::render(&sample()), @r####"
    <!-- stowplan report -->

    # Where small values live

    Files, or a database?

    **The run was cut off; what it had measured until then is shown.**

    ## What to do on this machine

    - Reads, warm, random order over all keys: use: **use “SQLite blob API, mmap”**; 2.89 times as fast as files \[2.62, 3.31\]; noise up to 17%
    - Overwrites, each a transaction of its own, forced to the disk: open: **no verdict yet**; too few rounds (2 of 10) to compare

    - **use LMDB (2 of 14)**
      - 27.6× \[23.9, 31.1\] Read: 200 rows, defaults
      - 4.11× \[3.03, 4.69\] Drop the table with 200 rows, defaults; with bringing the data to rest 1.77 ms
    - **no verdict yet (1 of 14)**
      - Insert: 200 rows, defaults: measure again

    Why believe it? 10 rounds in random order; identical cells differ by up to 13%.

    ## Reads, warm, random order

    To read values of about 10.0 kB, prefer **SQLite blob API** to files.

    | cell | time/op | time vs files | interval | verdict | p99 | p99.9 |
    | --- | ---: | ---: | --- | --- | ---: | ---: |
    | files | 6.15 µs |  |  | baseline | 10.46 µs | 18.4 µs |
    | SQLite blob API | 4.01 µs | 0.709 | \[0.613, 0.793\] | 1.41× as fast | 6.82 µs | 12.0 µs |
    | floor: a file that stays open, pread | 2.96 µs | 0.481 | \[0.394, 0.550\] | floor | 5.03 µs | 8.9 µs |
    | files by stdio \| as kvtest | 8.71 µs | 1.580 | \[1.330, 1.660\] | 1.58× as long | 14.81 µs | 26.1 µs |

    Noise: control 0.999 \[0.857, 1.16\]; 10 rounds.

    <details><summary>Settings</summary>

    - files: sync=none
    - SQLite: page\_size=4096

    </details>

    ````
    stowplan study why.toml \
        --rounds 20 # ```  [31m
    ````

    ## Charts

    ### Six phases

    Less is faster.

    **Too noisy to decide.**

    |  | ratio |
    | --- | ---: |
    | files (process-crash) | 1.00 \[1.00, 1.00\] |
    | SQLite blob API, mapped into memory (process-crash) | 0.62 \[0.42, 0.82\] |
    | SQLite SELECT (process-crash) | 1.10 \[0.80, 1.40\] |
    | files (process-crash) | no data |
    | **Published: .NET, 2011** |  |
    | SQL CE 4.0 (process-crash) | 1.50 \[1.40, 1.60\] |

    floor 0.48 (a file that stays open)

    ### Step by step

    |  |  |  |
    | --- | ---: | --- |
    | **A read of a file** |  |  |
    | one read of a file that stays open | 2.90 µs \[2.7, 3.1 µs\] | alone 3.00 µs |
    | open and close | 3.60 µs \[3.4, 3.8 µs\] |  |
    | what no step explains | -0.20 µs \[-0.4, -0.0 µs\] |  |
    | the whole | 6.30 µs \[6.1, 6.6 µs\] |  |

    1. 2.90 µs one read of a file that stays open; 46% of the whole

    ## By page size

    | page size | 10 KiB | 20 KiB | 50 KiB | 100 KiB | 200 KiB |
    | ---: | ---: | ---: | ---: | ---: | ---: |
    | 1024 | 1.60 ▲ | 1.30 ▲ | 1.00 ≈ | 0.70 ▼ | 0.40 ▼ |
    | 4096 | 1.70 ▲ | 1.40 ▲ | 1.10 ≈ | 0.80 ▼ | 0.50 ▼ |

    ▲ SQLite faster; ▼ files faster; ≈ equivalent within 5%

    - Up to 20 KiB, SQLite is faster.
    - From 100 KiB on, files are.

    ## By size of the values

    |  | files over SQLite |  |
    | --- | ---: | --- |
    | **One thread** |  |  |
    | 1 KiB | 2.23 \[1.86, 2.56\] | ▲ |
    | 4 KiB | 1.01 \[0.84, 1.16\] | ≈ |
    | 1 MiB | 0.27 \[0.23, 0.31\] | ▼ |
    | 8 MiB | no data | · |

    ▲ SQLite faster

    ## Environment

    - processor: made up, 2 cores
    - file system: ext4

    Published at [sqlite.org](<https://sqlite.org/a%28b%29>)

    ### Method

    In rounds.
    "####);
}

mod hostile_blocks {
    use super::*;

    /// Labels that whoever writes a study file could think of.
    fn label() -> impl Strategy<Value = String> {
        const FOUND: [&str; 16] = [
            "files",
            "SQLite, mapped into memory as a whole",
            "<script>alert(1)</script>",
            "a|b\\|c\\",
            "```\n~~~",
            "  # no heading",
            "- no item",
            "12. no item",
            "\u{1b}[31mred\u{9b}2J\u{7}",
            "\u{202e}desrever",
            "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字",
            "❤\u{fe0f}👩\u{200d}💻é±µ",
            "[a](javascript:b) ![c](https://d)",
            "<!-- --> </details> &lt;",
            "**a** _b_ https://example.org/<",
            "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
        ];
        prop_oneof![
            2 => prop::sample::select(&FOUND[..]).prop_map(str::to_owned),
            1 => Just(String::new()),
            1 => any::<String>(),
        ]
    }

    fn text() -> impl Strategy<Value = Text> {
        let tones = prop::sample::select(vec![Tone::Plain, Tone::Strong, Tone::Faint, Tone::Bad]);
        let span = (label(), tones, prop::option::of(label()));
        prop::collection::vec(span, 0..3).prop_map(|spans| {
            let spans = spans.into_iter().map(|(text, tone, link)| {
                let link = link.map(|link| format!("https://{link}"));
                Span { text, tone, link }
            });
            Text(spans.collect())
        })
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![0.01..20.0, any::<f64>()]
    }

    fn sign() -> impl Strategy<Value = Option<Sign>> {
        prop::option::of(prop::sample::select(&Sign::ALL[..]))
    }

    fn badge() -> impl Strategy<Value = Option<Badge>> {
        prop::option::of(label().prop_map(|word| Badge {
            word,
            tone: Tone::Good,
        }))
    }

    fn list() -> impl Strategy<Value = Content> {
        let styles = [
            ListStyle::Bullets,
            ListStyle::Answers,
            ListStyle::Figures,
            ListStyle::Steps,
        ];
        let item = (badge(), text(), text(), text(), text()).prop_map(
            |(badge, title, text, note, figure)| Item {
                badge,
                title,
                text,
                note,
                figure,
                key: None,
            },
        );
        let items = prop::collection::vec(item, 0..4);
        (prop::sample::select(styles.to_vec()), items)
            .prop_map(|(style, items)| Content::List(List { style, items }))
    }

    fn table() -> impl Strategy<Value = Content> {
        let align = prop::sample::select(vec![Align::Left, Align::Right]);
        let column = (label(), 0u8..12, align).prop_map(|(title, weight, align)| Column {
            title,
            help: String::new(),
            unit: "",
            align,
            weight,
        });
        let cell = (text(), sign()).prop_map(|(text, sign)| Cell {
            text,
            sign,
            ..Cell::default()
        });
        let row = prop::collection::vec(cell, 0..9).prop_map(|cells| Row {
            cells,
            ..Row::default()
        });
        let columns = prop::collection::vec(column, 0..9);
        (columns, prop::collection::vec(row, 0..4), any::<bool>()).prop_map(
            |(columns, rows, is_heat_map)| {
                Content::Table(Table {
                    caption: String::new(),
                    columns,
                    rows,
                    is_heat_map,
                })
            },
        )
    }

    fn segment() -> impl Strategy<Value = Segment> {
        (number(), number(), label(), label(), label()).prop_map(
            |(from, to, label, value, spread)| {
                let fill = Fill::Step(0);
                Segment {
                    from,
                    to,
                    fill,
                    label,
                    value,
                    spread,
                    note: String::new(),
                    tooltip: String::new(),
                }
            },
        )
    }

    fn shape() -> impl Strategy<Value = Shape> {
        let segments = || prop::collection::vec(segment(), 0..3);
        prop_oneof![
            Just(Shape::Nothing),
            number().prop_map(|value| Shape::Bar(Bar {
                value,
                fill: Fill::Uncertain
            })),
            number().prop_map(Shape::Point),
            (segments(), segments()).prop_map(|(pieces, thin)| Shape::Segments { pieces, thin }),
        ]
    }

    fn axis() -> impl Strategy<Value = Axis> {
        let scale = (number(), number(), any::<bool>()).prop_map(|(low, high, logarithmic)| {
            if logarithmic {
                Scale::logarithmic(low, high)
            } else {
                Scale::linear(high)
            }
        });
        let ticks = prop::collection::vec((number(), label()), 0..4);
        (label(), scale, ticks).prop_map(|(title, scale, ticks)| Axis {
            title,
            scale,
            ticks,
        })
    }

    fn marks() -> impl Strategy<Value = Vec<Mark>> {
        let kind = prop::sample::select(vec![MarkKind::Reference, MarkKind::Floor]);
        let mark = (number(), kind, label()).prop_map(|(at, kind, sign)| Mark { at, kind, sign });
        prop::collection::vec(mark, 0..3)
    }

    fn legend_entries() -> impl Strategy<Value = Vec<LegendEntry>> {
        let key = prop::sample::select(vec![
            Key::Interval,
            Key::Fill(Fill::Published),
            Key::Mark(MarkKind::Level),
            Key::Sign(Sign::JustBelow),
            Key::Unclaimed,
        ]);
        let entry = (key, label()).prop_map(|(key, text)| LegendEntry { key, text });
        prop::collection::vec(entry, 0..4)
    }

    fn rows() -> impl Strategy<Value = Content> {
        let interval = prop::option::of((number(), number()));
        let texts = (label(), label(), label(), label());
        let row = (texts, shape(), interval, sign()).prop_map(
            |((label, detail, value, spread), shape, interval, sign)| ChartRow {
                label,
                detail,
                shape,
                interval,
                value,
                spread,
                sign,
                number: Some(1.0),
                tooltip: String::new(),
            },
        );
        let texts = || prop::collection::vec(label(), 0..2);
        let rows = prop::collection::vec(row, 0..4);
        let group = (label(), label(), texts(), texts(), rows).prop_map(
            |(heading, title, notices, remarks, rows)| RowGroup {
                heading,
                title,
                notices,
                remarks,
                rows,
            },
        );
        (
            axis(),
            prop::collection::vec(group, 0..3),
            marks(),
            legend_entries(),
        )
            .prop_map(|(axis, groups, marks, legend)| {
                Content::Rows(Rows {
                    summary: String::new(),
                    axis,
                    groups,
                    marks,
                    legend,
                })
            })
    }

    fn plane() -> impl Strategy<Value = Content> {
        let texts = (label(), label(), label());
        let point = (texts, prop::option::of(number()), sign()).prop_map(
            |((label, value, spread), y, sign)| Point {
                x: 1.0,
                y,
                interval: y.map(|y| (y / 2.0, y * 2.0)),
                shape: sign.map(PointShape::Sign),
                label,
                value,
                spread,
                tooltip: String::new(),
            },
        );
        let kind = prop::sample::select(vec![LineKind::Series(0), LineKind::Behind]);
        let points = prop::collection::vec(point, 0..4);
        let line = (label(), kind, points).prop_map(|(label, kind, points)| Line {
            label,
            kind,
            points,
        });
        let panel = (label(), prop::collection::vec(line, 0..3)).prop_map(|(title, lines)| Panel {
            id: String::new(),
            title,
            lines,
        });
        let panels = prop::collection::vec(panel, 0..3);
        (
            axis(),
            axis(),
            panels,
            marks(),
            legend_entries(),
            any::<bool>(),
        )
            .prop_map(|(x, y, panels, levels, legend, on_terminal)| {
                let area = Area {
                    kind: AreaKind::Band,
                    x: None,
                    y: Some((0.9, 1.1)),
                };
                Content::Plane(Plane {
                    summary: String::new(),
                    ends: None,
                    areas: vec![area],
                    x,
                    y,
                    panels,
                    levels,
                    legend,
                    on_terminal,
                })
            })
    }

    fn content() -> impl Strategy<Value = Content> {
        prop_oneof![
            text().prop_map(Content::Paragraph),
            text().prop_map(Content::Notice),
            list(),
            prop::collection::vec((label(), text()), 0..3).prop_map(Content::Facts),
            table(),
            table(),
            rows(),
            plane(),
            legend_entries().prop_map(Content::Legend),
            label().prop_map(Content::Verbatim),
        ]
    }

    fn nested() -> impl Strategy<Value = Content> {
        content().prop_recursive(2, 12, 3, |inner| {
            let blocks = || prop::collection::vec(inner.clone().prop_map(Block::from), 0..3);
            let section =
                (text(), blocks()).prop_map(|(title, blocks)| Section::new(title, blocks));
            let section = section.boxed();
            prop_oneof![
                section.clone().prop_map(Content::Section),
                prop::collection::vec(section, 1..3).prop_map(Content::Columns),
                (text(), text(), any::<bool>(), badge(), blocks()).prop_map(
                    |(title, found, is_heading, badge, blocks)| Content::Fold(Fold {
                        is_heading,
                        found,
                        badge,
                        ..Fold::new(title, blocks)
                    })
                ),
            ]
        })
    }

    /// Documents of everything there is.
    pub(super) fn document() -> impl Strategy<Value = Document> {
        let blocks = prop::collection::vec(nested().prop_map(Block::from), 1..5);
        (label(), text(), blocks).prop_map(|(title, question, blocks)| Document {
            kind: String::new(),
            byline: vec![question.clone()],
            title,
            question,
            blocks,
        })
    }
}

/// The text without the content of its fences, in which everything stands as it is.
fn without_fences(text: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line),
            None => lines.push(line),
        }
    }
    assert_eq!(fence, None);
    lines
}

/// The pipes that part the cells of a table.
fn pipes(line: &str) -> usize {
    let mut escaped = false;
    let parts = line.chars().filter(|c| {
        let parts = *c == '|' && !escaped;
        escaped = *c == '\\' && !escaped;
        parts
    });
    parts.count()
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(192) })]

    #[test]
    fn no_line_is_wider_than_the_terminal_and_none_steers_it(
        document in hostile_blocks::document(),
        width in prop::sample::select(vec![40usize, 60, 80, 120]),
        unicode in any::<bool>(),
    ) {
        let text = terminal(&document, width, unicode, Detail::All);
        for line in text.lines() {
            prop_assert!(line.width() <= width, "{line:?} is {} wide", line.width());
            prop_assert!(!line.chars().any(steers), "{line:?}");
            prop_assert!(unicode || line.is_ascii(), "{line:?}");
        }
    }

    #[test]
    fn in_markdown_labels_are_text(document in hostile_blocks::document()) {
        let text = markdown::render(&document);
        let body = text.strip_prefix(stowplan_report::MARK).unwrap();
        let lines = without_fences(body);
        for line in &lines {
            let ours = ["<details><summary>", "</summary>", "</details>", "](<https://"];
            let rest = ours.iter().fold((*line).to_owned(), |line, ours| line.replace(ours, ""));
            prop_assert!(!rest.contains('<'), "{line:?}");
        }
        for table in lines.split(|line| !line.starts_with("| ")).filter(|t| !t.is_empty()) {
            prop_assert!(table.len() >= 3 && table[1].contains("---"), "{table:?}");
            for row in table {
                prop_assert_eq!(pipes(row), pipes(table[0]), "{:?}", table);
            }
        }
    }

    #[test]
    fn no_essential_cell_of_a_table_is_lost(
        cells in prop::collection::vec(prop::collection::vec("[a-z]{1,12}( [a-z]{1,8})?", 5), 1..4),
        width in prop::sample::select(vec![60usize, 80, 120]),
    ) {
        let columns = (0..6).map(|index| Column {
            title: format!("title {index}"),
            help: String::new(),
            unit: "",
            align: if index % 2 == 0 { Align::Left } else { Align::Right },
            weight: Column::ESSENTIAL + index,
        });
        let rows = cells.iter().map(|cells| {
            let first = Cell::text("some cell or other");
            let cells = cells.iter().map(|text| Cell::text(format!("[{text}]")));
            Row { cells: [first].into_iter().chain(cells).collect(), ..Row::default() }
        });
        let table = Table {
            caption: String::new(),
            columns: columns.collect(),
            rows: rows.collect(),
            is_heat_map: false,
        };
        let document = Document { blocks: vec![table.into()], ..sample() };
        let text = terminal(&document, width, true, Detail::Normal);
        for cell in cells.iter().flatten() {
            let cell = format!("[{cell}]");
            prop_assert!(text.contains(&cell), "{cell} is not in\n{text}");
        }
    }
}
