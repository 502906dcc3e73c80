"""What is sent: a file of requests that every load generator reads."""

import re
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import orjson

from tests.instruments.bench.world import World

CHANGING = re.compile(r'"issues\.[a-z0-9]{6}"')


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    body: bytes = b""

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body.decode()}".rstrip()


@dataclass(frozen=True, slots=True)
class Plan:
    """Requests to send in a circle.

    The file has the headers first, then a request a line: method, path and body, of
    which none contains a space.
    """

    headers: dict[str, str]
    requests: list[Request]

    def write(self, file: Path) -> Path:
        lines = [f"{name}: {value}" for name, value in self.headers.items()]
        lines += map(str, self.requests)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return file

    @classmethod
    def read(cls, file: Path) -> "Plan":
        headers, requests = {}, []
        for line in file.read_text(encoding="utf-8").splitlines():
            name, colon, value = line.partition(": ")
            if colon and " " not in name:
                headers[name] = value
            else:
                method, path, *body = line.split(" ", 2)
                requests.append(Request(method, path, "".join(body).encode()))
        return cls(headers, requests)


def rule_changes(world: World, *, offset: int = 0) -> Plan:
    """Operation 1 with three rules: every request changes one rule of an agent.

    An agent's turn comes again only after every other's.
    """
    bodies = [_rules(world, stance) for stance in ("ask", "deny")]
    agents = [*world.agents[offset:], *world.agents[:offset]]
    return Plan(
        {
            "Authorization": f"Bearer {world.token}",
            "Content-Type": "application/json",
        },
        [
            Request("PUT", f"/api/mcp/agents/{agent}/tools", body)
            for body in bodies
            for agent in agents
        ],
    )


def changing(file: Path) -> Path:
    """Give the rule that a file of rule changes is about another name for a run.

    The run before ended anywhere in the file. Without this, up to one request for each
    agent would find its rules as they are, which takes a query instead of a share of a
    commit, all of them at the start of the run.
    """
    name = f'"issues.{token_hex(3)}"'
    file.write_text(CHANGING.sub(name, file.read_text("utf-8")), "utf-8")
    return file


def reads(token: str, path: str) -> Plan:
    return Plan({"Authorization": f"Bearer {token}"}, [Request("GET", path)])


def _rules(world: World, stance: str) -> bytes:
    tracker, calendar = world.connectors[:2]
    return orjson.dumps(
        {
            "rules": [
                _rule(str(tracker), "issues.read_*", "allow"),
                _rule(str(tracker), "issues.create", stance),
                _rule(str(calendar), "*", "ask"),
            ]
        }
    )


def _rule(connector_id: str, tool_pattern: str, stance: str) -> dict[str, str]:
    return {
        "connector_id": connector_id,
        "tool_pattern": tool_pattern,
        "stance": stance,
    }
