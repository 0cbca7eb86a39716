"""A B-tree of Berkeley DB in a transactional environment, under keys of 8 bytes, the highest first."""
import os, struct
from berkeleydb import db
from stowplan_driver import Store, Wrong, setting

PACK = struct.Struct(">Q").pack
COMMITS = {"sync": 0, "write-nosync": db.DB_TXN_WRITE_NOSYNC, "nosync": db.DB_TXN_NOSYNC}
# A transaction locks each page that it visits until it ends; the default, 1,000, ends at some thousand values.
LOCKS = 200_000

class BerkeleyDb(Store):
    name, about = "berkeleydb", "a B-tree in an environment with transactions, through berkeleydb"
    engine = [f"berkeleydb {db.__version__}, Berkeley DB", ".".join(map(str, db.version()))]
    settings = [
        setting("commit", {"choice": list(COMMITS)}, "sync",
                "what becomes of the log by a commit: written and synced, written (DB_TXN_WRITE_NOSYNC), or left in memory (DB_TXN_NOSYNC)"),
        setting("cache", {"bytes": {"min": 65_536, "max": 1 << 40}}, 262_144,
                "memory of the cache, in all"),
        setting("page_size", {"bytes": {"min": 512, "max": 65_536, "power_of_two": True}}, 4096,
                "size of a database page (set_pagesize)", shapes_layout=True),
    ]
    can = {**Store.can, "largest_value": (1 << 32) - 1}

    @classmethod
    def durability(cls, settings):
        # Recovery does not mend a page of which a part was written: those of the system are written whole.
        torn = settings["page_size"] > 4096
        kept = "process-crash" if torn else "durable" if settings["commit"] == "sync" else "consistent"
        return kept, True, settings["commit"] == "nosync"

    def __init__(self, place, settings, new):
        if not new and not os.path.exists(os.path.join(place, "kv.db")):
            raise Wrong(f"there is no Berkeley DB database in {place}")
        self.environment, self.open = db.DBEnv(), None
        environment = self.environment
        # Berkeley DB adds a quarter to a cache of less than 500 MB (DB_ENV->set_cachesize).
        cache = settings["cache"] // 5 * 4 if settings["cache"] < 500_000_000 else settings["cache"]
        environment.set_cachesize(cache >> 30, cache & ((1 << 30) - 1), 1)
        environment.set_lk_max_locks(LOCKS)
        environment.set_lk_max_objects(LOCKS)
        environment.set_flags(db.DB_AUTO_COMMIT, 1)
        if COMMITS[settings["commit"]]:
            environment.set_flags(COMMITS[settings["commit"]], 1)
        environment.log_set_config(db.DB_LOG_AUTO_REMOVE, 1)
        # As a program does that has the environment for itself: recovered when it is opened, its regions in memory.
        environment.open(place, db.DB_CREATE | db.DB_RECOVER | db.DB_PRIVATE | db.DB_INIT_MPOOL | db.DB_INIT_LOG
                         | db.DB_INIT_LOCK | db.DB_INIT_TXN)
        self.table = db.DB(environment)
        self.table.set_pagesize(settings["page_size"])
        self.table.open("kv.db", dbtype=db.DB_BTREE, flags=db.DB_CREATE)

    def begin(self, writes):
        self.open = self.environment.txn_begin()

    def commit(self):
        transaction, self.open = self.open, None
        transaction.commit()

    def read(self, key):
        return self.table.get(PACK(key), txn=self.open)

    def insert(self, key, value):
        self.table.put(PACK(key), value, txn=self.open, flags=db.DB_NOOVERWRITE)

    def overwrite(self, key, value):
        key = PACK(key)
        if not self.table.exists(key, txn=self.open):
            return False
        self.table.put(key, value, txn=self.open)
        return True

    def delete(self, key):
        try:
            self.table.delete(PACK(key), txn=self.open)
        except db.DBNotFoundError:
            return False
        return True

    def scan(self, key, most):
        cursor = self.table.cursor(self.open)
        found, item = [], cursor.set_range(PACK(key))
        while item:
            found.append(item[1])
            item = cursor.next() if len(found) < most else None
        cursor.close()
        return found

    def effective(self):
        flags = self.environment.get_flags()
        commit = next((word for word, flag in COMMITS.items() if flag and flags & flag), "sync")
        gigabytes, rest, _ = self.environment.get_cachesize()
        return {"commit": commit, "cache": (gigabytes << 30) + rest, "page_size": self.table.stat(db.DB_FAST_STAT)["pagesize"], "version": self.engine[1]}

    def checkpoint(self):
        self.environment.txn_checkpoint(0, 0, db.DB_FORCE)
        self.environment.log_archive(db.DB_ARCH_REMOVE)

    def close(self):
        self.table.close()
        self.environment.close()

KIND = BerkeleyDb
