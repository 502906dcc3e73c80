"""What a session's state decides, and how little of it there is."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import orjson
import pytest

from service.event_log.mapper import EventMapper
from service.sessions.aggregate import TURNS_MAX, ChatSession
from service.sessions.cost import NO_CHARGE
from service.sessions.turn import SealedTexts, Texts, Turn, truncated

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def session() -> ChatSession:
    return ChatSession(
        session_id="chat-1",
        agent_id=str(uuid4()),
        user_id=str(uuid4()),
        started_at=NOON.isoformat(),
    )


def turn(turn_id: str) -> Turn:
    return Turn(turn_id=turn_id, started_at=NOON, ended_at=NOON, texts=Texts())


def test_a_full_session_knows_every_turn_and_stays_small() -> None:
    chat = session()
    for number in range(TURNS_MAX):
        assert chat.record_turn(turn(f"turn-{number}"), SealedTexts(), NO_CHARGE)
        # What is pending is not what this is about.
        if number % 1000 == 0:
            chat.take_events(at=NOON)

    assert chat.room == 0
    assert all(chat.has_turn(f"turn-{number}") for number in range(TURNS_MAX))
    assert not chat.has_turn("turn-10000")
    assert not chat.record_turn(turn("turn-7"), SealedTexts(), NO_CHARGE)
    assert len(chat.turn_keys) == 13 * TURNS_MAX


def test_a_turn_from_spans_is_known_by_their_number_and_its_last_version() -> None:
    chat = session()
    made = [replace(turn(name), spans=2) for name in ("t1", "t2")]
    for each in (*made, turn("t3"), replace(made[0], spans=10)):
        assert chat.record_turn(each, SealedTexts(), NO_CHARGE)

    assert chat.from_spans("t1") == (10, 5)
    assert chat.from_spans("t2") == (2, 3)
    assert chat.has_turn("t3")
    assert chat.from_spans("t3") is None
    assert chat.from_spans("t4") is None
    assert len(chat.turn_keys) == 3 * 13 + len(":10@5") + len(":2@3")


def test_a_session_is_the_same_after_a_replay() -> None:
    mapper = EventMapper([ChatSession])
    chat = session()
    chat.record_turn(turn("t1"), SealedTexts(input="sealed"), NO_CHARGE)
    chat.end(at=NOON)
    events = [mapper.to_stored_event(each) for each in chat.take_events(at=NOON)]

    replayed = None
    for stored in events:
        replayed = mapper.to_domain_event(stored).mutate(replayed)

    assert isinstance(replayed, ChatSession)
    assert replayed.has_turn("t1")
    assert not replayed.has_turn("t2")
    assert (replayed.turns, replayed.ended_at) == (1, NOON.isoformat())
    assert not replayed.end(at=NOON)
    assert "sealed" not in str(vars(replayed))


def test_a_turn_event_holds_plain_json() -> None:
    mapper = EventMapper([ChatSession])
    chat = session()
    chat.record_turn(turn("t1"), SealedTexts(), NO_CHARGE)

    state = orjson.loads(mapper.to_stored_event(chat.take_events(at=NOON)[1]).state)

    state.pop("timestamp")
    assert state == {
        "agent_id": chat.agent_id,
        "user_id": chat.user_id,
        "turn_id": "t1",
        "trace_id": None,
        "started_at": "2026-03-01T12:00:00+00:00",
        "ended_at": "2026-03-01T12:00:00+00:00",
        "latency_us": 0,
        "provider": None,
        "model": None,
        "prompt_tokens": None,
        "completion_tokens": None,
        "cache_read_tokens": None,
        "cache_creation_tokens": None,
        "cost": None,
        "currency": None,
        "price_id": None,
        "priced_as": None,
        "pricing_rule": None,
        "unpriced": None,
        "contract_id": None,
        "list_cost": None,
        "list_currency": None,
        "reported_cost": None,
        "estimated": [],
        "class_version": 5,
        "is_error": False,
        "sealed_error": None,
        "sealed_input": None,
        "input_truncated": False,
        "sealed_output": None,
        "output_truncated": False,
        "spans": None,
        "shares": None,
        "calls": None,
    }


@pytest.mark.parametrize(
    ("text", "kept"),
    [("", ""), ("abcd", "abcd"), ("abcde", "abcd"), ("abcé", "abc"), ("😀!", "😀")],
)
def test_a_text_is_cut_between_characters(text: str, kept: str) -> None:
    assert truncated(text, 4) == (kept, kept != text)


def test_the_words_of_a_turn_show_in_no_repr() -> None:
    spoken = Turn(
        turn_id="t1",
        started_at=NOON,
        ended_at=NOON,
        texts=Texts(input="my diagnosis", output="is this"),
    )

    assert "diagnosis" not in repr(spoken)
