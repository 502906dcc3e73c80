"""Of the tasks that compute for long, one goes on at each turn of the event loop."""

import asyncio

from service.pacing import INLINE_BYTES_MAX, Pace, free, next_turn, take_apart

TASKS = 5


class Turns:
    """Counts the turns of the event loop, and who computed in which."""

    def __init__(self) -> None:
        self.number = 0
        self.steps: list[int] = []
        self._next()

    def _next(self) -> None:
        self.number += 1
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def compute(self) -> None:
        self.steps.append(self.number)

    def end(self) -> None:
        self._handle.cancel()


async def test_long_computations_have_turns_of_their_own() -> None:
    turns = Turns()

    async def compute() -> None:
        for _ in range(3):
            await next_turn()
            turns.compute()

    await asyncio.gather(*(compute() for _ in range(TASKS)))
    turns.end()

    assert len(turns.steps) == 3 * TASKS
    assert len({*turns.steps}) == len(turns.steps)


async def test_nobody_is_overtaken() -> None:
    order: list[int] = []

    async def compute(name: int) -> None:
        for _ in range(2):
            await next_turn()
            order.append(name)

    await asyncio.gather(*map(compute, range(3)))

    assert order == [0, 1, 2, 0, 1, 2]


async def test_what_is_due_meanwhile_goes_before_the_next_turn() -> None:
    order: list[str] = []
    loop = asyncio.get_running_loop()

    async def compute() -> None:
        await next_turn()
        order.append("long")
        loop.call_later(0, order.append, "due")

    await asyncio.gather(*(compute() for _ in range(3)))

    assert order[:5] == ["long", "due", "long", "due", "long"]


async def test_who_leaves_does_not_keep_the_others_waiting() -> None:
    leaving = next_turn()
    staying = next_turn()
    leaving.cancel()

    async with asyncio.timeout(60):
        await staying
    assert leaving.cancelled()


async def test_a_step_on_many_bytes_waits_for_its_turn() -> None:
    turns = Turns()

    async def compute(size: int) -> None:
        await Pace().pause(size)
        turns.compute()

    await asyncio.gather(*(compute(10) for _ in range(TASKS)))
    small = {*turns.steps}
    turns.steps.clear()
    await asyncio.gather(*(compute(INLINE_BYTES_MAX + 1) for _ in range(TASKS)))
    turns.end()

    assert len(small) == 1
    assert len({*turns.steps}) == TASKS


async def test_a_list_is_emptied() -> None:
    items = [object() for _ in range(1000)]

    await free(items)

    assert items == []


def test_a_document_is_emptied_to_its_innermost_containers() -> None:
    inner: dict[str, object] = {"a": [1, "text"], "b": None}
    document = [1, [inner, inner["a"]], {"c": inner}]

    take_apart(document)

    assert (document, inner) == ([], {})
