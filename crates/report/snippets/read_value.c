/* cc read_value.c -lsqlite3; ./a.out ARCHIVE NAME: writes the value of NAME, stored as it is, to stdout. */
#include <sqlite3.h>
#include <stdio.h>

int main(int argc, char **argv) {
    sqlite3 *db;
    sqlite3_stmt *get;
    if (argc < 3 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, 0)) return 2;
    if (sqlite3_exec(db, "BEGIN", 0, 0, 0)) return 2; /* Before many reads: one transaction, until COMMIT. */
    if (sqlite3_prepare_v2(db, "SELECT data FROM sqlar WHERE name = ?1", -1, &get, 0)) return 2;
    sqlite3_bind_text(get, 1, argv[2], -1, SQLITE_STATIC);
    if (sqlite3_step(get) != SQLITE_ROW) return 1;
    fwrite(sqlite3_column_blob(get, 0), 1, (size_t)sqlite3_column_bytes(get, 0), stdout);
    return sqlite3_finalize(get) || sqlite3_close(db);
}
