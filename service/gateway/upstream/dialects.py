"""The revision that an upstream speaks, and its sessions."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import orjson
from cachetools import TTLCache

from service.agent_tokens.caller import Caller
from service.gateway.gate import Upstream
from service.gateway.protocol.revisions import (
    HANDSHAKE,
    REVISION_HEADER,
    SESSION_HEADER,
    STATELESS,
)

UPSTREAMS_MAX: Final = 4096
SESSIONS_MAX: Final = 4096
# Then an upstream is asked again: it may have been updated, or lost a session
# without saying so.
REMEMBERED_S: Final = 3600.0
# The revision offered to servers that want a handshake.
OFFERED: Final = HANDSHAKE[0]
NO_INPUTS: Final = b"{}"

# Ids by their numbers: hashing a UUID takes a call of a Python function.
Key = tuple[int, int]
SessionKey = tuple[int, int, "AgentClient | None"]
OnConnected = Callable[[], None]


class AgentClient(NamedTuple):
    """An agent's client, as a server with sessions tells it from others.

    ``inputs`` are the capabilities by which it can be asked for something within a
    call, as JSON.
    """

    agent: int
    user: int | None
    inputs: bytes

    @classmethod
    def of(cls, caller: Caller, inputs: Mapping[str, Any]) -> Self:
        agent, user = caller.agent_id.int, caller.user_id
        said = orjson.dumps(inputs) if inputs else NO_INPUTS
        return cls(agent, user.int if user else None, said)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A revision, and the session of a server that keeps one."""

    revision: str
    session_id: str | None = None

    @property
    def is_stateless(self) -> bool:
        return self.revision == STATELESS

    @property
    def headers(self) -> dict[str, str]:
        headers = {REVISION_HEADER: self.revision}
        if self.session_id is not None:
            headers[SESSION_HEADER] = self.session_id
        return headers


class Dialects:
    """Remembers revisions by connector, and sessions by connector and agent's client.

    A session is never shared between agents, between users of one agent, or between
    clients that can be asked for different things, which ``find`` declares.
    ``on_forgotten`` is told of each that is over.
    """

    def __init__(
        self,
        find: Callable[
            [Upstream, bytes, OnConnected | None], Coroutine[Any, Any, Dialect]
        ],
        clock: Callable[[], float] = time.monotonic,
        *,
        on_forgotten: Callable[[Upstream, Dialect], None] | None = None,
    ) -> None:
        self._find = find
        self._on_forgotten = on_forgotten
        self._dialects: TTLCache[Key, Dialect] = TTLCache(
            UPSTREAMS_MAX, REMEMBERED_S, clock
        )
        self._sessions: TTLCache[SessionKey, Dialect] = TTLCache(
            SESSIONS_MAX, REMEMBERED_S, clock
        )
        self._finding: dict[SessionKey, asyncio.Task[Dialect]] = {}

    async def of(
        self,
        upstream: Upstream,
        client: AgentClient | None,
        on_connected: OnConnected | None = None,
    ) -> Dialect:
        """Return how to speak with an upstream; asks it first if it is new.

        ``client`` None is the service itself. ``on_connected`` is called when there is
        a connection to ask it, but not for those who wait for another's answer.

        :raises UpstreamError: it can't be asked, or speaks nothing that we do
        """
        known = self.known(upstream, client)
        if known is not None:
            return known
        keys = _, session_key = _keys(upstream, client)
        task = self._finding.get(session_key)
        if task is None:
            inputs = client.inputs if client else NO_INPUTS
            task = asyncio.create_task(
                self._find(upstream, inputs, on_connected), name="MCP handshake"
            )
            self._finding[session_key] = task
            task.add_done_callback(lambda done: self._found(keys, done))
        # A caller who leaves doesn't take the handshake from the others.
        return await asyncio.shield(task)

    def known(self, upstream: Upstream, client: AgentClient | None) -> Dialect | None:
        """Return how to speak with an upstream, if it needn't be asked."""
        key, session_key = _keys(upstream, client)
        return self._dialects.get(key) or self._sessions.get(session_key)

    def _found(self, keys: tuple[Key, SessionKey], task: asyncio.Task[Dialect]) -> None:
        """Remember what was found, before those who wait for it go on.

        They would do so later, one by one: who came between would ask once more, and
        the last could remember what was forgotten meanwhile.
        """
        key, session_key = keys
        self._finding.pop(session_key, None)
        # An exception is retrieved also where nobody waits for it any more: asyncio
        # would log it.
        if task.cancelled() or task.exception() is not None:
            return
        found = task.result()
        if found.session_id is None:
            self._dialects[key] = found
        else:
            self._sessions[session_key] = found

    def forget(
        self, upstream: Upstream, client: AgentClient | None, dialect: Dialect
    ) -> None:
        """Ask the upstream again before the next request, if this is still known."""
        key, session_key = _keys(upstream, client)
        if self._dialects.get(key) is dialect:
            del self._dialects[key]
        if self._sessions.get(session_key) is dialect:
            del self._sessions[session_key]
            if self._on_forgotten is not None:
                self._on_forgotten(upstream, dialect)


def _keys(upstream: Upstream, client: AgentClient | None) -> tuple[Key, SessionKey]:
    key = (upstream.connector_id.int, upstream.version)
    return key, (*key, client)
