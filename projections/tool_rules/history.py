"""Queries of what decided about tools, as of a position of the log."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from eventsourcing.utils import get_topic

from projections.tool_rules.spans import (
    AnySpan,
    DefinitionSpan,
    Found,
    HoldingSpan,
    RuleSpan,
)
from projections.tool_rules.table import select
from service.agents.aggregate import Agent
from service.database import Db
from service.tool_definitions.aggregate import ToolDefinitions
from service.tool_definitions.names import is_acceptable_name
from service.tool_rules.glob import search_key, search_keys

# So many are looked at, of each kind, for the event that last changed a decision.
SPANS_MAX: Final = 1_000

STATED_SINCE = """
    SELECT given.pattern, stated.since
      FROM unnest(%(patterns)b::text[], %(search_keys)b::bigint[])
           AS given (pattern, search_key)
     CROSS JOIN LATERAL (
           SELECT since
             FROM read.tool_rule r
            WHERE r.agent_id = %(agent_id)s AND r.connector_id = %(connector_id)s
              AND r.search_key = given.search_key AND r.pattern = given.pattern
              AND r.since <= %(position)s
            ORDER BY r.since DESC
            LIMIT 1) AS stated
"""
ENDED_RULES = """
    SELECT last.*
      FROM unnest(%(search_keys)b::bigint[]) AS wanted (search_key)
     CROSS JOIN LATERAL (
           SELECT agent_id, connector_id, pattern, stance, r.search_key, since, until
             FROM read.tool_rule r
            WHERE r.agent_id = %(agent_id)s AND r.connector_id = %(connector_id)s
              AND r.search_key = wanted.search_key AND r.until <= %(position)s
            ORDER BY r.until DESC
            LIMIT %(limit)s) AS last
     ORDER BY last.until DESC
     LIMIT %(limit)s
"""
HOLDINGS = """
    SELECT connector_id, agent_id, since, until
      FROM read.holding
     WHERE connector_id = %(connector_id)s AND agent_id = %(agent_id)s
       AND since <= %(position)s
     ORDER BY since DESC
     LIMIT %(limit)s
"""
DEFINITIONS = """
    SELECT connector_id, tool, observed, accepted, first_seen, is_unacceptable, since,
           until
      FROM read.tool_definition
     WHERE connector_id = %(connector_id)s AND tool = %(tool)s
       AND since <= %(position)s
     ORDER BY since DESC
     LIMIT %(limit)s
"""
# Of each connector or tool, the last one.
HELD = """
    SELECT connector_id, agent_id, last.since, last.until
      FROM unnest(%(connector_ids)s::uuid[]) AS named (connector_id)
     CROSS JOIN LATERAL (
           SELECT agent_id, since, until
             FROM read.holding h
            WHERE h.connector_id = named.connector_id
              AND h.agent_id = %(agent_id)s AND h.since <= %(position)s
            ORDER BY h.since DESC
            LIMIT 1) AS last
"""
RULES_CHANGED = """
    SELECT connector_id, last.position
      FROM unnest(%(connector_ids)s::uuid[]) AS named (connector_id)
     CROSS JOIN LATERAL (
           SELECT position
             FROM read.tool_rules_change c
            WHERE c.agent_id = %(agent_id)s
              AND c.connector_id = named.connector_id
              AND c.position <= %(position)s
            ORDER BY c.position DESC
            LIMIT 1) AS last
"""
DEFINITIONS_CHANGED = """
    SELECT connector_id, tool, last.since
      FROM unnest(%(connector_id)b::uuid[], %(tool)b::text[])
           AS named (connector_id, tool)
     CROSS JOIN LATERAL (
           SELECT since
             FROM read.tool_definition d
            WHERE d.connector_id = named.connector_id AND d.tool = named.tool
              AND d.since <= %(position)s
            ORDER BY d.since DESC
            LIMIT 1) AS last
"""
HOLDINGS_OF_CONNECTOR = """
    SELECT connector_id, agent_id, since, until
      FROM read.holding
     WHERE connector_id = %(connector_id)s AND since <= %(until)s
       AND (until IS NULL OR until > %(since)s)
     ORDER BY since
"""
# An observation creates the aggregate and says in the next event which tools there are.
FIRST_OBSERVED = """
    SELECT originator_id, notification_id
      FROM events.stored_event
     WHERE originator_id = ANY (%(ids)s) AND originator_version = 2
       AND notification_id <= %(position)s
"""
RETIRED = """
    SELECT agent.id, retired.notification_id
      FROM unnest(%(ids)s::uuid[]) AS agent (id)
     CROSS JOIN LATERAL (
           SELECT notification_id
             FROM events.stored_event
            WHERE originator_id = agent.id AND topic = %(topic)s
            ORDER BY originator_version DESC
            LIMIT 1) AS retired
     WHERE retired.notification_id <= %(position)s
