"""A driver whose store is a dictionary, and that does to its parent what the setting `flaw` says."""
import json, os, pickle, signal, struct, sys, time

FLAWS = ["none", "killed", "hangs", "garbage", "wrong-value", "lost-write", "no-time", "short-time", "long-time",
         "quarter-time", "more-cpu", "bytes-of-reads"]
OVERWRITE = 1

def say(message):
    print(json.dumps(message), flush=True)

def numbers(path):
    data = open(path, "rb").read()
    return struct.unpack(f"<{len(data) // 8}Q", data)

def opened(asked):
    return pickle.load(open(asked["place"] + "/values", "rb"))

def keep(asked, values):
    pickle.dump(values, open(asked["place"] + "/values", "wb"))

def load(asked, flaw):
    data, ends = open(asked["dataset"] + "/values.bin", "rb").read(), numbers(asked["dataset"] + "/index.bin")
    keys = range(asked["first"], asked["first"] + asked["count"])
    keep(asked, opened(asked) | {key: data[ends[key - 1]:ends[key]] for key in keys})

def dump(asked, flaw):
    values = opened(asked)
    if flaw == "wrong-value":
        values[7] = values[7][:-1] + bytes([values[7][-1] ^ 1])
    with open(asked["to"], "wb") as out:
        for value in map(values.get, numbers(asked["keys"])):
            out.write(struct.pack("<Q", (1 << 64) - 1 if value is None else len(value)) + (value or b""))

def block(asked, values, flaw):
    share = asked["threads"][0]
    data, payloads = open(share["sequence"], "rb").read(), share.get("payloads")
    written, offsets = (open(payloads["values"], "rb").read(), numbers(payloads["offsets"])) if payloads else (b"", ())
    count, = struct.unpack_from("<8xQ", data)
    for n in range(share["lead_in"] + share["operations"]):
        key, size, action, _ = struct.unpack_from("<QIHH", data, 16 + 16 * ((share["first"] + n) % count))
        if action == OVERWRITE and flaw != "lost-write":
            values[key] = written[offsets[n]:offsets[n] + size]
        assert len(values[key]) == size
    # Longer than what clocks may differ by.
    while time.thread_time() < asked["until"]:
        pass

def run(asked, flaw):
    values = opened(asked)
    say({"ready": {}})
    sys.stdin.readline()
    asked["until"] = time.thread_time() + 0.02
    if flaw == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if flaw == "hangs":
        time.sleep(1000)
    if flaw == "garbage":
        print("free(): invalid pointer", flush=True)
    start, cpu = time.perf_counter_ns(), time.thread_time_ns()
    block(asked, values, flaw)
    wall, cpu = time.perf_counter_ns() - start, time.thread_time_ns() - cpu
    keep(asked, values)
    if (share := asked["threads"][0]).get("latencies"):
        with open(share["latencies"], "wb") as out:
            out.write(struct.pack("<I", wall // share["operations"]) * share["operations"])
    usage = {"thread_cpu_ns": cpu} if flaw in ("none", "more-cpu") else {}
    told = {"no-time": 0, "short-time": 5, "long-time": 1000 * wall, "more-cpu": cpu // 4, "quarter-time": wall // 4}.get(flaw, wall)
    scanned = {"bytes": 300 * share["operations"]} if flaw == "bytes-of-reads" else {}
    return {"measured": {"wall_ns": told, "usage": usage, **scanned}}

def describe(asked, flaw):
    setting = {"name": "flaw", "kind": {"choice": FLAWS}, "default": "none", "shapes_layout": True}
    return {"described": {"kinds": [{"name": "dict", "about": "a dictionary", "settings": [setting]}],
                          "capabilities": {"operations": ["read", "overwrite"], "transactions": True}}}

TASKS = {"describe": describe, "create": lambda asked, _: keep(asked, {}), "load": load, "dump": dump, "run": run,
         "rest": lambda *_: None, "inspect": lambda *_: {"inspected": {}}}

say({"hello": {"protocol": "stowplan-driver", "version": 4, "tool": "liar"}})
try:
    while (message := json.loads(sys.stdin.readline() or '"bye"')) != "bye":
        (task, asked), = message.items()
        say(TASKS[task](asked, asked.get("store", "").partition("flaw=")[2]) or "done")
except (OSError, AssertionError, KeyError) as error:
    say({"failed": {"message": str(error) or "a value has another length"}})
