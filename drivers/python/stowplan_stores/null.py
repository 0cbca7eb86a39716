"""A store that does nothing, by which it is measured what Python's own loop costs."""
from stowplan_driver import Store

class Null(Store):
    name, about, keeps_nothing = "null", "does nothing: what Python's own loop costs", True
    can = {"operations": ["read", "overwrite", "insert"], "transactions": True}

    def read(self, key):
        return b""

    def insert(self, key, value):
        pass

    def overwrite(self, key, value):
        return True

KIND = Null
