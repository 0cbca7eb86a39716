//! A document with every kind of block, whose content is made up.

use stowplan_report::document::*;

/// A document with every kind of block.
pub(crate) fn sample() -> Document {
    let cut = plain("The run was cut off; ").then(plain("what it had measured").linked("#charts"));
    let chapters = [
        chapter("overview", "What to do on this machine", overview()),
        chapter("comparisons", "Each comparison", comparisons()),
        chapter("charts", "Charts", charts()),
        chapter("why", "Why: costs taken apart", vec![why().into()]),
        chapter("warnings", "Warnings", texts()),
        chapter("method", "Environment", environment()),
    ];
    let first = notice(cut.then(" until then is shown."));
    Document {
        kind: "Stowplan report".to_owned(),
        title: "Where small values live".to_owned(),
        question: plain("Files, or a database?"),
        byline: vec![
            plain("a virtual machine, ext4"),
            plain("the published study").linked("https://sqlite.org/fasterthanfs.html"),
        ],
        blocks: [first]
            .into_iter()
            .chain(chapters.into_iter().flatten())
            .collect(),
    }
}

/// The sample with these blocks in place of its own.
pub(crate) fn with(blocks: Vec<Block>) -> Document {
    Document { blocks, ..sample() }
}

fn overview() -> Vec<Block> {
    let answer = |word: &str, tone, title: &str, text: &str, note: &str| {
        Item {
            title: plain(title).linked("#finding-read"),
            note: faint(note),
            ..Item::of(strong(text))
        }
        .with_badge(word, tone)
    };
    let answers = vec![
        answer(
            "use",
            Tone::Good,
            "Reads, warm, random order over all keys",
            "Use “SQLite blob API, mmap”",
            "2.89 times as fast as files [2.62, 3.31]; noise up to 17%",
        ),
        answer(
            "open",
            Tone::Warning,
            "Overwrites, each a transaction of its own, forced to the disk",
            "No verdict yet",
            "too few rounds (2 of 10) to compare",
        ),
        answer("slower", Tone::Bad, "Deletes", "Keep files", ""),
    ];
    let why = strong("Why believe it?").then(" 10 rounds in random order. ");
    vec![
        Block::from(Content::List(answers)).at(Detail::Answer),
        paragraph(why.then(plain("How it was measured").linked("#method"))),
    ]
}

/// A cell of the table: its label, its time, its ratio with its interval, and the verdict.
type Measured = (&'static str, f64, Option<[f64; 3]>, &'static str, Tone);

pub(crate) fn table() -> Table {
    let cells: [Measured; 4] = [
        ("files", 6150.0, None, "baseline", Tone::Faint),
        (
            "SQLite blob API",
            4010.0,
            Some([0.709, 0.613, 0.793]),
            "1.41× as fast",
            Tone::Good,
        ),
        (
            "floor: a file that stays open, pread",
            2960.0,
            Some([0.481, 0.394, 0.55]),
            "floor",
            Tone::Faint,
        ),
        (
            "files by stdio | as kvtest",
            8710.0,
            Some([1.58, 1.33, 1.66]),
            "1.58× as long",
            Tone::Bad,
        ),
    ];
    let time = |factor: f64| {
        move |cell: &Measured| {
            let time = cell.1 * factor;
            Cell::number(time, format!("{:.2} µs", time / 1000.0))
        }
    };
    let ratio = |cell: &Measured| {
        Cell::maybe(cell.2.map(|[ratio, ..]| ratio), |ratio| {
            format!("{ratio:.3}")
        })
    };
    let interval = |cell: &Measured| {
        let ends = cell
            .2
            .map(|[_, low, high]| format!("[{low:.3}, {high:.3}]"));
        Cell::text(ends.unwrap_or_default())
    };
    let columns = vec![
        text_column("cell", "", |cell: &Measured| Cell::text(cell.0)),
        number("time/op", "wall time", time(1.0))
            .in_unit("ns")
            .weighing(8),
        number("time vs files", "", ratio).weighing(7),
        text_column("interval", "", interval).weighing(9),
        text_column("verdict", "", |cell: &Measured| {
            Cell::text(cell.3).in_tone(cell.4)
        })
        .weighing(11),
        number("p99", "", time(1.7)).weighing(4),
        number("p99.9", "", time(3.0)).weighing(0),
    ];
    Table::of("Reads", columns, &cells)
}

