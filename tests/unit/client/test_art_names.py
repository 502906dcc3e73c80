"""Names beside ids, and files of rules, where something is missing."""

from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent_runtime_client.art import rules_file
from agent_runtime_client.art.caller import PlainCaller
from agent_runtime_client.art.errors import UsageError
from agent_runtime_client.art.help_texts import help_texts
from agent_runtime_client.art.names import with_names
from agent_runtime_client.options import Options

AGENT = "7b975012-2608-4d60-86b4-0c2a104ca998"


@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_an_answer_is_shown_though_names_cannot_be_read(rows: int, status: int) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={"data": None, "message": "no"})

    http = httpx.Client(transport=httpx.MockTransport(refuse))
    caller = PlainCaller(
        http, "http://test", None, Options(max_retries=0), lambda _: None
    )
    data = [
        {"agent_id": AGENT[:-2] + f"{number:02}", "token": "agt_1"}
        for number in range(rows)
    ]

    assert [each["token"] for each in with_names(caller, data)] == ["agt_1"] * rows


@pytest.mark.parametrize(
    "content",
    [
        '{"agent": "a", "connectors": {"Mail": {"allow": ["x"]}, "Mail": {}}}',
        '{"agent": "a", "connectors": {"Mail": {"deny": ["x"], "deny": []}}}',
    ],
)
def test_a_file_in_json_names_nothing_twice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    def without_yaml(name: str) -> Any:
        if name == "yaml":
            raise ModuleNotFoundError(name)
        return import_module(name)

    monkeypatch.setattr(rules_file, "import_module", without_yaml)
    file = tmp_path / "rules.json"
    file.write_text(content)

    with pytest.raises(UsageError, match=r"(Mail|deny) is there twice"):
        rules_file.read_rules(str(file))


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("The agent's id.", "the agent's id"),
        ("ISO 4217 code.", "ISO 4217 code"),
        ("X-Request-Id of the request.", "X-Request-Id of the request"),
    ],
)
def test_a_help_text_keeps_the_case_of_names(sentence: str, shown: str) -> None:
    def method(*, currency: str) -> None: ...

    method.__doc__ = f"Do it.\n\n:param currency: {sentence}"

    assert help_texts(method).arguments == {"currency": shown}
