// With the crate rusqlite. The value of a name that is stored as it is.
fn read_value(archive: &str, name: &str) -> rusqlite::Result<Vec<u8>> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let archive = rusqlite::Connection::open_with_flags(archive, flags)?;
    archive.execute_batch("BEGIN")?; // Before many reads: one transaction, until COMMIT.
    let mut get = archive.prepare_cached("SELECT data FROM sqlar WHERE name = ?1")?;
    get.query_row([name], |row| row.get(0))
}
