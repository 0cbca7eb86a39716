"""A table of an SQLite database through Python's own sqlite3, which keeps statements prepared by their text."""
import os, platform, sqlite3
from stowplan_driver import Store, Wrong, setting

SYNCHRONOUS = ["off", "normal", "full", "extra"]

class Sqlite(Store):
    name, about = "sqlite", "a table of an SQLite database, through Python's sqlite3"
    engine = [f"sqlite3 of Python {platform.python_version()}, SQLite", sqlite3.sqlite_version]
    settings = [
        setting("journal", {"choice": ["delete", "wal", "off"]}, "delete", "PRAGMA journal_mode"),
        setting("synchronous", {"choice": SYNCHRONOUS}, "full", "PRAGMA synchronous"),
        setting("cache", {"bytes": {"min": 65_536, "max": 1 << 40}}, 2_048_000,
                "SQLite's own page cache (PRAGMA cache_size, in KiB)"),
        setting("page_size", {"bytes": {"min": 512, "max": 65_536, "power_of_two": True}}, 4096,
                "size of a database page", shapes_layout=True),
        setting("statement", {"choice": ["prepared", "each"]}, "prepared",
                "whether statements are kept by the module's cache, or prepared for each operation"),
    ]
    can = {**Store.can, "largest_value": 1_000_000_000}

    @classmethod
    def durability(cls, settings):
        journal, synchronous = settings["journal"], settings["synchronous"]
        if journal == "off":
            return "none", False, False
        # An unlinked journal may come back and undo a commit; with NORMAL its records and its header are
        # synced together, so that it may be torn.
        kept = {"off": "process-crash", "extra": "durable", "full": "durable" if journal == "wal" else "consistent",
                "normal": "consistent" if journal == "wal" else "process-crash"}
        return kept[synchronous], True, False

    def connect(self, path, kept):
        return sqlite3.connect(path, isolation_level=None, cached_statements=kept)

    def __init__(self, place, settings, new):
        path = os.path.join(place, "python.db")
        if not new and not os.path.exists(path):
            raise Wrong(f"there is no database {path}")
        self.db = self.connect(path, 128 if settings["statement"] == "prepared" else 0)
        self.run = self.db.execute
        self.run(f"PRAGMA page_size={settings['page_size']}")
        self.run(f"PRAGMA cache_size={-settings['cache'] // 1024}")
        self.pragma(f"journal_mode={settings['journal']}")
        self.run(f"PRAGMA synchronous={settings['synchronous']}")
        self.run("PRAGMA secure_delete=off")  # Debian's library overwrites what is freed, others do not.
        if new:
            self.run("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)")

    def pragma(self, text):
        return self.run(f"PRAGMA {text}").fetchone()[0]

    def begin(self, writes):
        self.run("BEGIN IMMEDIATE" if writes else "BEGIN")

    def commit(self):
        self.run("COMMIT")

    def read(self, key):
        row = self.run("SELECT v FROM kv WHERE k=?", (key,)).fetchone()
        return None if row is None else row[0]

    def insert(self, key, value):
        self.run("INSERT INTO kv VALUES(?,?)", (key, value))

    def overwrite(self, key, value):
        return self.run("UPDATE kv SET v=? WHERE k=?", (value, key)).rowcount == 1

    def delete(self, key):
        return self.run("DELETE FROM kv WHERE k=?", (key,)).rowcount == 1

    def scan(self, key, most):
        return (value for value, in self.run("SELECT v FROM kv WHERE k>=? ORDER BY k LIMIT ?", (key, most)))

    def effective(self):
        version, = self.run("SELECT sqlite_version()").fetchone()
        return {"journal": self.pragma("journal_mode"), "page_size": self.pragma("page_size"),
                "synchronous": SYNCHRONOUS[self.pragma("synchronous")],
                "cache": self.pragma("cache_size") * -1024, "version": version}

    def checkpoint(self):
        self.run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self):
        self.db.close()

KIND = Sqlite
