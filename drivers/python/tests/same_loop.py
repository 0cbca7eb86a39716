"""The loops that `same_loop_check` has the driver do, written without it: sqlite3 and two readings of the clock.

same_loop.py read|insert DATABASE VALUES BYTES OPERATIONS SEED: prints nanoseconds per operation, by the wall and
less the time that the thread waited for a CPU.

read: OPERATIONS of the VALUES of a database (a table kv of k and v) in random order, in one transaction, after 500
others. insert: OPERATIONS values into a new database, in one transaction whose commit is in the time."""
import os, random, sqlite3, sys, time

def waited():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1])

def connect(path):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA page_size=4096")
    db.execute("PRAGMA cache_size=-2000")
    db.execute("PRAGMA synchronous=off")
    return db

def inserted(db, values, bytes):
    db.execute("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)")
    rows = [(key, os.urandom(bytes)) for key in range(1, values + 1)]
    waiting, start = waited(), time.perf_counter_ns()
    db.execute("BEGIN IMMEDIATE")
    for row in rows:
        db.execute("INSERT INTO kv VALUES(?,?)", row)
    db.execute("COMMIT")
    return time.perf_counter_ns() - start, waited() - waiting

def read(db, keys, bytes):
    waiting, start = waited(), time.perf_counter_ns()
    db.execute("BEGIN")
    for key in keys:
        value, = db.execute("SELECT v FROM kv WHERE k=?", (key,)).fetchone()
        if len(value) != bytes:
            raise SystemExit(f"value {key} has {len(value)} bytes")
    db.execute("COMMIT")
    return time.perf_counter_ns() - start, waited() - waiting

def main(loop, path, values, bytes, operations, seed):
    db = connect(path)
    if loop == "insert":
        return inserted(db, operations, bytes)
    keys = [*range(1, values + 1)]
    random.Random(seed).shuffle(keys)
    read(db, keys[operations:operations + 500], bytes)
    return read(db, keys[:operations], bytes)

if __name__ == "__main__":
    loop, path, *numbers = sys.argv[1:]
    values, bytes, operations, seed = map(int, numbers)
    wall, waiting = main(loop, path, values, bytes, operations, seed)
    print(wall / operations, (wall - waiting) / operations)
