//! A document with every kind of block, whose content is made up.

use stowplan_report::document::*;

/// A document with every kind of block.
pub(crate) fn sample() -> Document {
    Document {
        kind: "Stowplan report".to_owned(),
        title: "Where small values live".to_owned(),
        question: plain("Files, or a database?"),
        byline: vec![plain("a virtual machine, ext4"), plain("2 threads")],
        blocks: vec![
            notice("The run was cut off; what it had measured until then is shown."),
            overview().into(),
            comparison().into(),
            charts().into(),
            matrix().into(),
            by_size().into(),
            Section::new("Environment", environment()).into(),
        ],
    }
}

fn item(title: &str, text: &str, note: &str, figure: Text) -> Item {
    Item {
        title: plain(title),
        text: plain(text),
        note: plain(note),
        figure,
        ..Item::default()
    }
}

fn overview() -> Section {
    let answers = vec![
        item(
            "Reads, warm, random order over all keys",
            "use “SQLite blob API, mmap”",
            "2.89 times as fast as files [2.62, 3.31]; noise up to 17%",
            strong("2.89×").then(faint(" [2.62, 3.31]")),
        )
        .with_badge("use", Tone::Good),
        item(
            "Overwrites, each a transaction of its own, forced to the disk",
            "no verdict yet",
            "too few rounds (2 of 10) to compare",
            Text::default(),
        )
        .with_badge("open", Tone::Warning),
    ];
    let choices = vec![
        item("use LMDB (2 of 14)", "", "", Text::default()).with_badge("use", Tone::Good),
        item(
            "",
            "Read: 200 rows, defaults",
            "",
            plain("27.6× [23.9, 31.1]"),
        ),
        item(
            "",
            "Drop the table with 200 rows, defaults; with bringing the data to rest 1.77 ms",
            "",
            plain("4.11× [3.03, 4.69]"),
        ),
        item("no verdict yet (1 of 14)", "", "", Text::default()).with_badge("open", Tone::Warning),
        item(
            "",
            "Insert: 200 rows, defaults: measure again",
            "",
            Text::default(),
        ),
    ];
    let list = |style, items| Block::from(List { style, items });
    Section::new(
        "What to do on this machine",
        vec![
            list(ListStyle::Answers, answers).at(Detail::Brief),
            list(ListStyle::Figures, choices),
            remark(
                "Why believe it? 10 rounds in random order; identical cells differ by up to 13%.",
            ),
        ],
    )
    .named("overview")
}

struct Measured(
    &'static str,
    f64,
    Option<(f64, f64, f64)>,
    &'static str,
    Tone,
);

fn comparison() -> Section {
    let cells = [
        Measured("files", 6150.0, None, "baseline", Tone::Faint),
        Measured(
            "SQLite blob API",
            4010.0,
            Some((0.709, 0.613, 0.793)),
            "1.41× as fast",
            Tone::Good,
        ),
        Measured(
            "floor: a file that stays open, pread",
            2960.0,
            Some((0.481, 0.394, 0.55)),
            "floor",
            Tone::Faint,
        ),
        Measured(
            "files by stdio | as kvtest",
            8710.0,
            Some((1.58, 1.33, 1.66)),
            "1.58× as long",
            Tone::Bad,
        ),
    ];
    let columns = vec![
        text_column("cell", "", |cell: &Measured| Cell::text(cell.0)),
        number("time/op", "", |cell: &Measured| {
            Cell::number(cell.1, format!("{:.2} µs", cell.1 / 1000.0))
        })
        .in_unit("ns")
        .weighing(8),
        number("time vs files", "", |cell: &Measured| {
            Cell::maybe(cell.2.map(|(ratio, ..)| ratio), |ratio| {
                format!("{ratio:.3}")
            })
        })
        .weighing(7),
        text_column("interval", "", |cell: &Measured| {
            let interval = cell
                .2
                .map(|(_, low, high)| format!("[{low:.3}, {high:.3}]"));
            Cell::text(interval.unwrap_or_default())
        })
        .weighing(9),
        text_column("verdict", "", |cell: &Measured| {
            Cell::text(cell.3).in_tone(cell.4)
        })
        .weighing(11),
        number("p99", "", |cell: &Measured| {
            Cell::number(cell.1 * 1.7, format!("{:.2} µs", cell.1 * 0.0017))
        })
        .weighing(4),
        number("p99.9", "", |cell: &Measured| {
            Cell::number(cell.1 * 3.0, format!("{:.1} µs", cell.1 * 0.003))
        })
        .weighing(0),
    ];
    Section::new(
        "Reads, warm, random order",
        vec![
            paragraph(
                plain("To read values of about 10.0 kB, prefer ")
                    .then(strong("SQLite blob API"))
                    .then(plain(" to files.")),
            ),
            Table::of("Reads", columns, &cells).into(),
            remark("Noise: control 0.999 [0.857, 1.16]; 10 rounds."),
            Block::from(Fold {
                found: plain("2 of 3 as the documentation says"),
                badge: Some(Badge {
                    word: "differs".to_owned(),
                    tone: Tone::Warning,
                }),
                ..Fold::new(
                    "Settings",
                    vec![
                        facts([("files", "sync=none"), ("SQLite", "page_size=4096")])
                            .at(Detail::Full),
                    ],
                )
            }),
            Content::Verbatim(
                "stowplan study why.toml \\\n    --rounds 20 # ``` \u{1b}[31m".to_owned(),
            )
            .into(),
        ],
    )
}

