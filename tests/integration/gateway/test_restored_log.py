"""What the gateway keeps doesn't outlive the log that it was read from."""

from psycopg import AsyncConnection

from tests.integration.gateway.world import ALLOW, DENY, World
from tests.support.event_log.cutting import cut
from tests.support.waiting import until


async def listed(world: World) -> list[str]:
    tools = await world.gate.tools(await world.caller())
    return [each.definition.name for each in tools.tools]


async def test_a_list_of_equal_versions_of_another_epoch_is_read_anew(
    world: World,
) -> None:
    log, url = world.resources.log, world.resources.database_url
    await world.rule(any=ALLOW)
    before, epoch = (await log.head()).position, log.epoch
    await world.rule(issues_list=ALLOW, issues_create=DENY, issues_delete=DENY)
    assert await listed(world) == ["issues.list"]

    async with await AsyncConnection.connect(url, autocommit=True) as owner:
        await cut(owner, before)
        await owner.execute("UPDATE events.head SET epoch = gen_random_uuid()")
    await until(lambda: log.epoch != epoch)
    await world.rule(issues_list=DENY, issues_create=ALLOW, issues_delete=DENY)
    # What the list of before was read from is known again, at its versions.
    await world.call("issues.list")

    assert await listed(world) == ["issues.create"]
