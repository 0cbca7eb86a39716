//! The page of a document that has every kind of block.

use stowplan_report::document::shade::shade;
use stowplan_report::document::{
    Align, Area, AreaKind, Axis, Bar, Block, Cell, ChartRow, Column, Content, Detail, Document,
    File, Fill, Fold, Item, Key, LegendEntry, Line, LineKind, List, ListStyle, Look, Mark,
    MarkKind, Medium, Panel, Plane, Point, PointShape, Row, RowGroup, Rows, Scale, Section,
    Segment, Shape, Sign, Span, Table, Text, Tone, bullets, facts, faint, notice, paragraph, plain,
    remark, strong, toned,
};
use stowplan_report::render::html::render;

/// A label as somebody might write who wants it to be more than a label.
const HOSTILE: &str = "</script><b onclick=\"x\" id='a'>&\u{1b}[31m\u{202e}";

fn document() -> Document {
    Document {
        kind: "Stowplan report".to_owned(),
        title: "Every kind of block".to_owned(),
        question: plain("Does the page show what it is given?"),
        byline: vec![
            plain("vm"),
            plain("AMD EPYC, 2 CPUs"),
            plain("the published study").linked("https://sqlite.org/fasterthanfs.html"),
        ],
        blocks: vec![
            notice(plain("This run has ").then(plain("3 warnings").linked("#warnings"))),
            answers(),
            charts(),
            why(),
            comparisons(),
            Section::new(
                "Disk space",
                vec![ratios("space", "Disk space").into(), table(3).into()],
            )
            .named("space")
            .in_contents("Disk space")
            .into(),
            texts(),
            environment(),
            Section::new("Raw result", vec![remark("All of it."), files(1)])
                .named("raw")
                .in_contents("Raw result")
                .into(),
        ],
    }
}

fn answers() -> Block {
    let answer = |badge: &str, tone, figure: Text| {
        Item {
            title: plain("Reads, warm, random order over all keys").linked("#finding-read"),
            note: plain("2.89 times as fast as files [2.62, 3.31]"),
            figure,
            ..Item::of("Use “SQLite blob API, mmap”")
        }
        .with_badge(badge, tone)
    };
    let figure = strong("2.89×").then(" [2.62, 3.31]");
    let noise = faint(" noise up to 17%");
    let list = List {
        style: ListStyle::Answers,
        items: vec![
            answer("fastest", Tone::Good, figure.clone().then(noise.clone())),
            answer("none faster", Tone::Plain, noise.clone()),
            answer("slower", Tone::Bad, Text::default()),
            answer("open", Tone::Warning, figure.then(noise)),
        ],
    };
    let why = strong("Why believe it?")
        .then(" 10 rounds in random order. ")
        .then(plain("How it was measured").linked("#method"));
    let blocks = vec![
        list.into(),
        Content::Columns(vec![choice(Tone::Good), choice(Tone::Warning)]).into(),
        paragraph(why),
    ];
    Section::new("What to do on this machine", blocks)
        .named("overview")
        .in_contents("Answers")
        .into()
}

fn choice(tone: Tone) -> Section {
    let line = |figure: Text| Item {
        figure,
        ..Item::of(plain("reads of 1 KiB").linked("#finding-read"))
    };
    let list = List {
        style: ListStyle::Figures,
        items: vec![
            line(strong("1.40×").then(faint(" [1.28, 1.75]"))),
            line(strong("18.0×").then(faint(" [15.6, 22.0]"))),
            line(Text::default()),
        ],
    };
    Section {
        look: Look::Panel,
        tone,
        ..Section::new(
            plain("Use SQLite ").then(faint("3 of 6")),
            vec![list.into()],
        )
    }
}

