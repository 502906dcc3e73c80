"""A chat session: whose it is, which turns it has had, and whether it is over."""

import base64
import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import DecimalText, Id, Named, Published, Time
from service.identifiers import named_id
from service.sessions.turn import (
    Cost,
    ModelShare,
    PricedShare,
    RecordedShare,
    SealedTexts,
    Turn,
)

TURNS_MAX = 10_000
# 12 base64url characters of each turn's id: two of 10,000 turns share them with a
# probability of one in 10**14.
KEY_BYTES = 9


class ChatSession(LoggedAggregate):
    """Turns between a user and an agent under an id that no other session has.

    The texts of a turn stand in its event, sealed with the user's key. The state
    holds only what decisions need: which turns are known.
    """

    class Created(LoggedAggregate.Created):
        """A session of a user with an agent has started.

        Emitted by ``POST /api/observability/session``.
        """

        TOPIC = "session.started"
        session_id: Published[str]
        agent_id: Published[Id]
        user_id: Published[Id]
        started_at: Published[Time]

        def sentence(self, named: Named) -> str:
            return (
                f"started session {self.session_id!r} of agent {named(self.agent_id)} "
                f"with {named(self.user_id)}"
            )

    class TurnRecorded(LoggedAggregate.Event):
        """A turn took place; a cost of null is unknown.

        Amounts are decimals as text, times ISO 8601 in UTC. Texts are sealed (AEV1,
        purpose ``text``), bound to the user, this aggregate's id, this event's version
        and the field's name. Agent and user are the session's, repeated for consumers
        of single events. ``price_id`` names the price event that the cost was computed
        from. ``spans``: how many spans the turn was made from; null for a turn reported
        as such. ``shares``: what each model used, if several did; then ``model`` is the
        one that used most.

        Emitted by ``POST /api/observability/session/{session_id}/turns`` and ``POST
        /v1/traces``.
        """

        TOPIC = "session.turn_recorded"
        agent_id: Published[Id]
        user_id: Published[Id]
        turn_id: Published[str]
        trace_id: Published[str | None]
        started_at: Published[Time]
        ended_at: Published[Time]
        latency_us: Published[int]
        provider: Published[str | None]
        model: Published[str | None]
        prompt_tokens: Published[int | None]
        completion_tokens: Published[int | None]
        cache_read_tokens: Published[int | None]
        cache_creation_tokens: Published[int | None]
        cost: Published[DecimalText | None]
        currency: Published[str | None]
        price_id: Published[str | None]
        is_error: Published[bool]
        sealed_error: str | None
        sealed_input: str | None
        input_truncated: Published[bool]
        sealed_output: str | None
        output_truncated: Published[bool]
        spans: Published[int | None]
        shares: Published[list[RecordedShare] | None]

        def sentence(self, named: Named) -> str:
            return "recorded " + _turn(self)

    class TurnAmended(TurnRecorded):
        """The turn with spans that arrived later; it replaces the earlier one.

        All of it is repeated.

        Emitted by ``POST /v1/traces``.
        """

        # At run time the library makes this no subclass of what TurnRecorded names.
        TOPIC = "session.turn_amended"

        def sentence(self, named: Named) -> str:
            return "amended " + _turn(self)

        def apply(self, aggregate: Any) -> None:
            key = _key(self.turn_id)
            place = aggregate.turn_keys.index(key)
            before = aggregate.turn_keys[place:].split(" ")[1]
            aggregate.turn_keys = (
                aggregate.turn_keys[:place]
                + _entry(self.turn_id, self.spans)
                + aggregate.turn_keys[place + 1 + len(before) :]
            )

    class Ended(LoggedAggregate.Event):
        """The session has ended; late turns may still arrive.

        Emitted by ``POST /api/observability/session/{session_id}/end``.
        """

        TOPIC = "session.ended"
        ended_at: Published[Time]

        def sentence(self, named: Named) -> str:
            return f"ended the session at {self.ended_at}"

    TOPIC = "session"

    @staticmethod
    def create_id(session_id: str) -> UUID:
        return named_id("session", session_id)

    @event(Created)
    def __init__(
        self, session_id: str, agent_id: str, user_id: str, started_at: str
    ) -> None:
        self.session_id = session_id
        self.agent_id = agent_id
        self.user_id = user_id
        self.started_at = started_at
        self.ended_at: str | None = None
        self.turns = 0
        # For each turn a space and its key; for one made from spans ":" and how many.
        self.turn_keys = ""

    def has_turn(self, turn_id: str) -> bool:
        return _key(turn_id) in self.turn_keys

    def can_learn_from(self, turn: Turn) -> bool:
        """Say whether a turn is new, or made from more spans than when it was."""
        _, known, rest = self.turn_keys.partition(_key(turn.turn_id))
        if not known:
            return True
        entry = rest.split(" ", 1)[0]
        return turn.spans is not None and entry != "" and turn.spans > int(entry[1:])

    @property
    def is_full(self) -> bool:
        return self.turns >= TURNS_MAX

    def record_turn(
        self,
        turn: Turn,
        texts: SealedTexts,
        cost: Cost | None,
        shares: Sequence[PricedShare] = (),
    ) -> bool:
        """Add a turn, or amend it, and return whether that changed anything.

        A turn that is known stays as it was first reported; one made from spans is
        amended when it rests on more of them than before. Turns come late and in
        any order, also after the end.
        """
        if not self.can_learn_from(turn):
            return False
        facts: dict[str, Any] = {
            "agent_id": self.agent_id,
            "user_id": self.user_id,
            "turn_id": turn.turn_id,
            "trace_id": turn.trace_id,
            "started_at": turn.started_at.isoformat(),
            "ended_at": turn.ended_at.isoformat(),
            "latency_us": turn.latency_us,
            **_taken(turn, cost),
            "is_error": turn.is_error,
            "sealed_error": texts.error,
            "sealed_input": texts.input,
            "input_truncated": texts.input_truncated,
            "sealed_output": texts.output,
            "output_truncated": texts.output_truncated,
            "spans": turn.spans,
            "shares": (
                [_taken(each.share, each.cost) for each in shares]
                if len(shares) > 1
                else None
            ),
        }
        if self.has_turn(turn.turn_id):
            self.trigger_event(self.TurnAmended, **facts)
        else:
            self._turn_recorded(**facts)
        return True

    @event(TurnRecorded)
    def _turn_recorded(
        self,
        agent_id: str,
        user_id: str,
        turn_id: str,
        trace_id: str | None,
        started_at: str,
        ended_at: str,
        latency_us: int,
        provider: str | None,
        model: str | None,
        prompt_tokens: int | None,
        completion_tokens: int | None,
        cache_read_tokens: int | None,
        cache_creation_tokens: int | None,
        cost: str | None,
        currency: str | None,
        price_id: str | None,
        is_error: bool,  # noqa: FBT001  # an event's field
        sealed_error: str | None,
        sealed_input: str | None,
        input_truncated: bool,  # noqa: FBT001  # an event's field
        sealed_output: str | None,
        output_truncated: bool,  # noqa: FBT001  # an event's field
        spans: int | None,
        shares: list[RecordedShare] | None,
    ) -> None:
        self.turns += 1
        self.turn_keys += _entry(turn_id, spans)

    def end(self, *, at: datetime) -> bool:
        """End the session and return whether it was running."""
        if self.ended_at is not None:
            return False
        self._ended(ended_at=at.isoformat())
        return True

    @event(Ended)
    def _ended(self, ended_at: str) -> None:
        self.ended_at = ended_at


