"""Invented chats of the last days, with real models."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import uuid4

from service.demo.api import Api

CHATS = 300
AT_ONCE = 8
# The same chats at every start, but for their times.
SEED = 20
MODELS = (
    ("openai", "gpt-4o-mini"),
    ("openai", "gpt-5-mini"),
    ("anthropic", "claude-haiku-4-5"),
    ("google", "gemini-2.5-flash"),
)
EXCHANGES = (
    ("Which of my issues are due?", "Two: the login fix and the export."),
    ("Move the export to Friday.", "Done; it is now due on Friday."),
    ("Is the invoice of May paid?", "It was paid on 3 June."),
    ("Plan a call with the customer.", "Thursday at ten suits everyone."),
    ("Summarise what changed since Monday.", "Three issues closed, one reopened."),
)


async def record_chats(
    runtime: Api,
    agent_ids: Sequence[str],
    *,
    now: datetime,
    progress: Callable[[int, int], None],
    chats: int = CHATS,
) -> int:
    """Record chats of the six days before ``now`` and return how many.

    ``progress`` is called after each with how many are recorded, and of how many.
    """
    random = Random(SEED)  # noqa: S311
    gate = asyncio.Semaphore(AT_ONCE)
    plans = [_plan(random, agent_ids, now) for _ in range(chats)]
    recorded = 0

    async def record(plan: dict[str, Any]) -> None:
        nonlocal recorded
        async with gate:
            started = await runtime.post("/api/observability/session", plan["session"])
            path = f"/api/observability/session/{started['session_id']}"
            for turn in plan["turns"]:
                await runtime.post(f"{path}/turns", turn)
            if plan["ends"]:
                await runtime.post(
                    f"{path}/end", {"ended_at": plan["turns"][-1]["ended_at"]}
                )
        recorded += 1
        progress(recorded, len(plans))

    async with asyncio.TaskGroup() as group:
        for plan in plans:
            group.create_task(record(plan))
    return len(plans)


def _plan(random: Random, agent_ids: Sequence[str], now: datetime) -> dict[str, Any]:
    provider, model = random.choice(MODELS)
    moment = now - timedelta(minutes=random.randrange(10, 6 * 24 * 60))
    session = {
        "agent_id": random.choice(agent_ids),
        # Named here, so that a repeated request doesn't start a second session.
        "session_id": str(uuid4()),
        "started_at": moment.isoformat(),
    }
    turns = []
    for number in range(1, random.randrange(2, 7)):
        question, answer = random.choice(EXCHANGES)
        ended = moment + timedelta(milliseconds=random.randrange(300, 9000))
        turns.append(
            {
                "turn_id": f"turn-{number}",
                "started_at": moment.isoformat(),
                "ended_at": ended.isoformat(),
                "provider": provider,
                "model": model,
                "prompt_tokens": random.randrange(200, 9000),
                "completion_tokens": random.randrange(20, 900),
                "is_error": random.random() < 0.03,  # noqa: PLR2004
                "input": question,
                "output": answer,
            }
        )
        moment = ended + timedelta(seconds=random.randrange(5, 90))
    return {"session": session, "turns": turns, "ends": random.random() < 0.8}  # noqa: PLR2004
