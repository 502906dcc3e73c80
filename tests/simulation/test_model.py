"""Parts of the model, each against the code that it stands for or a known result."""

import asyncio
from random import Random
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment

from service.event_log.append import Append, OverloadedError
from service.event_log.command_queue import CommandQueue
from service.event_log.pending import PendingCommand
from tests.simulation.clients import Answers, closed_loop
from tests.simulation.model import Command, Log, Process, Queue, Server
from tests.simulation.service_times import BatchTime, Spread

COMMANDS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 3)), st.sampled_from([10, 3_000_000])
    ),
    max_size=300,
)


@given(COMMANDS)
def test_batches_are_those_of_the_real_queue(
    commands: list[tuple[int | None, int]],
) -> None:
    assert model_batches(commands) == asyncio.run(real_batches(commands))


def model_batches(commands: list[tuple[int | None, int]]) -> list[list[int]]:
    env, queue = Environment(), Queue()
    made = [Command(env.event(), 0, size=size) for _, size in commands]
    queue.waiting.extend(made)
    found = []
    while queue.waiting:
        batch, _ = queue.take(0)
        found.append([made.index(each) for each in batch])
    return found


async def real_batches(commands: list[tuple[int | None, int]]) -> list[list[int]]:
    """Return the batches of commands, each of which rests on those of its aggregate."""
    queue = CommandQueue()
    waiting: list[PendingCommand] = []
    written: dict[UUID, list[PendingCommand]] = {}
    for number, (aggregate, size) in enumerate(commands):
        aggregate_id = UUID(int=1000 + number if aggregate is None else aggregate)
        before = written.setdefault(aggregate_id, [])
        append = SimpleNamespace(
            size=size,
            receipt=None,
            sealed=[],
            history=None,
            reads={aggregate_id: len(before)},
            events=[SimpleNamespace(originator_id=aggregate_id)],
            aggregates=[SimpleNamespace(id=aggregate_id, version=len(before) + 1)],
        )
        bases = {aggregate_id: before[-1]} if before else {}
        try:
            command = queue.put(cast("Append", append), bases)
        except OverloadedError:
            # More bytes than the queue holds.
            return model_batches(commands)
        waiting.append(command)
        before.append(command)
    found: list[list[int]] = []
    while queue:
        found.append([waiting.index(each) for each in queue.take()])
    return found


def test_a_server_serves_one_after_the_other() -> None:
    env = Environment()
    server = Server(env)
    ended = []

    def job() -> Any:
        yield server.serve(2)
        ended.append(env.now)

    for _ in range(3):
        env.process(job())
    env.run()

    assert ended == [2, 4, 6]
    assert server.busy == 6


@pytest.mark.slow
def test_more_callers_share_a_commit() -> None:
    def rate(callers: int) -> float:
        env, random = Environment(), Random(1)
        nothing = BatchTime(0, 0, Spread.constant(0.0))
        log = Log(env, random, nothing, Spread.constant(0.01))
        process = Process(log, nothing, None, random)
        answers = Answers()
        for _ in range(callers):
            env.process(closed_loop(process, env, answers))
        env.run(until=10)
        return answers.rate(10)

    assert rate(1) == pytest.approx(100, rel=0.01)
    assert rate(64) == pytest.approx(6400, rel=0.02)


def test_a_fit_finds_the_line_and_keeps_the_mean() -> None:
    samples = {n: [0.001 + 0.0002 * n, 0.001 + 0.0002 * n] for n in (1, 8, 64)}

    fitted = BatchTime.fit(samples)

    assert fitted.base == pytest.approx(0.001, rel=0.01)
    assert fitted.each == pytest.approx(0.0002, rel=0.01)
    assert fitted.noise.mean == pytest.approx(1, rel=0.01)


def test_a_spread_keeps_the_mean_of_its_samples() -> None:
    samples = [0.001] * 90 + [0.5] * 10
    spread = Spread.of(samples)
    random = Random(1)

    drawn = [spread.draw(random) for _ in range(20_000)]

    assert spread.mean == pytest.approx(sum(samples) / 100)
    assert sum(drawn) / len(drawn) == pytest.approx(spread.mean, rel=0.05)
