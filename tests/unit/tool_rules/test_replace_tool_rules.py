"""The command: what happens, what is refused, and when there is nothing to do."""

from uuid import UUID, uuid4

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PreconditionFailedError,
)
from service.principal import Principal, Role
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.commands import (
    ReplaceToolRules,
    ToolRule,
    replace_tool_rules,
)
from service.tool_rules.decision import Stance
from tests.support.scenario import Scenario, principal

ALLOW, ASK, DENY = Stance.ALLOW, Stance.ASK, Stance.DENY
ADA, EVE = principal("ada"), principal("eve")
ROOT = principal("root", Role.SUPERUSER)


def agent() -> Agent:
    return Agent(name="Triage", description="", manager_id=str(ADA.user_id))


def connector(*, granted_to: Agent | None = None) -> Connector:
    connector = Connector(
        owner_id=str(EVE.user_id), name="T", url="https://t.example", description=""
    )
    if granted_to:
        connector.consent_to_grant(granted_to.id, by_connector=True, by_agent=True)
    return connector


async def replace(
    scenario: Scenario,
    agent_id: UUID,
    *rules: tuple[UUID, str, Stance],
    by: Principal,
    if_match: int | None = None,
) -> None:
    batch = [ToolRule(*each) for each in rules]
    command = ReplaceToolRules(agent_id=agent_id, rules=batch)
    await scenario.when(replace_tool_rules, command, by=by, if_match=if_match)


def rules_of(agent: Agent, **stances: dict[str, str]) -> ToolRules:
    rules = ToolRules(agent_id=str(agent.id))
    rules.replace(stances)
    return rules


async def test_first_rules_make_the_aggregate(scenario: Scenario) -> None:
    triage = agent()
    tracker = connector(granted_to=triage)
    await scenario.given(triage, tracker)

    await replace(
        scenario,
        triage.id,
        (tracker.id, "b", ALLOW),
        (tracker.id, "a", DENY),
        (tracker.id, "b", ALLOW),
        by=EVE,
    )

    await scenario.then(("tool_rules.created", EVE), ("tool_rules.replaced", EVE))
    created, replaced = [each.event for each in await scenario.recorded()]
    assert created.originator_id == ToolRules.create_id(str(triage.id))
    assert created.agent_id == replaced.agent_id == str(triage.id)
    assert replaced.rules == {str(tracker.id): {"a": "deny", "b": "allow"}}
    assert list(replaced.rules[str(tracker.id)]) == ["a", "b"]


async def test_event_holds_only_the_connectors_that_changed(scenario: Scenario) -> None:
    triage = agent()
    tracker, mail = connector(), connector()
    rules = rules_of(
        triage, **{str(tracker.id): {"a": "allow"}, str(mail.id): {"*": "ask"}}
    )
    await scenario.given(triage, tracker, mail, rules)

    await replace(
        scenario, triage.id, (tracker.id, "b", ALLOW), (mail.id, "*", ASK), by=ADA
    )

    await scenario.then(("tool_rules.replaced", ADA))
    (replaced,) = await scenario.recorded()
    assert replaced.event.rules == {str(tracker.id): {"b": "allow"}}
    assert scenario.result.before[str(tracker.id)] == {"a": "allow"}
    assert scenario.result.not_granted == [tracker.id, mail.id]


async def test_empty_batch_clears(scenario: Scenario) -> None:
    triage, tracker = agent(), connector()
    rules = rules_of(triage, **{str(tracker.id): {"a": "allow"}})
    await scenario.given(triage, tracker, rules)

    await replace(scenario, triage.id, by=ADA)

    await scenario.then(("tool_rules.cleared", ADA))
    (cleared,) = await scenario.recorded()
    assert cleared.event.agent_id == str(triage.id)


async def test_same_rules_are_nothing_to_do(scenario: Scenario) -> None:
    triage = agent()
    tracker = connector(granted_to=triage)
    rules = rules_of(triage, **{str(tracker.id): {"a": "allow", "b": "deny"}})
    await scenario.given(triage, tracker, rules)

    await replace(
        scenario, triage.id, (tracker.id, "b", DENY), (tracker.id, "a", ALLOW), by=EVE
    )

    await scenario.then()
    assert scenario.result.version == 2


async def test_clearing_nothing_succeeds(scenario: Scenario) -> None:
    triage = agent()
    await scenario.given(triage)

    await replace(scenario, triage.id, by=ADA)

    await scenario.then()
    assert scenario.result.version == 0


async def test_one_foreign_connector_refuses_the_whole_batch(
    scenario: Scenario,
) -> None:
    triage = agent()
    held, other = connector(granted_to=triage), connector()
    await scenario.given(triage, held, other)

    await replace(
        scenario, triage.id, (held.id, "a", ALLOW), (other.id, "a", ALLOW), by=EVE
    )

    await scenario.then_refused(ForbiddenError)


async def test_owner_can_not_clear(scenario: Scenario) -> None:
    triage = agent()
    await scenario.given(triage, connector(granted_to=triage))

    await replace(scenario, triage.id, by=EVE)

    await scenario.then_refused(ForbiddenError)


async def test_unknown_connector_is_invalid_to_a_manager(scenario: Scenario) -> None:
    triage = agent()
    await scenario.given(triage)

    await replace(scenario, triage.id, (triage.id, "a", ALLOW), by=ADA)

    await scenario.then_refused(InvalidRequestError)


async def test_unknown_agent_is_not_found_by_a_superuser(scenario: Scenario) -> None:
    await replace(scenario, uuid4(), by=ROOT)

    await scenario.then_refused(NotFoundError)


async def test_stale_version_is_refused(scenario: Scenario) -> None:
    triage = agent()
    await scenario.given(triage)

    await replace(scenario, triage.id, by=ADA, if_match=1)

    await scenario.then_refused(PreconditionFailedError)


async def test_missing_rights_are_refused_before_a_stale_version(
    scenario: Scenario,
) -> None:
    triage = agent()
    await scenario.given(triage)

    await replace(scenario, triage.id, by=EVE, if_match=1)

    await scenario.then_refused(ForbiddenError)


def test_replaying_the_events_gives_the_rules_back() -> None:
    rules = ToolRules(agent_id=str(uuid4()))
    rules.replace({"x": {"a": "allow"}, "y": {"b": "ask"}})
    rules.replace({"x": {"c": "deny"}})
    rules.clear()
    rules.replace({"z": {"*": "allow"}})

    replayed = None
    for event in rules.pending_events:
        replayed = event.mutate(replayed)

    assert isinstance(replayed, ToolRules)
    assert replayed.rules == rules.rules == {"z": {"*": "allow"}}
    assert replayed.version == rules.version == 5
