"""A sentence for every type of event."""

import re

import pytest

from projections.audit.trail.sentences import SENTENCE_CHARACTERS_MAX, sentence_of
from service.audit.aggregate import AuditReading
from service.tool_rules.aggregate import ToolRules
from tests.golden_events import ID, EventType, every_event_type

KINDS = list(every_event_type())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_sentences_are_for_people(kind: EventType) -> None:
    sentence = sentence_of(kind.example(), lambda _: "NAMED")

    assert re.fullmatch(r"[a-z].{7,}", sentence)
    assert "\n" not in sentence
    assert not re.search(r"\bNone\b|sealed_|fingerprint|<|\{", sentence)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.topic)
def test_a_sentence_is_the_same_every_time(kind: EventType) -> None:
    said = {sentence_of(kind.example()) for _ in range(2)}

    assert len(said) == 1


def test_rules_are_spelled_out() -> None:
    tracker, mail = "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11", str(ID)
    rules = ToolRules(agent_id="triage")
    rules.replace({tracker: {"issues.*": "allow", "*delete*": "ask"}})
    rules.replace({mail: {}, tracker: {}})
    _, replaced, _ = rules.collect_events()
    names = {tracker: "Tracker", "triage": "Triage"}

    assert sentence_of(replaced, lambda each: names.get(each, each)) == (
        "replaced tool rules of agent Triage: Tracker: ask *delete*, allow issues.*"
    )


def test_a_long_sentence_is_cut() -> None:
    asked = {f"name{number}": "x" * 1000 for number in range(20)}
    (event,) = AuditReading(operation="get_audit_events", asked=asked).collect_events()

    sentence = sentence_of(event)

    assert len(sentence) == SENTENCE_CHARACTERS_MAX + 2
    assert sentence.endswith(" …")
