"""The service that the browser visits, and what is in it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

import orjson

from tests.support.audit.reading import until_signed
from tests.support.harness.service import running, serving
from tests.support.waiting import until_blocking

CALLS: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("list_issues", {}),
    ("delete_issue", {"number": 1}),
    ("create_issue", {"title": "The lift is slow"}),
)
# Where processes get little of the processor, they need minutes to start.
LOADED_S: Final = 900.0
# Not only shown as text, but text that tries to be something else.
CONTENT_TYPE: Final = "application/json"
HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>&amp;'


@dataclass(frozen=True, slots=True)
class DemoData:
    """A running service, users with their tokens, and ids of things to look at."""

    url: str
    sign_in_url: str
    tokens: Mapping[str, str]
    agent_id: str
    agent_token: str
    connector_id: str
    session_id: str
    user_id: str
    # Position of the entry by which the example agent got its rules.
    position: int
    # An admitted call of the agent, and one that waits for a person.
    call_id: str
    approval_id: str
    _unneeded: list[tuple[str, str]] = field(default_factory=list)

    def call(
        self, method: str, path: str, body: Any = None, *, user: str = "admin"
    ) -> Any:
        """Call the API as a user and return the data of its answer."""
        return called(self.url, self.tokens[user], method, path, body)

    def remove_later(self, path: str, *, user: str = "admin") -> None:
        """Delete what a test has made once its pages are closed.

        A page that is still loading it would report that it isn't found.
        """
        self._unneeded.append((path, user))

    def remove_unneeded(self) -> None:
        while self._unneeded:
            path, user = self._unneeded.pop(0)
            self.call("DELETE", path, user=user)

    def call_tool(self, tool: str, arguments: Any) -> Any:
        """Call a tool of the issue tracker as the agent; return the whole answer."""
        return tool_called(self.url, self.agent_id, self.agent_token, tool, arguments)

    def ask(self, title: str) -> Any:
        """Let the agent ask a person; return the approval as the inbox lists it."""
        before = {each["id"] for each in self._pending()}
        self.call_tool("create_issue", {"title": title})
        return until_blocking(
            lambda: [each for each in self._pending() if each["id"] not in before]
        )[0]

    def _pending(self) -> Any:
        inbox = self.call("GET", "/api/mcp/approvals?state=pending&limit=100")
        return inbox["approvals"]

    def text(self, path: str) -> str:
        """Return a text that everybody may read, such as a checkpoint."""
        headers = {"Authorization": f"Bearer {self.tokens['olga']}"}
        request = Request(self.url + path, headers=headers)  # noqa: S310
        with urlopen(request) as response:  # noqa: S310
            return str(response.read().decode())


def tool_called(url: str, agent: str, token: str, tool: str, arguments: Any) -> Any:
    params = {"name": f"issue-tracker_{tool}", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    request = Request(  # noqa: S310
        f"{url}/mcp/agents/{agent}",
        data=orjson.dumps(message),
        headers={"Authorization": f"Bearer {token}", "Content-Type": CONTENT_TYPE},
    )
    with urlopen(request) as response:  # noqa: S310
        return orjson.loads(response.read())


def called(url: str, token: str, method: str, path: str, body: Any = None) -> Any:
    request = Request(  # noqa: S310
        url + path,
        method=method,
        data=None if body is None else orjson.dumps(body),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": CONTENT_TYPE,
        },
    )
    with urlopen(request) as response:  # noqa: S310
        return orjson.loads(response.read())["data"]


@contextmanager
def serve_demo(folder: Path, *options: str) -> Iterator[DemoData]:
    """Start the service with its demo data, and yield it once that is loaded."""
    # A call that asks isn't held.
    own = ("--demo", "--gateway-hold-s", "0")
    server = serving(*own, *options, log=folder / "log", folder=folder)
    with running(server):
        token = (folder / str(server.token_file)).read_text("ascii").strip()
        sign_in_url = _sign_in_url(server)
        until_blocking((folder / "data/agent-token").exists, timeout_s=LOADED_S)
        agent_token = (folder / "data/agent-token").read_text("ascii").strip()
        yield _look(server.url, token, sign_in_url, agent_token)


def _sign_in_url(server: Any) -> str:
    """Return the one-time link, the last line that a start with demo data prints."""
    while "/console#code=" not in (line := server.popen.stdout.readline()):
        assert line, server.log_tail()
    return str(line.strip())


def _look(url: str, admin: str, sign_in_url: str, agent_token: str) -> DemoData:
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
    # The gateway observes the tools of a new connector within seconds.
    definitions = f"/api/mcp/connectors/{tracker}/definitions"
    until_blocking(lambda: call("GET", definitions)["tools"])
    for tool, arguments in CALLS:
        tool_called(url, agent, agent_token, tool, arguments)
    calls = "/api/mcp/calls?outcome=ok"
    until_blocking(lambda: call("GET", calls)["calls"])
    inbox = "/api/mcp/approvals?state=pending"
    asked = until_blocking(lambda: call("GET", inbox)["approvals"])
    replaced = "/api/audit/events?kind=tool_rules.replaced&limit=1"
    entries = until_blocking(lambda: call("GET", replaced)["entries"])
    until_signed(url, admin, entries[0]["position"])
    return DemoData(
        url=url,
        sign_in_url=sign_in_url,
        tokens=tokens,
        agent_id=agent,
        agent_token=agent_token,
        connector_id=tracker,
        session_id=sessions[0]["session_id"],
        user_id=users["ada"],
        position=entries[0]["position"],
        call_id=call("GET", calls)["calls"][0]["id"],
        approval_id=asked[0]["id"],
    )
