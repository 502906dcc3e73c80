"""Any JSON in an event or a snapshot comes back as it was."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.event_log.ledger import Ledger

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=6,
)
TAGGED = st.fixed_dictionaries({"_type_": st.text(), "_data_": JSON})


@settings(max_examples=2 * settings().max_examples)
@given(
    notes=st.lists(st.dictionaries(st.text(), JSON | TAGGED, max_size=4), max_size=5),
    entered=st.lists(st.text(), max_size=5),
)
def test_any_json_in_an_event_or_a_snapshot_comes_back_as_it_was(
    notes: list[dict[str, Any]], entered: list[str]
) -> None:
    """Also JSON that looks like one of the log's own tags."""
    from eventsourcing.domain import Snapshot

    from service.event_log.mapper import EventMapper
    from tests.support.event_log.logs import AT

    mapper = EventMapper([Ledger])
    ledger = Ledger(name="any")
    for note in entered:
        ledger.enter(note=note)
    for note_set in notes:
        ledger.annotate(notes=note_set)
    stored = [mapper.to_stored_event(each) for each in ledger.take_events(at=AT)]

    replayed = None
    for each in stored:
        event: Any = mapper.to_domain_event(each)
        replayed = event.mutate(replayed)
    snapshot = mapper.to_stored_event(Snapshot.take(ledger))
    restored = mapper.to_domain_event(snapshot).mutate(None)

    assert vars(replayed) == vars(ledger)
    assert vars(restored) == vars(ledger)
