"""Data as ``art`` writes it, and how it shows that it waits."""

import io
import re
import sys
from decimal import Decimal
from typing import Any

import httpx
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent_runtime_client.art import output, waiting
from agent_runtime_client.art.caller import PlainCaller
from agent_runtime_client.art.things import resource_of
from agent_runtime_client.art.yaml_text import yaml_text
from agent_runtime_client.options import Options
from tests.support.waiting import until_blocking

ROWS = [{"id": "1", "name": "a", "cost": Decimal("0.10")}]


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("json", '[\n  {\n    "name": "a",\n    "id": "1"\n  }\n]\n'),
        ("jsonl", '{"name": "a", "id": "1"}\n'),
        ("csv", "a,1\n"),
        ("table", "a     1\n"),
        ("yaml", '- name: "a"\n  id: "1"\n'),
    ],
)
def test_columns_are_chosen_in_their_order_and_without_headers(
    form: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output.write(iter(ROWS), form, columns=["name", "id"], headers=False)

    assert capsys.readouterr().out == shown


def test_a_column_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(output.UnknownColumnError, match=r"'nam'.*id, name, cost"):
        output.write(iter(ROWS), "json", columns=["nam"])


def test_yaml_keeps_every_digit(capsys: pytest.CaptureFixture[str]) -> None:
    output.write({"cost": Decimal("0.10"), "none": []}, "yaml")

    assert capsys.readouterr().out == "cost: 0.10\nnone: []\n"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abeNnoy_-:# 1"), inner),
    max_leaves=12,
)


@given(values)
def test_yaml_is_read_as_the_same_data(data: Any) -> None:
    assert yaml.safe_load(yaml_text(data, output.json_text)) == data


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_call_that_takes_long_shows_for_how_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(waiting, "SHOWN_AFTER_S", 0.0)

    with waiting.showing_wait("POST /api/slow"):
        until_blocking(lambda: "POST /api/slow: 0 s" in screen.getvalue())

    # The line is removed at the end.
    assert re.search(r"\r +\r$", screen.getvalue())


def test_a_call_shows_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting.showing_wait("POST /api/slow"):
        pass
    assert capsys.readouterr().err == ""


def test_the_pages_of_a_list_are_one_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(waiting, "SHOWN_AFTER_S", 0.0)
    asked: list[str] = []
    shown = ("GET /api/catalog/agents: ", "GET /api/catalog/agents, page 2: ")

    def page(request: httpx.Request) -> httpx.Response:
        number = len(asked)
        asked.append(request.url.path)
        until_blocking(lambda: shown[number] in screen.getvalue())
        agents = [{"id": str(number), "name": "a"}]
        data = {"agents": agents, "end_cursor": "x" if number < 1 else None}
        return httpx.Response(200, json={"data": data, "message": ""})

    http = httpx.Client(transport=httpx.MockTransport(page))
    caller = PlainCaller(http, "http://test", None, Options(), lambda _: None)
    listed = [*resource_of("agents")(caller).list()]

    assert [each["id"] for each in listed] == ["0", "1"]