def _taken(taken: Turn | ModelShare, cost: Cost | None) -> RecordedShare:
    return {
        "provider": taken.provider,
        "model": taken.model,
        "prompt_tokens": taken.tokens.prompt,
        "completion_tokens": taken.tokens.completion,
        "cache_read_tokens": taken.tokens.cache_read,
        "cache_creation_tokens": taken.tokens.cache_creation,
        "cost": format(cost.amount, "f") if cost else None,
        "currency": cost.currency if cost else None,
        "price_id": cost.price_id if cost else None,
    }


def _entry(turn_id: str, spans: int | None) -> str:
    return _key(turn_id) + ("" if spans is None else f":{spans}")


def _key(turn_id: str) -> str:
    digest = hashlib.blake2b(turn_id.encode(), digest_size=KEY_BYTES).digest()
    return " " + base64.urlsafe_b64encode(digest).decode()


def _turn(event: Any) -> str:
    """Return a turn for a sentence; its texts are sealed and stand in none."""
    model = f" by {event.model}" if event.model else ""
    tokens = [
        f"{count} {kind}"
        for kind, count in (
            ("prompt", event.prompt_tokens),
            ("completion", event.completion_tokens),
        )
        if count is not None
    ]
    counted = f", {' and '.join(tokens)} tokens" if tokens else ""
    cost = f", cost {event.cost} {event.currency}" if event.cost is not None else ""
    failed = ", failed" if event.is_error else ""
    return f"turn {event.turn_id!r}{model}{counted}{cost}{failed}"
