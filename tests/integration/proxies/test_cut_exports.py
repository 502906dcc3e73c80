"""An export that is cut behind a proxy never passes for a whole one."""

from collections import Counter
from pathlib import Path

import httpx
import pytest

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import ConnectionFailedError
from agent_runtime_client.export_file import Records, has_end
from tests.integration.proxies.programs import NGINX_1_0, PROXIES, running_proxy
from tests.support.console.browser.service import DemoData
from tests.support.cutting_proxy import cutting_proxy

pytestmark = pytest.mark.thorough

CUTS = 50
UNTIL = {"until_position": 1000}
EXPORT = "/api/audit/export"
HEAD_BYTES = 1500


@pytest.fixture(params=[*PROXIES, NGINX_1_0])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["jsonl", "csv"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_an_export_cut_anywhere_is_not_taken_for_whole(
    demo: DemoData, name: str, form: str, tmp_path: Path
) -> None:
    token = demo.tokens["admin"]
    async with AsyncAgentRuntime(demo.url, token) as runtime:
        export = getattr(runtime.audit, f"export_{form}")(**UNTIL)
        whole = await export.save(tmp_path / "whole")
    expected = whole.path.read_bytes()
    cuts = [HEAD_BYTES + len(expected) * each // CUTS for each in range(CUTS)]
    seen: Counter[str] = Counter()

    # The service is asked through what cuts, as if it ended in the middle.
    async with cutting_proxy(
        demo.url, [*cuts, *cuts], asked=EXPORT.encode()
    ) as service:
        with running_proxy(name, tmp_path / "proxy", service) as proxy:
            async with (
                httpx.AsyncClient(verify=proxy.tls) as http,
                AsyncAgentRuntime(proxy.url, token, http=http, max_retries=0) as cut,
            ):
                for _ in range(CUTS):
                    export = getattr(cut.audit, f"export_{form}")(**UNTIL)
                    with pytest.raises(ConnectionFailedError):
                        [chunk async for chunk in export.chunks()]
                for _ in range(CUTS):
                    seen[await outcome(http, proxy.url, token, form)] += 1
                export = getattr(cut.audit, f"export_{form}")(**UNTIL)
                done = await export.save(tmp_path / "again")

    assert seen.total() == CUTS
    assert not seen["whole"], seen
    if name == NGINX_1_0:
        # It ends an answer as if it were whole: its last line alone says that it isn't.
        assert seen["without an end"], seen
    assert done.path.read_bytes() == expected


async def outcome(http: httpx.AsyncClient, url: str, token: str, form: str) -> str:
    """Download as a program does that knows nothing of this API; return what it saw."""
    received = b""
    try:
        async with http.stream(
            "GET",
            f"{url}{EXPORT}.{form}",
            params=UNTIL,
            headers={"Authorization": f"Bearer {token}"},
        ) as answer:
            if answer.status_code != httpx.codes.OK:
                return "refused"
            async for chunk in answer.aiter_bytes():
                received += chunk
    except httpx.TransportError:
        return "broken"
    is_csv = form == "csv"
    is_whole = has_end(Records(is_csv=is_csv).take(received), is_csv=is_csv)
    return "whole" if is_whole else "without an end"
