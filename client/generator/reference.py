"""Writes docs/client.md: the reference of the client."""

import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from agent_runtime_client import errors
from agent_runtime_client.options import Options
from client.generator.document import Described
from client.generator.names import BASES
from client.generator.resources import list_within, parameters_of, returned_by

HEAD: Final = """\
# The Python client

For authors of programs that use the service: every method of the client, generated from the OpenAPI document by `make generated`.
[client/README.md](../client/README.md) shows how to install and use it, [kafka.md](kafka.md#with-the-python-client) the kit for consumers of events.

`AgentRuntime` and `AsyncAgentRuntime` have the same methods. With the asynchronous one, `await` those that return data; lists are iterated with `async for`.

## Conventions

- **Identifiers** are `UUID`, times aware `datetime`, money `Decimal`. A parameter also takes the text of an id or a decimal; a time without a zone is a `ValueError`.
- **Absence**: a parameter that isn't given is not sent; `None` is sent as null.
- **Fields**: unknown fields of an answer are kept, in `fields()`; reading a known field that an older service doesn't send is an `AttributeError`.
- **Answers**: the data of an answer has `response`, with `status`, `message`, `etag`, `position`, `epoch`, `request_id`, `was_replayed`, `idempotency_key` and `headers`.
- **Commands** take `idempotency_key`; without one, the client makes one for all attempts of the call. `if_match` takes a version or an ETag. With `refuse_warnings` a command that would be answered with warnings is refused (422 `rule_warnings`).
- **Lists** are iterated item by item; `pages()` iterates over pages, `first_page()` returns the first one, `to_list()` everything.
- **Secrets** are `Secret`: `reveal()` returns the text, nothing else shows it.
"""
OPTIONS: Final = """
## Options

Of `AgentRuntime(base_url, token, ...)` and `with_options(...)`, which returns a client with other options over the same connections.
Whitespace around the token, such as the line end of a file, is ignored; a token that no header takes is a `ValueError`.

"""
ERRORS: Final = """
## Errors

Every error is an `AgentRuntimeError` with `code`, `status`, `message`, `problems`, `request_id`, `idempotency_key`, `etag` and `retry_after_s`.
An attempt is repeated when no connection was made, after 429 and 503 with `Retry-After`, after `too_many_conflicts`, and for reads and commands with a key also when the outcome is unknown; never after 412 or 422.

"""
METHODS: Final = """
## Methods

Each with its required parameters, what it returns, and its operation; `...` stands for optional ones, which are named.
`help(runtime.agents.create)` has all of a method, [api/operations.md](api/operations.md) all of an operation.
"""


def reference_page(found: Sequence[Described]) -> str:
    """Return the page: conventions, options, errors, and a table for each area."""
    parts = [HEAD, OPTIONS]
    defaults = inspect.signature(Options).parameters
    parts += [
        f"- `{name}={_default(parameter.default)}`\n"
        for name, parameter in defaults.items()
    ]
    parts.append(ERRORS)
    parts += [
        f"- `{kind.__name__}`: {_first_sentence(kind.__doc__ or '')}\n"
        for kind in vars(errors).values()
        if inspect.isclass(kind)
        and issubclass(kind, errors.AgentRuntimeError)
        and kind is not errors.AgentRuntimeError
    ]
    parts.append(METHODS)
    for area in dict.fromkeys(each.area for each in found):
        parts.append(_area(area, [each for each in found if each.area == area]))
    return "".join(parts)


def _area(area: str, found: Sequence[Described]) -> str:
    lines = [f"\n### {area}", ""]
    methods = [one for each in found for one in (each, list_within(each)) if one]
    for each in methods:
        call = f"{area}.{each.method_name}({', '.join(_parameters(each))})"
        lines.append(f"- `{call} -> {returned_by(each)}`: `{each.method} {each.path}`")
    if area in BASES:
        lines += _handwritten(area)
    return "\n".join(lines) + "\n"


def _parameters(each: Described) -> list[str]:
    """Return the required parameters, and dots for the optional ones."""
    names = parameters_of(each)
    required = [name for name in names if not name.endswith("=...")]
    if required[-1:] == ["*"]:
        required.pop()
    has_optional = any(name.endswith("=...") for name in names)
    return [*required, *(["..."] if has_optional else [])]


def _handwritten(area: str) -> list[str]:
    module, base = BASES[area]
    kind = getattr(import_module(f"agent_runtime_client._async.{module}"), base)
    return [
        f"- `{area}.{name}{_signature(function)}`: "
        f"{_first_sentence(inspect.getdoc(function) or '')}"
        for name, function in vars(kind).items()
        if inspect.isfunction(function) and not name.startswith("_")
    ]


def _signature(function: object) -> str:
    assert callable(function)
    names = [
        name if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else f"{name}=..."
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    ]
    return f"({', '.join(names)})"


def _default(value: object) -> str:
    return repr(value) if isinstance(value, (int, float)) else "{}"


def _first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
