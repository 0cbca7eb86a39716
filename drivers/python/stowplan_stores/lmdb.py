"""The unnamed database of an LMDB environment through py-lmdb, under keys of 8 bytes, the highest first."""
import ctypes, os, struct
from contextlib import suppress
from itertools import islice
import lmdb
from stowplan_driver import Store, Wrong, setting

PACK = struct.Struct(">Q").pack
MADV_POPULATE_READ = 22  # linux/mman.h; the module mmap has it for its own mappings only

class Lmdb(Store):
    name, about = "lmdb", "the unnamed database of an LMDB environment, through py-lmdb"
    engine = [f"py-lmdb {lmdb.__version__}, LMDB", ".".join(map(str, lmdb.version()))]
    settings = [
        setting("sync", {"choice": ["full", "no-meta", "none", "map-async"]}, "full",
                "what a commit syncs: data and meta page, data (NOMETASYNC), nothing (NOSYNC), or asynchronously (MAPASYNC)"),
        setting("write_map", "flag", "off", "write into the memory map instead of by pwrite (WRITEMAP)"),
        setting("read_ahead", "flag", "on", "whether the system reads ahead of a page fault (off: NORDAHEAD)"),
        setting("map_size", {"bytes": {"min": 64 << 20, "max": 1 << 46, "power_of_two": True}}, 64 << 30,
                "the most that the database can hold: addresses, not memory or disk space"),
    ]
    can = {**Store.can, "mapped": True, "largest_value": (1 << 32) - 1}

    @classmethod
    def refused(cls, settings):
        if settings["sync"] == "map-async" and not settings["write_map"]:
            return "with sync=map-async, set write_map=on: only a map that is written to can be synced"

    @classmethod
    def durability(cls, settings):
        # Without its meta page the last transaction may be undone; unsynced pages reach the disk in any order.
        kept = {"full": "durable", "no-meta": "consistent", "none": "process-crash", "map-async": "process-crash"}
        return kept[settings["sync"]], True, False

    def __init__(self, place, settings, new):
        if not new and not os.path.exists(os.path.join(place, "data.mdb")):
            raise Wrong(f"there is no LMDB environment in {place}")
        sync = settings["sync"]
        self.environment = lmdb.open(
            place, map_size=settings["map_size"], sync=sync != "none", metasync=sync != "no-meta",
            map_async=sync == "map-async", writemap=settings["write_map"], readahead=settings["read_ahead"])
        self.open = None

    def enter(self):
        advise = ctypes.CDLL(None).madvise
        with suppress(FileNotFoundError), open("/proc/self/maps") as maps:
            for line in maps:
                if f" {os.path.realpath(self.environment.path())}/" in line:
                    start, end = (int(at, 16) for at in line.split()[0].split("-"))
                    # Where the kernel refuses, reads do it.
                    advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_POPULATE_READ)

    def begin(self, writes):
        self.open = self.environment.begin(write=writes)
        self.cursor = self.open.cursor()

    def commit(self):
        transaction, self.open, self.cursor = self.open, None, None
        transaction.commit()

    def alone(self, writes, operation, *arguments):
        """Does an operation in a transaction of its own."""
        self.begin(writes)
        done = operation(*arguments)
        self.commit()
        return done

    def read(self, key):
        if self.open is None:
            return self.alone(False, self.read, key)
        return self.open.get(PACK(key))

    def insert(self, key, value):
        if self.open is None:
            return self.alone(True, self.insert, key, value)
        if not self.open.put(PACK(key), value, overwrite=False):
            raise Wrong(f"lmdb: value {key} is there already")

    def overwrite(self, key, value):
        if self.open is None:
            return self.alone(True, self.overwrite, key, value)
        key = PACK(key)
        return self.cursor.set_key(key) and self.open.put(key, value)

    def delete(self, key):
        if self.open is None:
            return self.alone(True, self.delete, key)
        return self.open.delete(PACK(key))

    def scan(self, key, most):
        if self.open is None:
            return self.alone(False, self.scan, key, most)
        there = self.cursor.set_range(PACK(key))
        return list(islice(self.cursor.iternext(keys=False), most)) if there else []

    def effective(self):
        flags = self.environment.flags()
        sync = "map-async" if flags["map_async"] else "none" if not flags["sync"] else \
            "full" if flags["metasync"] else "no-meta"
        return {"sync": sync, "write_map": flags["writemap"], "read_ahead": flags["readahead"],
                "map_size": self.environment.info()["map_size"], "version": self.engine[1]}

    def close(self):
        self.environment.close()

KIND = Lmdb
