"""Names of agents, connectors and users in place of their ids, and beside them."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final
from uuid import UUID

from agent_runtime_client.art import output
from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.art.help_texts import NAMED
from agent_runtime_client.art.suggestions import did_you_mean
from agent_runtime_client.art.things import resource_of
from agent_runtime_client.errors import (
    AgentRuntimeError,
    ForbiddenError,
    NotFoundError,
)

# A larger page isn't answered.
PAGE: Final = 100
# More names than these are found faster in the whole list.
ASKED_ONE_BY_ONE_MAX: Final = 10
# Fields of answers with an id, and the column with the name for it.
COLUMNS: Final[Mapping[str, tuple[str, str]]] = {
    "agent_id": ("agent", "agents"),
    "connector_id": ("connector", "connectors"),
}


def ids_for_names(caller: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method with ids where names were given."""
    return {
        name: id_of(caller, NAMED[name], value) if name in NAMED and value else value
        for name, value in arguments.items()
    }


def id_of(caller: Any, thing: str, given: str) -> str:
    """Return the id of what was given by name, as ``ids_of`` does."""
    return ids_of(caller, thing, [given])[given]


def ids_of(caller: Any, thing: str, given: Collection[str]) -> dict[str, str]:
    """Return the ids of what was given by name; what may be an id is one.

    :raises NotFoundError: nothing has the name
    :raises UsageError: more than one has it
    """
    ids = {each: each for each in given if _is_id(each)}
    names = [each for each in given if each not in ids]
    resource = resource_of(thing)(caller)
    if thing == "users":
        return ids | {each: str(resource.get_by_name(each)["id"]) for each in names}
    everything = [*resource.list(limit=PAGE)] if names else []
    return ids | {name: _id_of_one(name, thing, everything) for name in names}


def _id_of_one(name: str, thing: str, everything: Sequence[Mapping[str, Any]]) -> str:
    found = [each for each in everything if each["name"] == name]
    # The name of a retired agent may be used again.
    found = [each for each in found if each.get("state") != "retired"] or found
    if len(found) > 1:
        ids = ", ".join(each["id"] for each in found)
        raise UsageError(
            f"{len(found)} {thing} are named {name!r}; give the id of one: {ids}"
        )
    if not found:
        close = get_close_matches(name, {each["name"] for each in everything})
        hint = did_you_mean(close) or f"see art {thing} list"
        one = thing.removesuffix("s")
        raise NotFoundError(f"no {one} is named {name!r}; {hint}", code="no_such_name")
    return str(found[0]["id"])


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def unique_names(caller: Any, thing: str, ids: Collection[str]) -> dict[str, str]:
    """Return names by id, of those that ``id_of`` finds by their names."""
    everything = [*resource_of(thing)(caller).list(limit=PAGE)]
    counts = Counter(each["name"] for each in everything)
    return {
        each["id"]: each["name"]
        for each in everything
        if each["id"] in ids and counts[each["name"]] == 1 and not _is_id(each["name"])
    }


def names_of(
    caller: Any, ids: Collection[str], thing: str = "connectors"
) -> dict[str, str]:
    """Return names by id, as far as the caller can see them.

    Nothing depends on them, and the answer that they stand beside may be of a command
    that has succeeded: an error leaves ids without names.
    """
    resource = resource_of(thing)(caller)
    names: dict[str, str] = {}
    try:
        if len(ids) > ASKED_ONE_BY_ONE_MAX:
            everything = resource.list(limit=PAGE)
            return {
                each["id"]: output.cell(each["name"])
                for each in everything
                if each["id"] in ids
            }
        for each in sorted(ids):
            with suppress(ForbiddenError, NotFoundError):
                names[each] = output.cell(resource.get(each)["name"])
    except AgentRuntimeError:
        pass
    return names


def with_names(caller: Any, data: Any) -> Any:
    """Return the data of an answer with the names of agents and connectors added."""
    if isinstance(data, Mapping):
        [named] = _rows_with_names(caller, [data])
        for field, value in named.items():
            if isinstance(value, list):
                named[field] = [*_rows_with_names(caller, value)]
        return named
    return data if isinstance(data, str) else _rows_with_names(caller, data)


def _rows_with_names(caller: Any, rows: Iterable[Any]) -> Iterator[Any]:
    known: dict[str, str] = {}
    left = iter(rows)
    while some := list(islice(left, PAGE)):
        for field, (_, thing) in COLUMNS.items():
            values = [row.get(field) for row in some if isinstance(row, Mapping)]
            new = {each for each in values if each} - known.keys()
            known |= {each: each for each in new} | names_of(caller, new, thing)
        yield from (_with_names(row, known) for row in some)


def _with_names(row: Any, known: Mapping[str, str]) -> Any:
    if not isinstance(row, Mapping):
        return row
    named: dict[str, Any] = {}
    for field, value in row.items():
        if value and field in COLUMNS:
            named.setdefault(COLUMNS[field][0], known[value])
        named[field] = value
    return named


def labels_of(caller: Any, difference: Mapping[str, Any]) -> dict[str, str]:
    """Return name and id of each connector of a plan, or of compared decisions."""
    rules = [*difference.get("added", ()), *difference.get("removed", ())]
    ids = {each["connector_id"] for each in [*rules, *difference["connectors"]]}
    ids |= {*difference.get("not_observed", ())}
    names = names_of(caller, ids)
    return {each: label(each, names) for each in ids}


def label(connector_id: str, names: Mapping[str, str]) -> str:
    if connector_id not in names:
        return connector_id
    return f"{names[connector_id]} ({connector_id})"
