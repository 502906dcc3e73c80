"""A sentence for every type of event."""

import re
from uuid import UUID

import pytest

from projections.audit.trail.sentences import SENTENCE_CHARACTERS_MAX, sentence_of
from service.aggregate import LoggedAggregate
from service.app import operations
from service.audit.aggregate import AuditReading, read_in_words
from service.http.operation import Operation
from service.tool_rules.aggregate import ToolRules
from tests.support.golden_events import ID, EventType, every_event_type

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


# They name the agent, connector or provider whose rules, tokens or tools these are; of
# registries of tiers there is one.
NAMED_OTHERWISE = {
    "agent_tokens.issued",
    "agent_tokens.revoked",
    "tool_definitions.observed",
    "tool_definitions.accepted",
    "approvals.approved",
    "approvals.arguments_read",
    "approvals.expired",
    "approvals.expiry_told",
    "approvals.refused",
    "approvals.requested",
    "approvals.used",
    "approvals.withdrawn",
    "tool_rules.replaced",
    "tool_rules.cleared",
    "match_rules.provider_changed",
    "model_routing.replaced",
    "model_tiers.replaced",
}
CHANGES = [
    kind
    for kind in KINDS
    if not issubclass(kind.event, LoggedAggregate.Created)
    and kind.topic not in NAMED_OTHERWISE
]


@pytest.mark.parametrize("kind", CHANGES, ids=lambda kind: kind.topic)
def test_a_sentence_names_what_was_changed(kind: EventType) -> None:
    event = kind.example()
    changed = UUID(int=7)
    vars(event)["originator_id"] = changed

    sentence = sentence_of(event, lambda each: f"{each} by name")

    assert f"{changed} by name" in sentence


@pytest.mark.parametrize(
    "operation",
    [
        each
        for each in operations()
        if each.tag == "audit" and not re.search("checkpoint|proofs", each.path)
    ],
    ids=lambda each: each.name,
)
def test_a_reading_says_in_words_what_was_read(operation: Operation) -> None:
    path = {name: f"value-of-{name}" for name in operation.path_types}
    asked = {**path, "actor": "ada", "kind": "secret"}

    sentence = read_in_words(operation.name, asked, str.upper)

    assert operation.name.removeprefix("get_").replace("_", " ") not in sentence
    assert all(value.upper() in sentence for value in path.values())
    assert sentence.startswith("read ")
    assert sentence.endswith(": caused by ADA, of kind SECRET")


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
