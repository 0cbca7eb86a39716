"""The driver protocol of Stowplan for stores in Python; docs/driver-format.md says what each message means.

A kind of store is a subclass of `Store`, and `serve` is the whole program. Nothing but the standard library."""
import gc, json, mmap, os, resource, struct, sys, time
from array import array
from contextlib import suppress
from pathlib import Path

READ, OVERWRITE, MODIFY, INSERT, DELETE, SCAN = range(6)
RECORD = struct.Struct("<QIHH")
NO_VALUE = struct.pack("<Q", (1 << 64) - 1)
LOADED_AT_ONCE = 1_000
SCHEDSTAT = os.path.exists("/proc/thread-self/schedstat") and os.open("/proc/thread-self/schedstat", os.O_RDONLY)
BETWEEN = object()  # The value of calls that begin and end transactions: no latency is told of them.

class Wrong(Exception):
    """What there is to say about it in one line."""

class Store:
    """One table of values (bytes) under keys (whole numbers), and what its kind is. Of what it can do it has:

    read(key): the value, or None if there is none;
    insert(key, value), which raises where there is one;
    overwrite(key, value) and delete(key): whether there was one;
    scan(key, most): the values of at most so many keys, in their order, from this one on.
    Each is a transaction of its own unless one was begun; `writes` says whether it will write.
    `checkpoint` brings what was written to its resting place; `effective` has settings as the engine tells them.
    `enter` enters the pages of mapped files into the page tables, before warm reads."""
    name, about, engine, settings, keeps_nothing = "", "", None, [], False
    read = insert = overwrite = delete = scan = None
    can = {"operations": ["read", "overwrite", "insert", "delete", "scan", "mix"], "transactions": True}

    @classmethod
    def refused(cls, settings):
        """Why settings exclude each other, and what would do; None where they do not."""

    @classmethod
    def durability(cls, settings):
        """What a write promises: class, atomic, delayed (docs/method.md, "Durability classes")."""
        return "none", False, False

    def __init__(self, place, settings, new):
        """Opens the store in the directory `place`; with `new`, makes it."""

    def begin(self, writes): pass
    def commit(self): pass
    def enter(self): pass
    def effective(self): return {}
    def checkpoint(self): pass
    def close(self): pass

def setting(name, kind, default, help, shapes_layout=False):
    """Describes one; `kind` is "flag", {"choice": […]}, {"bytes": {"min": …, "max": …}} or {"integer": {…}}."""
    return {"name": name, "kind": kind, "default": str(default), "help": help, "shapes_layout": shapes_layout}

def typed(kind, spec):
    """The settings of a store spec, which spells out all of them: bool, int or str."""
    given = dict(pair.split("=", 1) for pair in spec.partition(":")[2].split(",") if pair)
    texts = [(known["name"], known["kind"], given.get(known["name"], known["default"])) for known in kind.settings]
    return {name: text == "on" if form == "flag" else int(text) if {"bytes", "integer"} & set(form) else text
            for name, form, text in texts}

def numbers(path):
    return array("Q", Path(path).read_bytes())

def mapped(path):
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) if os.path.getsize(path) else b""

def actions(store, alone, scanned):
    """What a step does, by its action. A value must be there with its size; `alone`: no transaction is open."""
    read, insert, overwrite, delete, scan = store.read, store.insert, store.overwrite, store.delete, store.scan
    keeps_nothing = store.keeps_nothing

    def wrong(key, why):
        raise Wrong(f"{store.name}: value {key} {why}")

    def reading(key, size, _):
        found = read(key)
        if (found is None or len(found) != size) and not keeps_nothing:
            wrong(key, "is missing" if found is None else f"has {len(found)} bytes instead of {size}")

    def overwriting(key, _, value):
        if not overwrite(key, value):
            wrong(key, "is missing, and was to be overwritten")

    def modifying(key, size, value):
        if alone: store.begin(True)
        reading(key, size, value)
        overwriting(key, size, value)
        if alone: store.commit()

    def deleting(key, _, __):
        if not delete(key):
            wrong(key, "is missing, and was to be deleted")

    def scanning(key, most, _):
        found = [len(value) for value in scan(key, most)]
        if not 1 <= len(found) <= most:
            wrong(key, f"is where a scan began that visited {len(found)} values instead of 1 to {most}")
        scanned.append(sum(found))
    return reading, overwriting, modifying, lambda key, _, value: insert(key, value), deleting, scanning