fn charts() -> Block {
    let caption =
        || paragraph("Time per operation, as a multiple of SQLite SELECT. Shorter is faster.");
    let unreliable = notice("Session unreliable: nothing is claimed.");
    let figures = [
        Section::figure(
            "chart-1",
            "Chart 1: reads by prepared SELECT",
            vec![caption(), ratios("1", "Chart 1").into()],
        ),
        Section::figure(
            "bars-1",
            "Throughput",
            vec![
                caption(),
                unreliable,
                quantities().into(),
                Fold::new("All figures", vec![table(5).into()]).into(),
            ],
        ),
        Section::figure(
            "lines-threads",
            "Throughput against threads",
            vec![caption(), lines().into()],
        ),
        Section::figure("matrix-1", "By size", heat_maps()),
        Section::figure("sweeps-1", "Ratio against size", sweeps()),
    ];
    Section::new("Charts", figures.map(Block::from).into())
        .named("charts")
        .in_contents("Charts")
        .into()
}

fn chart_row(label: &str, value: f64, fill: Fill) -> ChartRow {
    ChartRow {
        label: label.to_owned(),
        detail: String::new(),
        shape: Shape::Bar(Bar { value, fill }),
        interval: Some((value * 0.9, value * 1.1)),
        value: format!("{value:.2}"),
        spread: format!("[{:.2}, {:.2}]", value * 0.9, value * 1.1),
        number: Some(value),
        sign: None,
        tooltip: format!("{label}: {value:.2} times the time of SQLite"),
    }
}

fn ratios(_: &str, summary: &str) -> Rows {
    let mut files = chart_row("files", 1.74, Fill::Ours);
    files.sign = Some(Sign::Above);
    let mut nothing = chart_row("LMDB", 0.0, Fill::Ours);
    nothing.shape = Shape::Nothing;
    nothing.interval = None;
    nothing.number = None;
    nothing.value = "no data".to_owned();
    nothing.spread = String::new();
    let mut published = chart_row("win10", 5.0, Fill::Published);
    published.detail = "Lenovo YOGA 910 2016, i7-7500 2.70 GHz, 16 GiB, Windows 10".to_owned();
    let mut point = chart_row("a point", 2.5, Fill::Ours);
    point.shape = Shape::Point(2.5);
    let scale = Scale::linear(5.5);
    Rows {
        summary: summary.to_owned(),
        axis: Axis::new("", scale, scale.ticks(), |at| format!("{at}")),
        groups: vec![
            RowGroup {
                title: "This machine".to_owned(),
                rows: vec![
                    chart_row("SQLite SELECT", 1.0, Fill::Reference),
                    files,
                    chart_row("files in a tree", 1.22, Fill::Uncertain),
                    chart_row("floor: open file, pread", 0.547, Fill::Floor),
                    nothing,
                    point,
                ],
                ..RowGroup::default()
            },
            RowGroup {
                title: "Published: files / SQLite".to_owned(),
                rows: vec![published],
                ..RowGroup::default()
            },
        ],
        marks: vec![
            mark(0.547, MarkKind::Floor, ""),
            mark(1.0, MarkKind::Reference, ""),
        ],
        legend: vec![
            LegendEntry::new(Key::Mark(MarkKind::Reference), "1.0 = SQLite SELECT"),
            LegendEntry::new(
                Key::Mark(MarkKind::Floor),
                "floor: 0.547 (open file, pread)",
            ),
            LegendEntry::new(Key::Interval, "interval"),
            LegendEntry::new(Key::Sign(Sign::Above), "slower"),
        ],
    }
}

fn mark(at: f64, kind: MarkKind, sign: &str) -> Mark {
    Mark {
        at,
        kind,
        sign: sign.to_owned(),
    }
}

fn quantities() -> Rows {
    let scale = Scale::logarithmic(1.0, 100_000.0);
    let row = |label: &str, value: f64| {
        let mut row = chart_row(label, value, Fill::Ours);
        row.value = format!("{value:.0}/s");
        row.spread = "[12,345, 67,890/s]".to_owned();
        row
    };
    let group = |heading: &str, title: &str| RowGroup {
        heading: heading.to_owned(),
        title: title.to_owned(),
        remarks: vec!["~ extrapolated from a sample.".to_owned()],
        rows: vec![row("SQLite, 1 thread", 12_345.0), row("files", 0.5)],
        ..RowGroup::default()
    };
    let kinds = [
        Key::Fill(Fill::Ours),
        Key::Fill(Fill::Uncertain),
        Key::Fill(Fill::Reference),
        Key::Fill(Fill::Floor),
        Key::Fill(Fill::Published),
        Key::Fill(Fill::Step(1)),
        Key::Fill(Fill::Remainder),
        Key::Mark(MarkKind::Edge),
        Key::Mark(MarkKind::Level),
    ];
    Rows {
        groups: vec![
            group("Overwrites", "durable"),
            group("", "none"),
            group("Reads", ""),
        ],
        axis: Axis::new("operations per second", scale, scale.ticks(), |at| {
            format!("{at}/s")
        }),
        marks: vec![
            mark(50.0, MarkKind::Edge, "e"),
            mark(1000.0, MarkKind::Level, "A"),
        ],
        legend: kinds
            .into_iter()
            .map(|key| LegendEntry::new(key, format!("{key:?}")))
            .collect(),
        ..ratios("", "Throughput")
    }
}

