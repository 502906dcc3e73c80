"""All service times of the system, as one value."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.simulation.service_times import (
    BatchTime,
    FollowerTime,
    Spread,
    batch_time,
    recorded,
    spread,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTimes:
    """What the real system takes, in seconds.

    ``command`` is the event loop's work for a batch, ``append`` PostgreSQL's, before
    the ``commit``. ``http`` is what a request takes besides its command: one that
    replaces ``rules``, one that records a ``turn``. ``rebuild`` is for an event.
    ``page`` is what a page of sessions takes, in the ``api`` and in the ``database``,
    as a multiple of what the API takes to replace rules. ``bytes_of_turn`` are those
    of the ``log``, the ``read tables`` and the ``WAL``.
    """

    command: BatchTime
    append: BatchTime
    commit: Spread
    http: Mapping[str, Spread]
    followers: Mapping[str, FollowerTime]
    rebuild: Mapping[str, Spread]
    page: Mapping[str, Spread]
    bytes_of_turn: Mapping[str, float]

    @property
    def page_in_api(self) -> Spread:
        return self.page["api"].times(self._rules_s)

    @property
    def page_in_database(self) -> Spread:
        return self.page["database"].times(self._rules_s)

    @property
    def _rules_s(self) -> float:
        return self.http["rules"].mean + self.command.each

    def changed(self, **times: Any) -> "ServiceTimes":
        return replace(self, **times)

    def with_commits_of(self, seconds: float) -> "ServiceTimes":
        """Return these with commits of another mean, and as much spread."""
        return self.changed(commit=self.commit.times(seconds / self.commit.mean))

    def requests_slower(self, factor: float) -> "ServiceTimes":
        """Return these with all that a request takes multiplied."""
        return self.changed(
            command=self.command.times(factor),
            append=self.append.times(factor),
            commit=self.commit.times(factor),
            http={name: each.times(factor) for name, each in self.http.items()},
        )


def from_json(found: Mapping[str, Any]) -> ServiceTimes:
    """Return the service times that ``asdict`` returned."""
    return ServiceTimes(
        command=batch_time(found["command"]),
        append=batch_time(found["append"]),
        commit=spread(found["commit"]),
        http={name: spread(each) for name, each in found["http"].items()},
        followers={
            name: FollowerTime(**{part: batch_time(each[part]) for part in each})
            for name, each in found["followers"].items()
        },
        rebuild={name: spread(each) for name, each in found["rebuild"].items()},
        page={name: spread(each) for name, each in found["page"].items()},
        bytes_of_turn=found["bytes_of_turn"],
    )


def recorded_times() -> ServiceTimes:
    return from_json(recorded()["times"])
