"""How much memory values take."""

from sys import getsizeof
from typing import Any, Final

_HOLD_OTHERS: Final = frozenset({dict, list, tuple, set, frozenset})


def footprint(value: Any) -> int:
    """Return how many bytes of memory a value of JSON's types takes, about.

    What is in it twice counts twice, also where it is the same object. Of objects of
    other types, what they refer to doesn't count.
    """
    found, waiting = getsizeof(value), [value]
    while waiting:
        each = waiting.pop()
        if type(each) is dict:
            found += sum(map(getsizeof, each))
            each = each.values()
        found += sum(map(getsizeof, each))
        waiting += [inner for inner in each if type(inner) in _HOLD_OTHERS]
    return found