fn point(x: f64, y: f64) -> Point {
    Point {
        x,
        y: Some(y),
        interval: Some((y * 0.8, y * 1.25)),
        shape: None,
        label: format!("{x}"),
        value: format!("{y}"),
        spread: String::new(),
        tooltip: format!("{x} threads: {y}/s"),
    }
}

fn lines() -> Plane {
    let line = |index: usize| {
        let heights = [10.0, 20.0, 30.0, 35.0];
        let places = [1.0, 2.0, 4.0, 8.0];
        let factor = 1.0 + f64::from(u8::try_from(index).unwrap());
        let points = places.into_iter().zip(heights);
        Line {
            label: format!("store {index}"),
            kind: LineKind::Series(index),
            points: points.map(|(x, y)| point(x, y * factor)).collect(),
        }
    };
    let panel = |title: &str, lines: Vec<Line>| Panel {
        id: String::new(),
        title: title.to_owned(),
        lines,
    };
    let (x, y) = (Scale::logarithmic(1.0, 8.0), Scale::logarithmic(5.0, 500.0));
    Plane {
        summary: "Throughput against threads".to_owned(),
        x: Axis::new("threads", x, vec![1.0, 2.0, 4.0, 8.0], |at| format!("{at}")),
        y: Axis::new("operations per second", y, y.ticks(), |at| {
            format!("{at},000/s")
        }),
        ends: None,
        panels: vec![
            panel("nothing promised", (0..5).map(line).collect()),
            panel("durable", (5..10).map(line).collect()),
        ],
        areas: vec![],
        levels: vec![mark(100.0, MarkKind::Level, "A")],
        legend: vec![LegendEntry::new(
            Key::Mark(MarkKind::Level),
            "A: kvtest, published",
        )],
        on_terminal: true,
    }
}

fn heat_maps() -> Vec<Block> {
    let cell = |ratio: f64, sign: Sign| Cell {
        text: plain(format!("{ratio:.3}")),
        sort: Some(ratio),
        sign: Some(sign),
        shade: shade(ratio),
        help: format!("[{:.2}, {:.2}], 10 rounds", ratio * 0.9, ratio * 1.1),
    };
    let open = || Cell {
        shade: None,
        ..cell(1.01, Sign::Open)
    };
    let row = |title: &str, ratios: [f64; 5]| {
        let mut cells = vec![Cell::text(title)];
        cells.extend(ratios.map(|ratio| cell(ratio, Sign::Above)));
        cells.push(open());
        Row {
            cells,
            ..Row::default()
        }
    };
    let column = |title: &str| Column {
        title: title.to_owned(),
        help: String::new(),
        unit: "",
        align: Align::Right,
        weight: 1,
    };
    let sizes = ["page size", "10k", "20k", "50k", "100k", "200k", "500k"];
    let map = |title: &str| {
        let table = Table {
            caption: title.to_owned(),
            columns: sizes.map(column).into(),
            rows: vec![
                row("1024", [1.535, 1.2, 0.983, 0.608, 0.233]),
                row("8192", [2.439, 1.06, 1.4, 0.9, 6.0]),
            ],
            is_heat_map: true,
        };
        Section::new(title, vec![table.into()])
    };
    vec![
        paragraph("Ratios of the times of outside to those of inside."),
        Content::Columns(vec![map("This machine"), map("Published: invented")]).into(),
        Content::Legend(vec![
            LegendEntry::new(Key::Sign(Sign::Above), "inside faster"),
            LegendEntry::new(
                Key::Shades,
                "outside faster to inside faster; each shade begins at its number",
            ),
        ])
        .into(),
        Section::new(
            "Rules of thumb",
            bullets(["Keep 10 kB inside.", "Keep 500 kB outside."])
                .into_iter()
                .collect(),
        )
        .into(),
    ]
}

