"""The metadata of an answer."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Response(NamedTuple):
    """Status, headers and message of an answer."""

    status: int
    message: str
    headers: Mapping[str, str]
    # The key that the command was sent with.
    idempotency_key: str | None = None

    @property
    def etag(self) -> str | None:
        """The version of the resource, for ``if_match``."""
        return self.headers.get("ETag")

    @property
    def position(self) -> int | None:
        """The log position of the command, or that the answer reflects."""
        given = self.headers.get("X-Event-Position")
        return None if given is None else int(given)

    @property
    def epoch(self) -> str | None:
        """The id of the log that the position belongs to."""
        return self.headers.get("X-Log-Epoch")

    @property
    def request_id(self) -> str | None:
        return self.headers.get("X-Request-Id")

    @property
    def was_replayed(self) -> bool:
        """Whether this is the stored answer of an earlier attempt."""
        return "Idempotent-Replayed" in self.headers


class ResponseList(list[T]):
    """The data of an answer that is a list."""

    def __init__(self, items: Any, response: Response) -> None:
        super().__init__(items)
        self.response = response
