"""Each call is on record: who decided, where it went, and what it cost."""

import pytest

from service.resources import Resources
from tests.integration.model_gateway.dialects import CHAT, STREAMED, Spoken
from tests.integration.model_gateway.provider import answer, provider, stream
from tests.integration.model_gateway.recorded import CALLS, calls_of
from tests.integration.model_gateway.stage import MODEL, Stage
from tests.support.callers import Caller
from tests.support.model_gateway.asking import put_tiers, routed, to_tier
from tests.support.reading import read_events
from tests.support.sessions.pricing import set_price

each_dialect = pytest.mark.parametrize(
    "spoken", STREAMED, ids=lambda each: each.dialect.value
)


@each_dialect
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
async def test_a_call_is_on_record_with_its_cost(
    stage: Stage, root: Caller, spoken: Spoken, *, is_stream: bool
) -> None:
    await set_price(root, "swift-1-2026", 2, output=10)
    given = stream(spoken.events) if is_stream else answer(spoken.whole)
    async with provider(given) as made:
        preset = await stage.routes_to(made.url)
        reply = await stage.call(spoken, stream=is_stream)
        received = await reply.read()

        (call,) = await calls_of(stage)

    usage = call.pop("usage")
    assert call["decision"] == "admitted"
    assert call["asked_for"] == "fast"
    assert (call["preset_id"], call["preset_version"]) == (preset, 2)
    assert (call["model"], call["route"], call["chosen_by"]) == (MODEL, "*", "weight")
    assert (call["outcome"], call["status"]) == ("ok", 200)
    assert call["answer_bytes"] >= len(received)
    assert [each["outcome"] for each in call["attempts"]] == ["answered"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (9, 2)
    assert (usage["provider"], usage["model"]) == ("acme", "swift-1-2026")
    assert (usage["cost"], usage["currency"]) == (0.000038, "USD")
    one = (await stage.ada.get(f"{CALLS}/{call['id']}")).data
    assert one["explanation"]["leads_to"]["preset"]["id"] == preset


@pytest.mark.parametrize(
    ("tiers", "is_own", "read"),
    [({}, False, set()), ({"fast"}, True, set()), ({"fast"}, False, {"tiers"})],
    ids=["a preset", "a tier of the agent", "a tier of the registry"],
)
async def test_an_admission_names_what_it_rests_on(
    stage: Stage,
    root: Caller,
    resources: Resources,
    tiers: set[str],
    read: set[str],
    *,
    is_own: bool,
) -> None:
    async with provider(answer(CHAT.whole)) as made:
        preset = await stage.routes_to(made.url)
        there = dict.fromkeys(tiers, preset)
        if tiers:
            if not is_own:
                await put_tiers(root, there)
            own = there if is_own else {}
            await routed(stage.ada, stage.agent, to_tier("*", "fast"), tiers=own)
        assert (await stage.call(CHAT)).status == 200

        (call,) = await calls_of(stage)

    (admitted,) = await read_events(resources.log, topics=["model_call.admitted"])
    assert str(admitted.aggregate_id) == call["id"]
    named = {"agent", "routing", "preset", "connection", "tokens"}
    assert admitted.event.versions.keys() == named | read
    assert admitted.event.secret["name"] == "provider"
    assert call["tier"] == ("fast" if tiers else None)
