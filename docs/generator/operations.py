"""The page of all operations of the API, from the routes."""

import inspect
import re
from http import HTTPStatus
from typing import Final

from docs.generator.markdown import code, entries
from service.app import operations
from service.http.operation import Operation

HEAD: Final = """\
# Operations of the API

For authors of clients: every operation on a page, generated from the code by `make generated`.
`/openapi.json`, shown at `/docs`, has for each of them who may call it, its parameters, body and answers, with examples; [api.md](../api.md) has the conventions and the error codes.
Every operation can refuse with the [general errors](../api.md#errors), too.
Those at [`/mcp`](../gateway.md) and [`/console`](../console.md) are not in the OpenAPI document; no other operation than those at `/api` and `/v1/traces` needs a user's token.
"""
_CODE: Final = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")


def operations_page() -> str:
    lines = [HEAD]
    found = operations()
    for tag in dict.fromkeys(each.tag for each in found):
        of_tag = [_entry(each) for each in found if each.tag == tag]
        lines += [f"## {tag}", "", *entries(of_tag), ""]
    return "\n".join(lines)


def _entry(operation: Operation) -> tuple[str, str]:
    said = (inspect.getdoc(operation.function) or "").partition("\n")[0]
    headers = {
        "If-Match": operation.if_match,
        "Prefer": operation.takes_handling,
        "X-Min-Position": operation.min_position,
    }
    if taken := [code(name) for name, is_taken in headers.items() if is_taken]:
        said += f" Takes {', '.join(taken)}."
    refusals = [
        _refusal(status, operation.answers[status])
        for status in sorted(operation.answers)
        if status >= HTTPStatus.BAD_REQUEST and status != HTTPStatus.NOT_FOUND
    ]
    if refusals:
        said += f" Refuses: {'; '.join(refusals)}."
    return code(f"{operation.method} {operation.path}"), said


def _refusal(status: int, words: str) -> str:
    """Return the status, with the codes that the words of the document name."""
    return " ".join([str(status), ", ".join(map(code, _CODE.findall(words)))]).rstrip()
