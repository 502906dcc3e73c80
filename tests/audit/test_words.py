"""Words for every type of event."""

import re

import pytest

from projections.audit.trail.words import WORDS, WORDS_CHARACTERS_MAX, words_for
from service.aggregates import AGGREGATES
from service.audit.aggregate import AuditReading
from service.event_log.mapper import EventMapper
from service.tool_rules.aggregate import ToolRules
from tests.golden_events import ID, EventType, every_event_type

KINDS = list(every_event_type())


def test_every_event_type_has_words_and_nothing_else() -> None:
    assert WORDS.keys() == EventMapper(AGGREGATES).event_types.keys()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_words_are_for_people(kind: EventType) -> None:
    words = words_for(kind.topic, kind.example(), lambda _: "NAMED")

    assert re.fullmatch(r"[a-z].{7,}", words)
    assert "\n" not in words
    assert not re.search(r"\bNone\b|sealed_|fingerprint|<|\{", words)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_words_are_the_same_every_time(kind: EventType) -> None:
    said = {words_for(kind.topic, kind.example()) for _ in range(2)}

    assert len(said) == 1


def test_rules_are_spelled_out() -> None:
    tracker, mail = "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11", str(ID)
    rules = ToolRules(agent_id="triage")
    rules.replace({tracker: {"issues.*": "allow", "*delete*": "ask"}})
    rules.replace({mail: {}, tracker: {}})
    _, replaced, _ = rules.collect_events()
    names = {tracker: "Tracker", "triage": "Triage"}

    assert words_for(
        "tool_rules.replaced", replaced, lambda each: names.get(each, each)
    ) == ("replaced tool rules of agent Triage: Tracker: ask *delete*, allow issues.*")


def test_long_words_are_cut() -> None:
    asked = {f"name{number}": "x" * 1000 for number in range(20)}
    (event,) = AuditReading(operation="get_audit_events", asked=asked).collect_events()

    words = words_for("audit.read", event)

    assert len(words) == WORDS_CHARACTERS_MAX + 2
    assert words.endswith(" …")
