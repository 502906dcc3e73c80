"""Rotating the root key, while the service runs and however often it is stopped."""

import asyncio
import logging
import os
import re
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from service.database import Pool
from service.keys.canary import verify_canary
from service.keys.key_ring import KeyRing
from service.keys.root_key import LocalRootKeys, WrongRootKeyError
from service.keys.rotation import (
    RewrapFailedError,
    root_keys_in_use,
    rotate_root_key,
)
from service.keys.user_keys import REWRAP_BATCH_SIZE, UserKeys
from service.open_resources import open_resources
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.project import ROOT

pytestmark = pytest.mark.thorough

KEY_RING = "keys.json"
NEW_ROOT = LocalRootKeys.parse("outside:" + "A" * 43 + "=")
CALLERS = 30
USER_KEYS = 6 * REWRAP_BATCH_SIZE
HOLD_LAST = """
    SELECT FROM events.user_key ORDER BY user_id DESC LIMIT 1 FOR UPDATE
"""
REQUESTS_PER_S = 200
UNDER_WAY_MAX = 32

logger = logging.getLogger(__name__)


def ignore(rewrapped: int, total: int) -> None:
    pass


async def make_user_keys(pool: Pool, ring: KeyRing, count: int) -> list[UUID]:
    await verify_canary(pool, ring)
    user_keys, user_ids = UserKeys(pool, ring), [uuid4() for _ in range(count)]
    for user_id in user_ids:
        await user_keys.get_or_create(user_id)
    return user_ids


async def test_everything_ends_up_under_a_new_root_key(
    pool: Pool, ring: KeyRing, tmp_path: Path
) -> None:
    user_ids = await make_user_keys(pool, ring, 5)
    keys = [(await UserKeys(pool, ring).get(each)).key.expose() for each in user_ids]
    old_id, reports = ring.primary_id, list[tuple[int, int]]()

    rotation = await rotate_root_key(pool, ring, lambda *done: reports.append(done))

    assert rotation.primary_id == ring.primary_id != old_id
    assert (rotation.rewrapped, rotation.retired) == (5, (old_id,))
    assert reports == [(5, 5)]
    (status,) = await root_keys_in_use(pool, ring)
    assert (status.root_key_id, status.user_keys) == (ring.primary_id, 5)
    assert status.is_primary
    assert status.is_in_file
    fresh = UserKeys(pool, KeyRing.load(tmp_path / KEY_RING))
    assert [(await fresh.get(each)).key.expose() for each in user_ids] == keys


async def test_a_rotation_that_was_stopped_anywhere_is_finished_and_not_begun_anew(
    pool: Pool, ring: KeyRing
) -> None:
    await make_user_keys(pool, ring, 4)
    old_id, new_id = ring.primary_id, ring.replace_primary()
    async for _ in UserKeys(pool, ring).rewrap_all(batch_size=2):
        break
    assert {each.user_keys for each in await root_keys_in_use(pool, ring)} == {2}

    rotation = await rotate_root_key(pool, ring, ignore)

    assert (rotation.primary_id, rotation.retired) == (new_id, (old_id,))
    assert rotation.rewrapped == 2
    assert ring.key_ids == {new_id}


async def test_root_keys_from_outside_take_over(
    pool: Pool, ring: KeyRing, tmp_path: Path
) -> None:
    await make_user_keys(pool, ring, 3)
    old_id = ring.primary_id
    around = KeyRing.load(tmp_path / KEY_RING, root=NEW_ROOT)
    rotation = await rotate_root_key(pool, around, ignore)
    assert (rotation.primary_id, rotation.retired) == ("outside", (old_id,))
    assert around.file_key_ids == frozenset()
    again = await rotate_root_key(pool, around, ignore)
    assert (again.rewrapped, again.retired) == (0, ())


def documented_steps() -> list[str]:
    text = (ROOT / "docs/operations/keys.md").read_text("utf-8")
    return re.findall(r"^\| \d \| `((?:OLD|NEW)[^`]*)` \|", text, re.MULTILINE)


async def test_the_documented_steps_with_root_keys_from_outside_fail_no_request(
    pool: Pool, tmp_path: Path
) -> None:
    """While processes restart, some are a step ahead of the others."""
    text = {"OLD": "old:" + "A" * 43 + "=", "NEW": "new:" + "B" * 42 + "A="}
    KeyRing.load_or_create(tmp_path / KEY_RING, root=LocalRootKeys.parse(text["OLD"]))

    def ring_of(step: str) -> KeyRing:
        given = ",".join(text[each] for each in step.split(","))
        return KeyRing.load(tmp_path / KEY_RING, root=LocalRootKeys.parse(given))

    steps = ["OLD", *documented_steps()]
    assert steps[-1] == "NEW"
    made: list[UUID] = []
    for before, after in pairwise(steps):
        if after == "NEW":
            rotation = await rotate_root_key(pool, ring_of(before), ignore)
            assert rotation.retired == ("old",)
        for step in (after, before):
            made += await make_user_keys(pool, ring_of(step), 1)
        for step in (before, after):
            for user_id in made:
                await UserKeys(pool, ring_of(step)).get(user_id)