fn charts() -> Section {
    let bar = |label: &str, value: f64, half: f64, fill| ChartRow {
        label: label.to_owned(),
        detail: "process-crash".to_owned(),
        shape: Shape::Bar(Bar { value, fill }),
        interval: Some((value - half, value + half)),
        value: format!("{value:.2}"),
        spread: format!("[{:.2}, {:.2}]", value - half, value + half),
        number: Some(value),
        sign: None,
        tooltip: String::new(),
    };
    let group = |title: &str, rows| RowGroup {
        title: title.to_owned(),
        rows,
        ..RowGroup::default()
    };
    let mut ours = vec![
        bar("files", 1.0, 0.0, Fill::Reference),
        bar("SQLite blob API, mapped into memory", 0.62, 0.2, Fill::Ours),
        bar("SQLite SELECT", 1.1, 0.3, Fill::Uncertain),
    ];
    ours.push(ChartRow {
        shape: Shape::Nothing,
        interval: None,
        value: "no data".to_owned(),
        spread: String::new(),
        number: None,
        ..ours[0].clone()
    });
    let scale = Scale::for_bars(&[0.62, 1.1, 1.5], &[1.4]);
    let bars = Rows {
        summary: "Bars".to_owned(),
        axis: Axis::new("ratio", scale, scale.ticks(), |tick| format!("{tick}")),
        groups: vec![
            RowGroup {
                notices: vec!["Too noisy to decide.".to_owned()],
                ..group("", ours)
            },
            group(
                "Published: .NET, 2011",
                vec![bar("SQL CE 4.0", 1.5, 0.1, Fill::Published)],
            ),
        ],
        marks: vec![
            Mark {
                at: 1.0,
                kind: MarkKind::Reference,
                sign: String::new(),
            },
            Mark {
                at: 0.48,
                kind: MarkKind::Floor,
                sign: String::new(),
            },
        ],
        legend: vec![
            LegendEntry::new(
                Key::Mark(MarkKind::Floor),
                "floor 0.48 (a file that stays open)",
            ),
            LegendEntry::new(Key::Interval, "interval"),
            LegendEntry::new(Key::Fill(Fill::Published), "published"),
        ],
    };
    let bars = Section::figure(
        "bars",
        "Six phases",
        vec![remark("Less is faster."), bars.into()],
    );
    Section::new(
        "Charts",
        vec![bars.into(), Content::Columns(vec![steps()]).into()],
    )
}

fn steps() -> Section {
    let segment = |from: f64, to: f64, fill, label: &str| Segment {
        from,
        to,
        fill,
        label: label.to_owned(),
        value: format!("{:.2} µs", to - from),
        spread: format!("[{:.1}, {:.1} µs]", to - from - 0.2, to - from + 0.2),
        note: String::new(),
        tooltip: String::new(),
    };
    let pieces = vec![
        segment(
            0.0,
            2.9,
            Fill::Step(0),
            "one read of a file that stays open",
        ),
        segment(2.9, 6.5, Fill::Step(1), "open and close"),
        segment(6.5, 6.3, Fill::Remainder, "what no step explains"),
    ];
    let row = ChartRow {
        label: "A read of a file".to_owned(),
        detail: String::new(),
        shape: Shape::Segments {
            thin: vec![segment(0.0, 3.0, Fill::Step(0), "alone")],
            pieces,
        },
        interval: Some((6.1, 6.6)),
        value: "6.30 µs".to_owned(),
        spread: "[6.1, 6.6 µs]".to_owned(),
        number: Some(6.3),
        sign: None,
        tooltip: String::new(),
    };
    let scale = Scale::linear(6.6);
    let chart = Rows {
        summary: "Steps".to_owned(),
        axis: Axis::new("", scale, scale.ticks(), |tick| format!("{tick} µs")),
        groups: vec![RowGroup {
            rows: vec![row],
            ..RowGroup::default()
        }],
        marks: Vec::new(),
        legend: Vec::new(),
    };
    let mut step = item(
        "",
        "one read of a file that stays open",
        "46% of the whole",
        plain("2.90 µs"),
    );
    step.key = Some(Key::Fill(Fill::Step(0)));
    let steps = List {
        style: ListStyle::Steps,
        items: vec![step],
    };
    Section::new("Step by step", vec![chart.into(), steps.into()])
}

