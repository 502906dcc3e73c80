"""Writes docs/client.md: the reference of the client."""

import ast
import inspect
from collections.abc import Mapping, Sequence
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


def reference_page(found: Sequence[Described], bases: Mapping[str, str]) -> str:
    """Return the page: conventions, options, errors, and a table for each area.

    ``bases`` are the sources of the modules in ``BASES``, by area.
    """
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
        of_area = [each for each in found if each.area == area]
        parts.append(_area(area, of_area, bases.get(area)))
    return "".join(parts)


def _area(area: str, found: Sequence[Described], base: str | None) -> str:
    lines = [f"\n### {area}", ""]
    methods = [one for each in found for one in (each, list_within(each)) if one]
    for each in methods:
        call = f"{area}.{each.method_name}({', '.join(_parameters(each))})"
        lines.append(f"- `{call} -> {returned_by(each)}`: `{each.method} {each.path}`")
    if base is not None:
        lines += _handwritten(area, base)
    return "\n".join(lines) + "\n"


def _parameters(each: Described) -> list[str]:
    """Return the required parameters, and dots for the optional ones."""
    names = parameters_of(each)
    required = [name for name in names if not name.endswith("=...")]
    if required[-1:] == ["*"]:
        required.pop()
    has_optional = any(name.endswith("=...") for name in names)
    return [*required, *(["..."] if has_optional else [])]


def _handwritten(area: str, source: str) -> list[str]:
    # Parsed, not imported: it imports what is generated, perhaps not there yet.
    (kind,) = [
        each
        for each in ast.parse(source).body
        if isinstance(each, ast.ClassDef) and each.name == BASES[area][1]
    ]
    return [
        f"- `{area}.{each.name}({', '.join(_arguments(each.args))})`: "
        f"{_first_sentence(ast.get_docstring(each) or '')}"
        for each in kind.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and not each.name.startswith("_")
    ]


def _arguments(arguments: ast.arguments) -> list[str]:
    keywords = [f"{each.arg}=..." for each in arguments.kwonlyargs]
    return [*(each.arg for each in arguments.args if each.arg != "self"), *keywords]


def _default(value: object) -> str:
    return repr(value) if isinstance(value, (int, float)) else "{}"


def _first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
