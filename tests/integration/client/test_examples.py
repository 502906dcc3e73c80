"""The programs in ``client/examples``, run as processes against the service."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import AgentRuntime, AsyncAgentRuntime
from agent_runtime_client.models import Agent, Connector, ToolRule
from tests.integration.client.conftest import url_of
from tests.support.callers import Caller
from tests.support.project import ROOT
from tests.support.tool_rules.setting import Setting

EXAMPLES = ROOT / "client" / "examples"
HOSTILE = "</text><script>alert('\"&')</script>"
SVG = "{http://www.w3.org/2000/svg}"
Run = Callable[..., Any]
Connect = Callable[..., Awaitable[Connector]]


@pytest.fixture
def environment(client: TestClient, ada: Caller) -> dict[str, str]:
    assert ada.token is not None
    return {
        "PATH": os.environ["PATH"],
        # The client of these sources, whichever one is installed.
        "PYTHONPATH": str(ROOT / "client"),
        "AGENT_RUNTIME_SERVER": url_of(client),
        "AGENT_RUNTIME_TOKEN": ada.token,
    }


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run an example in a folder of its own; returns what it prints."""

    async def run(name: str, *arguments: object) -> str:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", str(EXAMPLES / name)),
            *map(str, arguments),
            env={**environment, "PYTHONUTF8": "1"},
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()

    return run


async def price(runtime: AsyncAgentRuntime, provider: str, model: str) -> None:
    await runtime.prices.add_provider(provider, provider)
    await runtime.prices.set(
        provider,
        model,
        input_price_per_1m=1,
        output_price_per_1m=10,
        effective_from=datetime(2026, 1, 1, tzinfo=UTC),
    )


async def spend(
    runtime: AsyncAgentRuntime, agent: Agent, model: str, tokens: int
) -> None:
    session = await runtime.sessions.start(agent.id)
    now = datetime.now(UTC)
    await runtime.sessions.record_turn(
        session.session_id,
        turn_id="t",
        started_at=now,
        ended_at=now,
        provider="acme",
        model=model,
        prompt_tokens=tokens,
        completion_tokens=0,
    )


def shown(picture: str) -> tuple[list[str], list[str]]:
    """Return the lines of text of a picture, and the tooltips of its boxes."""
    root = ET.fromstring(picture)  # noqa: S314 # written by our own example
    assert root.tag == f"{SVG}svg"
    used = {each.tag.removeprefix(SVG) for each in root.iter()}
    assert used <= {"svg", "title", "rect", "text"}
    lines = [each.text or "" for each in root.iter(f"{SVG}text")]
    return lines, [each.text or "" for each in root.findall(f"{SVG}rect/{SVG}title")]


async def test_a_recorded_session_has_its_cost(
    runtime: AsyncAgentRuntime, run: Run
) -> None:
    agent = await runtime.agents.create("support")
    unknown = await run("record_session.py", agent.id)
    await price(runtime, "openai", "gpt-4o-mini")

    priced = await run("record_session.py", agent.id)

    assert unknown.splitlines()[-1] == "cost unknown: no_such_model"
    first, second, total = priced.splitlines()
    # 1,019 and 1,010 tokens of input for a millionth each, 200 of output for ten.
    assert first.split() == ["turn-1", "1219", "0.003019"]
    assert second.split() == ["turn-2", "1210", "0.00301"]
    label, cost, currency = total.split()
    assert (label, Decimal(cost), currency) == ("cost:", Decimal("0.006029"), "USD")
    listed = runtime.sessions.list(start_time=datetime.now(UTC) - timedelta(hours=1))
    assert [each.has_ended async for each in listed] == [True, True]


@pytest.fixture
def connect(runtime: AsyncAgentRuntime, setting: Setting) -> Connect:
    """Register a connector that was observed to have tools."""

    async def connect(name: str, *tools: str) -> Connector:
        connector = await runtime.connectors.create(name, "https://x.example")
        await setting.lists(connector.id, *tools)
        return connector

    return connect


async def allow(
    runtime: AsyncAgentRuntime, agent: Agent, connector: Connector, **stances: Any
) -> None:
    await runtime.connectors.grant(connector.id, agent.id)
    await runtime.tool_rules.replace(
        agent.id,
        [
            ToolRule(connector_id=connector.id, tool_pattern=pattern, stance=stance)
            for pattern, stance in stances.items()
        ],
    )


