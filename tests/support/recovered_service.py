"""A service with events of all kinds on a PostgreSQL that is recovered under it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg

from service.users.tokens import ADMIN_TOKEN_FILE
from tests.support.waiting import until_blocking

NOON = "2026-03-01T12:00:00Z"
HEAD = "SELECT position, epoch::text FROM events.head"
BEHIND = """
    SELECT count(*) FROM read.position p, events.head h
     WHERE p.position < h.position OR p.epoch <> h.epoch OR p.reason IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Any
    data: Any

    @property
    def code(self) -> str:
        return str(self.data["code"])

    @property
    def position(self) -> int:
        return int(self.headers["X-Event-Position"])

    @property
    def epoch(self) -> str:
        return str(self.headers["X-Log-Epoch"])


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody with a token."""

    url: str
    token: str

    def call(self, method: str, path: str, json_: Any = None, **headers: str) -> Answer:
        """Call the API; ``X_Log_Epoch="..."`` sends the header X-Log-Epoch."""
        request = Request(  # noqa: S310 # of our own server
            self.url + path,
            method=method,
            data=None if json_ is None else json.dumps(json_).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                **({} if json_ is None else {"Content-Type": "application/json"}),
                **{name.replace("_", "-"): each for name, each in headers.items()},
            },
        )
        try:
            with urlopen(request, timeout=60) as answer:  # noqa: S310
                return Answer(answer.status, answer.headers, json.load(answer)["data"])
        except HTTPError as error:
            with error:
                return Answer(error.code, error.headers, json.load(error)["data"])

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, **headers)

    def do(self, method: str, path: str, json_: Any = None, **headers: str) -> Answer:
        """Do it: it has to be answered with success."""
        answer = self.call(method, path, json_, **headers)
        assert answer.status in (200, 201), answer
        return answer

    def post(self, path: str, json_: Any = None) -> Answer:
        return self.do("POST", path, json_)

    def put(self, path: str, json_: Any = None) -> Answer:
        return self.do("PUT", path, json_)

    def user(self, name: str, *roles: str) -> "tuple[str, Client]":
        """Create a user with a token; return the id too."""
        user_id = self.post("/api/users", {"name": name}).data["id"]
        for role in roles:
            self.put(f"/api/users/{user_id}/roles/{role}")
        issued = self.post(f"/api/users/{user_id}/tokens", {"label": "test"})
        return user_id, Client(self.url, issued.data["token"])

    def at(self, url: str) -> "Client":
        """Return the same client of a service that was started anew."""
        return Client(url, self.token)


def admin(url: str, data_dir: Path) -> Client:
    return Client(url, (data_dir / ADMIN_TOKEN_FILE).read_text().strip())


def record_everything(owner: Client, name: str) -> Answer:
    """Record an agent, a connector, rules, a session with texts, a secret, a price."""
    agent = owner.post("/api/catalog/agents", {"name": name}).data["id"]
    url = f"https://{name}.example/mcp"
    registered = {"name": name, "url": url, "description": ""}
    connector = owner.post("/api/mcp/connectors", registered).data["id"]
    owner.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")
    rule = {"connector_id": connector, "tool_pattern": "*", "stance": "ask"}
    owner.put(f"/api/mcp/agents/{agent}/tools", {"rules": [rule]})
    sessions = "/api/observability/session"
    started = {"agent_id": agent, "session_id": name, "started_at": NOON}
    owner.post(sessions, started)
    turn = {"turn_id": "1", "started_at": NOON, "ended_at": NOON}
    texts = {"input": f"question of {name}", "output": f"answer of {name}"}
    owner.post(f"{sessions}/{name}/turns", turn | texts)
    owner.post("/api/llm-router/providers", {"key": name, "display_name": name})
    price = {
        "provider": name,
        "model": name,
        "input_price_per_1m": 1,
        "output_price_per_1m": 2,
        "effective_from": NOON,
    }
    owner.post("/api/llm-router/prices", price)
    return owner.post("/api/secrets", {"name": name, "value": f"value of {name}"})


def expect_everything(owner: Client, name: str) -> None:
    assert owner.get(f"/api/secrets/{name}/value").data["value"] == f"value of {name}"
    session = owner.get(f"/api/observability/session/{name}")
    assert f"question of {name}" in str(session.data), session


def head(url: str) -> tuple[int, str]:
    """Return the log's last position and its epoch."""
    with psycopg.connect(url) as db:
        row = db.execute(HEAD).fetchone()
    assert row is not None
    return row[0], row[1]


def until_followed(url: str) -> None:
    """Wait until every follower has applied the whole log, in its epoch."""

    def are_up_to_date() -> bool:
        with psycopg.connect(url) as db:
            return db.execute(BEHIND).fetchone() == (0,)

    until_blocking(are_up_to_date)


def until_ready(url: str) -> None:
    until_blocking(lambda: readiness(url)[0] == 200)


def readiness(url: str) -> tuple[int, Any]:
    answer = Client(url, "").get("/readyz")
    return answer.status, answer.data
