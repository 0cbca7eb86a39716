//! Databases that somebody else made, as the verbs of kvtest look at them.

use crate::shared::in_directory;

pub(crate) fn look(data: &[u8]) {
    in_directory(|directory| {
        for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
            std::fs::remove_file(entry.path()).expect("removed");
        }
        let path = directory.join("x.db");
        std::fs::write(&path, data).expect("written");
        stowplan_kvtest::hostile::database(&path);
    });
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let values =
        "INSERT INTO kv VALUES(1, x''), (2, 'text'), (7, zeroblob(900)), (8, randomblob(40))";
    let tables = [
        "k INTEGER PRIMARY KEY, v BLOB",
        "k INTEGER PRIMARY KEY, v BLOB UNIQUE",
        "k INTEGER PRIMARY KEY, v",
    ];
    let made = |table| {
        in_directory(|directory| {
            let path = directory.join("seed.db");
            let connection = rusqlite::Connection::open(&path).expect("opened");
            let sql = format!("PRAGMA page_size=512; CREATE TABLE kv({table}); {values}");
            connection.execute_batch(&sql).expect("made");
            drop(connection);
            let bytes = std::fs::read(&path).expect("read");
            std::fs::remove_file(&path).expect("removed");
            bytes
        })
    };
    tables.map(made).to_vec()
}
