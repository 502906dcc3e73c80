"""What the log holds can be read forever: one stored example of each event version."""

import json
from pathlib import Path
from uuid import UUID

import pytest
from eventsourcing.domain import Snapshot
from eventsourcing.persistence import StoredEvent

from service.aggregate import LoggedAggregate
from service.aggregates import AGGREGATES
from service.event_log.mapper import EventMapper
from service.events import Published
from tests.support.golden_events import (
    FOLDER,
    HOW,
    ID,
    EventType,
    attributes,
    attributes_path,
    every_event_type,
    golden,
    new_aggregate,
)

KINDS = list(every_event_type())
FILES = sorted(FOLDER.glob("*.json"))


def stored(path: Path) -> StoredEvent:
    if not path.exists():
        pytest.fail(f"{path.name} is missing; {HOW}, and commit it")
    kept = json.loads(path.read_text(encoding="utf-8"))
    return StoredEvent(ID, 1, kept["topic"], kept["state"].encode())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_every_version_of_an_event_has_an_example(kind: EventType) -> None:
    for version in range(kind.oldest_version, kind.version + 1):
        path = kind.path(version)
        assert path.exists(), f"{path.name} is missing; {HOW}, and commit it"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_changing_an_event_takes_a_new_version(kind: EventType) -> None:
    path = kind.path(kind.version)
    if not path.exists():
        pytest.fail(f"{path.name} is missing; {HOW}, and commit it")
    kept = json.loads(path.read_text(encoding="utf-8"))

    assert golden(kind) == kept, (
        f"{kind.topic} is stored in another way than the log holds it: give it "
        f"class_version = {kind.version + 1}, an upcast_v{kind.version}_v"
        f"{kind.version + 1}, and {HOW} (an event that was never released: delete "
        f"{path.name} and {HOW})"
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_an_event_carries_only_what_json_gives_back(kind: EventType) -> None:
    assert kind.shapes.keys() == kind.fields.keys()


def test_a_field_that_json_does_not_give_back_is_named() -> None:
    class Assigned(LoggedAggregate.Event):
        TOPIC = "agent.assigned"
        team_id: Published[UUID]

    kind = EventType(LoggedAggregate, Assigned.TOPIC, Assigned)

    with pytest.raises(ValueError, match=r"^agent\.assigned: team_id: .*UUID"):
        golden(kind)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_example_still_decodes(path: Path) -> None:
    """Also those of event types that nobody writes any more: the log holds them."""
    event = EventMapper(AGGREGATES).to_domain_event(stored(path))

    kind = next(each for each in KINDS if each.topic == stored(path).topic)
    missing = kind.fields.keys() - vars(event).keys()
    assert not missing, "an upcast has to add what is new"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_the_current_example_decodes_to_the_same_event(kind: EventType) -> None:
    event = EventMapper(AGGREGATES).to_domain_event(stored(kind.path(kind.version)))

    assert vars(event) == vars(kind.example())


@pytest.mark.parametrize("aggregate", AGGREGATES, ids=lambda each: each.__name__)
def test_a_snapshot_of_a_new_aggregate_is_the_aggregate(
    aggregate: type[LoggedAggregate],
) -> None:
    mapper = EventMapper(AGGREGATES)
    born = new_aggregate(aggregate)

    restored = mapper.to_domain_event(
        mapper.to_stored_event(Snapshot.take(born))
    ).mutate(None)

    assert vars(restored) == vars(born)


@pytest.mark.parametrize("aggregate", AGGREGATES, ids=lambda each: each.__name__)
def test_other_attributes_of_an_aggregate_take_a_new_version(
    aggregate: type[LoggedAggregate],
) -> None:
    """Or an aggregate that is loaded from a snapshot wouldn't have them."""
    path = attributes_path(aggregate)
    assert path.exists(), f"{path.name} is missing; {HOW}, and commit it"

    assert attributes(aggregate) == json.loads(path.read_text("utf-8")), (
        f"give {aggregate.__name__} class_version = {aggregate.class_version + 1}, "
        f"and {HOW} (a version that was never released: delete {path.name} and {HOW})"
    )
