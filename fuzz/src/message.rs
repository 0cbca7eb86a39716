//! Lines of the worker protocol.

use stowplan_model::{
    BlockTask, CellId, FromWorker, Job, Measurement, Settings, Task, ToWorker, Workload, encode,
};

pub(crate) fn look(data: &[u8]) {
    stowplan_model::hostile::message(&String::from_utf8_lossy(data));
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let job = |task| {
        encode(&ToWorker::Prepare(Job {
            cell: CellId("read/sql".to_owned()),
            store: "sqlite:journal=wal".parse().expect("a spec"),
            workload: Workload::default(),
            instance: "/w/i".into(),
            dataset: Some("/w/d".into()),
            versions: None,
            task,
        }))
    };
    let block = r#"{"block":"latency","sequence":"/s","first":1,"lead_in":2,"operations":3,"version":4,"round":5,"position":6}"#;
    let block: BlockTask = serde_json::from_str(block).expect("a task");
    let hello = r#"{"hello":{"protocol":"stowplan-worker","version":3,"tool":"0.1.0"}}"#;
    let lines = [
        job(Task::Verify),
        job(Task::Build),
        job(Task::Measure(block)),
        encode(&ToWorker::Go),
        hello.to_owned(),
        encode(&FromWorker::Measured(Measurement::default())),
        encode(&FromWorker::Ready {
            effective: Settings::default(),
        }),
        encode(&FromWorker::Failed {
            message: "a\nb".to_owned(),
        }),
        encode(&FromWorker::Progress {
            done: 1,
            total: u64::MAX,
        }),
    ];
    lines.map(String::into_bytes).to_vec()
}
