"""The methods that trigger events directly make the events that the library makes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from eventsourcing import domain

from service import event_methods
from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.aggregates import AGGREGATES
from service.event_log.mapper import EventMapper
from service.event_methods import trigger_directly
from service.tool_rules.aggregate import ToolRules

AT = datetime(2026, 1, 2, tzinfo=UTC)
RULES = {"a connector": {"a": "deny", "b": "allow"}}


class Tally(LoggedAggregate):
    """Has a method that shares the work of applying its event with the event."""

    TOPIC = "tests.tally"

    class Created(LoggedAggregate.Created):
        TOPIC = "tests.tally.created"

    class Doubled(LoggedAggregate.Event):
        TOPIC = "tests.tally.doubled"

        def apply(self, aggregate: Any) -> None:
            aggregate.count *= 2

    class Counted(LoggedAggregate.Event):
        TOPIC = "tests.tally.counted"
        by: int

    @domain.event(Created)
    def __init__(self) -> None:
        self.count = 1

    @domain.event(Doubled)
    def double(self) -> None:
        pass

    @domain.event(Counted)
    def count_up(self, by: int = 1) -> None:
        self.count += by


def decorator_of(aggregate: type[Any], name: str) -> domain.CommandMethodDecorator:
    method = vars(aggregate)[name].__wrapped__
    return next(
        decorator
        for decorator in domain.decorated_func_callers
        if decorator.decorated_func is method
    )


@pytest.mark.parametrize(
    ("aggregate", "name", "values", "fields"),
    [
        (ToolRules(agent_id="ada"), "_replaced", [], {"agent_id": "x", "rules": RULES}),
        (ToolRules(agent_id="ada"), "_replaced", ["x"], {"rules": RULES}),
        (ToolRules(agent_id="ada"), "_cleared", ["x"], {}),
        (
            Agent(name="a", description="b", manager_id="c"),
            "_manager_appointed",
            ["d"],
            {},
        ),
    ],
)
def test_the_event_and_the_state_are_those_of_the_library(
    aggregate: LoggedAggregate, name: str, values: list[Any], fields: dict[str, Any]
) -> None:
    mapper = EventMapper([ToolRules, Agent])
    ours, theirs = aggregate.working_copy(), aggregate.working_copy()

    getattr(ours, name)(*values, **fields)
    domain.BoundCommandMethodDecorator(decorator_of(type(theirs), name), theirs)(
        *values, **fields
    )

    (our_event,) = ours.take_events(at=AT)
    (their_event,) = theirs.take_events(at=AT)
    assert type(our_event) is type(their_event)
    assert mapper.to_stored_event(our_event) == mapper.to_stored_event(their_event)
    assert ours == theirs
    assert our_event.mutate(aggregate.working_copy()) == theirs


def test_every_method_of_this_service_s_aggregates_triggers_directly() -> None:
    left = [
        (aggregate, name)
        for aggregate in AGGREGATES
        for name, member in vars(aggregate).items()
        if isinstance(member, domain.CommandMethodDecorator) and name != "__init__"
    ]

    assert left == []


@pytest.mark.parametrize("fields", [{}, {"agent_id": "x", "rules": {}, "other": 1}])
def test_missing_and_unknown_fields_are_refused(fields: dict[str, Any]) -> None:
    rules = ToolRules(agent_id="ada")

    with pytest.raises(TypeError):
        rules._replaced(**fields)  # noqa: SLF001 # triggers the event

    assert rules.version == ToolRules.INITIAL_VERSION


@pytest.mark.parametrize("name", ["double", "count_up"])
def test_a_method_that_is_not_its_event_alone_is_left_to_the_library(
    name: str,
) -> None:
    tally = Tally()

    getattr(tally, name)()

    assert isinstance(vars(Tally)[name], domain.CommandMethodDecorator)
    assert tally.count == 2


@pytest.mark.parametrize(("name", "absent"), [("_Decorator", ()), ("_EVENTS", {})])
def test_without_what_the_library_keeps_its_methods_stay(
    monkeypatch: pytest.MonkeyPatch, name: str, absent: object
) -> None:
    decorator = decorator_of(ToolRules, "_replaced")
    monkeypatch.setattr(event_methods, name, absent)
    kind = type("Kind", (), {"_replaced": decorator})

    trigger_directly(kind)

    assert vars(kind)["_replaced"] is decorator
