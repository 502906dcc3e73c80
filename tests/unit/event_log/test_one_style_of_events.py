"""Each event applies itself: docs/decisions/0044-events-that-apply-themselves.md."""

from typing import Any

import pytest
from eventsourcing.domain import Aggregate

from service.aggregate import LoggedAggregate, event_types
from service.aggregates import AGGREGATES
from service.events import meaning_of
from service.gateway.approvals.aggregate import Approvals
from service.secrets.aggregate import Secret
from service.sessions.aggregate import ChatSession

# Their facts are for readers of the log: no later decision needs them.
CHANGE_NOTHING = {Secret.Revealed, Approvals.ArgumentsRead, ChatSession.TurnRepriced}
HOW = "give the class of the event a method apply(self, aggregate) with what it changes"


@pytest.mark.parametrize("aggregate", AGGREGATES, ids=lambda each: each.__name__)
def test_each_event_but_the_first_applies_itself(
    aggregate: type[LoggedAggregate],
) -> None:
    later = {
        kind
        for _, kind in event_types(aggregate)
        if not issubclass(kind, Aggregate.Created)
    }
    without = {kind for kind in later if not applies_itself(kind)}

    assert without == later & CHANGE_NOTHING, HOW


def applies_itself(kind: type[Any]) -> bool:
    """Whether ``apply`` is ours, and not the library's, which calls a method."""
    ours = (each for each in kind.__mro__ if each.__module__.startswith("service."))
    return any("apply" in vars(each) for each in ours)


def test_an_event_says_itself_what_happened() -> None:
    class Silent(LoggedAggregate.Event):
        pass

    with pytest.raises(ValueError, match="Silent'> has no docstring"):
        meaning_of(Silent)
