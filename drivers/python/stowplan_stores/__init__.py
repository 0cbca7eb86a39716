"""The stores of the driver `python`: each module of this package is one kind, as far as it can be imported."""
import importlib, platform
from stowplan_driver import serve

KINDS = ["sqlite", "apsw", "lmdb", "berkeleydb", "null"]

def hosted():
    """The kinds that can be had here, and the names of those whose module is missing."""
    kinds, missing = [], []
    for name in KINDS:
        try:
            kinds.append(importlib.import_module(f"stowplan_stores.{name}").KIND)
        except ImportError:
            missing.append(name)
    return kinds, missing

def main():
    kinds, missing = hosted()
    without = f", without {', '.join(missing)}" if missing else ""
    serve(f"Python {platform.python_version()}{without}", kinds)