def prepare(store, workload, share, scanned):
    """The calls of a block, of the lead-in and the timed ones apart, with those that begin and end transactions."""
    sequence, files = mapped(share["sequence"]), share.get("payloads")
    count, = struct.unpack_from("<8xQ", sequence)
    values, offsets = (mapped(files["values"]), numbers(files["offsets"])) if files else (b"", None)
    each, lead_in, total = workload["per_transaction"], share["lead_in"], share["lead_in"] + share["operations"]
    acting = actions(store, each == 1, scanned)
    begin, commit = lambda writes, *_: store.begin(writes), lambda *_: store.commit()
    steps = [RECORD.unpack_from(sequence, 16 + 16 * ((share["first"] + n) % count)) for n in range(total)]

    def calls(first, end):
        size_of_transaction = max(end - first, 1) if each == "all" else each
        for some in range(first, end, size_of_transaction):
            last = min(some + size_of_transaction, end)
            if each != 1:
                yield begin, any(step[2] not in (READ, SCAN) for step in steps[some:last]), 0, BETWEEN
            for n in range(some, last):
                key, size, action, most = steps[n]
                writes = action in (OVERWRITE, MODIFY, INSERT)
                value = values[offsets[n]:offsets[n] + size] if writes else None
                yield acting[action], key, most if action == SCAN else size, value
            if each != 1:
                yield commit, 0, 0, BETWEEN
    return list(calls(0, lead_in)), list(calls(lead_in, total))

def do(calls, latencies=None):
    """Makes calls; with a list of latencies, reads the clock behind each of them."""
    if latencies is None:
        for call, key, size, value in calls:
            call(key, size, value)
        return
    clock, append, last = time.perf_counter_ns, latencies.append, time.perf_counter_ns()
    for call, key, size, value in calls:
        call(key, size, value)
        now = clock()
        if value is not BETWEEN:
            append(now - last)
        last = now

def counted():
    """What the system counts of this process and thread, by the protocol's names."""
    own, cpu = resource.getrusage(resource.RUSAGE_SELF), {"thread_cpu_ns": time.thread_time_ns()}
    return {**cpu, "process_cpu_ns": time.process_time_ns(), "user_ns": int(own.ru_utime * 1e9), "system_ns": int(own.ru_stime * 1e9)}

def delay():
    """How long this thread waited for a processor, in nanoseconds, where the system says so."""
    return {"run_delay_ns": int(os.pread(SCHEDSTAT, 64, 0).split()[1])} if SCHEDSTAT else {}

def mark(counting, number):
    """Shows strace where the timed operations begin and end: by asking for a process that is none."""
    if counting and "STOWPLAN_STRACE" in os.environ:
        with suppress(ProcessLookupError):
            os.getpriority(os.PRIO_PROCESS, 1398034263 + number)

def timed(calls, latencies, counting):
    """What a block took. The delay is read within the time, or what passes between both could be more delay than time."""
    before = counted()
    mark(counting, 0)
    start, before = time.perf_counter_ns(), before | delay()
    do(calls, latencies)
    after, wall = delay(), time.perf_counter_ns() - start
    mark(counting, 1)
    return {"wall_ns": wall, "usage": {name: value - before[name] for name, value in (after | counted()).items()}}

