"""Models: unknown fields, missing ones, and what they refuse."""

from decimal import Decimal
from uuid import UUID, uuid4

import pytest

from agent_runtime_client.encoding import body_of, parse_json
from agent_runtime_client.models import CurrencyCost, Grant, ToolRule
from agent_runtime_client.not_given import NOT_GIVEN
from agent_runtime_client.secret import Secret

AGENT = UUID("00000000-0000-4000-8000-000000000001")


def test_fields_of_a_newer_service_are_kept() -> None:
    grant = Grant.decode(
        {"agent_id": str(AGENT), "state": "granted", "awaiting": None, "note": "x"}
    )

    assert grant.agent_id == AGENT
    assert grant.note == "x"  # type: ignore[attr-defined]  # unknown to this client
    assert grant.fields()["note"] == "x"


def test_a_field_of_an_older_service_is_missing_when_it_is_read() -> None:
    grant = Grant.decode({"agent_id": str(AGENT), "state": "granted"})

    assert grant.state == "granted"
    with pytest.raises(AttributeError, match="awaiting"):
        _ = grant.awaiting


def test_decimals_keep_every_digit() -> None:
    data = parse_json(b'{"currency": "USD", "cost": 0.1000000000000000055}')

    assert CurrencyCost.decode(data).cost == Decimal("0.1000000000000000055")


def test_models_are_made_whole_and_stay_as_they_are() -> None:
    rule = ToolRule(connector_id=AGENT, tool_pattern="*", stance="ask")

    assert rule == ToolRule(connector_id=AGENT, tool_pattern="*", stance="ask")
    assert rule != ToolRule(connector_id=uuid4(), tool_pattern="*", stance="ask")
    with pytest.raises(AttributeError):
        rule.stance = "deny"  # type: ignore[misc]  # the mistake
    with pytest.raises(TypeError, match="stance"):
        ToolRule(connector_id=AGENT, tool_pattern="*")  # type: ignore[call-arg]  # the mistake
    with pytest.raises(TypeError, match="color"):
        ToolRule(connector_id=AGENT, tool_pattern="*", stance="ask", color="red")  # type: ignore[call-arg]  # the mistake


def test_bodies() -> None:
    body = body_of(
        {
            "price": Decimal("0.10"),
            "note": None,
            "left": NOT_GIVEN,
            "value": Secret("x"),
            "rules": [ToolRule(connector_id=AGENT, tool_pattern="*", stance="ask")],
        }
    )

    assert parse_json(body) == {
        "price": "0.10",
        "note": None,
        "value": "x",
        "rules": [{"connector_id": str(AGENT), "tool_pattern": "*", "stance": "ask"}],
    }


def test_a_secret_shows_nothing() -> None:
    secret = Secret("hunter2")

    assert repr(secret) == "Secret()"
    assert "hunter2" not in f"{secret}{secret!r}"
    assert secret == Secret("hunter2")
    assert secret != Secret("hunter3")
