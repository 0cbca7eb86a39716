use super::*;
use stowplan_dataset::sequence::write_steps;
use stowplan_model::{
    At, Describe, Inspect, Operation, PayloadSource, Rest, Run, Share, Want, Workload, decode,
    encode,
};
use stowplan_stores::registry::BUILT_IN;

/// What the driver says when it hears these lines and then nothing more.
fn talk(lines: &str) -> (Result<()>, Vec<FromDriver>) {
    let mut output = Vec::new();
    let ended = serve(&mut lines.as_bytes(), &mut output, "test", BUILT_IN);
    let text = String::from_utf8(output).unwrap();
    (
        ended,
        text.lines().map(|line| decode(line).unwrap()).collect(),
    )
}

/// What it says after its greeting.
fn after_hello(messages: &[ToDriver]) -> Vec<FromDriver> {
    let lines: String = messages.iter().map(|m| encode(m) + "\n").collect();
    let (ended, mut said) = talk(&lines);
    ended.unwrap();
    assert!(matches!(said.remove(0), FromDriver::Hello { .. }));
    said
}

#[test]
fn a_driver_greets_with_the_protocol_and_ends_when_told_or_left_alone() {
    for lines in ["", "\"bye\"\n"] {
        let (ended, said) = talk(lines);
        ended.unwrap();
        let [
            FromDriver::Hello {
                protocol, version, ..
            },
        ] = &said[..]
        else {
            panic!("{said:?}");
        };
        assert_eq!((protocol.as_str(), *version), ("stowplan-driver", 4));
    }
}

#[test]
fn garbage_ends_a_driver_with_the_line_it_heard() {
    for line in ["dance", "{\"run\":{}}", "\"go \"", ""] {
        let (ended, said) = talk(&format!("{line}\n"));
        let message = ended.unwrap_err().to_string();
        assert!(message.starts_with("not a message"), "{message}");
        assert!(message.ends_with(line), "{message}");
        assert_eq!(said.len(), 1, "it had greeted before, and says no more");
    }
}

#[test]
fn go_before_a_block_is_an_error() {
    let (ended, said) = talk("\"go\"\n");
    let message = ended.unwrap_err().to_string();
    assert_eq!(message, "'go' came before 'run'");
    assert_eq!(said.len(), 1);
}

#[test]
fn a_driver_whose_parent_does_not_listen_is_an_error() {
    struct Deaf;
    impl Write for Deaf {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let message = serve(&mut "\"bye\"\n".as_bytes(), &mut Deaf, "test", BUILT_IN).unwrap_err();
    assert!(message.to_string().contains("parent"), "{message}");
}

#[test]
fn an_unknown_store_fails_with_the_nearest_one() {
    let said = after_hello(&[ToDriver::Create(At {
        store: "fiels".parse().unwrap(),
        place: "/nowhere".into(),
    })]);
    let [FromDriver::Failed { message }] = &said[..] else {
        panic!("{said:?}");
    };
    assert!(message.contains("unknown store 'fiels'"), "{message}");
    assert!(message.contains("did you mean 'files'?"), "{message}");
}

#[test]
fn what_there_is_and_what_a_store_can_do_is_told_one_after_the_other() {
    let of = |store: &str| {
        ToDriver::Describe(Describe {
            store: Some(store.parse().unwrap()),
            workload: None,
        })
    };
    let kinds = ToDriver::Describe(Describe::default());
    let said = after_hello(&[
        kinds,
        of("flat"),
        of("files:write=in-place,fsync=directory"),
    ]);
    let [
        FromDriver::Described(kinds),
        FromDriver::Described(flat),
        FromDriver::Described(wrong),
    ] = &said[..]
    else {
        panic!("{said:?}");
    };
    let sqlite = kinds
        .kinds
        .iter()
        .find(|kind| kind.name == "sqlite")
        .unwrap();
    assert!(
        sqlite
            .settings
            .iter()
            .any(|setting| setting.name == "journal")
    );
    assert!(kinds.kinds.iter().any(|kind| kind.name == "null"));
    assert!(flat.capabilities.as_ref().unwrap().persistent);
    let why = wrong.refused.as_ref().unwrap();
    assert!(why.contains("write=rename"), "{why}");
}

#[test]
fn a_store_that_came_to_rest_is_opened_again_for_what_follows() {
    let place = tempfile::tempdir().unwrap();
    let at = At {
        store: "sqlite".parse().unwrap(),
        place: place.path().to_owned(),
    };
    let inspect = ToDriver::Inspect(Inspect {
        at: at.clone(),
        keys: None,
        want: vec![Want::Footprint, Want::PageFill],
    });
    let rest = || ToDriver::Rest(Rest { checkpoint: true });
    let said = after_hello(&[ToDriver::Create(at), rest(), rest(), inspect, ToDriver::Bye]);
    let [
        FromDriver::Done,
        FromDriver::Done,
        FromDriver::Done,
        FromDriver::Inspected(found),
    ] = &said[..]
    else {
        panic!("{said:?}");
    };
    assert!(
        found
            .footprint
            .is_some_and(|footprint| footprint.files == 1)
    );
}

#[test]
fn values_that_are_drawn_one_by_one_are_not_inserted_several_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let sequence = place.path().join("sequence");
    let workload = Workload {
        operation: Operation::Insert,
        rows_per_statement: Some(3),
        ..Workload::default()
    };
    write_steps(&sequence, 9, &workload, 9, 0, |_| 10).unwrap();
    let at = At {
        store: "null".parse().unwrap(),
        place: place.path().to_owned(),
    };
    let run = ToDriver::Run(Run {
        at: at.clone(),
        workload,
        threads: vec![Share {
            sequence,
            operations: 9,
            ..Share::default()
        }],
        payloads: PayloadSource::Timed,
        largest: 0,
        counting: false,
    });
    let said = after_hello(&[ToDriver::Create(at), run]);
    let [FromDriver::Done, FromDriver::Failed { message }] = &said[..] else {
        panic!("{said:?}");
    };
    assert!(message.contains("several at a time"), "{message}");
}
