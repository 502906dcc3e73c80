"""Turn made-up requests towards what is really there, where their document can't.

A document can't say that an id should exist, or that a key should be fresh. Only
what schemathesis means to be valid is touched; its violations are sent as they are.
"""

import itertools
import uuid
from typing import Any

from schemathesis import Case, GenerationMode

_turns = itertools.count()

IN_BODIES = ("agent_id", "connection_id", "connector_id", "preset_id")
FAR_FUTURE = "2999-12-31T23:59:59Z"
# Aimed at what the others need, the first three would leave them nothing to find; the
# last means other names.
NEVER_AIMED = {
    "delete_connector",
    "delete_model_connection",
    "delete_preset",
    "get_event_schema",
}


def towards_reality(case: Case, things: dict[str, Any]) -> None:
    if not case.meta or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if case.operation.definition.raw["operationId"] not in NEVER_AIMED:
        # Two times of three; a stranger's id is a case too.
        if next(_turns) % 3:
            _aim(case.path_parameters, things)
        _aim(case.body, {name: things[name] for name in IN_BODIES})
    case.body = _mended(case.body)
    _mend_query(case.query)
    _mend_headers(case.headers)


def _aim(value: Any, things: dict[str, Any]) -> None:
    """Name what exists."""
    if isinstance(value, list):
        for each in value:
            _aim(each, things)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name in things:
                value[name] = things[name]
            else:
                _aim(each, things)


def _mended(value: Any) -> Any:
    """Return a body that keeps to rules which a schema can't express.

    Tokens expire in the future, and whole numbers are written without a fraction: for
    JSON Schema, 168.0 is an integer.
    """
    if isinstance(value, list):
        return [_mended(each) for each in value]
    if isinstance(value, dict):
        mended = {name: _mended(each) for name, each in value.items()}
        if mended.get("expires_at") is not None:
            mended["expires_at"] = FAR_FUTURE
        return mended
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _mend_query(query: Any) -> None:
    # Cursors are opaque, and positions have to be of this log.
    for name in ("after", "at", "min_position"):
        query.pop(name, None)


def _mend_headers(headers: Any) -> None:
    if "Idempotency-Key" in headers:
        headers["Idempotency-Key"] = str(uuid.uuid4())
    # Made-up ones never fit: kept only sometimes, so that most requests get further.
    for name in ("X-Log-Epoch", "X-Min-Position", "If-Match"):
        if name in headers and next(_turns) % 3:
            del headers[name]
    if str(headers.get("If-Match", "")).isdigit():
        # Schemathesis writes a number where the pattern asks for its quotes.
        headers["If-Match"] = f'"{headers["If-Match"]}"'
