"""The authorization table of operation 1 in full, over HTTP."""

import itertools
from collections.abc import Mapping
from uuid import UUID, uuid4

from service.http.validation_errors import PROBLEMS_MAX
from tests.support.callers import Caller, Callers
from tests.support.tool_rules.grid import (
    CALLERS,
    CELLS,
    EMPTY,
    GRID,
    STATES,
    UNKNOWN_AGENT,
    connector_in,
)
from tests.support.tool_rules.setting import Setting, put, rule


async def new_connector(
    setting: Setting, state: str, owner: Caller, agent: UUID
) -> UUID:
    assert owner.user_id is not None
    connector = connector_in(state, owner.user_id, agent)
    return uuid4() if connector is None else await setting.save(connector)


async def cast(
    callers: Callers, setting: Setting
) -> tuple[dict[str, Caller], Caller, UUID]:
    """Return every kind of caller, somebody else, and an agent."""
    everyone = {
        name: await callers.user(name, *roles) for name, roles in CALLERS.items()
    }
    somebody = await callers.user("somebody")
    agent = await setting.agent(somebody, everyone["manager"])
    return everyone, somebody, agent


async def test_one_connector(callers: Callers, setting: Setting) -> None:
    everyone, somebody, agent = await cast(callers, setting)
    wrong = []
    for name, owns, state, status in CELLS:
        caller = everyone[name]
        connector = await new_connector(
            setting, state, caller if owns else somebody, agent
        )
        before = await setting.resources.log.head()

        reply = await put(caller, agent, rule(connector, "read_*", "allow"))

        recorded = await setting.changed_rules_after(before.position)
        if reply.status != status or recorded is not (status == 200):
            wrong.append((name, owns, state, status, reply.status, recorded))
    assert wrong == []


async def test_a_refusal_names_no_more_errors_than_an_answer_may(
    callers: Callers, ada: Caller, agent: UUID
) -> None:
    eve = await callers.user("eve")
    rules = [rule(uuid4(), "a", "allow") for _ in range(PROBLEMS_MAX + 1)]

    forbidden = await put(eve, agent, *rules)
    unknown = await put(ada, agent, *rules)

    assert (forbidden.status, unknown.code) == (403, "unknown_connector")
    for reply in (forbidden, unknown):
        assert len(reply.data["errors"]) == PROBLEMS_MAX


async def test_two_connectors_are_all_or_nothing(
    callers: Callers, setting: Setting
) -> None:
    everyone, somebody, agent = await cast(callers, setting)
    wrong = []
    for name in CALLERS:
        caller = everyone[name]
        made = {
            (owns, state): await new_connector(
                setting, state, caller if owns else somebody, agent
            )
            for owns in (True, False)
            for state in STATES
        }
        for first, second in itertools.product(made, repeat=2):
            if made[first] == made[second]:
                continue
            status = max(_status(name, first), _status(name, second))
            if 403 in (_status(name, first), _status(name, second)):
                status = 403
            before = await setting.resources.log.head()

            reply = await put(
                caller,
                agent,
                rule(made[first], "a", "allow"),
                rule(made[second], "a", "deny"),
            )

            if reply.status != status:
                wrong.append((name, first, second, status, reply.status))
            if status != 200:
                assert not await setting.changed_rules_after(before.position)
    assert wrong == []


def _status(name: str, connector: tuple[bool, str]) -> int:
    owns, state = connector
    row: Mapping[str, int] = dict(zip(STATES, GRID[name, owns], strict=True))
    return row[state]


async def test_empty_batch(callers: Callers, setting: Setting) -> None:
    everyone, _, agent = await cast(callers, setting)
    for caller in everyone.values():
        await setting.connector(caller, granted_to=[agent])

    replies = {name: await put(caller, agent) for name, caller in everyone.items()}

    assert {name: reply.status for name, reply in replies.items()} == EMPTY


async def test_unknown_agent(callers: Callers, setting: Setting) -> None:
    everyone, _, agent = await cast(callers, setting)
    for name, caller in everyone.items():
        own = await setting.connector(caller, granted_to=[agent])
        for rules in ([], [rule(own, "a", "allow")], [rule(uuid4(), "a", "allow")]):
            reply = await put(caller, uuid4(), *rules)
            assert reply.status == UNKNOWN_AGENT[name], (name, rules)


async def test_full_management_of_one_agent_is_none_of_another(
    callers: Callers, setting: Setting, ada: Caller
) -> None:
    eve = await callers.user("eve")
    adas, eves = await setting.agent(ada), await setting.agent(eve)
    tracker = await setting.connector(ada, granted_to=[adas])

    assert (await put(ada, adas, rule(tracker, "a", "allow"))).status == 200
    assert (await put(ada, eves, rule(tracker, "a", "allow"))).status == 403
    assert (await put(ada, eves)).status == 403


async def test_dismissed_manager_is_refused_at_once(
    callers: Callers, setting: Setting, ada: Caller
) -> None:
    bob = await callers.user("bob")
    agent = await setting.agent(ada, bob)
    assert (await put(bob, agent)).status == 200

    gone = await ada.delete(f"/api/catalog/agents/{agent}/managers/{bob.user_id}")

    assert gone.status == 200
    assert (await put(bob, agent)).status == 403
