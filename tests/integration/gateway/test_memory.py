"""What leaves the log's cache leaves memory, whoever has read it."""

import gc
from uuid import UUID
from weakref import ref

from service.agent_tokens.aggregate import AgentTokens
from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.event_log.log import EventLog
from service.gateway.tool_names import LatestToolNames
from service.tool_definitions.aggregate import ToolDefinitions
from service.users.aggregate import User
from service.users.authenticate import TokenAuthenticator
from tests.integration.gateway.world import ALLOW, World
from tests.support.gateway.listing import LIST


def evicted(log: EventLog, *aggregate_ids: UUID) -> list[bool]:
    """Evict everything; say of aggregates whether they have left memory."""
    held = [log.cache.get(each) for each in aggregate_ids]
    assert None not in held
    weak = [ref(each) for each in held if each is not None]
    held.clear()
    log.cache.clear()
    gc.collect()
    return [each() is None for each in weak]


async def test_who_has_called_holds_no_aggregates(world: World) -> None:
    log = world.resources.log
    caller = await world.caller()
    tokens_id = AgentTokens.create_id(str(world.agent_id))

    gone = evicted(log, world.agent_id, tokens_id)

    assert gone == [True, True]
    # What was read again is what the caller is known by.
    assert await world.caller() == caller
    assert isinstance(log.cache.get(world.agent_id), Agent)


async def test_who_has_signed_in_holds_no_aggregates(world: World) -> None:
    log = world.resources.log
    authenticator = TokenAuthenticator(log, world.resources.key_ring.token_hash)
    header = f"Bearer {world.ada.token}"
    principal = await authenticator.authenticate(header)
    assert authenticator.recall(header) == principal

    gone = evicted(log, principal.user_id)

    assert gone == [True]
    assert authenticator.recall(header) is None
    assert await authenticator.authenticate(header) == principal
    assert isinstance(log.cache.get(principal.user_id), User)


async def test_names_of_tools_hold_no_aggregates(world: World) -> None:
    log = world.resources.log
    await world.lists(LIST)
    # The writer holds what it has committed last.
    await world.rule(any=ALLOW)
    names = LatestToolNames(log)
    connector = str(world.connector_id)
    known = await names.known_tools([connector])
    definitions_id = ToolDefinitions.create_id(connector)

    gone = evicted(log, world.connector_id, definitions_id)

    assert gone == [True, True]
    again = await names.known_tools([connector])
    assert again[connector].names == known[connector].names
    assert "issues.list" in (again[connector].names or ())
    assert isinstance(log.cache.get(world.connector_id), Connector)


async def test_lists_of_tools_are_made_again_of_what_was_evicted(world: World) -> None:
    await world.lists(LIST)
    await world.accept("issues.list")
    await world.rule(any=ALLOW)
    caller = await world.caller()
    listed = await world.gate.tools(caller)
    assert await world.gate.tools(caller) is listed

    evicted(world.resources.log, world.agent_id, world.connector_id)

    # Nothing has changed, so what was rendered of it counts on.
    assert await world.gate.tools(caller) is listed
    await world.rule(issues_other=ALLOW)
    assert not (await world.gate.tools(caller)).tools