class Driver:
    """The tasks that a process is given: of one store in one place. Each returns its answer, unless that is `done`."""

    def __init__(self, kinds):
        self.kinds, self.store = {kind.name: kind for kind in kinds}, None
        self.out, sys.stdout = sys.stdout, sys.stderr  # What an engine prints is no line of the protocol.

    def say(self, name, fields=None):
        print(json.dumps(name if fields is None else {name: fields}), file=self.out, flush=True)

    def hear(self):
        return json.loads(sys.stdin.readline() or '"bye"')

    def describe(self, asked):
        told = {"kinds": [{key: getattr(kind, key) for key in ("name", "about", "settings", "engine", "keeps_nothing")}
                          for kind in self.kinds.values()]}
        if kind := self.kinds.get(asked.get("store", "").partition(":")[0]):
            settings = typed(kind, asked["store"])
            promised = dict(zip(("class", "atomic", "delayed"), kind.durability(settings)))
            told.update(capabilities={**kind.can, "durability": promised}, refused=kind.refused(settings))
        return "described", told

    def opened(self, asked, new=False):
        if not self.store:
            kind = self.kinds[asked["store"].partition(":")[0]]
            self.store = kind(asked["place"], typed(kind, asked["store"]), new)
        return self.store

    def create(self, asked):
        self.opened(asked, new=True)

    def load(self, asked):
        store, first, end = self.opened(asked), asked["first"], asked["first"] + asked["count"]
        values, offsets = mapped(asked["dataset"] + "/values.bin"), numbers(asked["dataset"] + "/index.bin")
        for some in range(first, end, LOADED_AT_ONCE):
            store.begin(True)
            for key in range(some, min(some + LOADED_AT_ONCE, end)):
                store.insert(key, values[offsets[key - 1]:offsets[key]])
            store.commit()
            self.say("progress", {"done": min(some + LOADED_AT_ONCE, end) - first, "total": asked["count"]})

    def run(self, asked):
        store, workload, (share, *others) = self.opened(asked), asked["workload"], asked["threads"]
        if others or (workload.get("rows_per_statement") or 1) > 1:
            raise Wrong(f"{store.name}: this driver has one thread, and a statement inserts one row")
        latencies, scanned = [] if share.get("latencies") else None, []
        lead_in, calls = prepare(store, workload, share, scanned)
        gc.collect()
        gc.freeze()  # What was prepared is no garbage: the collector need not look at it within the block.
        first_touch = workload.get("cache") != "warm" or workload.get("first_touch")
        if workload["operation"] in ("read", "scan") and not first_touch: store.enter()
        self.say("ready", {"effective": store.effective()})
        self.hear()
        do(lead_in)
        scanned.clear()
        measured = timed(calls, latencies, asked.get("counting"))
        if latencies is not None:
            Path(share["latencies"]).write_bytes(array("I", [min(ns, 0xFFFFFFFF) for ns in latencies]).tobytes())
        return "measured", {**measured, "bytes": sum(scanned)}

    def dump(self, asked):
        store = self.opened(asked)
        with open(asked["to"], "wb") as out:
            for value in map(store.read, numbers(asked["keys"])):
                out.write(NO_VALUE if value is None else struct.pack("<Q", len(value)) + value)

    def rest(self, asked):
        store, self.store = self.store or Store(None, {}, False), None
        if asked["checkpoint"]: store.checkpoint()
        store.close()

    def inspect(self, asked):
        return "inspected", {}

def serve(tool, kinds):
    """A driver program that hosts these kinds; `tool` is its name and version."""
    driver = Driver(kinds)
    driver.say("hello", {"protocol": "stowplan-driver", "version": 4, "tool": tool})
    try:
        while (message := driver.hear()) != "bye":
            (task, asked), = message.items()
            driver.say(*(getattr(driver, task)(asked) or ["done"]))
    except Exception as error:  # The parent tells it to whoever runs the study.
        words = " ".join(str(error).split())
        driver.say("failed", {"message": words if isinstance(error, Wrong) else f"{type(error).__name__}: {words}"})
