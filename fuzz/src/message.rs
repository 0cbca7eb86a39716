//! Lines of the driver protocol.

use stowplan_model::{
    At, Describe, Dump, FromDriver, Inspected, Load, Measured, Rest, Settings, ToDriver, encode,
};

pub(crate) fn look(data: &[u8]) {
    stowplan_model::hostile::message(&String::from_utf8_lossy(data));
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let at = At {
        store: "sqlite:journal=wal".parse().expect("a spec"),
        place: "/w/i".into(),
    };
    let run = r#"{"run":{"store":"flat","place":"/i","workload":{"operation":"mix","order":"zipfian","per_transaction":"all","delivery":"copy","cache":"warm","operations":null,"mix":{"read":9,"scan":1},"scan_rows":5,"threads":2},"threads":[{"sequence":"/s","first":0,"lead_in":1,"operations":9,"payloads":{"values":"/v","offsets":"/o"},"parts":[4,5],"latencies":"/l"}],"payloads":"timed","largest":7,"counting":false}}"#;
    let kinds = r#"{"described":{"kinds":[{"name":"kv","settings":[{"name":"cache","kind":{"bytes":{"min":1,"max":9}},"default":"3"}]}],"refused":"no"}}"#;
    let hello = r#"{"hello":{"protocol":"stowplan-driver","version":4,"tool":"0.1.0"}}"#;
    let lines = [
        run.to_owned(),
        kinds.to_owned(),
        hello.to_owned(),
        encode(&ToDriver::Describe(Describe::default())),
        encode(&ToDriver::Create(at.clone())),
        encode(&ToDriver::Load(Load {
            at: at.clone(),
            dataset: "/w/d".into(),
            first: 1,
            count: u64::MAX,
        })),
        encode(&ToDriver::Dump(Dump {
            at,
            keys: "/k".into(),
            to: "/t".into(),
            delivery: Default::default(),
        })),
        encode(&ToDriver::Rest(Rest { checkpoint: true })),
        encode(&ToDriver::Go),
        encode(&FromDriver::Measured(Measured::default())),
        encode(&FromDriver::Inspected(Inspected::default())),
        encode(&FromDriver::Ready {
            effective: Settings::default(),
        }),
        encode(&FromDriver::Failed {
            message: "a\nb".to_owned(),
        }),
        encode(&FromDriver::Progress {
            done: 1,
            total: u64::MAX,
        }),
    ];
    lines.map(String::into_bytes).to_vec()
}
