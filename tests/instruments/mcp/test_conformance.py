"""What the reference server passes directly, it passes through the gateway."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.instruments.mcp.authorizing import authorizing
from tests.instruments.mcp.reference import ACTS, ANSWERS, reference
from tests.instruments.mcp.suite import Checks, run_suite
from tests.integration.gateway.sdk_server import serving
from tests.support.gateway.served import GATEWAY_OPTIONS, Api, new_session, new_setting
from tests.support.harness.service import running
from tests.support.harness.service import serving as served
from tests.support.project import ROOT

pytestmark = [
    pytest.mark.conformance,
    # The SDK warns of what the newest revision deprecates, and the suite asks for.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

PAGE: Final = ROOT / "docs" / "gateway.md"
# The reference server has tools alone, as the gateway does.
NOT_OF_TOOLS: Final = (
    "caching",
    "completion-",
    "input-required-result-non-tool-request",
    "prompts-",
    "resources-",
    "tasks-",
)
SESSIONS: Final = frozenset({"server-session-lifecycle", "server-sse-multiple-streams"})
# A server of both eras asks so only clients with a handshake.
QUESTIONS: Final = frozenset(
    {
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "tools-call-elicitation",
        "tools-call-sampling",
    }
)


GATEWAY: Final = {"slug": "upstream", "record_mode": "strict"}


@dataclass(frozen=True)
class Way:
    """From a client of one revision to a server of another, or of the gateway's choice.

    ``exceptions`` are scenarios that don't pass through the gateway, or single checks,
    SCENARIO:CHECK; the page says why. ``failures`` are those that the suite calls so;
    about the others it says that a server without sessions isn't tested.
    """

    revision: str
    upstream: str | None = None
    exceptions: frozenset[str] = frozenset()
    failures: frozenset[str] = frozenset()


WAYS: Final = (
    Way("2026-07-28"),
    Way("2025-11-25", exceptions=SESSIONS | QUESTIONS, failures=QUESTIONS),
    Way("2025-11-25", "2025-11-25", exceptions=SESSIONS),
)
# The suite waits half a second for some answers, however busy the machine is.
ATTEMPTS: Final = 20


@dataclass(slots=True)
class Compared:
    """``lost`` are scenarios and checks that pass directly, but not through."""

    failed_directly: set[str]
    failed_through: set[str]
    lost: set[str]
    passed_through: int


async def test_what_passes_directly_passes_through_the_gateway(tmp_path: Path) -> None:
    options = ("--data-dir", str(tmp_path / "data"), *GATEWAY_OPTIONS)
    async with serving(reference()) as upstream, new_session() as http:
        with running(served(*options, log=tmp_path / "log")) as service:
            admin = Api(http, service.url, service.admin_token)
            setting = await new_setting(admin, upstream, *ANSWERS, *ACTS)
            agent = setting.agent
            path = f"/api/mcp/connectors/{setting.connector_id}/gateway"
            async with authorizing(http, agent.url, agent.token) as gateway:
                compared = {}
                for way in WAYS:
                    settings = {**GATEWAY, "protocol_revision": way.upstream}
                    await admin.do("PUT", path, settings)
                    compared[way] = await compare(upstream, gateway, way, tmp_path)

    for way, found in compared.items():
        print(way, found)  # noqa: T201 # shown by make conformance
        assert of_tools(found.failed_directly) == set()
        assert of_tools(found.failed_through) == way.failures
        assert found.lost == way.exceptions
    page = PAGE.read_text(encoding="utf-8")
    for name in SESSIONS | QUESTIONS:
        assert f"`{name.partition(':')[0]}`" in page


async def compare(direct: str, gateway: str, way: Way, folder: Path) -> Compared:
    """Run everything against both; again, what failed and should not have."""
    revision, folder = way.revision, folder / f"to {way.upstream}"
    of_server = {**await run_suite(direct, revision, folder / f"{revision} directly")}
    for attempt in range(ATTEMPTS):
        for name in of_tools(failed(of_server)):
            results = folder / f"{revision} {name} directly {attempt}"
            of_server |= await run_suite(direct, revision, results, name)
    through = {**await run_suite(gateway, revision, folder / revision)}
    for attempt in range(ATTEMPTS):
        lost = lost_of(passed(of_server) - passed(through), way)
        for name in {each.partition(":")[0] for each in lost - way.exceptions}:
            results = folder / f"{revision} {name} {attempt}"
            through |= await run_suite(gateway, revision, results, name)
    return Compared(
        failed(of_server),
        failed(through),
        lost_of(passed(of_server) - passed(through), way),
        len(passed(through)),
    )


def failed(checks: Checks) -> set[str]:
    return {scenario for (scenario, _), each in checks.items() if each == "FAILURE"}


def of_tools(scenarios: set[str]) -> set[str]:
    return {name for name in scenarios if not name.startswith(NOT_OF_TOOLS)}


def passed(checks: Checks) -> set[tuple[str, str]]:
    return {check for check, status in checks.items() if status == "SUCCESS"}


def lost_of(checks: set[tuple[str, str]], way: Way) -> set[str]:
    """Name each by its scenario where all of it is an exception."""
    return {
        scenario if scenario in way.exceptions else f"{scenario}:{check}"
        for scenario, check in checks
    }
