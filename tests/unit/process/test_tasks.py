"""Ending tasks, also those that lose a cancellation."""

import asyncio

import pytest

from service.tasks import background_task, end_tasks
from tests.support.waiting import until


async def test_a_task_that_loses_a_cancellation_still_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.tasks.CANCEL_AGAIN_S", 0.01)
    lost = 0

    async def deaf() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost += 1
                if lost == 3:
                    raise

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)

    await end_tasks(task)

    assert task.cancelled()


async def test_what_a_task_failed_of_is_not_raised_again() -> None:
    async def broken() -> None:
        raise RuntimeError("of its own")

    task = asyncio.create_task(broken())
    await asyncio.sleep(0)

    await end_tasks(task)


async def test_background_work_goes_on_after_a_fault_that_it_does_not_expect(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("service.tasks.RESTART_S", 0.01)
    starts = 0

    async def work() -> None:
        nonlocal starts
        starts += 1
        if starts < 3:
            raise RuntimeError("of its own")
        await asyncio.Event().wait()

    task = background_task(work, name="counting")
    await until(lambda: starts == 3)
    await end_tasks(task)

    assert task.cancelled()
    logged = [each for each in caplog.records if each.levelname == "ERROR"]
    assert [each.getMessage() for each in logged] == [
        "a background task failed: counting; it is started again"
    ] * 2
    assert all(each.exc_info for each in logged)


async def test_background_work_that_is_done_is_not_started_again() -> None:
    starts = 0

    async def work() -> None:
        nonlocal starts
        starts += 1

    await background_task(work, name="done")

    assert starts == 1
