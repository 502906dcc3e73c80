"""The page of all operations of the API, from the routes."""

import inspect
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from docs.generator.markdown import code, table
from service.app import operations
from service.http.operation import Operation

HEAD: Final = """\
# Operations of the API

For authors of clients: every operation on a page, generated from the code by `make contract`.
`/openapi.json`, shown at `/docs`, has for each of them who may call it, its parameters, body and answers, with examples; [api.md](../api.md) has the conventions and the error codes.
Every operation can refuse with the [general errors](../api.md#errors), too.
Those at [`/mcp`](../gateway.md) and [`/console`](../console.md) are not in the OpenAPI document; no other operation than those at `/api` and `/v1/traces` needs a user's token.
"""
_CODE: Final = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")


def operations_page() -> str:
    lines = [HEAD]
    found = operations()
    for tag in dict.fromkeys(each.tag for each in found):
        lines += [f"## {tag}", ""]
        lines += table(
            ("operation", "what it does", "takes", "refuses"),
            [_row(each) for each in found if each.tag == tag],
        )
        lines += [""]
    return "\n".join(lines)


def _row(operation: Operation) -> Sequence[str]:
    summary = (inspect.getdoc(operation.function) or "").partition("\n")[0]
    refusals = sorted(
        each for each in operation.answers if each >= HTTPStatus.BAD_REQUEST
    )
    return (
        code(f"{operation.method} {operation.path}"),
        summary.removesuffix("."),
        ", ".join(map(code, _headers(operation))),
        "; ".join(
            _refusal(each, operation.answers[each])
            for each in refusals
            if each != HTTPStatus.NOT_FOUND
        ),
    )


def _headers(operation: Operation) -> list[str]:
    headers = {"If-Match": operation.if_match, "X-Min-Position": operation.min_position}
    return [name for name, is_taken in headers.items() if is_taken]


def _refusal(status: int, words: str) -> str:
    """Return the status, with the codes that the words of the document name."""
    return " ".join([str(status), ", ".join(map(code, _CODE.findall(words)))]).rstrip()
