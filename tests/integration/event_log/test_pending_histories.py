"""Bursts of commands on few aggregates, by two processes, while commits are lost.

The oracle is the log itself: at its place in the log, each command must have read what
the commands before it had written, content and not only version; and each answer must
agree with it.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from psycopg import AsyncConnection

from service.errors import ConflictError, UnavailableError
from service.event_log.append import AlreadyAnsweredError, Receipt
from service.event_log.unit_of_work import UnitOfWork
from service.event_log.writer import Timeouts
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import expect_sound, open_ledger, open_log, run
from tests.support.postgres_proxy import Fault, Proxy, running_proxy
from tests.support.reading import read_events
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

Result = TypeVar("Result")
LEDGERS = 3
TIMEOUTS = Timeouts(queue_s=60, commit_s=5, settle_s=60)
# Per ledger: its version, and the number of the command that wrote last.
State = dict[str, tuple[int, int]]

ledgers = st.frozensets(st.integers(0, LEDGERS - 1), min_size=1, max_size=2)


@dataclass(frozen=True, slots=True)
class Drawn:
    process: int
    reads: frozenset[int]
    writes: frozenset[int]
    kind: str
    key: int | None
    pauses: int
    disconnects: bool


COMMANDS = st.lists(
    st.builds(
        Drawn,
        process=st.sampled_from([0, 0, 0, 1]),
        reads=ledgers,
        writes=ledgers,
        kind=st.sampled_from([*("write",) * 8, "refuse", "nothing", "unstorable"]),
        key=st.one_of(*[st.none()] * 4, st.integers(0, 30)),
        pauses=st.sampled_from([0, 0, 0, 1, 3]),
        disconnects=st.sampled_from([False] * 9 + [True]),
    ),
    min_size=1,
    max_size=24,
)


class Processes:
    """Two logs over one database, the first by way of a proxy."""

    def __init__(self, database_url: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._url = database_url
        self._stack = AsyncExitStack()
        self.run(self._open())

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self.loop.run_until_complete(coroutine)

    async def _open(self) -> None:
        enter = self._stack.enter_async_context
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="proxy-"))
        self.proxy: Proxy = await enter(running_proxy(Path(folder)))
        self.logs = [
            await enter(open_log(url, timeouts=TIMEOUTS))
            for url in (self.proxy.url(self._url), self._url)
        ]
        self.owner = await enter(
            await AsyncConnection.connect(self._url, autocommit=True)
        )
        self.examples = 0

    def close(self) -> None:
        self.run(self._stack.aclose())
        self.loop.close()


class Histories(RuleBasedStateMachine):
    processes: Processes

    def __init__(self) -> None:
        super().__init__()
        self.processes.examples += 1
        self.prefix = str(self.processes.examples)
        self.number = 0
        self.names = [f"{self.prefix}/{number}" for number in range(LEDGERS)]
        self.ids = {name: Ledger.create_id(name) for name in self.names}
        self.start = self._run(self._open_ledgers())
        # What each command was told, by its number.
        self.done: set[int] = set()
        self.not_applied: set[int] = set()
        self.seen: list[State] = []
        self.answers: dict[str, set[int]] = {}

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self.processes.run(coroutine)

    async def _open_ledgers(self) -> int:
        log = self.processes.logs[1]
        for name in self.names:
            await open_ledger(log, name)
        return (await log.head()).position

    @rule(commands=COMMANDS, fault=st.one_of(st.none(), st.sampled_from(list(Fault))))
    def burst(self, commands: Sequence[Drawn], fault: Fault | None) -> None:
        self.processes.proxy.fault = fault
        self._run(self._burst(commands))
        self.processes.proxy.fault = None
        self._run(self._expect_history())

    @rule(commands=COMMANDS)
    def burst_in_a_new_epoch(self, commands: Sequence[Drawn]) -> None:
        async def change() -> None:
            await self.processes.owner.execute(
                "UPDATE events.head SET epoch = gen_random_uuid()"
            )

        async def both() -> None:
            await asyncio.gather(self._burst(commands), change())

        self._run(both())
        self._run(self._expect_history())

    async def _burst(self, commands: Sequence[Drawn]) -> None:
        async with asyncio.timeout(300):
            await asyncio.gather(*(self._command(each) for each in commands))
        # Those of disconnected clients, too, have been committed or refused.
        await until(lambda: not any(log.pending.writes for log in self.processes.logs))

    async def _command(self, drawn: Drawn) -> None:
        self.number += 1
        number = self.number
        key = None if drawn.key is None else f"{self.prefix}/{drawn.key}"
        task = asyncio.create_task(self._executed(drawn, number, key))
        if drawn.disconnects:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        if key is not None and isinstance(outcome, AlreadyAnsweredError):
            self.answers.setdefault(key, set()).add(int(outcome.receipt.answer))
        if isinstance(outcome, dict):
            self.seen.append(outcome)
            if drawn.kind != "nothing":
                self.done.add(number)
            if key is not None:
                self.answers.setdefault(key, set()).add(number)
        elif not isinstance(outcome, asyncio.CancelledError | UnavailableError):
            self._not_applied(number, drawn, outcome)

    def _not_applied(self, number: int, drawn: Drawn, outcome: BaseException) -> None:
        self.not_applied.add(number)
        if isinstance(outcome, ConflictError):
            if outcome.code != "too_many_conflicts":
                self.seen.append(orjson.loads(outcome.message))
        elif not isinstance(outcome, AlreadyAnsweredError):
            assert drawn.kind == "unstorable", outcome

    async def _executed(self, drawn: Drawn, number: int, key: str | None) -> State:
        async def decide(work: UnitOfWork) -> State:
            seen: State = {}
            found = {}
            for each in sorted(drawn.reads | drawn.writes):
                ledger = await work.load(Ledger, self.ids[self.names[each]])
                found[each] = ledger
                seen[ledger.name] = (ledger.version, _last(ledger))
                for _ in range(drawn.pauses):
                    await asyncio.sleep(0)
            if drawn.kind == "refuse":
                raise ConflictError(orjson.dumps(seen).decode())
            if drawn.kind == "nothing":
                return seen
            for each in sorted(drawn.writes):
                found[each].enter(note=orjson.dumps([number, seen]).decode())
                work.save(found[each])
            if drawn.kind == "unstorable":
                work._events.append(work._events[-1])  # noqa: SLF001 # twice
            return seen

        def receipt(_: State) -> Receipt:
            assert key is not None
            return Receipt(key=key.encode(), request=b"", answer=b"%d" % number)

        log = self.processes.logs[drawn.process]
        state, _ = await run(log, decide, receipt=receipt if key else None)
        return state

    async def _expect_history(self) -> None:
        log = self.processes.logs[1]
        recorded = await read_events(log, after=self.start, upto=2**62, limit=10**6)
        names = {id_: name for name, id_ in self.ids.items()}
        state: State = dict.fromkeys(self.names, (1, 0))
        states = [dict(state)]
        times = Counter[int]()
        command_id = None
        for each in recorded:
            assert isinstance(each.event, Ledger.Entered)
            number, seen = orjson.loads(each.event.note)
            if each.command_id != command_id:
                command_id = each.command_id
                times[number] += 1
                assert_is(state, seen, f"command {number} has read")
            else:
                # The state between two events of one command was never there.
                states.pop()
            name = names[each.aggregate_id]
            assert each.version == state[name][0] + 1
            state[name] = (each.version, number)
            states.append(dict(state))
        assert set(times.values()) <= {1}, "a command is applied twice"
        assert self.done <= times.keys(), "an acknowledged command is lost"
        assert not self.not_applied & times.keys(), "a refused command is in the log"
        for told in self.seen:
            assert any(is_part(told, state) for state in states), "never so"
        for key, numbers in self.answers.items():
            assert len(numbers) == 1, f"two answers for {key}"
        async with await AsyncConnection.connect(self.processes._url) as db:  # noqa: SLF001
            await expect_sound(db)


def _last(ledger: Ledger) -> int:
    if not ledger.entries:
        return 0
    number: int = orjson.loads(ledger.entries[-1])[0]
    return number


def is_part(seen: Mapping[str, Any], state: State) -> bool:
    return all(tuple(found) == state[name] for name, found in seen.items())


def assert_is(state: State, seen: Mapping[str, Any], who: str) -> None:
    assert is_part(seen, state), f"{who} {seen}, and it was {state}"


@pytest.fixture
def processes(database_url: str) -> Iterator[Processes]:
    opened = Processes(database_url)
    yield opened
    opened.close()


def test_every_command_has_read_what_was_before_it_in_the_log(
    processes: Processes,
) -> None:
    run_state_machine_as_test(
        type("HistoriesOfThisTest", (Histories,), {"processes": processes}),
        settings=settings(
            max_examples=15,
            stateful_step_count=8,
            deadline=None,
            database=None,
            # A race doesn't end the same way twice, so there is nothing to shrink.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