fn matrix() -> Section {
    let column = |title: &str| Column {
        title: title.to_owned(),
        help: String::new(),
        unit: "",
        align: Align::Right,
        weight: 1,
    };
    let sizes = ["10 KiB", "20 KiB", "50 KiB", "100 KiB", "200 KiB"];
    let pages = ["1024", "4096"];
    let cell = |ratio: f64| Cell {
        sign: Some(match ratio {
            r if r > 1.1 => Sign::Above,
            r if r < 0.9 => Sign::Below,
            _ => Sign::Even,
        }),
        shade: shade::shade(ratio),
        ..Cell::number(ratio, format!("{ratio:.2}"))
    };
    let row = |page: usize| {
        let cells = (0..sizes.len()).map(|size| cell(1.6 - size as f64 * 0.3 + page as f64 * 0.1));
        Row {
            cells: [Cell::text(pages[page])].into_iter().chain(cells).collect(),
            ..Row::default()
        }
    };
    let table = Table {
        caption: "Matrix".to_owned(),
        columns: [column("page size")]
            .into_iter()
            .chain(sizes.map(column))
            .collect(),
        rows: vec![row(0), row(1)],
        is_heat_map: true,
    };
    let signs = legend(
        &[Sign::Above, Sign::Even, Sign::Below],
        "SQLite",
        "files",
        "5%",
    );
    let signs = signs
        .into_iter()
        .map(|(sign, words)| LegendEntry::new(Key::Sign(sign), words));
    let rules = bullets([
        "Up to 20 KiB, SQLite is faster.",
        "From 100 KiB on, files are.",
    ]);
    Section::new(
        "By page size",
        [table.into(), Content::Legend(signs.collect()).into()]
            .into_iter()
            .chain(rules)
            .collect(),
    )
}

fn by_size() -> Section {
    let point = |x: f64, label: &str, y: f64, sign| Point {
        x,
        y: Some(y),
        interval: Some((y / 1.2, y * 1.15)),
        shape: Some(PointShape::Sign(sign)),
        label: label.to_owned(),
        value: format!("{y:.2}"),
        spread: format!("[{:.2}, {:.2}]", y / 1.2, y * 1.15),
        tooltip: String::new(),
    };
    let mut points = vec![
        point(1.0, "1 KiB", 2.23, Sign::Above),
        point(4.0, "4 KiB", 1.01, Sign::Even),
        point(1024.0, "1 MiB", 0.27, Sign::Below),
    ];
    points.push(Point {
        y: None,
        interval: None,
        label: "8 MiB".to_owned(),
        value: "no data".to_owned(),
        spread: String::new(),
        ..point(8192.0, "", 1.0, Sign::Nothing)
    });
    let scale = Scale::logarithmic(0.2, 3.0);
    let plane = Plane {
        summary: "By size".to_owned(),
        x: Axis::new("size", Scale::logarithmic(1.0, 8192.0), Vec::new(), |_| {
            String::new()
        }),
        y: Axis::new("files over SQLite", scale, scale.fine_ticks(), |tick| {
            format!("{tick}")
        }),
        ends: Some(("SQLite faster".to_owned(), "files faster".to_owned())),
        panels: vec![Panel {
            id: String::new(),
            title: "One thread".to_owned(),
            lines: vec![Line {
                label: String::new(),
                kind: LineKind::Only,
                points,
            }],
        }],
        areas: vec![Area {
            kind: AreaKind::Band,
            x: None,
            y: Some((0.8, 1.25)),
        }],
        levels: vec![Mark {
            at: 1.0,
            kind: MarkKind::Reference,
            sign: String::new(),
        }],
        legend: vec![
            LegendEntry::new(Key::Sign(Sign::Above), "SQLite faster"),
            LegendEntry::new(
                Key::Band,
                "0.8 and 1.25, between which no difference matters",
            ),
            LegendEntry::new(Key::Line(LineKind::Only), "drawn on the page only"),
        ],
        on_terminal: true,
    };
    Section::new("By size of the values", vec![plane.into()])
}

fn environment() -> Vec<Block> {
    vec![
        facts([("processor", "made up, 2 cores"), ("file system", "ext4")]),
        paragraph(
            plain("Published at ").then(plain("sqlite.org").linked("https://sqlite.org/a(b)")),
        ),
        paragraph(plain("to the top").linked("#overview")).only(Medium::Page),
        remark("The page: report.html").only(Medium::Terminal),
        Block::from(Fold {
            is_heading: true,
            ..Fold::new("Method", vec![paragraph("In rounds.")])
        }),
        Content::Files(vec![File {
            of: String::new(),
            name: "result.jsonl".to_owned(),
            content: "{}".to_owned(),
        }])
        .into(),
        Section::new(
            "Empty, so without a heading",
            vec![paragraph("everything").at(Detail::All)],
        )
        .into(),
    ]
}