fn sweeps() -> Vec<Block> {
    let shapes = [
        PointShape::Sign(Sign::Above),
        PointShape::Sign(Sign::JustAbove),
        PointShape::Sign(Sign::Even),
        PointShape::Sign(Sign::JustBelow),
        PointShape::Sign(Sign::Below),
        PointShape::Cross,
    ];
    let places = [1024.0, 4096.0, 16384.0, 65536.0, 262_144.0, 1_048_576.0];
    let heights = [1.5, 1.2, 1.0, 0.9, 0.7, 0.5];
    let points = shapes.into_iter().zip(places).zip(heights);
    let mut points: Vec<Point> = points
        .map(|((shape, x), y)| Point {
            shape: Some(shape),
            ..point(x, y)
        })
        .collect();
    points[4].y = None;
    let (x, y) = (
        Scale::logarithmic(1024.0, 1_048_576.0),
        Scale::logarithmic(0.5, 1.6),
    );
    let line = |kind, points: Vec<Point>| Line {
        label: String::new(),
        kind,
        points,
    };
    let crossing = Point {
        shape: Some(PointShape::Crossing),
        interval: None,
        ..point(20000.0, 1.0)
    };
    let plane = Plane {
        summary: "SQLite and files by size".to_owned(),
        x: Axis::new("", x, x.size_ticks(), |at| format!("{} KiB", at / 1024.0)),
        y: Axis::new("", y, y.fine_ticks(), |at| format!("{at:.1}")),
        ends: Some(("SQLite faster".to_owned(), "files faster".to_owned())),
        panels: vec![Panel {
            id: String::new(),
            title: String::new(),
            lines: vec![
                line(LineKind::Behind, vec![point(2000.0, 1.3), point(9e5, 0.6)]),
                line(LineKind::Only, points),
                line(LineKind::Points, vec![crossing]),
            ],
        }],
        areas: vec![
            Area {
                kind: AreaKind::Unclaimed,
                x: Some((4096.0, 65536.0)),
                y: None,
            },
            Area {
                kind: AreaKind::Band,
                x: None,
                y: Some((0.95, 1.05)),
            },
        ],
        levels: vec![mark(1.0, MarkKind::Reference, "")],
        legend: vec![],
        on_terminal: true,
    };
    let sweep = |id: &str, title: &str| {
        Section::figure(
            id,
            title,
            vec![
                paragraph(strong("Faster up to 4 KiB: SQLite.")),
                notice("Nothing is claimed at 256 KiB."),
                plane.clone().into(),
                remark("10 rounds; identical cells differ by up to 3%."),
                Fold::new("All 6 ratios with their intervals", vec![table(4).into()]).into(),
            ],
        )
    };
    let keys = [
        Key::Point(PointShape::Sign(Sign::Above)),
        Key::Point(PointShape::Crossing),
        Key::Line(LineKind::Only),
        Key::Line(LineKind::Behind),
        Key::Band,
        Key::Unclaimed,
    ];
    let legend = keys.map(|key| LegendEntry::new(key, format!("{key:?}")));
    vec![
        paragraph("Across, the size of a value; upwards, the ratio. Both axes are logarithmic."),
        Content::Columns(vec![
            sweep("sweep-a", "With pages of 1 KiB"),
            sweep("sweep-b", ""),
        ])
        .into(),
        Content::Legend(legend.into()).into(),
    ]
}