"""


async def standing_rules(
    db: Db,
    *,
    agent_id: UUID,
    connector_id: UUID,
    stances: Mapping[str, str],
    at: int,
) -> list[RuleSpan]:
    """Return the rules that stood at a position, ``stances`` by pattern, as spans."""
    keys = {pattern: search_key(pattern) for pattern in stances}
    asked = {
        "agent_id": agent_id,
        "connector_id": connector_id,
        "patterns": [*keys],
        "search_keys": [*keys.values()],
        "position": at,
    }
    since = dict(await (await db.execute(STATED_SINCE, asked)).fetchall())
    # All of them, or an error: without one, another decision would be explained.
    return [
        RuleSpan(
            agent_id=agent_id,
            connector_id=connector_id,
            pattern=pattern,
            stance=stance,
            search_key=keys[pattern],
            since=since[pattern],
        )
        for pattern, stance in stances.items()
    ]


async def ended_rules(
    db: Db, *, agent_id: UUID, connector_id: UUID, tool: str, at: int
) -> Found[RuleSpan]:
    """Return rules that may have matched a tool, and had ended by a position.

    If they are too many, those that ended last.
    """
    asked = {
        "agent_id": agent_id,
        "connector_id": connector_id,
        "search_keys": [*search_keys(tool)],
        "position": at,
        "limit": SPANS_MAX,
    }
    found = await select(db, RuleSpan, ENDED_RULES, asked)
    # Others that ended with the earliest of them may be missing.
    is_whole = len(found) < SPANS_MAX
    return Found(found, 0 if is_whole else found[-1].until or 0)


async def holdings(
    db: Db, *, agent_id: UUID, connector_id: UUID, at: int
) -> Found[HoldingSpan]:
    """Return when the grants had an agent hold a connector, the last ones first."""
    asked = {
        "agent_id": agent_id,
        "connector_id": connector_id,
        "position": at,
        "limit": SPANS_MAX,
    }
    return _latest(await select(db, HoldingSpan, HOLDINGS, asked), at)


async def definitions(
    db: Db, *, connector_id: UUID, tool: str, at: int
) -> Found[DefinitionSpan]:
    """Return the definitions of a tool, the last ones first.

    None of a tool whose name can't be accepted.
    """
    if not is_acceptable_name(tool):
        return Found([])
    asked = {
        "connector_id": connector_id,
        "tool": tool,
        "position": at,
        "limit": SPANS_MAX,
    }
    return _latest(await select(db, DefinitionSpan, DEFINITIONS, asked), at)


def _latest(found: Sequence[AnySpan], at: int) -> Found[AnySpan]:
    complete_from = found[-1].since if len(found) == SPANS_MAX else 0
    return Found(_as_of(found, at), complete_from)


def _as_of(found: Sequence[AnySpan], at: int) -> Sequence[AnySpan]:
    """Let what ended after a position last."""
    for each in found:
        if each.until is not None and each.until > at:
            each.until = None
    return found


async def first_observed(
    db: Db, connector_ids: Iterable[UUID], *, at: int
) -> dict[UUID, int]:
    """Return where the tools of connectors were first observed, by a position."""
    by_id = {ToolDefinitions.id_for(each): each for each in connector_ids}
    asked = {"ids": [*by_id], "position": at}
    cursor = await db.execute(FIRST_OBSERVED, asked)
    return {by_id[found]: position for found, position in await cursor.fetchall()}


async def retirements(db: Db, agent_ids: Iterable[UUID], *, at: int) -> dict[UUID, int]:
    """Return where agents were retired, those that were by a position."""
    asked = {"ids": [*agent_ids], "topic": get_topic(Agent.Retired), "position": at}
    cursor = await db.execute(RETIRED, asked)
    return dict(await cursor.fetchall())


async def last_holdings(
    db: Db, *, agent_id: UUID, connector_ids: Collection[UUID], at: int
) -> dict[UUID, HoldingSpan]:
    """Return when an agent last held connectors, by connector."""
    asked = {"agent_id": agent_id, "connector_ids": [*connector_ids], "position": at}
    found = await select(db, HoldingSpan, HELD, asked)
    return {each.connector_id: each for each in _as_of(found, at)}


async def rules_changed(
    db: Db, *, agent_id: UUID, connector_ids: Collection[UUID], at: int
) -> dict[UUID, int]:
    """Return where an agent's rules for connectors were last stated."""
    asked = {"agent_id": agent_id, "connector_ids": [*connector_ids], "position": at}
    cursor = await db.execute(RULES_CHANGED, asked)
    return dict(await cursor.fetchall())


async def definitions_changed(
    db: Db, named: Iterable[tuple[UUID, str]], *, at: int
) -> dict[tuple[UUID, str], int]:
    """Return the last event that names each tool of a connector, if one does."""
    known = [each for each in named if is_acceptable_name(each[1])]
    asked = {
        "connector_id": [connector_id for connector_id, _ in known],
        "tool": [tool for _, tool in known],
        "position": at,
    }
    cursor = await db.execute(DEFINITIONS_CHANGED, asked)
    return {
        (connector_id, tool): since
        for connector_id, tool, since in await cursor.fetchall()
    }


async def holdings_between(
    db: Db, connector_id: UUID, *, since: int, until: int
) -> list[HoldingSpan]:
    """Return when agents held a connector at any time between two positions."""
    asked = {"connector_id": connector_id, "since": since, "until": until}
    found = await select(db, HoldingSpan, HOLDINGS_OF_CONNECTOR, asked)
    return [*_as_of(found, until)]
