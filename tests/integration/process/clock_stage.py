"""A service whose clock, and PostgreSQL's, are set by a test."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import psycopg
from prometheus_client.parser import text_string_to_metric_families

from tests.support.harness.clock import Clock
from tests.support.harness.service import Server
from tests.support.sessions.otlp.spans import PROTOBUF, TRACES
from tests.support.waiting import until_blocking

ANSWER_S = 60.0
KNOWN_S = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    data: Any
    headers: Message

    @property
    def position(self) -> str:
        return str(self.headers["X-Event-Position"])

    @property
    def is_replayed(self) -> bool:
        return self.headers.get("Idempotent-Replayed") == "true"


@dataclass(slots=True)
class Client:
    """Calls the service, which may refuse a request, but may not fail."""

    url: str
    token: str

    def call(
        self, method: str, path: str, body: Any = None, /, **headers: str
    ) -> Reply:
        sent = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        content = None if body is None else orjson.dumps(body)
        reply, text = self._sent(method, path, content, sent)
        return Reply(reply.status, orjson.loads(text)["data"], reply.headers)

    def report(self, spans: bytes) -> Reply:
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": PROTOBUF}
        reply, text = self._sent("POST", TRACES, spans, sent)
        assert (reply.status, text) == (200, b"")
        return Reply(reply.status, None, reply.headers)

    def _sent(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[HTTPResponse, bytes]:
        address = urlsplit(self.url).netloc
        with closing(HTTPConnection(address, timeout=ANSWER_S)) as connection:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            text = reply.read()
        assert reply.status < 500, (path, text)
        return reply, text

    def get(self, path: str, **headers: str) -> Reply:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Reply:
        return self.call("POST", path, body, **headers)


@contextmanager
def writing(client: Client) -> Iterator[list[Reply]]:
    """Write all the time until the block ends, also while a clock jumps."""
    replies: list[Reply] = []
    errors: list[BaseException] = []
    is_over = threading.Event()

    def write() -> None:
        try:
            while not is_over.is_set():
                name = {"name": f"agent {len(replies)} of the writer"}
                replies.append(
                    client.post(
                        "/api/catalog/agents",
                        name,
                        Idempotency_Key=f"writer-{len(replies)}",
                    )
                )
        except BaseException as error:  # noqa: BLE001 # raised below
            errors.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield replies
    finally:
        is_over.set()
        thread.join()
    assert errors == []
    assert {reply.status for reply in replies} == {201}


@dataclass(slots=True, kw_only=True)
class Stage:
    """A service and its database, and what was written so far.

    ``answers`` are by their keys; ``trace`` is one that isn't complete, of an agent.
    """

    url: str
    folder: Path
    server: Server
    clocks: Mapping[str, Clock]
    answers: dict[str, Any] = field(default_factory=dict)
    jumps: int = 0
    trace: int = 0
    traced: str = ""

    @property
    def client(self) -> Client:
        return Client(self.server.url, self.server.admin_token)

    def execute(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as db:
            return db.execute(query.encode()).fetchall()

    def jump(self, which: str, offset: str) -> None:
        """Set the clocks, and wait until the processes have seen it."""
        for name, clock in self.clocks.items():
            if which in (name, "both"):
                clock.set(offset)
        if which != "database":
            # Both processes tell it.
            self.jumps += 2
            until_blocking(
                lambda: self.metric("agent_runtime_clock_jumps_total") == self.jumps
            )
        if which != "service":
            ((now,),) = self.execute("SELECT clock_timestamp()")
            off = now - datetime.now(UTC) - timedelta(seconds=int(offset))
            assert abs(off) < KNOWN_S

    def metric(self, name: str) -> float:
        """Return the sum over the service's processes."""
        address = urlsplit(self.server.url).netloc
        with closing(HTTPConnection(address, timeout=ANSWER_S)) as connection:
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        families = text_string_to_metric_families(text)
        return sum(
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == name
        )
