"""The same through APSW, a thin layer above SQLite's own interface; it brings an SQLite of its own."""
import apsw
from stowplan_stores.sqlite import Sqlite

class Apsw(Sqlite):
    name, about = "apsw", "a table of an SQLite database, through APSW"
    engine = [f"APSW {apsw.apsw_version()}, SQLite", apsw.sqlite_lib_version()]

    def connect(self, path, kept):
        return apsw.Connection(path, statementcachesize=kept)

    def overwrite(self, key, value):
        self.run("UPDATE kv SET v=? WHERE k=?", (value, key))
        return self.db.changes() == 1

    def delete(self, key):
        self.run("DELETE FROM kv WHERE k=?", (key,))
        return self.db.changes() == 1

KIND = Apsw
