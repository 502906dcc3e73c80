"""Price events to rows, against a plain model that remembers what it knew when."""

import random
from collections.abc import Sequence
from datetime import datetime

import psycopg
import pytest
from psycopg import AsyncConnection

from projections.engine.rebuild import compare, create_tables
from projections.price_catalog.projector import ProviderCatalogProjector
from projections.price_catalog.queries import effective_prices
from service.event_log.mapper import RecordedEvent
from service.price_catalog.periods import MANUAL
from service.resources import Resources
from tests.support.price_catalog.calendar import DAYS, Calendar
from tests.support.price_catalog.prices import day, price, pricing, provider
from tests.support.price_catalog.steps import Step
from tests.support.reading import read_events
from tests.support.scenario import Scenario

MODELS = 20
STEPS = 240
QUESTIONS = 400
TABLES = ("catalog_provider", "catalog_model", "model_price", "catalog_change")
Db = AsyncConnection[object]


class History:
    """What each model's calendar was as of every position."""

    def __init__(self) -> None:
        self.known: list[tuple[int, dict[str, Calendar]]] = [(0, {})]

    def add(self, position: int, model: str, calendar: Calendar) -> None:
        known = {**self.known[-1][1], model: Calendar(list(calendar.cells))}
        self.known.append((position, known))

    def at(self, position: int, moment: datetime) -> dict[str, int]:
        _, known = max(
            (each for each in self.known if each[0] <= position),
            key=lambda each: each[0],
        )
        number = (moment - day(1)).days + 1
        found = {model: calendar.cells[number] for model, calendar in known.items()}
        return {model: version for model, version in found.items() if version}


def random_step(chance: random.Random, version: int) -> Step:
    return Step(
        kind=chance.choice(["set", "set", "set", "end", "correct"]),
        start=chance.choice([None, *range(1, DAYS + 1)]),
        end=chance.choice([None, *range(1, DAYS + 1)]),
        pick=chance.randint(2, max(version, 2)),
    )


async def fill(
    scenario: Scenario, resources: Resources, chance: random.Random
) -> History:
    """Take random steps of many models, one command each."""
    history = History()
    models = {f"m{number}": pricing(model=f"m{number}") for number in range(MODELS)}
    calendars = {name: Calendar() for name in models}
    await scenario.given(provider(), *models.values())
    for _ in range(STEPS):
        name = chance.choice(sorted(models))
        step = random_step(chance, models[name].version)
        if not step.expect(calendars[name], models[name].version + 1):
            continue
        assert step.take(models[name])
        await scenario.given(models[name])
        position = (await resources.log.head()).position
        history.add(position, name, calendars[name])
    return history


async def recorded_events(resources: Resources) -> list[RecordedEvent]:
    head = (await resources.log.head()).position
    return await read_events(
        resources.log,
        after=0,
        upto=head,
        limit=head,
        topics=ProviderCatalogProjector().topics,
    )


async def project(
    db: Db, schema: str, batches: Sequence[Sequence[RecordedEvent]]
) -> None:
    projector = ProviderCatalogProjector()
    async with db.transaction():
        await create_tables(db, projector, schema)
    await db.execute(f"SET search_path = {schema}")
    for batch in batches:
        async with db.transaction():
            await projector.project(db, batch)
    await db.execute("RESET search_path")


def cut(
    events: Sequence[RecordedEvent], chance: random.Random
) -> list[Sequence[RecordedEvent]]:
    """Cut the events into batches of any size."""
    batches = []
    start = 0
    while start < len(events):
        stop = start + chance.choice([1, 2, 5, 40])
        batches.append(events[start:stop])
        start = stop
    return batches


@pytest.mark.parametrize("seed", range(3))
async def test_any_moment_is_answered_as_it_was_known_at_any_position(
    scenario: Scenario, resources: Resources, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311  # a test's own dice
    history = await fill(scenario, resources, chance)
    events = await recorded_events(resources)
    async with resources.pool.connection() as db:
        await project(db, "read", cut(events, chance))

        moments = [moment for moment, _ in Calendar().moments()]
        for _ in range(QUESTIONS):
            known = chance.randint(0, events[-1].position)
            moment = chance.choice(moments)
            found, span = await effective_prices(db, as_of=moment, known=known)
            versions = {
                each.model: int(each.input_price_per_1m)
                for each in found
                if each.input_price_per_1m is not None
            }
            assert versions == history.at(known, moment), (known, moment)
            assert moment in span
            assert [each.model for each in found] == sorted(versions)


async def test_a_rebuild_gives_the_same_rows_however_it_is_cut(
    scenario: Scenario, resources: Resources
) -> None:
    chance = random.Random(7)  # noqa: S311  # a test's own dice
    await fill(scenario, resources, chance)
    events = await recorded_events(resources)
    async with resources.pool.connection() as db:
        await project(db, "read", cut(events, chance))
        await db.execute("CREATE SCHEMA rebuilt")
        await project(db, "rebuilt", [events])

        for table in TABLES:
            difference = await compare(db, table, f"read.{table}", f"rebuilt.{table}")
            assert (difference.only_before, difference.only_rebuilt) == (0, 0)
        row = await (
            await db.execute("SELECT count(*) FROM read.model_price")
        ).fetchone()
    assert row is not None
    assert row[0] > MODELS


async def test_postgresql_itself_refuses_an_overlap(
    scenario: Scenario, resources: Resources
) -> None:
    model = pricing()
    model.set_price(
        price(), effective_from=day(2), effective_until=day(4), source=MANUAL
    )
    await scenario.given(provider(), model)
    async with resources.pool.connection() as db:
        await project(db, "read", [await recorded_events(resources)])
        copied = """
            INSERT INTO read.model_price
            SELECT (jsonb_populate_record(p, jsonb_build_object(
                   'effective_from', %s::timestamptz,
                   'effective_until', %s::timestamptz,
                   'known_from', 100))).*
              FROM read.model_price p
        """
        await db.execute(copied, [day(1), day(2)])
        await db.execute(copied.replace("100", "101") + " LIMIT 1", [day(4), day(5)])
        with pytest.raises(psycopg.errors.ExclusionViolation):
            await db.execute(copied + " LIMIT 1", [day(3), day(6)])
