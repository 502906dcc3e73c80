"""The examples of the client's README run."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import AgentRuntime
from service.resources import Resources
from tests.integration.client.conftest import url_of
from tests.support.audit.tampering import sign
from tests.support.callers import Caller
from tests.support.project import ROOT

README = ROOT / "client" / "README.md"


async def test_the_examples_run(
    client: TestClient,
    ada: Caller,
    resources: Resources,
    blocking: Callable[[Any], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = README.read_text("utf-8")  # a test
    url = url_of(client)
    assert "http://127.0.0.1:8080" in text
    blocks = re.findall(
        r"```python\n(.*?)```", text.replace("http://127.0.0.1:8080", url), re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    given: dict[str, Any] = {"token": ada.token}

    def run(block: str) -> Callable[[AgentRuntime], None]:
        def work(_: AgentRuntime) -> None:
            exec(compile(block, str(README), "exec"), given)  # noqa: S102 # our own

        return work

    *calls, proofs = blocks
    for block in calls:
        await blocking(run(block))
    signed = await sign(resources, tmp_path)
    Path("kept-checkpoint").write_text(signed.note)  # noqa: ASYNC240 # a test
    given["public_key"] = str(signed.key)
    await blocking(run(proofs))
    given["runtime"].close()

    lines = capsys.readouterr().out.splitlines()
    # The rules were replaced at version 2; the second call changes nothing.
    assert lines[0].startswith("2 ")
    assert lines[1] == "allow"
    assert lines[2].startswith("support ")
    assert lines[-1] == "None"
