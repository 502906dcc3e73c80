"""What is kept for an Idempotency-Key."""

import asyncio

from service.event_log.append import AlreadyAnsweredError, Receipt
from service.event_log.log import EventLog
from service.resources import Resources
from tests.support.callers import Callers
from tests.support.event_log.logs import (
    answered,
    enter,
    entering,
    entries,
    open_ledger,
    run,
)
from tests.support.reading import read_events

CONNECTORS = "/api/mcp/connectors"


def connector(name: str = "search") -> dict[str, str]:
    return {
        "name": name,
        "url": "https://tools.example/mcp",
        "description": "",
    }


async def test_a_repeat_gives_the_first_answer_with_its_position(
    callers: Callers, resources: Resources
) -> None:
    ann = await callers.user("ann")
    first = await ann.post(CONNECTORS, connector(), Idempotency_Key="monday")
    head = await resources.log.head()

    again = await ann.post(CONNECTORS, connector(), Idempotency_Key="monday")

    assert first.status == again.status == 201
    assert again.body == first.body
    assert again.position == first.position
    assert again.headers["X-Log-Epoch"] == first.headers["X-Log-Epoch"]
    assert again.headers.get("ETag") == first.headers.get("ETag")
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert await resources.log.head() == head


async def test_the_same_key_with_another_body_is_refused(callers: Callers) -> None:
    ann = await callers.user("ann")
    await ann.post(CONNECTORS, connector(), Idempotency_Key="monday")

    other = await ann.post(CONNECTORS, connector("other"), Idempotency_Key="monday")

    assert other.status == 422
    assert other.code == "idempotency_key_reused"


async def test_a_key_belongs_to_its_caller(callers: Callers) -> None:
    ann, bob = await callers.user("ann"), await callers.user("bob")
    await ann.post(CONNECTORS, connector("hers"), Idempotency_Key="monday")

    his = await bob.post(CONNECTORS, connector("his"), Idempotency_Key="monday")

    assert his.status == 201
    assert "Idempotent-Replayed" not in his.headers


async def test_many_at_once_with_one_key_have_one_effect(
    callers: Callers, resources: Resources
) -> None:
    ann = await callers.user("ann")
    before = (await resources.log.head()).position

    replies = await asyncio.gather(
        *(ann.post(CONNECTORS, connector(), Idempotency_Key="k") for _ in range(20))
    )

    assert {reply.status for reply in replies} == {201}
    assert len({reply.body for reply in replies}) == 1
    assert {reply.position for reply in replies} == {before + 1}
    replayed = [r for r in replies if "Idempotent-Replayed" in r.headers]
    assert len(replayed) == 19


async def test_two_processes_with_one_key_have_one_effect(
    log: EventLog, other_log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "keyed")

    outcomes = await asyncio.gather(
        *(
            run(each, entering(ledger_id, "once"), receipt=answered(b"k"))
            for each in [log, other_log] * 8
        ),
        return_exceptions=True,
    )

    done = [each for each in outcomes if isinstance(each, tuple)]
    repeated = [each for each in outcomes if isinstance(each, AlreadyAnsweredError)]
    assert len(done) == 1
    assert len(repeated) == 15
    assert {each.receipt.answer for each in repeated} == {b"2"}
    assert {each.receipt.position for each in repeated} == {2}
    assert await entries(log, ledger_id) == ["once"]


async def test_a_refused_command_with_a_key_is_decided_anew(callers: Callers) -> None:
    ann, bob = await callers.user("ann"), await callers.user("bob")
    made = await ann.post(CONNECTORS, connector())
    path = f"{CONNECTORS}/{made.data['id']}/grants/public"
    refused = await bob.post(path, Idempotency_Key="share")
    assert refused.status in (403, 404)

    again = await bob.post(path, Idempotency_Key="share")

    assert again.status == refused.status
    assert "Idempotent-Replayed" not in again.headers
    shared = await ann.post(path, Idempotency_Key="share")
    assert shared.status == made.status == 201


async def test_a_conflict_keeps_no_receipt(log: EventLog) -> None:
    ledger_id = await open_ledger(log, "keyed")
    attempts = 0

    def receipt(version: int) -> Receipt:
        nonlocal attempts
        attempts += 1
        return Receipt(key=b"k", request=b"r", answer=str(version).encode())

    await asyncio.gather(
        run(log, entering(ledger_id, "keyed"), receipt=receipt),
        *(enter(log, ledger_id, f"{n}") for n in range(5)),
    )

    kept = await log.receipt(b"k")
    assert kept is not None
    assert kept.position is not None
    recorded = await read_events(
        log, after=kept.position - 1, upto=kept.position, limit=1
    )
    assert recorded[0].version == int(kept.answer)
