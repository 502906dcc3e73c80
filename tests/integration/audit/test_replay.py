"""The whole service as it was, in tables of its own."""

from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.sql import SQL, Identifier

from projections.audit.replay import replay
from projections.catalog import follower_conninfo
from service.cli.audit import reading_database
from service.resources import Resources
from tests.integration.audit.random_history import Folded, World, folds
from tests.support.callers import Callers
from tests.support.databases import fresh_database
from tests.support.harness.service import audit
from tests.support.projectors import PROJECTORS
from tests.support.rebuilding import tables

STEPS = 25
REPLAYED = [each for each in PROJECTORS if each.replayed]


def quiet(_position: int, _target: int) -> None:
    pass


async def state(db: AsyncConnection[Any], schema: str) -> Folded:
    """Read from a schema's tables what a fold knows."""

    async def rows(query: str) -> list[tuple[Any, ...]]:
        cursor = await db.execute(SQL(query).format(Identifier(schema)))
        return await cursor.fetchall()

    return Folded(
        {*await rows("SELECT agent_id::text, user_id::text FROM {}.agent_manager")},
        {
            *await rows(
                "SELECT agent_id::text, connector_id::text, pattern, stance"
                "  FROM {}.tool_rule WHERE until IS NULL"
            )
        },
        {
            *await rows(
                "SELECT connector_id::text, agent_id::text FROM {}.connector_grant"
                " WHERE state = 'granted'"
            )
        },
        {
            row[0]
            for row in await rows(
                "SELECT id::text FROM {}.connector WHERE public_since IS NOT NULL"
            )
        },
        (
            await rows(
                "SELECT count(DISTINCT (model_id, price_version)) FROM {}.model_price"
            )
        )[0][0],
    )


@pytest.mark.thorough
async def test_replays_at_every_position_are_the_fold(
    callers: Callers, resources: Resources
) -> None:
    world = World(await callers.user("root", "superuser"), seed=3)
    await world.begin()
    for _ in range(STEPS):
        await world.step()
    expected = await folds(resources.database_url)
    live = {each.name: await tables(resources, each.name) for each in REPLAYED}

    async with (
        reading_database(resources.database_url) as source,
        await AsyncConnection.connect(
            follower_conninfo(resources.database_url), autocommit=True
        ) as target,
    ):
        for position, fold in enumerate(expected):
            schema = f"replay_{position}"
            await replay(
                source,
                target,
                resources.log.mapper,
                PROJECTORS,
                position=position,
                schema=schema,
                progress=quiet,
            )
            assert await state(target, schema) == fold, position
            if position < len(expected) - 1:
                await target.execute(
                    SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema))
                )
        whole = {
            table: [
                row[0]
                for row in await (
                    await target.execute(
                        SQL("SELECT t::text FROM {} t ORDER BY 1").format(
                            Identifier(schema, table)
                        )
                    )
                ).fetchall()
            ]
            for found in live.values()
            for table in found
        }

    assert whole == {
        table: rows for each in live.values() for table, rows in each.items()
    }
    for each in REPLAYED:
        assert await tables(resources, each.name) == live[each.name], "live ones stay"


@pytest.mark.thorough
async def test_the_command(callers: Callers, resources: Resources) -> None:
    ada = await callers.user("ada")
    made = await ada.post("/api/catalog/agents", {"name": "Triage"})
    database = ["--database-url", resources.database_url]
    at = ["replay", *database, "--at"]

    done = await audit(*at, str(made.position))
    again = await audit(*at, str(made.position))

    assert done.stdout == (
        f"position {made.position} of {made.position}\n"
        f"schema replay_{made.position} contains the state at position "
        f"{made.position}\n"
    )
    # Auditors can read it.
    async with reading_database(resources.database_url) as db:
        cursor = await db.execute(f"SELECT name FROM replay_{made.position}.agent")  # noqa: S608 # a number
        assert await cursor.fetchall() == [("Triage",)]
    assert again.returncode == 1
    assert "there is a schema" in again.stderr
    assert (await audit(*at, "never")).returncode == 78
    assert (await audit(*at, "1000")).returncode == 1


@pytest.mark.thorough
async def test_into_another_database_by_a_reader(
    callers: Callers, reviewer: str, postgres: str, template: str
) -> None:
    """As from a replica: the source is only read."""
    ada = await callers.user("ada")
    made = await ada.post("/api/catalog/agents", {"name": "Triage"})
    moment = ["--at", str(made.position), "--schema", "then"]
    with fresh_database(postgres, template) as other:
        into = ["--database-url", reviewer, "--into", other]
        done = await audit("replay", *moment, *into)
        async with await AsyncConnection.connect(other) as db:
            cursor = await db.execute('SELECT name FROM "then".agent')
            agents = await cursor.fetchall()

    assert (done.returncode, agents) == (0, [("Triage",)])