fn why() -> Block {
    let segment = |from: f64, to: f64, fill| Segment {
        from,
        to,
        fill,
        label: "open and close".to_owned(),
        value: format!("{:.2} µs", to - from),
        spread: "[2.39, 3.07 µs]".to_owned(),
        note: "27% of the whole".to_owned(),
        tooltip: format!("open and close: {:.2} µs", to - from),
    };
    let row = |label: &str, thin: Vec<Segment>| ChartRow {
        shape: Shape::Segments {
            pieces: vec![
                segment(0.0, 3.0, Fill::Step(0)),
                segment(3.0, 5.5, Fill::Step(1)),
                segment(5.5, 5.2, Fill::Step(2)),
                segment(5.5, 8.0, Fill::Step(3)),
                segment(8.0, 9.8, Fill::Remainder),
            ],
            thin,
        },
        interval: Some((9.0, 10.5)),
        number: None,
        value: "9.82 µs".to_owned(),
        spread: "[9.57, 10.1 µs]".to_owned(),
        ..chart_row(label, 9.8, Fill::Ours)
    };
    let scale = Scale::linear(11.0);
    let thin = vec![
        segment(0.0, 2.0, Fill::Step(0)),
        segment(2.0, 2.0, Fill::Step(1)),
        segment(2.0, 7.0, Fill::Remainder),
    ];
    let rows = Rows {
        summary: "Costs taken apart".to_owned(),
        axis: Axis::new("", scale, scale.ticks(), |at| format!("{at} µs")),
        groups: vec![RowGroup {
            rows: vec![
                row("A read of a file", thin),
                row("A read by SELECT", vec![]),
            ],
            ..RowGroup::default()
        }],
        marks: vec![],
        legend: vec![],
    };
    let step = |fill| Item {
        key: Some(Key::Fill(fill)),
        figure: strong("2.69 µs").then(faint(" [2.39, 3.07]")),
        note: plain("27% of the whole; alone 2.83 µs"),
        ..Item::of("open and close")
    };
    let steps = List {
        style: ListStyle::Steps,
        items: vec![
            step(Fill::Step(0)),
            step(Fill::Step(1)),
            step(Fill::Remainder),
        ],
    };
    let claims = List {
        style: ListStyle::Bullets,
        items: vec![
            Item {
                title: plain("Opening costs more than reading"),
                note: plain("Open and close: 2.69 µs of 6.34 µs."),
                ..Item::of("the claim")
            }
            .with_badge("holds", Tone::Good),
            Item::of("Copying costs nothing").with_badge("does not hold", Tone::Bad),
            Item::of("No badge"),
        ],
    };
    let figure = Section::figure(
        "ladder-read",
        "",
        vec![
            paragraph("Time of one operation, from the bottom up. Hatched: what no step explains."),
            rows.into(),
            Section::new(
                "A read of a file",
                vec![
                    steps.into(),
                    remark("The steps add up to files as kvtest reads them."),
                    Fold::new("All figures", vec![table(3).into()]).into(),
                ],
            )
            .named("steps-read")
            .into(),
        ],
    );
    let group = Section::new("Reads, warm", vec![claims.into(), figure.into()]);
    Section::new("Why: costs taken apart", vec![group.into()])
        .named("why")
        .in_contents("Why")
        .into()
}

fn table(columns: usize) -> Table {
    let titles = (1..columns).map(|index| Column {
        title: format!("number {index}"),
        help: "what it means".to_owned(),
        unit: "ns",
        align: Align::Right,
        weight: 1,
    });
    let cell = Column {
        title: "cell".to_owned(),
        help: String::new(),
        unit: "",
        align: Align::Left,
        weight: 9,
    };
    let row = |name: &str, value: f64, detail| {
        let mut cells = vec![Cell::text(name)];
        cells.resize_with(columns, || {
            let mut cell = Cell::number(value, format!("{value:.2} µs"));
            cell.sign = Some(Sign::Above);
            cell
        });
        cells[1] = Cell::number(value, format!("{value:.1}")).in_tone(Tone::Bad);
        Row { detail, cells }
    };
    let empty = Row {
        detail: Detail::All,
        cells: std::iter::once(Cell::text("empty"))
            .chain((1..columns).map(|_| Cell::default()))
            .collect(),
    };
    Table {
        caption: "All numbers".to_owned(),
        columns: std::iter::once(cell).chain(titles).collect(),
        rows: vec![
            row("files", 12.0, Detail::Brief),
            row("SQLite", 7.5, Detail::All),
            empty,
        ],
        is_heat_map: false,
    }
}

