"""Batches of a rebuild: bounded by their bytes as well as by their number of events."""

import pytest

from tests.integration.engine.line_counts import LineCounts
from tests.integration.engine.tables import Engine
from tests.support.event_log.logs import enter, open_ledger

EVENTS = 40
NOTE = "x" * 1000


@pytest.mark.parametrize(("bytes_max", "is_cut"), [(10 * 1000, True), (10**6, False)])
async def test_large_events_are_read_a_few_at_a_time(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, bytes_max: int, *, is_cut: bool
) -> None:
    monkeypatch.setattr("projections.engine.prefetch.BATCH_BYTES_MAX", bytes_max)
    ledger_id = await open_ledger(engine.log, "large")
    await enter(
        engine.log, ledger_id, *(f"{number} {NOTE}" for number in range(EVENTS))
    )
    await engine.followed()
    rebuilt = LineCounts()

    await engine.rebuild(rebuilt)

    assert sum(rebuilt.batches) == 1 + EVENTS
    # The last of a batch may be the one that reaches the bound.
    assert max(rebuilt.batches) <= 1 + bytes_max // len(NOTE)
    assert (len(rebuilt.batches) > 1) == is_cut
    assert await engine.lines() == {ledger_id: EVENTS}