fn comparisons() -> Vec<Block> {
    let verdicts = vec![
        Item::of("files take 1.12 times the time of SQLite.").with_badge("small", Tone::Plain),
        Item::of("files in a tree: unresolved.").with_badge("unresolved", Tone::Warning),
    ];
    let settings = facts([("files", "sync=none"), ("SQLite", "page_size=4096")]);
    let numbers = Section::new("All numbers", vec![table().into()]).named("cells-read");
    let advice = plain("To read values of about 10.0 kB, prefer ").then(strong("SQLite blob API"));
    let command = "stowplan study why.toml \\\n    --rounds 20 # ``` \u{1b}c";
    let blocks = vec![
        paragraph(strong("SQLite blob API is fastest.")),
        paragraph(advice.then(" to files.")),
        Content::List(verdicts).into(),
        remark("Noise: control 0.999 [0.857, 1.16]; 10 rounds."),
        numbers.into(),
        folded("Settings", settings.at(Detail::Full)),
        Content::Verbatim(command.to_owned()).into(),
    ];
    let fold = |blocks| {
        Block::from(Section {
            id: "finding-read".to_owned(),
            look: Look::Finding,
            found: plain("use “SQLite blob API, mmap”"),
            badge: Item::default().with_badge("use", Tone::Good).badge,
            ..Section::new("Reads, warm, random order", blocks)
        })
    };
    let more = fold(vec![paragraph("everything").at(Detail::Full)]);
    vec![
        fold(blocks),
        more.clone(),
        folded("What matrices are made of", more),
    ]
}

fn charts() -> Vec<Block> {
    let lines = vec![remark("Across, threads."), lines().into()];
    let fold = folded("All figures", table());
    let bars = vec![
        remark("Less is faster."),
        notice("A caption."),
        bars().into(),
        fold,
    ];
    let figures = [
        Section::figure("bars", "Six phases", bars),
        Section::figure("lines", "Throughput against threads", lines),
        Section::figure("matrix", "By page size", heat_maps()),
        Section::figure("sizes", "By size of the values", sizes()),
    ];
    figures.map(Block::from).into()
}

fn bar(label: &str, value: f64, half: f64, fill: Fill) -> ChartRow {
    let value = Value::new(value, Unit::Ratio).between(value - half, value + half);
    ChartRow {
        detail: "process-crash".to_owned(),
        help: "10 rounds".to_owned(),
        ..ChartRow::bar(label, Some(value), fill)
    }
}

/// Bars of every kind but those of steps.
pub(crate) fn bars() -> Rows {
    let scale = Scale::for_bars(&[0.62, 1.1, 1.5], &[1.4]);
    let axis = Axis::new("ratio", scale, scale.ticks(), |tick| format!("{tick}"));
    let signed = ChartRow {
        sign: Some(Sign::Below),
        ..bar("SQLite blob API, mapped into memory", 0.62, 0.2, Fill::Ours)
    };
    let ours = RowGroup {
        heading: "Reads".to_owned(),
        title: "durable".to_owned(),
        notices: vec!["Too noisy to decide.".to_owned()],
        remarks: vec!["~ extrapolated from a sample.".to_owned()],
        rows: vec![
            bar("files", 1.0, 0.0, Fill::Reference),
            signed,
            bar("SQLite SELECT", 1.1, 0.3, Fill::Uncertain),
            bar("open file", 0.48, 0.0, Fill::Floor),
            ChartRow::bar("redb", None, Fill::Ours),
        ],
    };
    let published = RowGroup {
        title: "Published: .NET, 2011".to_owned(),
        rows: vec![bar("SQL CE 4.0", 1.5, 0.1, Fill::Published)],
        ..RowGroup::default()
    };
    let floor = Mark {
        sign: "f".to_owned(),
        ..Mark::new(0.48, MarkKind::Floor)
    };
    Rows {
        marks: vec![Mark::new(1.0, MarkKind::Reference), floor],
        legend: vec![
            LegendEntry::new(
                Key::Mark(MarkKind::Floor),
                "floor 0.48 (a file that stays open)",
            ),
            LegendEntry::new(Key::Interval, "interval"),
            LegendEntry::new(Key::Fill(Fill::Published), "published"),
        ],
        ..Rows::new("Bars", axis, vec![ours, published])
    }
}

fn point(x: f64, y: f64) -> ChartRow {
    let value = Value::new(y, Unit::Ratio).between(y / 1.2, y * 1.15);
    ChartRow {
        x,
        ..ChartRow::bar(format!("{x} KiB"), Some(value), Fill::Ours)
    }
}

