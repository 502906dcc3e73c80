"""What a call leaves on record: its admission, its end, or its refusal."""

import time

from service.call_recording.refusals import REFUSED_TURNS_MAX
from service.gateway.gate import Admission, Outcome
from tests.integration.gateway.world import ALLOW, DENY, World, refusal
from tests.support.callers import Callers
from tests.support.reading import read_events


async def test_a_call_is_admitted_by_an_event_and_then_finished(world: World) -> None:
    await world.rule(issues_any=ALLOW)

    answer = await world.call(
        "issues.list", {"q": "x"}, session_id="chat-1", trace_id="0" * 31 + "1"
    )
    assert isinstance(answer, Admission)
    (admitted,) = await world.recorded("tool_call.admitted")
    await world.finish(answer, Outcome.TOOL_ERROR)
    (finished,) = await world.recorded("tool_call.finished")

    event = admitted.event
    assert admitted.metadata["actor"] == str(world.agent_id)
    assert admitted.metadata["token"] == str(world.token_id)
    assert (event.tool, event.stance, event.rule) == (
        "issues.list",
        "allow",
        "issues.*",
    )
    assert event.definition == answer.definition.digest
    assert (event.session_id, event.approval_id) == ("chat-1", None)
    assert event.versions.keys() == {
        "agent",
        "connector",
        "definitions",
        "rules",
        "tokens",
    }
    assert finished.aggregate_id == admitted.aggregate_id == answer.call_id
    assert (finished.event.outcome, finished.event.duration_ms) == ("tool_error", 12)


async def test_the_same_arguments_have_the_same_digest(world: World) -> None:
    await world.rule(issues_any=ALLOW)
    for arguments in ({"q": "x", "n": 1}, {"n": 1, "q": "x"}, {"q": "y"}):
        await world.call("issues.list", arguments)

    events = await world.recorded("tool_call.admitted")

    first, same, other = (each.event.arguments_digest for each in events)
    assert first == same != other


async def test_a_flood_of_refusals_is_few_events(world: World) -> None:
    await world.rule(issues_delete=DENY)
    began = time.monotonic()
    for number in range(50):
        assert refusal(await world.call("issues.delete")) == "denied"
        assert refusal(await world.call(f"secret {number}")) == "unknown_tool"

    events = [each.event for each in await world.recorded("tool_call.refused")]

    totals: dict[tuple[str | None, str], int] = {}
    for event in events:
        kind = (event.tool, event.reason)
        totals[kind] = totals.get(kind, 0) + event.times
    assert totals == {("issues.delete", "denied"): 50, (None, "unknown_tool"): 50}
    # One of each kind in a second, the first at once, and what was left at the end.
    seconds = time.monotonic() - began
    assert len(events) <= 2 * (seconds + 2)


async def test_a_flood_that_names_other_turns_is_folded_too(world: World) -> None:
    await world.rule(issues_delete=DENY)
    began = time.monotonic()
    for number in range(3 * REFUSED_TURNS_MAX):
        await world.call("issues.delete", session_id="s", trace_id=f"{number:032x}")

    events = [each.event for each in await world.recorded("tool_call.refused")]

    assert sum(event.times for event in events) == 3 * REFUSED_TURNS_MAX
    assert {event.session_id for event in events} <= {"s", None}
    seconds = time.monotonic() - began
    named = [event for event in events if event.session_id]
    assert REFUSED_TURNS_MAX <= len(named) <= REFUSED_TURNS_MAX * (seconds + 1)


async def test_batched_calls_share_events(world: World) -> None:
    await world.rule(issues_any=ALLOW)
    await world.record_mode("batched")
    answers = [await world.call("issues.list") for _ in range(20)]
    for answer in answers:
        await world.finish(answer)

    events = [each.event for each in await world.recorded("tool_call.batched")]

    admitted = [each["call_id"] for event in events for each in event.admitted]
    finished = [each["call_id"] for event in events for each in event.finished]
    assert admitted == [str(a.call_id) for a in answers if isinstance(a, Admission)]
    assert sorted(finished) == sorted(admitted)
    assert len(events) < 20
    assert await world.recorded("tool_call.admitted") == []


async def test_a_batched_call_is_refused_like_any_other(world: World) -> None:
    await world.rule(issues_any=ALLOW)
    await world.record_mode("batched")
    await world.ada.delete(world.grant)

    assert refusal(await world.call("issues.list")) == "connector_not_granted"


async def test_a_batched_call_with_a_credential_is_recorded_before_it_is_sent(
    world: World,
) -> None:
    await world.rule(issues_any=ALLOW)
    await world.record_mode("batched")
    await world.lend("v")

    answer = await world.call("issues.list")

    assert isinstance(answer, Admission)
    assert answer.upstream.credential is not None
    head = (await world.resources.log.head()).position
    events = await read_events(world.resources.log, after=0, upto=head, limit=100_000)
    (used,) = (each for each in events if each.topic == "tool_call.admitted")
    assert used.aggregate_id == answer.call_id
    owner_id = str(world.ada.user_id)
    assert used.event.secret == {"owner_id": owner_id, "name": "TOKEN", "version": 1}
    await world.finish(answer)
    (finished,) = await world.recorded("tool_call.finished")
    assert finished.aggregate_id == answer.call_id
    assert await world.recorded("tool_call.batched") == []


async def test_observers_get_the_owners_credential_alone(
    world: World, callers: Callers
) -> None:
    await world.lend("v")

    upstream = await world.gate.upstream_to_list(world.connector_id)
    watched = await world.gate.upstream(world.connector_id)

    assert upstream is not None
    assert upstream.credential is not None
    assert upstream.url == "https://tracker.example/mcp"
    assert watched is not None
    assert watched.credential is None
    (used,) = await world.recorded("tool_listing.started")
    assert used.event.connector_id == str(world.connector_id)
    owner_id = str(world.ada.user_id)
    assert used.event.secret == {"owner_id": owner_id, "name": "TOKEN", "version": 1}
    await world.ada.put(f"{world.connector}/credential", {"whose": "caller"})
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    assert upstream.credential is None
    assert len(await world.recorded("tool_listing.started")) == 1
    # The owner's own one is sent to list tools, and no other caller's.
    name = f"mcp.{world.connector_id}"
    bob = await callers.user("bob")
    await bob.post("/api/secrets", {"name": name, "value": "of bob"})
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    assert upstream.credential is None
    await world.ada.post("/api/secrets", {"name": name, "value": "of ada"})
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    assert upstream.credential is not None
    assert (await upstream.credential.reveal()).get_secret_value() == "Bearer of ada"
    _, used = await world.recorded("tool_listing.started")
    assert used.event.secret == {"owner_id": owner_id, "name": name, "version": 1}
    await world.ada.delete(world.connector)
    assert await world.gate.upstream_to_list(world.connector_id) is None
    assert await world.gate.upstream(world.connector_id) is None
