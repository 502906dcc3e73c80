"""Prices of models, for tests of what turns cost."""

from typing import Any

from tests.support.callers import Caller, Callers


async def price_manager(callers: Callers) -> Caller:
    """Make a superuser, and the provider of the models."""
    root = await callers.user("root", "superuser")
    await root.post("/api/llm-router/providers", {"key": "acme", "display_name": "A"})
    return root


async def set_price(
    root: Caller,
    model: str,
    amount: float | str,
    *,
    output: float | str = 0,
    currency: str = "USD",
    since: str = "2026-01-01T00:00:00Z",
    provider: str = "acme",
) -> Any:
    """Set what a million input tokens cost; output is free by default."""
    reply = await root.post(
        "/api/llm-router/prices",
        {
            "provider": provider,
            "model": model,
            "currency": currency,
            "input_price_per_1m": amount,
            "output_price_per_1m": output,
            "effective_from": since,
        },
    )
    assert reply.status == 201, reply.data
    return reply.data
