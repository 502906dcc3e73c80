"""Draw who could call what in the last day: a matrix of agents and connectors.

    export AGENT_RUNTIME_SERVER=http://127.0.0.1:8080 AGENT_RUNTIME_TOKEN=...
    python exposure_report.py exposure.svg

For superusers and auditors, every night. It shows what was allowed at any time in that
day, also if it was revoked since. The audit trail records the reads.
"""

import os
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from agent_runtime_client import AgentRuntime
from svg import Picture, shortened

COLOURS: Final = {"allow": "#f4a582", "ask": "#fddf8b"}  # the stronger one first
# By agent and connector: each stance with its tools.
Matrix = dict[tuple[str, str], dict[str, set[str]]]


def exposure(runtime: AgentRuntime, since: datetime) -> Matrix:
    """Return the tools that each agent could call at any time since then."""
    names = {each.id: each.name for each in runtime.connectors.list()}
    for entry in runtime.audit.list(kind="connector.retired", from_time=since):
        names[entry.resource.id] = entry.resource.name or "retired"
    matrix: Matrix = defaultdict(lambda: defaultdict(set))
    for agent in runtime.agents.list():
        row = f"{shortened(agent.name, 18)} {str(agent.id)[:8]}"
        # The beginning of the day, each change of grants and rules, and now.
        times: list[int | datetime] = [since] if agent.created_at <= since else []
        changes = runtime.audit.list(resource=agent.id, from_time=since)
        kinds = ("connector.", "tool_rules.")
        times += [each.position for each in changes if each.kind.startswith(kinds)]
        times.append(datetime.now(UTC))
        for time in times:
            # Nothing was allowed at position 0: the difference is all that was allowed.
            found = runtime.audit.compare_decisions(agent.id, 0, until=time)
            for connector in found.connectors:
                name = names.get(connector.connector_id, "unknown")
                column = f"{shortened(name, 12)} {str(connector.connector_id)[:8]}"
                for tool in connector.tools:
                    matrix[row, column][tool.after].add(tool.tool)
    return matrix


def draw(matrix: Matrix, title: str) -> Picture:
    """Return a row for each agent and a column for each connector."""
    agents = sorted({agent for agent, _ in matrix})
    connectors = sorted({connector for _, connector in matrix})
    width, height = 220 + 180 * max(2, len(connectors)), 70 + 30 * len(agents)
    picture = Picture(width, height, title)
    for column, connector in enumerate(connectors):
        picture.text(220 + 180 * column, 50, connector)
    for row, agent in enumerate(agents):
        picture.text(10, 78 + 30 * row, agent)
    for (agent, connector), cell in matrix.items():
        x, y = 220 + 180 * connectors.index(connector), 60 + 30 * agents.index(agent)
        stance = next(each for each in COLOURS if each in cell)
        tools = [f"{each}: {', '.join(sorted(cell[each]))}" for each in sorted(cell)]
        picture.box(x, y, 170, 26, COLOURS[stance], tooltip="; ".join(tools))
        picture.text(x + 8, y + 18, shortened("; ".join(tools), 24))
    return picture


def main() -> None:
    since = datetime.now(UTC) - timedelta(days=1)
    server, token = (os.environ[f"AGENT_RUNTIME_{x}"] for x in ("SERVER", "TOKEN"))
    with AgentRuntime(server, token) as runtime:
        matrix = exposure(runtime, since)
    picture = draw(matrix, f"Who could call what since {since:%Y-%m-%d %H:%M} UTC")
    Path(sys.argv[1]).write_text(str(picture), "utf-8")


if __name__ == "__main__":
    main()