pub(crate) fn lines() -> Rows {
    let line = |index: usize| {
        let points = [1.0, 2.0, 4.0].map(|x| point(x, x * 10.0 + index as f64));
        RowGroup::of(format!("store {index}"), points.into())
    };
    let (x, y) = (Scale::logarithmic(1.0, 4.0), Scale::logarithmic(5.0, 50.0));
    let x = Axis::new("threads", x, vec![1.0, 2.0, 4.0], |at| format!("{at}"));
    let y = Axis::new("operations per second", y, y.ticks(), |at| {
        format!("{at}/s")
    });
    let mut groups = headed("nothing promised", vec![line(0), line(1)]);
    groups.extend(headed("durable", vec![line(2)]));
    let level = Mark {
        sign: "A".to_owned(),
        ..Mark::new(20.0, MarkKind::Level)
    };
    Rows {
        marks: vec![level],
        legend: vec![LegendEntry::new(
            Key::Mark(MarkKind::Level),
            "A: kvtest, published",
        )],
        ..Rows::new("Throughput against threads", y, groups).across(x)
    }
}

fn heat_maps() -> Vec<Block> {
    let column = |title: &str| Column {
        title: title.to_owned(),
        align: Align::Right,
        weight: 1,
        ..Column::default()
    };
    let cell = |ratio: f64| Cell {
        sign: Some(match ratio {
            r if r > 1.1 => Sign::Above,
            r if r < 0.9 => Sign::Below,
            _ => Sign::Even,
        }),
        shade: shade::shade(ratio),
        help: "10 rounds".to_owned(),
        ..Cell::number(ratio, format!("{ratio:.2}"))
    };
    let row = |page: &str, ratios: [f64; 5]| Row {
        cells: [Cell::text(page)]
            .into_iter()
            .chain(ratios.map(cell))
            .collect(),
    };
    let table = Table {
        caption: "Matrix".to_owned(),
        columns: [
            "page size",
            "10 KiB",
            "20 KiB",
            "50 KiB",
            "100 KiB",
            "200 KiB",
        ]
        .map(column)
        .into(),
        rows: vec![
            row("1024", [1.6, 1.3, 1.0, 0.7, 0.4]),
            row("4096", [1.7, 1.4, 1.1, 0.8, 0.5]),
        ],
        is_heat_map: true,
    };
    let map = |title: &str| Section::new(title, vec![table.clone().into()]);
    let signs = legend(
        &[Sign::Above, Sign::Even, Sign::Below],
        "SQLite",
        "files",
        "5%",
    );
    let shades = LegendEntry::new(Key::Shades, "each shade begins at its number");
    let rules = bullets([
        "Up to 20 KiB, SQLite is faster.",
        "From 100 KiB on, files are.",
    ]);
    let maps = vec![map("This machine"), map("Published: invented")];
    let legend = Content::Legend(signs.into_iter().chain([shades]).collect());
    let rules = Section::new("Rules of thumb", rules.into_iter().collect());
    vec![Section::columns(maps).into(), legend.into(), rules.into()]
}

