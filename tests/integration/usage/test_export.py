"""All groups of usage as CSV."""

import csv
from io import StringIO

import pytest

from projections.usage import export
from tests.support.callers import Caller, Callers
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, turn

MARCH = "from_day=2026-03-01&until_day=2026-03-31"


@pytest.fixture(autouse=True)
async def turns(recorder: Recorder, root: Caller) -> None:
    """A turn in dollars, one in euros, and one without a price."""
    await set_price(root, "swift", 1)
    await set_price(root, "=slow", 2, currency="EUR")
    await recorder.start("chat-1")
    for number, model in enumerate(["swift", "=slow", "unheard of"]):
        body = turn(f"t{number}", number, provider="acme", model=model)
        await recorder.turn(
            "chat-1", body | {"prompt_tokens": 1, "completion_tokens": 0}
        )


async def rows(recorder: Recorder, by: Caller, query: str) -> list[list[str]]:
    response = await by.client.get(
        f"/api/usage/export.csv?{query}",
        headers={
            "Authorization": f"Bearer {by.token}",
            "X-Min-Position": recorder.position,
        },
    )
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(StringIO(await response.text())))


async def test_a_file_has_all_groups_and_a_column_for_each_currency(
    recorder: Recorder, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given: fewer groups in a batch than there are
    monkeypatch.setattr(export, "BATCH", 2)

    # when
    header, *found = await rows(recorder, ada, f"{MARCH}&group_by=day,model")

    # then
    assert [dict(zip(header, row, strict=True)) for row in found] == [
        {
            "starts_at": "2026-03-01T00:00:00+00:00",
            "day": "2026-03-01",
            "model": model,
            "turns": "1",
            "turns_with_error": "0",
            "turns_without_price": "0" if cost else "1",
            "turns_without_usage": "0",
            "prompt_tokens": "1",
            "completion_tokens": "0",
            "cache_read_tokens": "",
            "cache_creation_tokens": "",
            "cost": cost,
            "currency": currency,
            "known_cost_EUR": cost if currency == "EUR" else "",
            "known_cost_USD": cost if currency == "USD" else "",
            "estimated_cost_EUR": "0" if currency == "EUR" else "",
            "estimated_cost_USD": "0" if currency == "USD" else "",
            "estimated_turns": "0",
            "unknown_turns": "0" if cost else "1",
            "cost_unknown_because": "" if cost else "no_such_model",
            "differing_turns": "0",
            "differing_cost": "",
            "differing_reported_cost": "",
        }
        for model, cost, currency in [
            ("'=slow", "0.000002", "EUR"),
            ("swift", "0.000001", "USD"),
            ("unheard of", "", ""),
        ]
    ]


async def test_a_file_is_in_the_order_asked_for(
    recorder: Recorder, callers: Callers, ada: Caller
) -> None:
    _, *found = await rows(recorder, ada, f"{MARCH}&group_by=model&order=cost")
    _, *of_none = await rows(recorder, await callers.user("eve"), MARCH)

    assert [row[0] for row in found] == ["'=slow", "swift", "unheard of"]
    assert of_none == []


async def test_too_many_groups_are_refused(
    recorder: Recorder, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "GROUPS_MAX", 2)

    reply = await ada.get(
        f"/api/usage/export.csv?{MARCH}&group_by=model",
        X_Min_Position=recorder.position,
    )

    assert (reply.status, reply.code) == (400, "too_many_groups")
