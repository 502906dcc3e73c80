"""An aggregate's state as JSON, and what differs between two of them."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from eventsourcing.utils import get_topic
from typing_extensions import TypedDict

from service.aggregate import LoggedAggregate


class Change(TypedDict):
    """A changed place of the state, as a JSON pointer (RFC 6901), with both values."""

    path: str
    what: Literal["added", "removed", "replaced"]
    before: Any
    after: Any


State = Mapping[str, Any]


def state_of(aggregate: LoggedAggregate | None) -> dict[str, Any]:
    """Return what an aggregate's events have made of it; empty where there is none."""
    if aggregate is None:
        return {}
    return {
        name: value
        for name, value in sorted(vars(aggregate).items())
        if not name.startswith("_")
    }


def kind_of(aggregate: LoggedAggregate) -> str:
    return get_topic(type(aggregate))


def changes_between(before: State, after: State, path: str = "") -> Iterator[Change]:
    """Yield what differs, by path; lists are compared as a whole."""
    for name in sorted({*before, *after}):
        here = f"{path}/{_escaped(name)}"
        if name not in before:
            yield Change(path=here, what="added", before=None, after=after[name])
        elif name not in after:
            yield Change(path=here, what="removed", before=before[name], after=None)
        elif isinstance(before[name], dict) and isinstance(after[name], dict):
            yield from changes_between(before[name], after[name], here)
        elif before[name] != after[name]:
            yield Change(
                path=here, what="replaced", before=before[name], after=after[name]
            )


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
