"""A server on loopback that answers as Phoenix does, or as a test wants it to."""

import ast
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from aiohttp import web
from aiohttp.test_utils import TestServer

from projections.sessions.trace_store import SessionKey

AGENT = UUID("00000000-0000-0000-0000-00000000000a")
OTHER = UUID("00000000-0000-0000-0000-00000000000b")
LONG_AGO = datetime(2026, 3, 1, 12, tzinfo=UTC)

ANNOTATION: dict[str, Any] = {
    "id": "A1",
    "name": "helpfulness",
    "annotatorKind": "LLM",
    "label": "helpful",
    "score": 0.9,
    "explanation": "answered everything",
    "metadata": {"model": "judge"},
    "identifier": "judge-1",
    "source": "API",
    "createdAt": "2026-11-20T21:31:27+00:00",
    "updatedAt": "2026-11-20T21:31:27.5+01:00",
    "user": {"username": "alice"},
}
SUMMARY: dict[str, Any] = {
    "name": "helpfulness",
    "count": 2,
    "labels": ["helpful"],
    "meanScore": 0.5,
    "scoreCount": 2,
    "labelCount": 1,
    "labelFractions": [{"label": "helpful", "fraction": 1.0}],
}


def node(session_id: str, project: UUID | str = AGENT, **fields: Any) -> dict[str, Any]:
    """Return a session as Phoenix answers it."""
    return {
        "sessionId": session_id,
        "project": {"name": str(project)},
        "numTraces": 3,
        "numTracesWithError": 1,
        "tokenUsage": {"prompt": 6000.0, "completion": 900.0, "total": 6900.0},
        "costSummary": {"total": {"cost": 0.0014024999999999999, "tokens": 6900.0}},
        "p50": 2000.0,
        "p99": 3960.0,
        "sessionAnnotations": [ANNOTATION],
        "sessionAnnotationSummaries": [SUMMARY],
        **fields,
    }


def key(
    session_id: str, agent_id: UUID = AGENT, *, has_ended: bool = False
) -> SessionKey:
    return SessionKey(
        session_id=session_id,
        agent_id=agent_id,
        has_ended=has_ended,
        last_active_at=LONG_AGO,
    )


Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class FakePhoenix:
    """Knows some sessions; counts what it is asked.

    ``takes_filters`` False is an older one; ``broken`` sessions fail when they are
    looked at; ``refuses`` says of how many sessions by id it takes no document.
    """

    nodes: list[Any] = field(default_factory=list)
    takes_filters: bool = True
    broken: frozenset[str] = frozenset()
    refuses: Callable[[int], bool] = lambda _: False
    asked: list[str] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.headers.append(request.headers)
        variables = body["variables"]
        assert body["query"].count(":") > 0
        if "c0" in variables:
            self.asked.append(f"filters {len(variables) // 2}")
            if not self.takes_filters:
                return _refused("unknown argument 'sessionFilterCondition'")
            return self._by_filters(variables)
        self.asked.append(f"ids {len(variables)}")
        if self.refuses(len(variables)):
            return _refused("52 aliases found. Allowed: 50")
        return self._by_ids(variables)

    def _by_filters(self, variables: dict[str, str]) -> web.Response:
        data: dict[str, Any] = {}
        errors = []
        projects = {_name(each) for each in self.nodes}
        for number in range(len(variables) // 2):
            wanted = _ids(variables[f"c{number}"])
            found = [
                each
                for each in self.nodes
                if _name(each) == variables[f"n{number}"] and str(_id(each)) in wanted
            ]
            alias = f"p{number}"
            if any(_id(each) in self.broken for each in found):
                data[alias] = None
                errors.append({"message": "boom", "path": [alias, "sessions"]})
            elif variables[f"n{number}"] not in projects:
                data[alias] = None
            else:
                edges = [{"node": each} for each in found]
                data[alias] = {"sessions": {"edges": edges}}
        return web.json_response(
            {"data": data, **({"errors": errors} if errors else {})}
        )

    def _by_ids(self, variables: dict[str, str]) -> web.Response:
        data: dict[str, Any] = {}
        errors = []
        known = {_id(each): each for each in self.nodes}
        for alias, session_id in variables.items():
            data[alias] = known.get(session_id)
            if session_id in self.broken:
                data[alias] = None
                errors.append({"message": "boom", "path": [alias, "p50"]})
        return web.json_response(
            {"data": data, **({"errors": errors} if errors else {})}
        )


def _refused(message: str) -> web.Response:
    return web.json_response({"data": None, "errors": [{"message": message}]})


def _ids(condition: str) -> Iterable[str]:
    found = re.fullmatch(r"session_id in (\[.*\])", condition)
    assert found is not None
    ids: list[str] = ast.literal_eval(found[1])
    return ids


def _id(each: Any) -> str | None:
    return each.get("sessionId") if isinstance(each, dict) else None


def _name(each: Any) -> str | None:
    return each["project"]["name"] if isinstance(each, dict) else str(AGENT)


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """Answer POST /graphql on loopback; give the base URL."""
    app = web.Application()
    app.router.add_post("/graphql", answer)
    async with TestServer(app, host="127.0.0.1") as server:
        yield str(server.make_url("/")).rstrip("/")
