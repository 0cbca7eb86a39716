"""What the checks in this directory share: the program, packages, studies, processes of runs, results, mounts.

Python's standard library is all that it uses.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# By which processes of a run are known, whoever started them: a variable that they inherit.
MARK = "STOWPLAN_CHECK"
REPORTS = {"out/report.html", "out/summary.md"}
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]


class Fault(Exception):
    """What is not as it should be."""


def program():
    """The program that is checked: what STOWPLAN names, or the newer one of the builds."""
    builds = [ROOT / "target" / kind / "stowplan" for kind in ("release", "debug")]
    named = os.environ.get("STOWPLAN")
    there = [path for path in ([pathlib.Path(named)] if named else builds) if path.is_file()]
    if not there:
        sys.exit(f"there is no {named or 'stowplan'}: cargo build --release, or name a program by STOWPLAN")
    return max(there, key=lambda path: path.stat().st_mtime).resolve()


def seed():
    """The seed of this call, which is printed: STOWPLAN_SEED repeats one."""
    number = int(os.environ.get("STOWPLAN_SEED", time.time_ns() % 1_000_000_007))
    print(f"STOWPLAN_SEED={number}", flush=True)
    return number


def number(default):
    """The first argument that is a number."""
    return next((int(word) for word in sys.argv[1:] if word.isdigit()), default)


def need(**packages):
    """Installs Debian's packages of the programs that are missing."""
    missing = lambda: [tool for tool in packages if not shutil.which(tool.replace("_", "."))]
    if not missing():
        return
    before = [] if os.geteuid() == 0 else ["sudo", "-n"]
    # Two checks may want packages at the same time.
    lock = open(pathlib.Path(tempfile.gettempdir()) / f"stowplan-packages-{os.geteuid()}", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    for words in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends"] + [packages[tool] for tool in missing()]):
        with contextlib.suppress(OSError):
            subprocess.run([*before, "apt-get", *words], stdout=subprocess.DEVNULL)
    if left := missing():
        sys.exit(f"apt-get install {' '.join(packages[tool] for tool in left)}, and begin again")


def need_root(what):
    if os.geteuid() != 0:
        sys.exit(f"{what} takes root")


def of_its_own_mounts():
    """Begins this program again in a mount namespace of its own, so that none is left behind."""
    if "STOWPLAN_CHECK_MOUNTS" not in os.environ:
        os.environ["STOWPLAN_CHECK_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


@contextlib.contextmanager
def scratch(name, **where):
    """A directory that is removed at the end."""
    place = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", **where)).resolve()
    place.chmod(0o755)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def tmpfs(place, size):
    """A small file system in memory, at a place."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        # Lazily: a process that should not be there would be found, and told, before.
        subprocess.run(["umount", "-l", place], check=True)


def study(*comparisons, count, size, name="tiny"):
    """A study file. Each comparison is its title, workload, cells (the first is the baseline) and, maybe, further keys."""
    shape = ("fixed", f"bytes = {size}") if isinstance(size, int) else ("uniform", f"min = {size[0]}, max = {size[1]}")
    text = f"""name = "{name}"
title = "A {name} study"
question = "What is left?"
[datasets.blobs]
count = {count}
size = {{ distribution = "{shape[0]}", {shape[1]} }}
"""
    for title, workload, stores, *more in comparisons:
        text += f"""[[comparison]]
id = "{title}"
title = "{title}"
dataset = "blobs"
workload = {{ {workload} }}
baseline = "{next(iter(stores))}"
"""
        text += "".join(line + "\n" for line in [*more, "[comparison.cells]"])
        for cell, spec in stores.items():
            # Of a cell that has more than a store, all of it is given.
            text += f"{cell} = {{ {spec} }}\n" if spec.startswith("store =") else f'{cell} = {{ store = "{spec}" }}\n'
    return text


TINY = (
    ("read", 'operation = "read", operations = 20', {"dir": "files", "sql": "sqlite"}),
    ("write", 'operation = "overwrite", operations = 10', {"dir": "files", "wal": "sqlite:journal=wal,synchronous=normal"}),
)


def until(condition, seconds, pause=0.02):
    """Waits for something; what it is, if it came."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(pause)
    return found


def marked(place, **more):
    """The environment of a run in a place."""
    return dict(os.environ, LC_ALL="C.UTF-8", **{MARK: str(place)}, **more)


def entries():
    """The processes of the machine."""
    return [entry for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]


def content(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def processes(place):
    """Those of runs in a place, each with its command line."""
    mark = f"{MARK}={place}".encode()
    found = {}
    for entry in entries():
        words = content(entry / "cmdline").split(b"\0")
        if mark in content(entry / "environ").split(b"\0") and words != [b""]:
            found[int(entry.name)] = words
    return found


def check_nobody(place, seconds=5):
    """A parent that is gone is noticed within seconds."""
    if not until(lambda: not processes(place), seconds):
        raise Fault(f"processes are left after {seconds} s: {processes(place)}")


def records(result):
    """The records of a result, or nothing where there is none: every line must be readable, but for a last one that was
    cut off."""
    if not result.exists():
        return []
    *lines, last = result.read_bytes().split(b"\n")
    found = []
    for at, line in enumerate([*lines, last], 1):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            if at <= len(lines):
                raise Fault(f"line {at} of {len(lines)} cannot be read: {error}: {line[:80]}")
    return found


def cells(found):
    """The number of rounds of each cell; nothing for one that failed."""
    rounds = {}
    for record in found:
        if record["type"] == "measurement" and record["block"] == "ratio":
            rounds.setdefault(record["cell"], set()).add(record["round"])
    failed = {record["cell"] for record in found if record["type"] == "failure"}
    return {cell: None if cell in failed else len(rounds[cell]) for cell in failed | set(rounds)}


def names_below(place, but=()):
    """What lies in a place, by its path from there."""
    return {str(path.relative_to(place)) for path in place.rglob("*")} - set(but)


class Faults:
    """Faults that are told as they are found, a few of a kind; at the end they are counted."""

    def __init__(self, of_a_kind=4):
        self.found, self.of_a_kind = [], of_a_kind

    def __call__(self, text):
        self.found.append(text)
        alike = sum(other.split(":")[0] == text.split(":")[0] for other in self.found)
        if alike <= self.of_a_kind:
            print(f"FAULT: {text}", flush=True)

    def end(self, said=""):
        if self.found:
            sys.exit(f"{len(self.found)} faults")
        print(said, flush=True)


def drawn(chance_seed, *what):
    """Random choices of one part of a check, whatever the others drew."""
    return random.Random("/".join(map(str, (chance_seed, *what))))
