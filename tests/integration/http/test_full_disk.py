"""A disk of the database that is full: the answer says so."""

import logging

import psycopg
import pytest

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.connectors.making import TRACKER

CONNECTORS = "/api/mcp/connectors"
# As PostgreSQL refuses to make a table longer.
FULL = """
    CREATE FUNCTION events.refuse_to_grow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON events.stored_event
        EXECUTE FUNCTION events.refuse_to_grow()
"""
ROOM = "DROP TRIGGER full_disk ON events.stored_event"


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    return await callers.user("ada", "superuser")


async def test_a_command_is_refused_until_there_is_room(
    ada: Caller, resources: Resources
) -> None:
    before = (await resources.log.head()).position
    await execute(resources, FULL)
    refused = await ada.post(CONNECTORS, TRACKER)
    head = (await resources.log.head()).position
    await execute(resources, ROOM)

    assert (refused.status, refused.code) == (503, "database_full")
    assert "disk is full" in refused.message
    assert refused.headers["Retry-After"] == "1"
    assert head == before
    assert (await ada.post(CONNECTORS, TRACKER)).status == 201


async def test_a_read_that_is_recorded_is_refused_and_others_are_not(
    ada: Caller, resources: Resources
) -> None:
    await execute(resources, FULL)
    recorded = await ada.get("/api/audit/events")
    other = await ada.get(CONNECTORS)

    assert (recorded.status, recorded.code) == (503, "database_full")
    assert other.status == 200


async def test_the_log_says_so_once(
    ada: Caller, resources: Resources, caplog: pytest.LogCaptureFixture
) -> None:
    await execute(resources, FULL)
    for _ in range(3):
        assert (await ada.post(CONNECTORS, TRACKER)).status == 503
    await execute(resources, ROOM)

    said = [each for each in caplog.records if "append refused" in each.getMessage()]
    assert [each.levelno for each in said].count(logging.WARNING) == 1
    assert "disk is full" in said[0].getMessage()


async def execute(resources: Resources, statements: str) -> None:
    async with await psycopg.AsyncConnection.connect(
        resources.database_url, autocommit=True
    ) as owner:
        await owner.execute(statements)
