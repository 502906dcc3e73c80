"""Which operations have examples, and whether those on record still fit."""

from collections.abc import Iterator
from typing import Any

from service.http.openapi.answers import REFUSALS
from service.http.openapi.document import EXAMPLES, recorded_examples
from tests.support.openapi.contract import (
    Json,
    closed,
    current_document,
    documented,
    faults,
    find,
    pointer_to_answer,
    pointer_to_body,
)
from tests.support.openapi.kept import kept_fields

# Its answer is as long as the installed price list; the other import's is alike.
WITHOUT_EXAMPLE = {"post_genai_prices_import"}


def with_example() -> set[str]:
    return {
        operation.name for operation in documented() if not operation.content_type
    } - WITHOUT_EXAMPLE


def outdated_examples() -> Iterator[str]:
    """Say where the examples on record differ from what the document describes."""
    try:
        recorded = recorded_examples()
    except (OSError, ValueError) as unreadable:
        yield f"{EXAMPLES}: {unreadable}"
        return
    yield from differences(closed(current_document()), recorded)


def differences(described: Json, recorded: Json) -> Iterator[str]:
    """Say where examples differ from what a closed document describes."""
    operations = recorded["operations"]
    for name in operations.keys() ^ with_example():
        yield f"{name}: {'is gone' if name in operations else 'has none'}"
    for name in operations.keys() & with_example():
        for fault in _faults_of(described, name, operations[name]):
            yield f"{name}: {fault}"
    for operation in documented():
        sent = operations.get(operation.name, {}).get("body", {}).keys()
        if missing := kept_fields(operation) - sent:
            yield f"{operation.name}: {', '.join(sorted(missing))} isn't sent"
    refusals = recorded["refusals"]
    for status in refusals.keys() ^ {str(status) for status in REFUSALS}:
        yield f"refusal {status}: {'is gone' if status in refusals else 'has none'}"
    for status, answer in refusals.items():
        found = faults(described, "/components/schemas/Error", answer)
        yield from (f"refusal {status}: {fault}" for fault in found)


def _faults_of(described: Json, name: str, example: dict[str, Any]) -> Iterator[str]:
    _, _, operation = find(described, name)
    if "body" in example and "requestBody" not in operation:
        yield "takes no body"
    elif "body" in example:
        pointer = pointer_to_body(described, name)
        yield from faults(described, pointer, example["body"])
    for status, answer in example["answers"].items():
        if status not in operation["responses"]:
            yield f"doesn't answer {status}"
            continue
        pointer = pointer_to_answer(described, name, int(status))
        yield from faults(described, pointer, answer)
