"""Units of the library and of the stores on it; `stowplan drivers check` tries the rest, through the protocol."""
import json, os, subprocess, sys, tempfile, unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))
from stowplan_driver import BETWEEN, Store, Wrong, actions, do, mark, typed
from stowplan_stores import hosted

class Lying(Store):
    name = "lying"
    read = lambda self, key: b"short"
    scan = lambda self, key, most: [b""] * (most + 1)
    overwrite = lambda self, key, value: False
    delete = lambda self, key: False

class Library(unittest.TestCase):
    def test_a_store_that_lies_fails_its_block(self):
        reading, overwriting, _, __, deleting, scanning = actions(Lying(None, {}, False), False, [])
        for call, size, words in ((reading, 9, "lying: value 7 has 5 bytes instead of 9"), (overwriting, 9, "to be overwritten"),
                                  (deleting, 0, "to be deleted"), (scanning, 3, "visited 4 values instead of 1 to 3")):
            with self.assertRaisesRegex(Wrong, words):
                call(7, size, b"")

    def test_each_operation_has_one_latency_and_what_begins_and_ends_transactions_none(self):
        latencies = []
        nothing = lambda *_: None
        do([(nothing, 0, 0, BETWEEN), (nothing, 1, 9, None), (nothing, 2, 9, b"value"), (nothing, 0, 0, BETWEEN)], latencies)
        self.assertEqual(len(latencies), 2)

    def test_strace_sees_where_the_timed_operations_begin_and_end(self):
        with mock.patch.dict(os.environ, STOWPLAN_STRACE="1"), mock.patch("os.getpriority") as asked:
            mark(True, 0), mark(False, 0), mark(True, 1)
        self.assertEqual([call.args[1] for call in asked.mock_calls], [1398034263, 1398034264])

    def test_what_an_engine_prints_and_a_module_that_is_missing_are_no_answers(self):
        command = [sys.executable, "-S", "-E", str(HERE / "stowplan-driver-python")]
        told = subprocess.run(command, input='"bye"\n', capture_output=True, text=True, cwd=HERE).stdout
        self.assertRegex(json.loads(told)["hello"]["tool"], "^Python [0-9.]+, without apsw, lmdb, berkeleydb$")

    def test_settings_are_numbers_flags_and_words(self):
        class Kind(Store):
            settings = [{"name": "a", "kind": {"bytes": {"min": 0, "max": 9}}, "default": "5"},
                        {"name": "b", "kind": "flag", "default": "off"},
                        {"name": "c", "kind": {"text": {"secret": False}}, "default": "x"}]
        self.assertEqual(typed(Kind, "kind:a=7,b=on,c=d=e"), {"a": 7, "b": True, "c": "d=e"})
        self.assertEqual(typed(Kind, "kind"), {"a": 5, "b": False, "c": "x"})

class Stores(unittest.TestCase):
    def test_settings_come_back_as_the_engine_tells_them(self):
        asked = {"sqlite": "journal=wal,synchronous=extra,page_size=8192", "berkeleydb": "commit=write-nosync,page_size=2048",
                 "apsw": "journal=off,synchronous=normal,page_size=1024",
                 "lmdb": "sync=no-meta,read_ahead=off,write_map=off,map_size=268435456"}
        for kind in (kind for kind in hosted()[0] if kind.name in asked):
            settings = typed(kind, f"{kind.name}:{asked[kind.name]}")
            with self.subTest(kind=kind.name), tempfile.TemporaryDirectory() as place:
                store = kind(place, settings, True)
                told = store.effective()
                store.close()
                given = {pair.split("=")[0] for pair in asked[kind.name].split(",")}
                self.assertEqual({name: told[name] for name in given}, {name: settings[name] for name in given})

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
