# Reads values from files and from a database, as programs in Python do; prints what a read took, in nanoseconds: of
# files, rows, rows in one transaction, and, up to LIMIT bytes, of rows with larger values in files; a round a line.
import os, random, sqlite3, sys, time

database, directory, cache, limit, order, rounds, visited = sys.argv[1:]
limit, rounds, visited = int(limit), int(rounds), int(visited)
SELECT = "SELECT sz, data FROM sqlar WHERE name = ?"
archive = sqlite3.connect(database)
archive.execute("PRAGMA cache_size=-" + cache)


def from_files(values):
    for key, path, size in values:
        with open(path, "rb") as file:
            file.read()


def from_rows(values):
    for key, path, size in values:
        archive.execute(SELECT, (key,)).fetchone()


def in_one_transaction(values):
    archive.execute("BEGIN")
    from_rows(values)
    archive.execute("COMMIT")


def split(values):
    for key, path, size in values:
        # The row that is looked for first is not there.
        wanted = key if size <= limit else absent[key]
        if archive.execute(SELECT, (wanted,)).fetchone() is None:
            with open(path, "rb") as file:
                file.read()


archive.text_factory = lambda name: name.decode(errors="replace")
rows = archive.execute("SELECT name, sz FROM sqlar ORDER BY name")
values = [(key, os.path.join(directory, str(key)), size) for key, size in rows if "\ufffd" not in str(key)]
absent = {key: -1 - key if isinstance(key, int) else key + " " for key, _, _ in values}
visited = min(visited, len(values) // 2)
readers = [from_files, from_rows, in_one_transaction] + [split] * (limit > 0)
random.seed(1)
# What all have read is in memory.
from_files(values)
from_rows(values)
for number in range(rounds):
    took = {}
    start = random.randrange(len(values) - visited)
    # Others than these are read first: SQLite's cache is that of a connection in use.
    chosen = random.sample(values, 2 * visited) if order == "random" else values[start:] + values[:start]
    for reader in readers if number % 2 else readers[::-1]:
        reader(chosen[visited : visited + visited // 10])
        began = time.perf_counter_ns()
        reader(chosen[:visited])
        took[reader] = (time.perf_counter_ns() - began) / visited
    print(*(took[reader] for reader in readers))
