"""Turn made-up requests towards what is really there, where their document can't.

A document can't say that an id should exist, or that a key should be fresh. Only
what schemathesis means to be valid is touched; its violations are sent as they are.
"""

import itertools
import uuid
from typing import Any

from schemathesis import Case, GenerationMode

_turns = itertools.count()

IN_BODIES = ("agent_id", "connector_id")
# Aimed at what the others need, the first would leave them nothing to find; the
# second means other names.
NEVER_AIMED = {"delete_connector", "get_event_schema"}


def towards_reality(case: Case, things: dict[str, Any]) -> None:
    if not case.meta or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    if case.operation.definition.raw["operationId"] not in NEVER_AIMED:
        # Two times of three; a stranger's id is a case too.
        if next(_turns) % 3:
            _aim(case.path_parameters, things)
        _aim(case.body, {name: things[name] for name in IN_BODIES})
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
