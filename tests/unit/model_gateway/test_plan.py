"""What a call would be sent to."""

from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.dialects import Dialect, in_order
from service.model_gateway.presets.aggregate import ModelPreset
from service.model_gateway.presets.terms import PresetTarget
from service.model_gateway.routing.decision import RoutingProblem
from service.model_gateway.routing.plan import (
    Plan,
    PlannedTarget,
    TargetProblem,
    plan_for,
)
from service.users.aggregate import User
from tests.support.connectors.making import OWNER
from tests.support.model_gateway.making import (
    ANTHROPIC,
    CREDENTIAL,
    OPENAI,
    connection_of,
    secret_of,
    settings,
    target,
    terms,
)
from tests.unit.price_catalog.test_pricing import InMemory

AGENT = UUID(int=5)
DIALECTS = st.lists(st.sampled_from([*Dialect]), min_size=1, unique=True)


def preset(*groups: list[PresetTarget], public: bool = True) -> ModelPreset:
    said = terms(*groups, visibility="public" if public else "private")
    return ModelPreset(owner_id=str(OWNER.user_id), terms=said)


async def planned(preset: ModelPreset, *others: ModelConnection) -> Plan | None:
    return await plan_for(str(preset.id), AGENT, InMemory(preset, *others))


async def test_targets_are_in_their_groups_in_order() -> None:
    first, second = connection_of(OWNER), connection_of(OWNER, ANTHROPIC, OPENAI)
    made = preset([target(first, "a"), target(second, "b")], [target(first, "c")])

    plan = await planned(made, first, second)

    assert plan is not None
    assert [
        [(each.target["model"], each.connection) for each in group]
        for group in plan.groups
    ] == [[("a", first), ("b", second)], [("c", first)]]
    assert [each.target["model"] for each in plan.targets] == ["a", "b", "c"]
    assert (plan.preset, plan.dialects, plan.problem) == (made, [ANTHROPIC], None)


@pytest.mark.parametrize("case", ["granted", "private", "revoked", "retired", "none"])
async def test_a_plan_is_of_what_the_agent_may_call(case: str) -> None:
    connection = connection_of(OWNER)
    made = preset([target(connection)], public=False)
    if case in ("granted", "revoked", "retired"):
        made.grant(AGENT)
    if case == "revoked":
        made.revoke(AGENT)
    if case == "retired":
        made.retire()
    catalog = InMemory(connection) if case == "none" else InMemory(connection, made)

    plan = await plan_for(str(made.id), AGENT, catalog)

    assert (plan is not None) == (case == "granted")


async def test_a_retired_connection_is_no_target_and_speaks_nothing() -> None:
    there, retired = connection_of(OWNER), connection_of(OWNER, OPENAI)
    retired.retire()
    made = preset([target(retired, "a")], [target(there, "b"), target(uuid4(), "c")])

    plan = await planned(made, there, retired)

    assert plan is not None
    found = [[(each.connection, each.problem) for each in g] for g in plan.groups]
    gone = TargetProblem.CONNECTION_RETIRED
    assert found == [[(retired, gone)], [(there, None)]]
    assert [each.target["model"] for each in plan.targets] == ["b"]
    assert (plan.dialects, plan.problem) == ([ANTHROPIC], None)


async def test_without_a_connection_there_is_no_target() -> None:
    retired = connection_of(OWNER)
    retired.retire()

    plan = await planned(preset([target(retired)]), retired)

    assert plan is not None
    assert (plan.dialects, plan.problem) == ([], RoutingProblem.NO_TARGET)


async def test_a_connection_may_have_been_given_another_dialect_since() -> None:
    first, second = connection_of(OWNER), connection_of(OWNER)
    made = preset([target(first)], [target(second)])
    second.edit(settings(dialects=[OPENAI]))

    plan = await planned(made, first, second)

    assert plan is not None
    assert (plan.dialects, plan.problem) == ([], RoutingProblem.NO_COMMON_DIALECT)
    first.retire()
    plan = await planned(made, first, second)
    assert plan is not None
    assert (plan.dialects, plan.problem) == ([OPENAI], None)


@given(st.lists(st.tuples(DIALECTS, st.booleans()), min_size=1, max_size=5))
async def test_a_plan_speaks_what_all_that_are_there_speak(
    spoken: list[tuple[list[Dialect], bool]],
) -> None:
    connections = [connection_of(OWNER, *dialects) for dialects, _ in spoken]
    for connection, (_, is_there) in zip(connections, spoken, strict=True):
        if not is_there:
            connection.retire()
    made = preset(*[[target(each)] for each in connections])

    plan = await planned(made, *connections)

    assert plan is not None
    there = [dialects for dialects, is_there in spoken if is_there]
    common = [
        each for each in Dialect if there and all(each in spoken for spoken in there)
    ]
    assert plan.dialects == common
    if not there:
        assert plan.problem is RoutingProblem.NO_TARGET
    else:
        assert plan.problem is (None if common else RoutingProblem.NO_COMMON_DIALECT)


@pytest.mark.parametrize(
    ("window", "tokens", "fits"),
    [(None, 10, None), (10, 9, True), (10, 10, True), (10, 11, False), (1, 0, True)],
)
def test_a_prompt_fits_up_to_the_window(
    window: int | None, tokens: int, *, fits: bool | None
) -> None:
    connection = connection_of(OWNER)
    asked = target(connection)
    asked["context_window"] = window
    planned = PlannedTarget(target=asked, connection=connection, problem=None)

    assert planned.fits(tokens) is fits


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("there", None),
        ("never made", TargetProblem.NO_CREDENTIAL),
        ("deleted", TargetProblem.NO_CREDENTIAL),
        ("of an owner without a key", TargetProblem.NO_CREDENTIAL),
    ],
)
async def test_no_call_goes_where_its_secret_is_gone(
    case: str, problem: TargetProblem | None
) -> None:
    connection = ModelConnection(
        owner_id=str(OWNER.user_id), settings=settings(credential=CREDENTIAL)
    )
    secret, owner = secret_of(OWNER), User(name="owner")
    if case == "deleted":
        secret.delete()
    if case == "of an owner without a key":
        owner.destroy_key()
    known = [owner] if case == "never made" else [owner, secret]
    made = preset([target(connection)])

    plan = await plan_for(str(made.id), AGENT, InMemory(made, connection, *known))

    assert plan is not None
    assert plan.groups[0][0].problem is problem
    assert plan.problem is (RoutingProblem.NO_TARGET if problem else None)


def test_dialects_are_once_each_and_in_one_order() -> None:
    given_dialects = [*reversed([*Dialect]), OPENAI]

    assert in_order(given_dialects) == [
        "openai_chat",
        "openai_responses",
        "openai_embeddings",
        "anthropic_messages",
    ]
    assert in_order([]) == []