async def test_a_damaged_user_key_keeps_its_root_key(pool: Pool, ring: KeyRing) -> None:
    (user_id,) = await make_user_keys(pool, ring, 1)
    async with pool.connection() as db:
        await db.execute(r"UPDATE events.user_key SET wrapped = '\x01ff'")
    old_id = ring.primary_id
    with pytest.raises(RewrapFailedError, match=str(user_id)):
        await rotate_root_key(pool, ring, ignore)
    assert old_id in ring.key_ids


async def test_a_wrong_ring_rotates_nothing(
    pool: Pool, ring: KeyRing, tmp_path: Path
) -> None:
    await make_user_keys(pool, ring, 1)
    other = KeyRing.load_or_create(tmp_path / "other.json")
    with pytest.raises(WrongRootKeyError):
        await rotate_root_key(pool, other, ignore)
    assert len(other.key_ids) == 1


@pytest.fixture
async def many_callers(callers: Callers) -> list[Caller]:
    made = [await callers.user(f"user{number}") for number in range(CALLERS)]
    for number, caller in enumerate(made):
        await caller.post("/api/secrets", {"name": "TOKEN", "value": f"{number}.0"})
    return made


async def test_under_load_and_killed_half_way_no_request_fails(
    resources: Resources, many_callers: list[Caller], tmp_path: Path
) -> None:
    ring = resources.key_ring
    await make_user_keys(resources.pool, ring, USER_KEYS)
    old_id, outcomes = ring.primary_id, Counter[str]()

    began = time.monotonic()
    async with under_load(many_callers, outcomes):
        async with await AsyncConnection.connect(resources.database_url) as holding:
            # The rotation can't come to its end before it is killed.
            await holding.execute(HOLD_LAST)
            rotating = await start_rotation(resources.database_url, tmp_path)
            assert rotating.stdout is not None
            first_progress = await rotating.stdout.readline()
            rotating.kill()
            await rotating.wait()
            # Before PostgreSQL can do the last statement that the process has sent.
            in_between = await root_keys_in_use(resources.pool, ring)
        resumed = await start_rotation(resources.database_url, tmp_path)
        said, _ = await resumed.communicate()

    logger.info("%s requests/s", outcomes.total() / (time.monotonic() - began))

    assert first_progress.startswith(b"rewrapped ")
    assert len([each for each in in_between if each.user_keys]) == 2, in_between
    assert resumed.returncode == 0
    assert f"root key {old_id} is now needed only by older backups".encode() in said
    assert set(outcomes) == {"ok"}, outcomes
    # What a process reads that starts now, with nothing but the new root key.
    assert KeyRing.load(tmp_path / KEY_RING).key_ids.isdisjoint({old_id})
    async with open_resources(resources.database_url, tmp_path) as fresh:
        (status,) = await root_keys_in_use(fresh.pool, fresh.key_ring)
        assert status.user_keys == USER_KEYS + CALLERS
    for caller in many_callers:
        assert (await caller.get("/api/secrets/TOKEN")).status == 200


async def start_rotation(database_url: str, data_dir: Path) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "service",
        "keys",
        "rotate",
        "--database-url",
        database_url,
        "--data-dir",
        str(data_dir),
        stdout=PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@asynccontextmanager
async def under_load(
    callers: list[Caller], outcomes: Counter[str]
) -> AsyncIterator[None]:
    """Overwrite and reveal until the block ends, as often as is asked for.

    A machine that can't do that many gets no more than ``UNDER_WAY_MAX`` at once.
    """
    under_way: set[asyncio.Task[None]] = set()
    stopped = asyncio.Event()

    async def send(number: int) -> None:
        caller = callers[number % len(callers)]
        if number % 4:
            reply = await caller.put("/api/secrets/TOKEN", {"value": str(number)})
        else:
            reply = await caller.get("/api/secrets/TOKEN/value")
        outcomes["ok" if reply.status == 200 else reply.code] += 1

    async def keep_sending() -> None:
        loop, number = asyncio.get_running_loop(), 0
        began = loop.time()
        while not stopped.is_set():
            early = loop.time() - began < number / REQUESTS_PER_S
            if early or len(under_way) >= UNDER_WAY_MAX:
                await asyncio.sleep(1 / REQUESTS_PER_S)
                continue
            task = asyncio.create_task(send(number))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
            number += 1

    sending = asyncio.create_task(keep_sending())
    try:
        yield
    finally:
        stopped.set()
        await sending
        await asyncio.gather(*under_way)
