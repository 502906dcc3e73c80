"""Writes the modules of the resources: a class by area, a method by operation."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from client.generator.document import Described, Parameter
from client.generator.names import BASES, STREAMED, class_of
from client.generator.text import docstring, indented
from client.generator.types import Type, Types

HEAD: Final = """\
{words}
# Made by "make generated"; do not edit.

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from agent_runtime_client import models, operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.export import AsyncExport
from agent_runtime_client._async.pages import AsyncPages, Paging
from agent_runtime_client._async.stream import AsyncEventStream
from agent_runtime_client.models import {models}
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven
from agent_runtime_client.response import Response, ResponseList
from agent_runtime_client.secret import Secret
"""
_WITHOUT_ENVELOPE: Final = {
    "application/json": ("Any", "json", ""),
    "text/html": ("str", "text", ""),
    "text/plain": ("str", "text", ""),
}
# So many required fields of a body may be given by position.
POSITIONAL_MAX: Final = 2


def operations_module(found: Iterable[Described]) -> str:
    """Return the table of operations."""
    lines = [
        '"""The operations of the API. Made by ``make generated``; do not edit."""',
        "",
        "from typing import Final",
        "",
        "from agent_runtime_client.operation import Operation",
        "",
    ]
    for each in found:
        flags = "".join(
            f", {name}=True"
            for name in ("takes_key", "takes_min_position", "public")
            if getattr(each, name)
        )
        lines.append(
            f'{each.name.upper()}: Final = Operation("{each.name}", "{each.method}", '
            f'"{each.path}"{flags})'
        )
    return "\n".join(lines) + "\n"


def areas_module(areas: Sequence[str]) -> str:
    """Return the class whose attributes are the areas."""
    lines = [
        '"""The areas of the API. Made by ``make generated``; do not edit."""',
        "",
        "from functools import cached_property",
        "",
        "from agent_runtime_client._async.caller import AsyncCaller",
        *(
            f"from agent_runtime_client._async.resources.{area} "
            f"import Async{class_of(area)}"
            for area in areas
        ),
        "",
        "",
        "class AsyncResources:",
        '    """The areas as attributes."""',
        "",
        "    _caller: AsyncCaller",
    ]
    for area in areas:
        lines += [
            "",
            "    @cached_property",
            f"    def {area}(self) -> Async{class_of(area)}:",
            f"        return Async{class_of(area)}(self._caller)",
        ]
    return "\n".join(lines) + "\n"


def area_module(area: str, words: str, found: Sequence[Described], types: Types) -> str:
    """Return the module of one area; the words say what it is about."""
    module, base = BASES.get(area, ("", ""))
    lines = [
        HEAD.format(
            words=docstring(words, indent=0),
            models=", ".join(sorted(set(types.names.values()))),
        ),
        f"from agent_runtime_client._async.{module} import {base}" if base else "",
        "",
        f"class Async{class_of(area)}{f'({base})' if base else ''}:",
        indented(docstring(words)),
        "",
        "    def __init__(self, caller: AsyncCaller) -> None:",
        "        self._caller = caller",
    ]
    for each in found:
        lines += ["", indented(method(each))]
        if within := list_within(each):
            lines += ["", indented(method(within))]
    return "\n".join(lines) + "\n"


def list_within(each: Described) -> Described | None:
    """Return the list within a resource as an operation, such as a session's turns."""
    if each.paged is None or each.is_list:
        return None
    items = each.paged.items
    words = items.replace("_", " ")
    return replace(
        each,
        method_name=f"list_{items}",
        is_list_within=True,
        summary=f"List the {words}, across pages",
        description=f"``{each.method_name}`` returns one page of them.",
    )


def method(each: Described) -> str:
    """Return the method of an operation."""
    returned, call, is_awaited = _call(each)
    signature = ", ".join(["self", *_parameters(each)])
    text = f"{each.summary}.\n\n{each.description}".strip()
    begin, wait = ("async def", "await ") if is_awaited else ("def", "")
    return "\n".join(
        [
            f"{begin} {each.method_name}({signature}) -> {returned}:",
            indented(docstring(text, indent=8, parameters=_descriptions(each))),
            f"    return {wait}{call}",
        ]
    )


def _descriptions(each: Described) -> dict[str, str]:
    """Return what the document says of the parameters of a method."""
    parameters = (*each.path_parameters, *each.query, *each.body)
    return {
        one.name: one.description
        for one in parameters
        # The name says the same.
        if one.description and one.description != f"The {_words(one.name)}."
    }


def _words(name: str) -> str:
    thing = name.removesuffix("_id").replace("_", " ")
    return f"{thing}'s id" if name.endswith("_id") else thing


