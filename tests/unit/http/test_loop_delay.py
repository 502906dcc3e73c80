"""A held event loop shows in metrics and in the log."""

import asyncio
import logging
import time

import pytest

from service.http.loop_delay import DELAY, measuring_loop_delay
from service.http.telemetry import ANSWERED_ROUTES
from tests.support.waiting import until

HELD_S = 0.6


async def test_a_held_loop_is_measured_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with measuring_loop_delay():
            # The first timer is set.
            await asyncio.sleep(0)
            ANSWERED_ROUTES.append("/api/slow")
            # Holding the loop is what is tested.
            time.sleep(HELD_S)  # noqa: ASYNC251
            (told,) = await until(lambda: caplog.records)

    assert told.message == "the event loop was held"
    assert vars(told)["delay_ms"] >= 450
    assert vars(told)["answered"] == ["/api/slow"]
    (sample,) = [
        each
        for metric in DELAY.collect()
        for each in metric.samples
        if each.name.endswith("_sum")
    ]
    assert sample.value >= 0.45