fn comparisons() -> Block {
    let verdicts = List {
        style: ListStyle::Bullets,
        items: vec![
            Item::of("files take 1.12 times the time of SQLite [1.00, 1.19].")
                .with_badge("small diff.", Tone::Plain),
            Item::of("files in a tree: unresolved.").with_badge("unresolved", Tone::Warning),
        ],
    };
    let blocks = vec![
        paragraph(strong("SQLite blob API is fastest.")),
        paragraph("Use it, where values of 10 kB are read at random."),
        verdicts.into(),
        remark("Identical cells may differ by up to 17%."),
        Section::figure(
            "tail-read",
            "Latency of single operations",
            vec![
                paragraph("Across, the share of operations; wall time."),
                lines().into(),
                Fold::new("All percentiles", vec![table(4).into()]).into(),
            ],
        )
        .into(),
        Section::new(
            "All numbers",
            vec![paragraph("Ratios are of time."), table(14).into()],
        )
        .named("cells-read")
        .into(),
        Fold::new("Settings of each cell", vec![table(3).into()]).into(),
    ];
    let fold = |id: &str, open| {
        Fold {
            id: id.to_owned(),
            is_heading: true,
            open,
            found: plain("Use “SQLite blob API, mmap”"),
            badge: Item::default().with_badge("fastest", Tone::Good).badge,
            ..Fold::new("Reads, warm, random order over all keys", blocks.clone())
        }
        .into()
    };
    let parts = Fold::new(
        "The comparisons that matrices are made of",
        vec![fold("finding-b", false)],
    );
    Section::new(
        "Each comparison",
        vec![
            remark("Times are per operation."),
            fold("finding-read", true),
            fold("finding-read", false),
            parts.into(),
        ],
    )
    .named("comparisons")
    .in_contents("Each comparison")
    .into()
}

fn texts() -> Block {
    let tones = [
        Tone::Plain,
        Tone::Strong,
        Tone::Faint,
        Tone::Good,
        Tone::Bad,
        Tone::Warning,
        Tone::Ours,
        Tone::Published,
    ];
    let all = tones.map(|tone| toned(format!("{tone:?} "), tone));
    let all = all.into_iter().fold(Text::default(), Text::then);
    let warnings = ["The file system is nearly full.", "The clock is coarse."];
    let panel = Section {
        look: Look::Panel,
        tone: Tone::Bad,
        ..Section::new("A panel", vec![paragraph("It says something.")])
    };
    let mut blocks = vec![
        paragraph(all),
        Content::Verbatim("stowplan study fasterthanfs \\\n    --scale seed".to_owned()).into(),
        panel.into(),
        paragraph("Seen on a terminal only.").only(Medium::Terminal),
        paragraph("Seen in texts only.").only(Medium::Text),
        paragraph("Seen on the page only.")
            .only(Medium::Page)
            .at(Detail::All),
        files(2),
    ];
    blocks.extend(bullets(warnings));
    Section::new("Warnings", blocks)
        .named("warnings")
        .in_contents("Warnings")
        .into()
}

fn environment() -> Block {
    let known = facts([("host", "vm"), ("CPU", "AMD EPYC"), ("file system", "ext4")]);
    let fold = Fold::new("The machine and the file system", vec![known]);
    Section::new("Environment", vec![fold.into()])
        .named("method")
        .in_contents("Environment")
        .into()
}

fn files(count: usize) -> Block {
    let file = |index: usize| File {
        of: format!("machine {index}"),
        name: format!("result-{index}.jsonl"),
        content: "{}\n".repeat(100),
    };
    Content::Files((0..count).map(file).collect()).into()
}

/// The levels of the headings of a page, in their order.
fn headings(page: &str) -> Vec<u8> {
    let body = page.split_once("<body>").unwrap().1;
    let starts = body.match_indices("<h");
    let levels = starts.filter_map(|(at, _)| {
        let mut rest = body[at + 2..].chars();
        let level = rest.next()?.to_digit(10)?;
        (rest.next()? == '>').then_some(level as u8)
    });
    levels.collect()
}

/// The values of an attribute, in their order.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let found = page.split(start.as_str()).skip(1);
    found.map(|rest| rest.split_once('"').unwrap().0).collect()
}

