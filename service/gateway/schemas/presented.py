"""A tool's definition as agents see it: without what strict clients don't take.

One member that isn't as the protocol has it can cost such a client the tools of all
connectors. What can be left out is left out; the pinned definition stays as it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from service.gateway.schemas.check import is_compiled_by_all, problem_of
from service.gateway.schemas.hidden import HiddenCharacters, without_hidden
from service.gateway.schemas.walk import mapped

TASK_SUPPORT: Final = ("required", "optional", "forbidden")
HINTS: Final = (
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
)


@dataclass(frozen=True, slots=True)
class Presented:
    """``document`` is for clients of all revisions, but for its output schema.

    Clients with a handshake take ``outputSchema`` only of an object:
    ``has_object_output``. ``left_out`` says what was, and why.
    """

    document: Mapping[str, Any]
    has_object_output: bool
    left_out: tuple[str, ...]


def presented(
    document: Mapping[str, Any], hidden: HiddenCharacters = HiddenCharacters.REMOVE
) -> Presented:
    """Return an acceptable definition as agents see it."""
    shown, left_out = _for_strict_clients(document)
    shown, told = without_hidden(shown, hidden)
    output = shown.get("outputSchema")
    return Presented(
        shown,
        has_object_output=output is not None and output.get("type") == "object",
        left_out=(*left_out, *told),
    )


def _for_strict_clients(
    document: Mapping[str, Any],
) -> tuple[dict[str, Any], list[str]]:
    shown, left_out = dict(document), list[str]()
    for member, why in _unusable(document):
        _remove(shown, member)
        left_out.append(why)
    shown["inputSchema"] = in_2020_12(document["inputSchema"])
    if "outputSchema" in shown:
        shown["outputSchema"] = _output(shown["outputSchema"])
    return shown, left_out


def in_2020_12(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with what older drafts write otherwise as 2020-12 has it.

    Properties that may be anything, or nothing, are objects, which some clients demand.
    """
    found: dict[str, Any] = mapped(schema, _in_2020_12)
    if found != schema:
        found.pop("$schema", None)
    return found


def _in_2020_12(node: dict[str, Any]) -> dict[str, Any]:
    if isinstance(node.get("items"), list):
        tuple_of = node.pop("items")
        rest = node.pop("additionalItems", None)
        node = {**node, "prefixItems": tuple_of}
        if rest is not None:
            node["items"] = rest
    for exclusive, bound in (
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ):
        if isinstance(node.get(exclusive), bool):
            is_exclusive = node.pop(exclusive)
            if is_exclusive and bound in node:
                node[exclusive] = node.pop(bound)
    if isinstance(node.get("properties"), dict):
        node["properties"] = {
            name: ({} if each else {"not": {}}) if isinstance(each, bool) else each
            for name, each in node["properties"].items()
        }
    return node


def _unusable(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a client may refuse, and why."""
    for member in ("title", "description"):
        if not isinstance(document.get(member, ""), str):
            yield member, f"{member} isn't a text"
    yield from _of_annotations(document.get("annotations", {}))
    execution = document.get("execution", {})
    if not isinstance(execution, dict):
        yield "execution", "execution isn't an object"
    elif execution.get("taskSupport", "forbidden") not in TASK_SUPPORT:
        member = "execution.taskSupport"
        yield member, f"{member} is none that the protocol has"
    if "outputSchema" in document:
        why = _why_no_output(document["outputSchema"])
        if why is not None:
            yield "outputSchema", why


def _of_annotations(annotations: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(annotations, dict):
        yield "annotations", "annotations isn't an object"
        return
    if not isinstance(annotations.get("title", ""), str):
        yield "annotations.title", "annotations.title isn't a text"
    for hint in HINTS:
        if not isinstance(annotations.get(hint, False), bool):
            member = f"annotations.{hint}"
            yield member, f"{member} isn't true or false"


def _why_no_output(schema: Any) -> str | None:
    if not isinstance(schema, dict):
        return "outputSchema isn't a JSON Schema"
    shown = _output(schema)
    problem = problem_of(shown, "outputSchema")
    if problem is None and not is_compiled_by_all(shown):
        return "outputSchema can't be compiled by every client"
    return problem


def _output(schema: Mapping[str, Any]) -> dict[str, Any]:
    # Clients that keep validators by their id would take another tool's.
    return in_2020_12({key: each for key, each in schema.items() if key != "$id"})


def _remove(shown: dict[str, Any], member: str) -> None:
    name, _, below = member.partition(".")
    if not below:
        del shown[name]
    else:
        shown[name] = {key: each for key, each in shown[name].items() if key != below}