/// Two planes side by side; the second last point of each has no data.
pub(crate) fn sizes() -> Vec<Block> {
    let signs = [
        Sign::Above,
        Sign::JustAbove,
        Sign::Even,
        Sign::JustBelow,
        Sign::Nothing,
        Sign::Below,
    ];
    let heights = [2.23, 1.5, 1.01, 0.8, 0.5, 0.27].into_iter().zip(signs);
    let places = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0].into_iter();
    let points = places.zip(heights).map(|(x, (y, sign))| ChartRow {
        shape: Shape::Point,
        sign: Some(sign),
        ..point(x, y)
    });
    let mut points: Vec<ChartRow> = points.collect();
    points[4].value = None;
    let (x, y) = (
        Scale::logarithmic(1.0, 1024.0),
        Scale::logarithmic(0.2, 3.0),
    );
    let x = Axis::new("size", x, x.size_ticks(), |at| format!("{at} KiB"));
    let y = Axis::new("files over SQLite", y, y.fine_ticks(), |tick| {
        format!("{tick}")
    });
    let marks = [
        (1.0, MarkKind::Reference),
        (0.8, MarkKind::Edge),
        (1.25, MarkKind::Edge),
    ];
    let plane = Rows {
        across: Some(Across {
            axis: x,
            ends: Some(("SQLite faster".to_owned(), "files faster".to_owned())),
            unclaimed: Some((4.0, 64.0)),
        }),
        marks: marks.map(|(at, kind)| Mark::new(at, kind)).into(),
        ..Rows::new(
            "By size",
            y,
            headed("One thread", vec![RowGroup::of("", points)]),
        )
    };
    let figure = |id: &str, title: &str| {
        let blocks = vec![
            paragraph(strong("Faster up to 4 KiB: SQLite.")),
            notice("Nothing is claimed at 256 KiB."),
            plane.clone().into(),
            folded("All 6 ratios", table()).at(Detail::Full),
        ];
        Section::figure(id, title, blocks)
    };
    let keys = [
        (Key::Sign(Sign::Above), "SQLite faster"),
        (
            Key::Band,
            "0.8 and 1.25, between which no difference matters",
        ),
        (Key::Point(Sign::Below), "files faster"),
        (Key::Unclaimed, "nothing is claimed"),
    ];
    let keys = keys.map(|(key, text)| LegendEntry::new(key, text));
    let figures = vec![
        figure("size-a", "With pages of 1 KiB"),
        figure("size-b", ""),
    ];
    vec![
        Section::columns(figures).into(),
        Content::Legend(keys.into()).into(),
    ]
}

pub(crate) fn why() -> Section {
    let time = |ns: f64| Value::new(ns, Unit::Time).between(ns - 200.0, ns + 200.0);
    let piece = |from: f64, to: f64, fill, label: &str| ChartRow {
        shape: Shape::Piece(from, fill),
        ..ChartRow::bar(label, Some(time(to - from)), fill)
    };
    let rows = vec![
        piece(
            0.0,
            2_900.0,
            Fill::Ours,
            "one read of a file that stays open",
        ),
        piece(2_900.0, 6_500.0, Fill::Ours, "open and close"),
        piece(6_500.0, 6_300.0, Fill::Uncertain, "what no step explains"),
        ChartRow::bar("the whole", Some(time(6_300.0)), Fill::Reference),
    ];
    let group = RowGroup {
        title: "A read of a file".to_owned(),
        rows,
        ..RowGroup::default()
    };
    let scale = Scale::linear(6_600.0);
    let axis = Axis::new("", scale, scale.ticks(), |tick| Unit::Time.tick(tick));
    let holds = Item {
        title: plain("Opening costs more than reading"),
        note: plain("Open and close: 3.60 µs of 6.30 µs."),
        ..Item::of("the claim")
    };
    let claims = vec![holds.with_badge("holds", Tone::Good), Item::of("No badge")];
    let drawn = vec![Rows::new("Steps", axis, vec![group]).into()];
    let figure = Section::figure("ladder", "Step by step", drawn);
    Section::new("Reads", vec![Content::List(claims).into(), figure.into()])
}

fn texts() -> Vec<Block> {
    let tones = [
        Tone::Plain,
        Tone::Strong,
        Tone::Faint,
        Tone::Good,
        Tone::Bad,
        Tone::Warning,
    ];
    let all = tones.map(|tone| toned(format!("{tone:?} "), tone));
    let panel = Section::new("A panel", vec![paragraph("It says something.")]);
    let blocks = [
        paragraph(all.into_iter().fold(Text::default(), Text::then)),
        panel.into(),
        paragraph("Seen by those who ask for everything.").at(Detail::Full),
        files(2),
    ];
    blocks
        .into_iter()
        .chain(bullets(["The clock is coarse."]))
        .collect()
}

fn environment() -> Vec<Block> {
    let link = plain("sqlite.org").linked("https://sqlite.org/a(b)");
    let empty = vec![paragraph("everything").at(Detail::Full)];
    vec![
        facts([("processor", "made up, 2 cores"), ("file system", "ext4")]),
        paragraph(plain("Published at ").then(link)),
        Section {
            look: Look::Finding,
            ..Section::new("Method", vec![paragraph("In rounds.")])
        }
        .into(),
        files(1),
        Section::new("Empty, so without a heading", empty).into(),
    ]
}

fn files(count: usize) -> Block {
    let file = |index: usize| File {
        of: format!("machine {index}"),
        name: format!("result-{index}.jsonl"),
        content: "{}\n".repeat(100),
    };
    Content::Files((0..count).map(file).collect()).into()
}
