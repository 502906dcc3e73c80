"""The worst that an operation can be asked, and the large world in which it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from projections.engine.progress import wait_for_position
from service.http.operation import Operation
from service.resources import Resources
from tests.support.callers import Caller
from tests.support.projectors import PROJECTORS

FOLLOWERS: Final = [projector.name for projector in PROJECTORS]
JSON: Final = "application/json"
LINE_BYTES: Final = 8000
LONG_TEXT: Final = "\N{GRINNING FACE}" * 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How a request is sent.

    A ``chunked`` body is in chunked coding already. The request is sent ``times`` times
    on each of ``connections`` at once, without awaiting an answer.
    """

    chunked: bool = False
    times: int = 1
    connections: int = 1
    has_token: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request; ``path`` overrides the ids of the world.

    With ``wire`` it is sent as no client library does.
    """

    what: str
    query: str = ""
    path: Mapping[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wire: Wire | None = None


@dataclass(slots=True, kw_only=True)
class World:
    """Ids of large things by name, and the positions of the events that made them."""

    resources: Resources
    caller: Caller
    examples: Mapping[str, Any]
    ids: dict[str, Any]
    connectors: Sequence[str] = ()
    positions: dict[str, int] = field(default_factory=dict)
    turn: Mapping[str, Any] = field(default_factory=dict)
    agent_token: str = ""

    @property
    def position(self) -> int:
        return max(self.positions.values())

    @property
    def aggregates(self) -> Mapping[str, str]:
        """Resources of the trail by name."""
        return {name: self.ids[f"{name}_rules_id"] for name in ("hostile", "full")} | {
            name: self.ids[name] for name in ("connector_id", "agent_id")
        }

    @property
    def port(self) -> int:
        port = self.caller.client.port
        assert port is not None
        return port

    def path(self, operation: Operation, given: Mapping[str, Any]) -> str:
        return operation.path.format(**{**self.ids, **given})

    async def caught_up(self) -> None:
        """Wait until every follower has applied the whole log."""
        head = (await self.resources.log.head()).position
        await wait_for_position(self.resources.pool, FOLLOWERS, head, timeout_s=120)


Worst = Callable[[World], Iterator[Ask]]


def json_ask(what: str, body: Any, query: str = "", **path: Any) -> Ask:
    sent = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = {"Content-Type": JSON}
    return Ask(what=what, query=query, path=path, body=sent, headers=headers)


def query_ask(what: str, **query: Any) -> Ask:
    return Ask(what=what, query=urlencode(query))


def whole_page(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=100)
