"""A held event loop shows in metrics and in the log."""

import asyncio
import logging
import time
from pathlib import Path

import pytest

from service.http import loop_delay
from service.http.loop_delay import DELAY, measuring_loop_delay, waited_for_processor_s
from service.http.telemetry import ANSWERED_ROUTES
from tests.support.waiting import until

HELD_S = 0.6


async def test_a_held_loop_is_measured_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with measuring_loop_delay(lambda: 0.0):
            # The first timer is set.
            await asyncio.sleep(0)
            ANSWERED_ROUTES.append("/api/slow")
            # Holding the loop is what is tested.
            time.sleep(HELD_S)  # noqa: ASYNC251
            (told,) = await until(lambda: caplog.records)

    assert told.message == "the event loop was held"
    assert vars(told)["delay_ms"] >= 450
    assert vars(told)["answered"] == ["/api/slow"]
    assert total_delay_s() >= 0.45


async def test_a_delay_while_others_have_the_processor_is_measured_and_not_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    waited_s, before = 0.0, total_delay_s()
    with caplog.at_level(logging.WARNING):
        async with measuring_loop_delay(lambda: waited_s):
            await asyncio.sleep(0)
            time.sleep(HELD_S)  # noqa: ASYNC251
            waited_s = HELD_S
            await until(lambda: total_delay_s() >= before + 0.45)

    assert caplog.records == []


def test_what_a_thread_has_waited_for_a_processor_is_read_where_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "schedstat"
    monkeypatch.setattr(loop_delay, "SCHEDULED", file)
    assert waited_for_processor_s() == 0.0

    file.write_text("7000000000 2500000000 12\n")
    assert waited_for_processor_s() == 2.5


def total_delay_s() -> float:
    (sample,) = [
        each
        for metric in DELAY.collect()
        for each in metric.samples
        if each.name.endswith("_sum")
    ]
    return sample.value