#[test]
fn headings_are_nested_without_gaps() {
    let levels = headings(&render(&document()));
    assert_eq!(levels[0], 1);
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    for pair in levels.windows(2) {
        assert!(pair[1] <= pair[0] + 1, "{levels:?}");
    }
    assert!(levels.contains(&5), "{levels:?}");
}

#[test]
fn no_two_elements_have_the_same_name_and_links_lead_somewhere() {
    let page = render(&document());
    let ids = values(&page, "id");
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    // Of two comparisons with one name, the second is another.
    assert!(ids.contains(&"finding-read") && ids.contains(&"finding-read-2"));
    for link in values(&page, "href") {
        if let Some(name) = link.strip_prefix('#') {
            assert!(ids.contains(&name), "{link}");
        }
    }
}

#[test]
fn a_section_cannot_take_the_name_of_a_part_of_the_page() {
    let section = Section::new("A", vec![paragraph("b")]).named("main");
    let page = render(&with(vec![section.into()]));
    assert_eq!(values(&page, "id"), ["main", "main-2"]);
}

#[test]
fn every_row_and_every_piece_has_its_value() {
    let page = render(&with(vec![ratios("", "A").into()]));
    let numbers = values(&page, "data-value");
    assert_eq!(numbers, ["1", "1.74", "1.22", "0.547", "2.5", "5"]);
    let page = render(&with(vec![why()]));
    let pieces = values(&page, "data-value").len();
    assert_eq!(pieces, 5 + 2 + 5, "what has no length is not drawn");
}

#[test]
fn what_texts_alone_show_is_not_on_the_page_and_all_else_is() {
    let page = render(&document());
    assert!(page.contains("Seen on the page only."));
    assert!(!page.contains("Seen on a terminal only.") && !page.contains("Seen in texts only."));
}

#[test]
fn a_section_without_content_has_no_heading_and_is_not_in_the_contents() {
    let hidden = paragraph("x").only(Medium::Terminal);
    let empty = Section::new("Nothing here", vec![hidden])
        .named("empty")
        .in_contents("Nothing");
    assert!(!render(&with(vec![empty.into()])).contains("Nothing"));
}

fn with(blocks: Vec<Block>) -> Document {
    Document {
        blocks,
        ..document()
    }
}

/// The document with the same text wherever somebody may write one.
fn hostile() -> Document {
    let text = || plain(HOSTILE);
    let said = || HOSTILE.to_owned();
    let mut rows = ratios("", HOSTILE);
    rows.axis.title = said();
    rows.axis.ticks[0].1 = said();
    rows.marks[0].sign = said();
    rows.legend[0].text = said();
    let group = &mut rows.groups[0];
    (group.heading, group.title) = (said(), said());
    (group.notices, group.remarks) = (vec![said()], vec![said()]);
    let row = &mut group.rows[0];
    (row.label, row.detail, row.value) = (said(), said(), said());
    (row.spread, row.tooltip) = (said(), said());
    let mut plane = lines();
    (plane.summary, plane.ends) = (said(), Some((said(), said())));
    (plane.x.title, plane.x.ticks[0].1, plane.y.ticks[0].1) = (said(), said(), said());
    (plane.levels[0].sign, plane.legend[0].text) = (said(), said());
    let panel = &mut plane.panels[0];
    (panel.id, panel.title) = (said(), said());
    (panel.lines[0].label, panel.lines[0].points[0].tooltip) = (said(), said());
    let mut table = table(4);
    (table.caption, table.columns[0].title, table.columns[1].help) = (said(), said(), said());
    for cell in &mut table.rows[0].cells {
        (cell.text, cell.help) = (text(), said());
    }
    let heat = Table {
        is_heat_map: true,
        ..table.clone()
    };
    let item = Item {
        title: text(),
        note: text(),
        figure: text(),
        ..Item::of(text())
    }
    .with_badge(HOSTILE, Tone::Good);
    let styles = [
        ListStyle::Answers,
        ListStyle::Bullets,
        ListStyle::Figures,
        ListStyle::Steps,
    ];
    let link = Text(vec![Span {
        text: said(),
        tone: Tone::Plain,
        link: Some(format!("https://a.example/{HOSTILE}")),
    }]);
    let fold = Fold {
        id: said(),
        badge: item.badge.clone(),
        found: text(),
        is_heading: true,
        ..Fold::new(HOSTILE, vec![table.into(), heat.into()])
    };
    let file = File {
        of: said(),
        name: said(),
        content: said(),
    };
    let mut blocks: Vec<Block> = vec![
        rows.into(),
        plane.into(),
        fold.into(),
        paragraph(link),
        notice(HOSTILE),
        facts([(HOSTILE, HOSTILE)]),
        Content::Verbatim(said()).into(),
        Content::Files(vec![file.clone()]).into(),
        Content::Files(vec![file.clone(), file]).into(),
    ];
    blocks.extend(styles.map(|style| {
        let items = vec![item.clone()];
        Block::from(List { style, items })
    }));
    let section = |look| Section {
        look,
        ..Section::figure(HOSTILE, HOSTILE, blocks.clone()).in_contents(HOSTILE)
    };
    let looks = [Look::Plain, Look::Figure, Look::Panel].map(section);
    let columns = looks
        .clone()
        .map(|section| Block::from(Content::Columns(vec![section.clone(), section])));
    Document {
        kind: said(),
        title: said(),
        question: text(),
        byline: vec![text()],
        blocks: looks.map(Block::from).into_iter().chain(columns).collect(),
    }
}

