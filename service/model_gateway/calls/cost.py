"""What a model call used, and its cost by the prices of its start."""

from dataclasses import replace
from typing import Final

from service.event_log.finder import Finder
from service.model_gateway.calls.call_record import CallRecord
from service.model_gateway.calls.recorded import CallUsage
from service.price_catalog.pricing import price_call
from service.price_catalog.usage import UNITS, ModelCallUsage
from service.sessions.turn import ModelShare, TokenCounts, recorded_share

ATTEMPTS: Final = "attempts"


async def usage_of(record: CallRecord, catalog: Finder) -> CallUsage | None:
    """Return what a call used; None if it costs nothing.

    An unknown cost is null, never 0.
    """
    is_free = not (record.is_answered or record.is_cost_unknown)
    if record.target is None or record.counts_only or is_free:
        return None
    figures, target = record.figures, record.target
    usage = figures.usage or ModelCallUsage()
    if record.is_cost_unknown:
        usage = replace(usage, untold=(*usage.untold, ATTEMPTS))
    provider, asked = target.connection.settings["provider"], target.target["model"]
    charge = await price_call(
        usage,
        provider=provider,
        models=(figures.model, asked),
        at=record.started_at,
        catalog=catalog,
    )
    share = ModelShare(
        provider=provider,
        model=figures.model or asked,
        tokens=TokenCounts(
            prompt=usage.input_tokens,
            completion=usage.output_tokens,
            cache_read=usage.cache_read_tokens,
            cache_creation=usage.cache_write_tokens,
        ),
        reported_cost=figures.reported_cost,
    )
    counts = {unit: usage.count(unit) for unit in UNITS}
    return {
        **recorded_share(share, charge),
        "counts": {unit: int(n) for unit, n in counts.items() if n is not None},
        "conditions": dict(usage.conditions),
    }
