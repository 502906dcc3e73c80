"""An operation of the API, as the document describes it."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from agent_runtime_client.encoding import query_text
from agent_runtime_client.not_given import NOT_GIVEN


class Operation(NamedTuple):
    """A method and path, with the headers that it takes."""

    name: str
    method: str
    path: str
    takes_key: bool = False
    takes_min_position: bool = False
    public: bool = False

    @property
    def is_command(self) -> bool:
        return self.method != "GET"


class Call(NamedTuple):
    """One call of an operation: the same for each of its attempts."""

    operation: Operation
    path: str
    query: Mapping[str, str]
    # Sent as they are, in every attempt: a repeated Idempotency-Key asks for the
    # very same request.
    content: bytes | None
    headers: Mapping[str, str]
    idempotency_key: str | None

    @property
    def what(self) -> str:
        """What is asked, for people."""
        return f"{self.operation.method} {self.path}"

    @property
    def is_repeatable(self) -> bool:
        """Say whether a second execution does no harm."""
        return not self.operation.is_command or self.idempotency_key is not None


def filled_path(template: str, values: Mapping[str, Any]) -> str:
    """Return a path with its parameters."""
    return template.format_map(
        {name: quote(query_text(value), safe="") for name, value in values.items()}
    )


def query_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters that are given, as text."""
    return {
        name: query_text(value)
        for name, value in values.items()
        if value is not NOT_GIVEN
    }
