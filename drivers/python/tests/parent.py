"""The other side of the protocol, for tests: files of a dataset and a block, and a driver that is asked."""
import json, os, random, struct, subprocess, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PROGRAM = [sys.executable, str(HERE / "stowplan-driver-python")]
ACTIONS = {"read": 0, "overwrite": 1, "modify": 2, "insert": 3, "delete": 4, "scan": 5}
NONE = (1 << 64) - 1

def value(key, version=0):
    """A value of 0 to 5,999 bytes, which keeps its size in each version."""
    size = random.Random(key).randrange(6_000)
    return random.Random(f"{key} {version}").randbytes(size)

def write_numbers(path, numbers):
    path.write_bytes(struct.pack(f"<{len(numbers)}Q", *numbers))
    return str(path)

def write_dataset(place, count):
    place.mkdir()
    values = [value(key) for key in range(1, count + 1)]
    (place / "values.bin").write_bytes(b"".join(values))
    ends = [0]
    for one in values:
        ends.append(ends[-1] + len(one))
    write_numbers(place / "index.bin", ends)

class Failed(Exception):
    """What a driver said about it."""

class Driver:
    """A process that serves one store."""

    def __init__(self, store, place, program=PROGRAM, **environment):
        self.at = {"store": store, "place": str(place)}
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "PYTHONWARNINGS": "ignore", **environment}, cwd=HERE)
        self.hello = self.hear()["hello"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait(20) != 0:
            raise Failed(f"it ended with {self.process.returncode}")

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def hear(self):
        answer = json.loads(self.process.stdout.readline())
        if "failed" in answer:
            raise Failed(answer["failed"]["message"])
        return self.hear() if "progress" in answer else answer

    def ask(self, task, **fields):
        self.say({task: {**self.at, **fields}})
        return self.hear()

    def build(self, work, count):
        """Makes the store, loads so many values and closes it."""
        write_dataset(work / "dataset", count)
        answers = [self.ask("create"), self.ask("load", dataset=str(work / "dataset"), first=1, count=count),
                   self.ask("rest", checkpoint=True)]
        assert answers == ["done"] * 3, answers

    def run(self, work, operation, steps, per_transaction=1, lead_in=0, latencies=None, counting=False, **workload):
        """Does steps, each an action with its key, the bytes of its value, the version of what it writes, and the
        values that it visits at most; what was measured, with the effective settings."""
        records, payloads, offsets = b"", b"", []
        for action, key, size, version, most in steps:
            records += struct.pack("<QIHH", key, size, ACTIONS[action], most)
            offsets.append(len(payloads))
            payloads += value(key, version) if action in ("overwrite", "modify", "insert") else b""
        (work / "sequence").write_bytes(b"STOWSEQ1" + struct.pack("<Q", len(steps)) + records)
        (work / "values").write_bytes(payloads)
        share = {"sequence": str(work / "sequence"), "first": 0, "lead_in": lead_in, "operations": len(steps) - lead_in,
                 "payloads": {"values": str(work / "values"), "offsets": write_numbers(work / "offsets", offsets)}}
        if latencies:
            share["latencies"] = str(latencies)
        workload = {"operation": operation, "per_transaction": per_transaction, **workload}
        ready = self.ask("run", workload=workload, threads=[share], counting=counting)["ready"]
        self.say("go")
        return {**self.hear()["measured"], **ready}

    def dump(self, work, keys):
        """The values of keys; None where there is none."""
        self.ask("dump", keys=write_numbers(work / "keys", keys), to=str(work / "dumped"))
        dumped, at, found = (work / "dumped").read_bytes(), 0, {}
        for key in keys:
            size, = struct.unpack_from("<Q", dumped, at)
            at += 8
            found[key] = None if size == NONE else dumped[at:at + size]
            at += 0 if size == NONE else size
        assert at == len(dumped)
        return found
