"""Turns are charged by the contract at their start, and keep their list cost."""

from typing import Any

from service.resources import Resources
from tests.integration.sessions.test_repricing import SPENT, reprice, shown
from tests.support.callers import Caller
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, at, turn

CONTRACTS = "/api/llm-router/contracts"


async def set_contract(root: Caller, since: str, **terms: Any) -> Any:
    reply = await root.post(
        CONTRACTS, {"provider": "acme", "effective_from": since, **terms}
    )
    assert reply.status == 201, reply.data
    return reply.data


def costs(turns: list[Any]) -> list[tuple[Any, ...]]:
    return [
        (each["cost"], each["currency"], each["list_cost"], each["list_currency"])
        for each in turns
    ]


async def test_a_turn_is_charged_by_the_contract_at_its_start(
    recorder: Recorder, root: Caller, ada: Caller, resources: Resources
) -> None:
    await set_price(root, "swift", 2)
    contract = await set_contract(root, at(60), discount_percent=10)
    await recorder.record(
        "chat-1", turn("before", 0, **SPENT), turn("after", 60, **SPENT)
    )

    session = await shown(ada, recorder.position)

    assert costs(session["turns"]) == [(2, "USD", 2, "USD"), (1.8, "USD", 2, "USD")]
    version = contract["price"]["price_version"]
    assert [each["contract_id"] for each in session["turns"]] == [
        None,
        f"{contract['provider_id']}:{version}",
    ]
    summary = session["cost_summary"]
    assert summary["total"] == {"cost": 3.8, "currency": "USD"}
    assert summary["list_total"] == {"cost": 4, "currency": "USD"}
    await expect_rebuild_equals_live(resources, "sessions")


async def test_a_session_in_two_currencies_still_has_a_list_cost(
    recorder: Recorder, root: Caller, ada: Caller
) -> None:
    await set_price(root, "swift", 2)
    await set_contract(
        root,
        at(60),
        model="swift",
        input_price_per_1m=1,
        output_price_per_1m=0,
        currency="EUR",
    )
    await recorder.record(
        "chat-1", turn("before", 0, **SPENT), turn("after", 60, **SPENT)
    )

    session = await shown(ada, recorder.position)

    assert costs(session["turns"]) == [(2, "USD", 2, "USD"), (1, "EUR", 2, "USD")]
    summary = session["cost_summary"]
    assert summary["total"] == {"cost": None, "currency": None}
    assert summary["unpriced"] == ["several_currencies"]
    assert summary["list_total"] == {"cost": 4, "currency": "USD"}


async def test_a_contract_that_is_set_late_reprices_turns(
    recorder: Recorder, root: Caller, ada: Caller, resources: Resources
) -> None:
    await set_price(root, "swift", 2)
    await recorder.record("chat-1", turn("t1", 0, **SPENT))
    await set_contract(root, at(0), discount_percent=25)

    untouched = await shown(ada, recorder.position)
    done = await reprice(root, recorder, dry_run=False)
    again = await reprice(root, done, dry_run=False)

    assert costs(untouched["turns"]) == [(2, "USD", 2, "USD")]
    assert done.data["turns_changed"] == 1
    assert again.data["turns_changed"] == 0
    session = await shown(ada, done.position)
    assert costs(session["turns"]) == [(1.5, "USD", 2, "USD")]
    assert session["cost_summary"]["list_total"] == {"cost": 2, "currency": "USD"}
    await expect_rebuild_equals_live(resources, "sessions")