#[test]
fn a_hostile_label_stays_text_wherever_it_stands() {
    let page = render(&hostile());
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(!page.contains("<b onclick") && !page.contains("id='a'>&["));
    assert!(!page.contains(['\u{1b}', '\u{202e}']));
    assert!(page.contains("\u{fffd}[31m\u{fffd}"));
    // No attribute but those of the renderer: a quote in a label would begin another.
    assert!(values(&page, "onclick").is_empty());
    assert!(!page.contains("\"x\" id"));
    for name in values(&page, "id") {
        assert!(
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
            "{name}"
        );
    }
}

#[test]
fn the_page_loads_nothing() {
    let page = render(&document());
    assert!(page.starts_with("<!DOCTYPE html>\n<!-- stowplan report -->\n"));
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'"));
    for address in values(&page, "href")
        .into_iter()
        .chain(values(&page, "src"))
    {
        let is_inside = address.starts_with('#') || address.starts_with("data:");
        assert!(
            is_inside || address == "https://sqlite.org/fasterthanfs.html",
            "{address}"
        );
    }
}

#[test]
fn many_files_of_great_size_are_not_carried() {
    // Noise cannot be compressed: each of these takes most of what a page may carry.
    let mut state = 1_u32;
    let mut noise = String::new();
    while noise.len() < 6 << 20 {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        noise.push(char::from(33 + (state % 94) as u8));
    }
    let file = File {
        of: "m".to_owned(),
        name: "result.jsonl".to_owned(),
        content: noise,
    };
    let page = |files| render(&with(vec![Content::Files(files).into()]));
    let both = page(vec![file.clone(), file.clone()]);
    assert!(both.contains("They are not in this page") && both.len() < 1 << 20);
    let one = page(vec![file]);
    assert!(one.contains("id=\"raw-result\" download=\"result.jsonl.gz\""));
}

#[test]
fn figures_that_are_not_seen_at_once_are_listed_behind_the_first() {
    let page = render(&with(vec![charts()]));
    let jump = page.split_once("<ul class=\"jump\">").unwrap();
    assert!(jump.0.contains("id=\"chart-1\"") && !jump.0.contains("id=\"bars-1\""));
    let links = values(jump.1.split_once("</ul>").unwrap().0, "href");
    assert_eq!(
        links,
        ["#bars-1", "#lines-threads", "#matrix-1", "#sweeps-1"]
    );
}

#[test]
fn a_line_is_interrupted_where_there_is_no_data() {
    let page = render(&with(sweeps()));
    let curves = page.split("class=\"curve own\" d=\"").skip(1);
    let steps = curves.map(|path| path.split('"').next().unwrap().matches('L').count());
    // Of either sweep: four points before the gap, and the only one behind it is no line.
    assert_eq!(steps.collect::<Vec<_>>(), [3, 3]);
}
