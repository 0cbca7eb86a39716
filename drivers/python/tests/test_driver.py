"""What the driver does with each of its stores, by the protocol alone. python3 -m unittest discover drivers/python/tests"""
import random, shutil, struct, sys, tempfile, unittest
from pathlib import Path

from parent import HERE, PROGRAM, Driver, Failed, value

sys.path.insert(0, str(HERE))
from stowplan_driver import Store, typed
from stowplan_stores import KINDS, hosted

COUNT = 1_100  # More than are loaded at once.
LYING = """
from stowplan_driver import Store, serve
class Lying(Store):
    name = "lying"
    def __init__(self, *_):
        print("an engine that talks")
    def read(self, key):
        return b"short"
    def scan(self, key, most):
        return [b""] * (most + 1)
    def overwrite(self, key, value):
        return False
    delete = lambda self, key: False
serve("lying", [Lying])
"""

def stores():
    """Each kind that keeps values, in its defaults and with commits that sync nothing."""
    kinds, missing = hosted()
    for name in missing:
        print(f"not tested, its module is missing: {name}", file=sys.stderr)
    unsynced = {"sqlite": "synchronous=off,statement=each", "apsw": "journal=wal,statement=each,synchronous=normal",
                "lmdb": "sync=none", "berkeleydb": "commit=nosync"}
    for kind in kinds:
        if not kind.keeps_nothing:
            yield kind.name
            yield f"{kind.name}:{unsynced[kind.name]}"

def reads(keys):
    return [("read", key, len(value(key)), 0, 0) for key in keys]