def _call(each: Described) -> tuple[str, str, bool]:
    """Return the type that a method returns, the call, and whether it is awaited."""
    operation = f"operations.{each.name.upper()}"
    given = _given(each)
    names = {parameter.key for parameter in each.query}
    if each.content_type == "text/event-stream":
        model = STREAMED.get(each.name)
        decode = f"models.{model}.decode" if model else "dict"
        kind = model or "Mapping[str, Any]"
        arguments = ["self._caller", operation, decode, *_with_query(given)]
        returned = f"AsyncEventStream[{kind}]"
        return returned, f"AsyncEventStream({', '.join(arguments)})", False
    if {"from_position", "until_position"} <= names and not each.has_envelope:
        is_csv = each.content_type == "text/csv"
        arguments = ["self._caller", operation, *_with_query(given), f"is_csv={is_csv}"]
        return "AsyncExport", f"AsyncExport({', '.join(arguments)})", False
    if each.paged is not None and each.answer is not None and each.is_list:
        paged = each.paged
        page = each.answer.annotation
        paging = (
            f'Paging("{paged.items}", "{paged.parameter}", '
            f"cursor={paged.cursor!r}, more={paged.more!r})"
        )
        arguments = ["self._caller", operation, page, paging, *_with_query(given)]
        returned = f"AsyncPages[{paged.item}, {page}]"
        return returned, f"AsyncPages({', '.join(arguments)})", False
    returned, function, kind = _plain_call(each)
    arguments = [operation, *([kind] if kind else []), *given]
    return returned, f"self._caller.{function}({', '.join(arguments)})", True


def _plain_call(each: Described) -> tuple[str, str, str]:
    """Return the type, the function of the caller, and the model that it takes."""
    answer = each.answer
    if not each.has_envelope:
        return _WITHOUT_ENVELOPE.get(each.content_type, ("bytes", "content", ""))
    if answer is None:
        return "Response", "response", ""
    if answer.converter.endswith(".decode"):
        return answer.annotation, "model", answer.annotation
    if answer.converter.startswith("list_of(") and ".decode" in answer.converter:
        kind = answer.converter.removeprefix("list_of(").removesuffix(".decode)")
        return f"ResponseList[{kind}]", "models", kind
    return "Any", "data", ""


def _parameters(each: Described) -> list[str]:
    required = [one for one in (*each.query, *each.body) if one.is_required]
    optional = [one for one in (*each.query, *each.body) if not one.is_required]
    positional = [_declared(one.name, one.type) for one in each.path_parameters]
    keyword = []
    declared = [_declared(one.name, one.type) for one in required]
    if len(required) <= POSITIONAL_MAX:
        positional += declared
    else:
        keyword += declared
    if each.raw_body:
        positional.append("content: bytes")
        if each.raw_body != ["application/json"]:
            first = each.raw_body[0]
            keyword.append(f'content_type: str = "{first}"')
    keyword += [
        f"{one.name}: {one.type.parameter} | NotGiven = NOT_GIVEN" for one in optional
    ]
    if each.takes_if_match:
        keyword.append("if_match: int | str | None = None")
    if each.takes_handling:
        keyword.append("refuse_warnings: bool = False")
    if each.takes_key:
        keyword.append("idempotency_key: str | None = None")
    return [*positional, *(["*", *keyword] if keyword else [])]


def _declared(name: str, kind: Type) -> str:
    return f"{name}: {kind.parameter}"


def _given(each: Described) -> list[str]:
    given = []
    for name, parameters in (
        ("path", each.path_parameters),
        ("query", each.query),
        ("body", each.body),
    ):
        if parameters:
            given.append(f"{name}={_mapping(parameters)}")
    if each.raw_body:
        given.append("content=content")
        if each.raw_body != ["application/json"]:
            given.append("content_type=content_type")
    if each.takes_if_match:
        given.append("if_match=if_match")
    if each.takes_handling:
        given.append("refuse_warnings=refuse_warnings")
    if each.takes_key:
        given.append("idempotency_key=idempotency_key")
    return given


def _with_query(given: list[str]) -> list[str]:
    has_query = any(each.startswith("query=") for each in given)
    return given if has_query else [*given, "query={}"]


def _mapping(parameters: Sequence[Parameter]) -> str:
    pairs = ", ".join(f'"{each.key}": {each.name}' for each in parameters)
    return f"{{{pairs}}}"


def parameters_of(each: Described) -> list[str]:
    """Return the parameters of a method without their types, as a caller sees them."""
    names = []
    for declared in _parameters(each):
        name = declared.partition(":")[0]
        if name != "idempotency_key":
            names.append(f"{name}=..." if " = " in declared else name)
    return names[:-1] if names[-1:] == ["*"] else names


def returned_by(each: Described) -> str:
    """Return the type that the synchronous client's method returns."""
    return _call(each)[0].replace("Async", "")
