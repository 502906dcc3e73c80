"""The service that the browser visits, and what is in it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import orjson

from tests.harness.service import running, serving

# Not only shown as text, but text that tries to be something else.
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>&amp;'


@dataclass(frozen=True, slots=True)
class DemoData:
    """A running service, users with their tokens, and ids of things to look at."""

    url: str
    sign_in_url: str
    tokens: Mapping[str, str]
    agent_id: str
    connector_id: str
    session_id: str
    user_id: str
    # Of the entry by which the example agent got its rules.
    position: int

    def call(
        self, method: str, path: str, body: Any = None, *, user: str = "admin"
    ) -> Any:
        """Call the API as a user and return the data of its answer."""
        return called(self.url, self.tokens[user], method, path, body)

    def text(self, path: str) -> str:
        """Return a text that everybody may read, such as a checkpoint."""
        headers = {"Authorization": f"Bearer {self.tokens['olga']}"}
        request = Request(self.url + path, headers=headers)  # noqa: S310
        with urlopen(request) as response:  # noqa: S310
            return str(response.read().decode())


def called(url: str, token: str, method: str, path: str, body: Any = None) -> Any:
    request = Request(  # noqa: S310
        url + path,
        method=method,
        data=None if body is None else orjson.dumps(body),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        },
    )
    with urlopen(request) as response:  # noqa: S310
        return orjson.loads(response.read())["data"]


@contextmanager
def serve_demo(folder: Path) -> Iterator[DemoData]:
    """Start the service with its demo data, and yield it once that is loaded."""
    server = serving("--demo", log=folder / "log", folder=folder)
    with running(server):
        token = (folder / str(server.token_file)).read_text("ascii").strip()
        yield _look(server.url, token, _sign_in_url(server))


def _sign_in_url(server: Any) -> str:
    """Return the one-time link, the last line that a start with demo data prints."""
    while "/console#code=" not in (line := server.popen.stdout.readline()):
        assert line, server.log_tail()
    return str(line.strip())


def _look(url: str, admin: str, sign_in_url: str) -> DemoData:
    def call(method: str, path: str, body: Any = None) -> Any:
        return called(url, admin, method, path, body)

    users = {each["name"]: each["id"] for each in call("GET", "/api/users")["users"]}
    tokens = {"admin": admin}
    for name in ("ada", "ben", "olga"):
        issued = call("POST", f"/api/users/{users[name]}/tokens", {"label": "browser"})
        tokens[name] = issued["token"]
    agents = call("GET", "/api/catalog/agents")["agents"]
    (agent,) = [each["id"] for each in agents if each["name"] == "Support triage"]
    connectors = call("GET", "/api/mcp/connectors")["connectors"]
    (tracker,) = [each["id"] for each in connectors if each["name"] == "Issue tracker"]
    sessions = call("GET", "/api/observability/session/list?limit=1")["sessions"]
    return DemoData(
        url=url,
        sign_in_url=sign_in_url,
        tokens=tokens,
        agent_id=agent,
        connector_id=tracker,
        session_id=sessions[0]["session_id"],
        user_id=users["ada"],
        position=call("GET", "/api/audit/events?kind=tool_rules.replaced&limit=1")[
            "entries"
        ][0]["position"],
    )
