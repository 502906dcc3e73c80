"""A pool whose connections are all lent is busy; without its database, it isn't."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

import pytest
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from service.connection_pool import (
    POOL_SIZE_MAX,
    CheckedPool,
    PoolBusyError,
    connection_pool,
)
from service.database import Db, service_conninfo
from tests.support.postgres_proxy import Proxy
from tests.support.waiting import until

LONG_S = 60.0
# Beyond what a connection needs to change hands on a busy machine.
SHORT_S = 0.5
# Beyond what ten lost connections, or one new one, take.
RECONNECT_S = 3.0


@pytest.fixture
async def pool(proxy: Proxy, database_url: str) -> AsyncIterator[CheckedPool]:
    async with connection_pool(service_conninfo(proxy.url(database_url))) as pool:
        await pool.wait(LONG_S)
        yield pool


async def lent(pool: CheckedPool, count: int) -> list[Db]:
    return [await pool.getconn(LONG_S) for _ in range(count)]


async def give_back(pool: CheckedPool, connections: Iterable[Db]) -> None:
    for each in connections:
        await pool.putconn(each)


async def waiting(pool: CheckedPool, *timeouts_s: float) -> list[asyncio.Task[Db]]:
    """Let some wait for a connection, in this order."""
    tasks: list[asyncio.Task[Db]] = []

    def all_wait() -> bool:
        return pool.get_stats()["requests_waiting"] == len(tasks)

    for timeout_s in timeouts_s:
        tasks.append(asyncio.create_task(pool.getconn(timeout_s)))
        await until(all_wait)
    return tasks


def stuck() -> tuple[asyncio.Event, Callable[[Db], Awaitable[None]]]:
    """Return a check of connections that ends when an event is set."""
    let_go = asyncio.Event()

    async def check(_connection: Db) -> None:
        await let_go.wait()

    return let_go, check


async def test_a_connection_on_its_way_to_another_waiter(pool: CheckedPool) -> None:
    first, *others = await lent(pool, POOL_SIZE_MAX)
    earlier, later = await waiting(pool, LONG_S, SHORT_S)
    let_go, pool._check = stuck()  # noqa: SLF001 # keeps it on its way

    await pool.putconn(first)
    with pytest.raises(PoolBusyError):
        await later

    let_go.set()
    await give_back(pool, [await earlier, *others])


async def test_a_pool_that_still_grows(pool: CheckedPool, proxy: Proxy) -> None:
    first, second = await lent(pool, pool.min_size)
    # What is new isn't connected in time.
    connects, proxy.forwards = proxy.forwards, asyncio.Event()
    earlier, later = await waiting(pool, LONG_S, SHORT_S)

    await pool.putconn(first)
    with pytest.raises(PoolBusyError):
        await later

    proxy.forwards.set()
    proxy.forwards = connects
    await give_back(pool, [await earlier, second])


async def test_a_database_that_is_frozen(pool: CheckedPool, proxy: Proxy) -> None:
    connections = await lent(pool, pool.min_size)
    proxy.forwards.clear()
    (waiter,) = await waiting(pool, SHORT_S)

    with pytest.raises(PoolTimeout) as raised:
        await waiter

    proxy.forwards.set()
    await give_back(pool, connections)
    assert not isinstance(raised.value, PoolBusyError)


async def test_a_database_that_goes_away(pool: CheckedPool, proxy: Proxy) -> None:
    connections = await lent(pool, POOL_SIZE_MAX)
    served, late = await waiting(pool, LONG_S, RECONNECT_S)
    await pool.putconn(connections.pop())
    connections.append(await served)

    proxy.go_away()
    for each in connections:
        with pytest.raises(OperationalError):
            await each.execute("SELECT 1")
        await pool.putconn(each)
    with pytest.raises(PoolTimeout) as raised:
        await late

    assert not isinstance(raised.value, PoolBusyError)


async def test_sessions_that_were_ended_while_the_database_is_up(
    pool: CheckedPool, proxy: Proxy
) -> None:
    connections = await lent(pool, POOL_SIZE_MAX)
    earlier, later = await waiting(pool, LONG_S, RECONNECT_S)
    proxy.go_away()
    proxy.come_back()
    lost = connections.pop()
    with pytest.raises(OperationalError):
        await lost.execute("SELECT 1")

    await pool.putconn(lost)
    with pytest.raises(PoolBusyError):
        await later

    await give_back(pool, [await earlier, *connections])
