"""Costs and tokens of a group are null if those of a use in it are unknown."""

from typing import Any

from service.resources import Resources
from tests.integration.usage.reading import usage
from tests.support.callers import Caller
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.sessions.otlp.spans import Exported, llm, report, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder

MARCH = "from_day=2026-03-01&until_day=2026-03-31"
MILLION = 1_000_000


async def send_turns(recorder: Recorder) -> Exported:
    """Send a turn of both models, of one without usage, and a turn of that one."""
    unknown: Any = {
        "openinference__span__kind": "LLM",
        "llm__provider": "acme",
        "llm__model_name": "slow",
    }
    return await report(
        recorder,
        span(1, session__id="chat-1", took=9),
        llm(2, 1, MILLION, 0, start=1),
        span(3, 1, start=3, **unknown),
        span(4, trace=2, session__id="chat-1"),
        llm(5, 4, MILLION, 0, trace=2, llm__model_name="slow"),
    )


def figures(row: Any) -> tuple[Any, Any, Any]:
    return row["cost"], row["currency"], row["token_usage"]["total"]


async def test_a_model_beside_the_main_one_is_as_unknown_as_its_own_uses(
    recorder: Recorder, root: Caller, ada: Caller, resources: Resources
) -> None:
    await set_price(root, "swift", 1)
    await set_price(root, "slow", 2)
    sent = await send_turns(recorder)

    async def rows(query: str) -> Any:
        return (await usage(sent, ada, f"{MARCH}&{query}"))["usage"]

    for group in ("model", "priced_as"):
        slow, swift = await rows(f"group_by={group}")
        assert figures(swift) == (1, "USD", MILLION)
        assert (swift["unpriced"], swift["turns_without_price"]) == ([], 1)
        assert figures(slow) == (None, None, None)
        assert slow["unpriced"] == [{"reason": "count_missing", "turns": 1}]
        assert slow["known_costs"] == [{"currency": "USD", "cost": 2}]
        assert slow["known_token_usage"]["total"] == MILLION
    [filtered] = await rows("model=slow")
    assert figures(filtered) == (None, None, None)
    [of_day] = await rows("group_by=day")
    assert figures(of_day) == (None, None, None)
    assert (of_day["turns"], of_day["turns_without_usage"]) == (2, 1)
    await expect_rebuild_equals_live(resources, "usage")
