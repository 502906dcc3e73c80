"""The wheel: alone in an environment of its own, and typed for its users."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import service
from tests.support.project import ROOT

pytestmark = pytest.mark.thorough

PROGRAM = """\
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from agent_runtime_client import AgentRuntime, AsyncAgentRuntime
from agent_runtime_client.errors import AgentRuntimeError
from agent_runtime_client.models import Agent, ToolRule


def names(runtime: AgentRuntime) -> list[str]:
    return [agent.name for agent in runtime.agents.list(limit=10)]


def price(runtime: AgentRuntime) -> Decimal | None:
    [provider] = runtime.prices.get_providers()
    return provider.models[0].input_price_per_1m


async def created(runtime: AsyncAgentRuntime) -> datetime:
    agent: Agent = await runtime.agents.create("x", idempotency_key="k")
    identifier: UUID = agent.id
    rule = ToolRule(connector_id=identifier, tool_pattern="*", stance="allow")
    replaced = await runtime.tool_rules.replace(identifier, [rule], if_match="3")
    assert replaced.response.etag is not None
    return agent.created_at


def key(error: AgentRuntimeError) -> str | None:
    return error.idempotency_key
"""
MISTAKES = """\
from agent_runtime_client import AgentRuntime
from agent_runtime_client.models import ToolRule

runtime = AgentRuntime("http://x", "t", timeout=3)
runtime.agents.create()
runtime.agents.get("x").nmae
ToolRule(connector_id="x", tool_pattern="*", stance="maybe")
"""


def run(*command: str | Path) -> str:
    done = subprocess.run(
        [str(each) for each in command],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it requires alone."""
    folder = tmp_path_factory.mktemp("distribution")
    # Building leaves files beside the sources.
    shutil.copytree(
        ROOT / "client", folder / "client", ignore=shutil.ignore_patterns("*.egg-info")
    )
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    offline = ("--no-deps", "--no-index")
    wheels = folder / "wheels"
    run(*pip, "wheel", "--quiet", *offline, "--no-build-isolation", "--wheel-dir",
        wheels, folder / "client")  # fmt: skip
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    [wheel] = wheels.iterdir()
    run(*pip, "--python", python, "install", "--quiet", *offline, wheel)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = run(python, "-c", where)
    for name in set(required("httpx")):
        copy(name, Path(packages.strip()))
    return python


def required(name: str) -> Iterator[str]:
    """Yield a distribution and what it requires, without extras."""
    yield name
    for text in distribution(name).requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield from required(requirement.name)


def copy(name: str, packages: Path) -> None:
    for file in distribution(name).files or ():
        source = Path(str(file.locate()))
        if ".." not in file.parts and source.is_file():
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def test_the_wheel_runs_alone(environment: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)

    run(environment, "-W", "error", file)
    script = "from importlib.metadata import version as v; print(v(%r))"
    version = run(environment, "-c", script % "agent-runtime-client")

    assert version.strip() == service.__version__


def test_a_users_program_is_checked_strictly(environment: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache")

    run(*mypy, "--python-executable", environment, file)

    file.write_text(MISTAKES)
    done = subprocess.run(
        [*map(str, mypy), "--python-executable", str(environment), str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    wrong = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert {line.split(":")[1] for line in wrong} == {"4", "5", "6", "7"}, done.stdout
