# python3 read_value.py ARCHIVE NAME: writes the value of NAME to stdout.
import sqlite3, sys, zlib

archive = sqlite3.connect(sys.argv[1])
archive.execute("BEGIN")  # Before many reads: one transaction for all, until COMMIT.
row = archive.execute("SELECT sz, data FROM sqlar WHERE name = ?", (sys.argv[2],)).fetchone()
if row is None:
    sys.exit("there is no " + sys.argv[2])
size, data = row
# Data shorter than its size is deflated.
sys.stdout.buffer.write(data if size == len(data) else zlib.decompress(data))