class EachStore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Builds each store once: tests get a copy."""
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory, cls.built = Path(directory.name), {}
        for number, store in enumerate(stores()):
            work = cls.built[store] = cls.directory / str(number)
            (work / "store").mkdir(parents=True)
            with Driver(store, work / "store") as driver:
                driver.build(work, COUNT)

    def of_each(self, test):
        """Runs a test on each store, which holds COUNT values."""
        for store, built in self.built.items():
            with self.subTest(store=store):
                work = self.directory / f"{self.id()} {built.name}"
                shutil.copytree(built, work)
                test(store, work)

    def test_what_was_loaded_is_there_for_another_process_and_nothing_else(self):
        def test(store, work):
            with Driver(store, work / "store") as driver:
                found = driver.dump(work, [*range(1, COUNT + 1), COUNT + 1])
            expected = {key: value(key) for key in range(1, COUNT + 1)}
            self.assertEqual(found, {**expected, COUNT + 1: None})
        self.of_each(test)

    def test_blocks_of_each_kind_leave_what_their_steps_say_in_transactions_of_each_size(self):
        def test(store, work):
            version, expected = 0, {key: value(key) for key in range(1, COUNT + 1)}
            for per_transaction in (1, 7, "all"):
                version += 1
                seed = random.randrange(1 << 30)
                some = random.Random(seed).sample([key for key, there in expected.items() if there], 40)
                size = lambda key: len(value(key))
                steps = [("overwrite", key, size(key), version, 0) for key in some[:20]]
                steps += [("modify", key, size(key), version, 0) for key in some[10:30]]
                steps += [("delete", key, 0, 0, 0) for key in some[30:]]
                new = range(COUNT + 100 * version, COUNT + 100 * version + 9)
                steps += [("insert", key, size(key), version, 0) for key in new]
                steps += reads(key for key, there in expected.items() if there and key not in some)[:9]
                with Driver(store, work / "store") as driver:
                    measured = driver.run(work, "mix", steps, per_transaction, lead_in=3)
                    self.assertEqual(driver.ask("rest", checkpoint=True), "done")
                    expected.update({key: value(key, version) for key in [*some[:30], *new]})
                    expected.update({key: None for key in some[30:]})
                    self.assertEqual(driver.dump(work, list(expected)), expected, f"seed {seed}")
                self.assertGreater(measured["wall_ns"], 0)
                self.assertLessEqual(measured["usage"]["thread_cpu_ns"], measured["wall_ns"] * 2)
        self.of_each(test)

    def test_scans_tell_the_bytes_of_what_they_visited(self):
        def test(store, work):
            with Driver(store, work / "store") as driver:
                steps = [("scan", key, 0, 0, 5) for key in (1, 200, COUNT - 1)]
                measured = driver.run(work, "scan", steps, "all", lead_in=1)
            keys = [200, 201, 202, 203, 204, COUNT - 1, COUNT]
            self.assertEqual(measured["bytes"], sum(len(value(key)) for key in keys))
        self.of_each(test)

    def test_of_a_mix_the_bytes_of_scans_alone_are_told(self):
        def test(store, work):
            with Driver(store, work / "store") as driver:
                steps = [*reads([1, 2]), ("scan", 200, 0, 0, 5), ("overwrite", 3, len(value(3)), 1, 0)]
                told = driver.run(work, "mix", steps)["bytes"], driver.run(work, "read", reads([1, 2]))["bytes"]
            self.assertEqual(told, (sum(len(value(key)) for key in range(200, 205)), 0))
        self.of_each(test)

    def test_each_operation_has_one_latency_and_together_they_are_not_longer_than_the_block(self):
        def test(store, work):
            for per_transaction in (1, 4, "all"):
                with Driver(store, work / "store") as driver:
                    told = driver.run(work, "read", reads(range(1, 101)), per_transaction, 10, work / "latencies")
                latencies = struct.unpack("<90I", (work / "latencies").read_bytes())
                self.assertTrue(all(latencies))
                self.assertLessEqual(sum(latencies), told["wall_ns"])
        self.of_each(test)

    def test_a_block_that_does_not_find_what_it_should_fails(self):
        there = len(value(1))
        wrong = {"value 1 has": ("read", 1, there + 1, 0, 0), "value 9999 is missing": ("read", 9_999, 1, 0, 0),
                 "was to be overwritten": ("overwrite", 9_999, len(value(9_999)), 1, 0),
                 "was to be deleted": ("delete", 9_999, 0, 0, 0), "value 9998": ("modify", 9_998, 1, 1, 0),
                 "visited 0 values": ("scan", 9_999, 0, 0, 5), "": ("insert", 1, there, 1, 0)}
        def test(store, work):
            for words, step in wrong.items():
                with self.assertRaises(Failed) as told, Driver(store, work / "store") as driver:
                    driver.run(work, "mix", [step], "all")
                self.assertIn(words, str(told.exception))
        self.of_each(test)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_strace_sees_where_the_timed_operations_begin_and_end(self):
        def test(store, work):
            watched = ["strace", "-f", "-qq", "-e", "trace=getpriority", "-o", str(work / "calls"), *PROGRAM]
            with Driver(store, work / "store", watched, STOWPLAN_STRACE="1") as driver:
                driver.run(work, "read", reads(range(1, 9)), counting=True)
            marks = [line for line in (work / "calls").read_text().splitlines() if "13980342" in line]
            self.assertEqual([mark.split("PRIO_PROCESS, ")[1][:10] for mark in marks], ["1398034263", "1398034264"])
        self.of_each(test)

    def test_a_place_without_a_store_is_said_in_words(self):
        for store in stores():
            with self.assertRaises(Failed) as told, Driver(store, "/nowhere/at/all") as driver:
                driver.dump(self.directory, [1])
            self.assertRegex(str(told.exception), "^there is no .*/nowhere/at/all")

    def test_settings_come_back_as_the_engine_tells_them(self):
        asked = {"sqlite": {"journal": "wal", "synchronous": "extra", "page_size": 8192},
                 "apsw": {"journal": "off", "synchronous": "normal", "page_size": 1024},
                 "lmdb": {"sync": "no-meta", "read_ahead": False, "write_map": False, "map_size": 1 << 28},
                 "berkeleydb": {"commit": "write-nosync", "page_size": 2048}}
        spelled = {True: "on", False: "off"}
        for name in {store.partition(":")[0] for store in stores()}:
            work = self.directory / name
            work.mkdir()
            pairs = [f"{key}={spelled.get(word, word) if isinstance(word, bool) else word}"
                     for key, word in asked[name].items()]
            (work / "store").mkdir()
            with self.subTest(store=name), Driver(f"{name}:{','.join(pairs)}", work / "store") as driver:
                driver.build(work, 3)
                effective = driver.run(work, "read", reads([1, 2]))["effective"]
                self.assertEqual({**effective, **asked[name]}, effective)

class Library(unittest.TestCase):
    def lying(self, operation, step, **workload):
        with tempfile.TemporaryDirectory() as work:
            with self.assertRaises(Failed) as told, \
                    Driver("lying", work, [sys.executable, "-c", LYING]) as driver:
                driver.run(Path(work), operation, [step], **workload)
        return str(told.exception)

    def test_a_store_that_lies_fails_its_block_and_what_it_prints_is_no_answer(self):
        self.assertEqual(self.lying("read", ("read", 7, 9, 0, 0)), "lying: value 7 has 5 bytes instead of 9")
        self.assertIn("visited 4 values instead of 1 to 3", self.lying("scan", ("scan", 7, 0, 0, 3)))
        self.assertIn("to be deleted", self.lying("delete", ("delete", 7, 0, 0, 0)))
        self.assertIn("to be overwritten", self.lying("overwrite", ("overwrite", 7, len(value(7)), 1, 0)))

    def test_rows_that_one_statement_should_insert_together_are_refused(self):
        said = self.lying("insert", ("insert", 7, len(value(7)), 1, 0), rows_per_statement=10)
        self.assertIn("a statement inserts one row", said)

    def test_kinds_are_described_with_what_they_promise(self):
        for store in stores():
            with Driver(store, "") as driver:
                driver.say({"describe": {"store": store}})
                told = driver.hear()["described"]
            self.assertIn("read", told["capabilities"]["operations"])
            names = [kind["name"] for kind in told["kinds"]]
            self.assertEqual(names, [kind for kind in KINDS if kind in names])
            self.assertTrue({"sqlite", "null"} <= set(names))

    def test_what_is_missing_stands_in_the_greeting(self):
        without = [sys.executable, "-S", "-E", PROGRAM[1]]
        with Driver("null", "", without) as driver:
            self.assertRegex(driver.hello["tool"], "^Python [0-9.]+, without apsw, lmdb, berkeleydb$")

    def test_settings_are_numbers_flags_and_words(self):
        class Kind(Store):
            settings = [{"name": "a", "kind": {"bytes": {"min": 0, "max": 9}}, "default": "5"},
                        {"name": "b", "kind": "flag", "default": "off"},
                        {"name": "c", "kind": {"text": {"secret": False}}, "default": "x"}]
        self.assertEqual(typed(Kind, "kind:a=7,b=on,c=d=e"), {"a": 7, "b": True, "c": "d=e"})
        self.assertEqual(typed(Kind, "kind"), {"a": 5, "b": False, "c": "x"})

    def test_claims_are_those_of_the_method(self):
        claims = {
            "sqlite": {"journal=off": ("none", False, False), "synchronous=off": ("process-crash", True, False),
                       "synchronous=normal": ("process-crash", True, False), "": ("consistent", True, False),
                       "synchronous=extra": ("durable", True, False), "journal=wal": ("durable", True, False),
                       "journal=wal,synchronous=normal": ("consistent", True, False)},
            "lmdb": {"": ("durable", True, False), "sync=no-meta": ("consistent", True, False),
                     "sync=none": ("process-crash", True, False)},
            "berkeleydb": {"": ("durable", True, False), "commit=write-nosync": ("consistent", True, False),
                           "commit=nosync": ("consistent", True, True), "page_size=8192": ("process-crash", True, False)},
        }
        for kind in hosted()[0]:
            for settings, claim in claims.get(kind.name, {}).items():
                spec = f"{kind.name}:{settings}"
                self.assertEqual(kind.durability(typed(kind, spec)), claim, spec)

if __name__ == "__main__":
    unittest.main()