async def test_the_exposure_report_shows_what_could_be_called(
    runtime: AsyncAgentRuntime, run: Run, connect: Connect, tmp_path: Path
) -> None:
    support = await runtime.agents.create("support")
    clerk = await runtime.agents.create("clerk")
    idle = await runtime.agents.create("idle")
    crm = await connect("crm", "get_name", "drop", "export")
    mail = await connect("mail", "send")
    gone = await connect("gone", "read")
    # Denied tools, and rules without a grant, can't be called.
    await allow(runtime, support, crm, get_name="allow", drop="deny")
    await allow(runtime, support, mail, send="ask")
    await allow(runtime, idle, mail, send="deny")
    # Allowed in that day, but not any more.
    await allow(runtime, clerk, crm, export="allow")
    await allow(runtime, clerk, crm, get_name="ask")
    await runtime.connectors.revoke(crm.id, clerk.id)
    await allow(runtime, clerk, gone, read="allow")
    await runtime.connectors.retire(gone.id)

    await run("exposure_report.py", "exposure.svg")

    lines, tooltips = shown((tmp_path / "exposure.svg").read_text("utf-8"))
    assert sorted(tooltips) == [
        "allow: export; ask: get_name",
        "allow: get_name",
        "allow: read",
        "ask: send",
    ]
    assert lines[0].startswith("Who could call what since ")
    assert {each.split()[0] for each in lines[1:6]} == {
        "clerk",
        "crm",
        "gone",
        "mail",
        "support",
    }


async def test_the_exposure_report_begins_a_day_ago(
    blocking: Run, runtime: AsyncAgentRuntime, connect: Connect, examples: None
) -> None:
    import exposure_report

    agent = await runtime.agents.create("support")
    crm = await connect("crm", "old", "kept")
    await allow(runtime, agent, crm, old="allow")
    await allow(runtime, agent, crm, kept="allow")
    changed = await runtime.agents.change(agent.id, "renamed", "")

    def work(client: AgentRuntime) -> dict[Any, Any]:
        return exposure_report.exposure(client, changed.updated_at)

    [cell] = (await blocking(work)).values()
    assert cell == {"allow": {"kept"}}


async def test_names_are_escaped_in_the_exposure_report(
    runtime: AsyncAgentRuntime, run: Run, connect: Connect, tmp_path: Path
) -> None:
    agent = await runtime.agents.create(HOSTILE)
    connector = await connect(HOSTILE, "read")
    await allow(runtime, agent, connector, read="allow")

    await run("exposure_report.py", "exposure.svg")

    text = (tmp_path / "exposure.svg").read_text("utf-8")
    lines, _ = shown(text)
    assert any(each.startswith("</text><script>") for each in lines)
    assert "<script" not in text


async def test_costs_are_a_table_and_a_chart(
    runtime: AsyncAgentRuntime, run: Run, tmp_path: Path
) -> None:
    agent = await runtime.agents.create("support")
    await price(runtime, "acme", "swift")
    await spend(runtime, agent, "swift", 3_000_000)
    await spend(runtime, agent, "swift", 1_500_000)
    await spend(runtime, agent, HOSTILE, 7)

    table = await run("cost_by_model.py", "costs.svg")

    rows = [line.split() for line in table.splitlines()[1:]]
    assert ["acme/swift", "2", "4.5", "USD"] in [
        [row[0], row[1], row[2].rstrip("0"), *row[3:]] for row in rows
    ]
    assert ["1", "unknown", "1", "no_such_model"] in [row[-4:] for row in rows]
    text = (tmp_path / "costs.svg").read_text("utf-8")
    lines, tooltips = shown(text)
    assert "acme/swift" in lines
    assert "unknown" in lines
    assert any(each.startswith("acme/</text><script>") for each in lines)
    assert tooltips == ["1 no_such_model"]
    assert "<script" not in text


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the modules of the folder importable, as in a notebook that runs there."""
    monkeypatch.syspath_prepend(str(EXAMPLES))


async def test_the_notebook_runs(
    runtime: AsyncAgentRuntime,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    examples: None,
) -> None:
    agent = await runtime.agents.create("support")
    await price(runtime, "acme", "swift")
    await spend(runtime, agent, "swift", 3_000_000)
    await spend(runtime, agent, "unheard-of", 1)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    text = (EXAMPLES / "costs.ipynb").read_text("utf-8")
    notebook = json.loads(text)
    cells = [each for each in notebook["cells"] if each["cell_type"] == "code"]
    names: dict[str, Any] = {}

    def work() -> None:
        for cell in cells:
            exec("".join(cell["source"]), names)  # noqa: S102 # our own
        names["runtime"].close()

    await asyncio.to_thread(work)

    assert notebook["nbformat"] == 4
    assert all(each["outputs"] == [] for each in cells)
    lines, _ = shown(names["picture"]._repr_svg_())
    assert "acme/swift" in lines
    assert names["unknown"] == {"acme/unheard-of": "1 no_such_model"}


def test_a_picture_has_printable_characters_only(examples: None) -> None:
    from svg import Picture

    picture = Picture(100, 100, "\x1b[2J")
    picture.text(10, 40, "a\x00b\u202ec")

    lines, _ = shown(str(picture))
    assert lines == ["\ufffd[2J", "a\ufffdb\ufffdc"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.name)
def test_an_example_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) < 80
