"""The walks over all operations, put together from what each folder says of its own."""

from collections.abc import Callable, Iterable, Mapping
from graphlib import TopologicalSorter
from importlib import import_module
from typing import Any, Final, TypeVar

from service.app import operations
from tests.support.operations.asks import Worst
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

Thing = TypeVar("Thing")


def folder_of(module: str) -> str:
    """Return the folder that a module of ``service`` or ``projections`` is in."""
    return module.split(".")[1]


FOLDERS: Final = tuple(
    dict.fromkeys(folder_of(each.function.__module__) for each in operations())
)


def _walked(folder: str) -> WalkedOperations:
    walked: WalkedOperations = import_module(
        f"tests.support.{folder}.operations"
    ).OPERATIONS
    return walked


WALKED: Final = {folder: _walked(folder) for folder in FOLDERS}
_AFTER: Final = {name: each.after for name, each in WALKED.items()}
ORDER: Final = tuple(TopologicalSorter(_AFTER).static_order())


def _all(of: Callable[[WalkedOperations], Mapping[str, Thing]]) -> dict[str, Thing]:
    return _without_twins(item for each in WALKED.values() for item in of(each).items())


def _without_twins(found: Iterable[tuple[str, Thing]]) -> dict[str, Thing]:
    everything: dict[str, Thing] = {}
    for name, thing in found:
        assert name not in everything, f"{name} is in two folders"
        everything[name] = thing
    return everything


MATRIX: Final[Mapping[str, Mapping[str, int]]] = _all(lambda each: each.matrix)
NOT_ASKED: Final[Mapping[str, str]] = _all(lambda each: each.not_asked)
WORST: Final[Mapping[str, Worst]] = _all(lambda each: each.worst)
SIMPLE: Final = frozenset(_all(lambda each: dict.fromkeys(each.simple, True)))


async def make_things(walk: Walk) -> dict[str, Any]:
    """Call everything that makes, changes and reads; return the ids of what is made."""
    for folder in ORDER:
        await WALKED[folder].make(walk)
    return walk.ids


async def end_things(walk: Walk) -> None:
    """Call everything that takes away what :func:`make_things` has made."""
    for folder in reversed(ORDER):
        await WALKED[folder].end(walk)


def where(operation_name: str) -> str:
    """Return the file that says how the walks call an operation."""
    (module,) = (
        each.function.__module__ for each in operations() if each.name == operation_name
    )
    return f"tests/support/{folder_of(module)}/operations.py"
