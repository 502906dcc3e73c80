"""A chat session: its user, its turns, and its end."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from eventsourcing.domain import event

from service.aggregate import LoggedAggregate
from service.events import DecimalText, Id, Named, Published, Time
from service.identifiers import named_id
from service.price_catalog.charge import Charge
from service.sessions import turn_keys
from service.sessions.recorded_calls import (
    RecordedModelCall,
    RecordedTurn,
    recorded_calls,
)
from service.sessions.sentence import turn_text
from service.sessions.turn import (
    PricedShare,
    RecordedCharge,
    RecordedShare,
    SealedTexts,
    Turn,
    charge_in,
    recorded_share,
)

TURNS_MAX = 10_000


def _without_contract(used: Mapping[str, Any]) -> dict[str, Any]:
    """Return the list cost of what was recorded before there were contracts."""
    return {
        "contract_id": None,
        "list_cost": used["cost"],
        "list_currency": used["currency"],
    }


class ChatSession(LoggedAggregate):
    """The turns between a user and an agent, under an id unique among sessions.

    The texts of a turn are in its event, encrypted with the user's key. The state
    holds only what decisions need: the keys of the known turns.
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
        from, ``priced_as`` the entry of the catalog and ``pricing_rule`` how it
        matched; ``unpriced`` says why there is no cost: ``no_such_model``,
        ``no_price_then``, ``count_missing``, ``counts_contradict``,
        ``contract_lacks_rate`` or ``several_currencies``. ``contract_id`` names the
        event of the contract price that the cost rests on; ``list_cost`` is the cost by
        list prices alone. ``estimated`` names what the telemetry didn't tell for
        certain though the price depends on it, such as ``service_tier``; then the cost
        is an estimate. ``reported_cost`` is the cost in US dollars that the provider or
        the instrumentation reports. ``spans``: how many spans the turn was made from;
        null for a turn reported as such. ``shares``: what each model used, if several
        did; then ``model`` is the one that used most. ``calls``: what each model call
        of a turn from spans used; null if an earlier version recorded it.

        Emitted by ``POST /api/observability/session/{session_id}/turns`` and ``POST
        /v1/traces``.
        """

        TOPIC = "session.turn_recorded"
        # 2: with how the cost was found; 3: with its calls; 4: ``estimated``; 5: with
        # list costs.
        class_version = 5
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
        priced_as: Published[str | None]
        pricing_rule: Published[str | None]
        unpriced: Published[str | None]
        contract_id: Published[str | None]
        list_cost: Published[DecimalText | None]
        list_currency: Published[str | None]
        reported_cost: Published[DecimalText | None]
        estimated: Published[list[str]]
        is_error: Published[bool]
        sealed_error: str | None
        sealed_input: str | None
        input_truncated: Published[bool]
        sealed_output: str | None
        output_truncated: Published[bool]
        spans: Published[int | None]
        shares: Published[list[RecordedShare] | None]
        calls: list[RecordedModelCall] | None

        @staticmethod
        def upcast_v3_v4(state: dict[str, Any]) -> None:
            for used in (state, *(state["shares"] or ())):
                used["estimated"] = []

        @staticmethod
        def upcast_v4_v5(state: dict[str, Any]) -> None:
            for used in (state, *(state["shares"] or ())):
                used.update(_without_contract(used))

        def sentence(self, named: Named) -> str:
            return f"recorded in session {self.subject(named)} {turn_text(self)}"

        def apply(self, aggregate: "ChatSession") -> None:
            aggregate.turns += 1
            aggregate.turn_keys += turn_keys.entry(
                self.turn_id, self.spans, self.originator_version
            )

    class TurnAmended(TurnRecorded):
        """The turn with spans that arrived later; it replaces the earlier one.

        All of it is repeated.

        Emitted by ``POST /v1/traces``.
        """

        TOPIC = "session.turn_amended"

        def sentence(self, named: Named) -> str:
            return f"amended in session {self.subject(named)} {turn_text(self)}"

        def apply(self, aggregate: "ChatSession") -> None:
            aggregate.turn_keys = turn_keys.replaced(
                aggregate.turn_keys, self.turn_id, self.spans, self.originator_version
            )

    class TurnRepriced(LoggedAggregate.Event):
        """A turn has another cost by the prices that are known now.

        ``replaced`` says how the turn was priced before, ``replaced_shares`` how each
        model's share was. The other fields are those of the turn with the new cost.

        Emitted by ``POST /api/llm-router/reprice``.
        """

        TOPIC = "session.turn_repriced"
        class_version = 3  # 2: with ``estimated``; 3: with list costs
        agent_id: Published[Id]
        user_id: Published[Id]
        turn_id: Published[str]
        started_at: Published[Time]
        provider: Published[str | None]
        model: Published[str | None]
        prompt_tokens: Published[int | None]
        completion_tokens: Published[int | None]
        cache_read_tokens: Published[int | None]
        cache_creation_tokens: Published[int | None]
        cost: Published[DecimalText | None]
        currency: Published[str | None]
        price_id: Published[str | None]
        priced_as: Published[str | None]
        pricing_rule: Published[str | None]
        unpriced: Published[str | None]
        contract_id: Published[str | None]
        list_cost: Published[DecimalText | None]
        list_currency: Published[str | None]
        reported_cost: Published[DecimalText | None]
        estimated: Published[list[str]]
        is_error: Published[bool]
        spans: Published[int | None]
        shares: Published[list[RecordedShare] | None]
        replaced: Published[RecordedCharge]
        replaced_shares: Published[list[RecordedCharge] | None]

        @staticmethod
        def upcast_v1_v2(state: dict[str, Any]) -> None:
            shares = (*(state["shares"] or ()), *(state["replaced_shares"] or ()))
            for used in (state, state["replaced"], *shares):
                used["estimated"] = []

        @staticmethod
        def upcast_v2_v3(state: dict[str, Any]) -> None:
            shares = (*(state["shares"] or ()), *(state["replaced_shares"] or ()))
            for used in (state, state["replaced"], *shares):
                used.update(_without_contract(used))

        def sentence(self, named: Named) -> str:
            return f"repriced in session {self.subject(named)} {turn_text(self)}"

    class Ended(LoggedAggregate.Event):
        """The session has ended; late turns may still arrive.

        Emitted by ``POST /api/observability/session/{session_id}/end``.
        """

        TOPIC = "session.ended"
        ended_at: Published[Time]

        def sentence(self, named: Named) -> str:
            return f"ended the session {self.subject(named)} at {self.ended_at}"

        def apply(self, aggregate: "ChatSession") -> None:
            aggregate.ended_at = self.ended_at

    TOPIC = "session"
    class_version = 2  # with the version of each turn from spans

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
        self.turn_keys = ""

    def has_turn(self, turn_id: str) -> bool:
        return turn_keys.is_known(self.turn_keys, turn_id)

    def from_spans(self, turn_id: str) -> turn_keys.FromSpans | None:
        """Return what is known of a turn that was made from spans."""
        return turn_keys.from_spans(self.turn_keys, turn_id)

    def accepts(self, turn: Turn) -> bool:
        """Return whether a turn is new, or made from more spans than before."""
        if not self.has_turn(turn.turn_id):
            return True
        known = self.from_spans(turn.turn_id)
        return turn.spans is not None and known is not None and turn.spans > known.spans

    @property
    def room(self) -> int:
        """How many turns more it may have."""
        return max(TURNS_MAX - self.turns, 0)

    def record_turn(
        self,
        turn: Turn,
        texts: SealedTexts,
        charge: Charge,
        shares: Sequence[PricedShare] = (),
    ) -> bool:
        """Add or amend a turn and return whether that changed anything.

        A known turn stays as first reported, unless it was made from spans and now
        has more of them. Turns may arrive late and in any order, also after the end.
        """
        if not self.accepts(turn):
            return False
        facts: dict[str, Any] = {
            "agent_id": self.agent_id,
            "user_id": self.user_id,
            "turn_id": turn.turn_id,
            "trace_id": turn.trace_id,
            "started_at": turn.started_at.isoformat(),
            "ended_at": turn.ended_at.isoformat(),
            "latency_us": turn.latency_us,
            **recorded_share(turn, charge),
            "is_error": turn.is_error,
            "sealed_error": texts.error,
            "sealed_input": texts.input,
            "input_truncated": texts.input_truncated,
            "sealed_output": texts.output,
            "output_truncated": texts.output_truncated,
            "spans": turn.spans,
            "shares": (
                [recorded_share(priced.share, priced.charge) for priced in shares]
                if len(shares) > 1
                else None
            ),
            "calls": None if turn.spans is None else recorded_calls(turn.shares),
        }
        is_known = self.has_turn(turn.turn_id)
        self.trigger_event(self.TurnAmended if is_known else self.TurnRecorded, **facts)
        return True

    def reprice_turn(self, turn: RecordedTurn, repriced: RecordedTurn) -> None:
        """Record how a turn is priced now; ``turn`` says how it was priced before."""
        self.trigger_event(
            self.TurnRepriced,
            agent_id=self.agent_id,
            user_id=self.user_id,
            turn_id=turn.turn_id,
            started_at=turn.started_at.isoformat(),
            **repriced.used,
            is_error=turn.is_error,
            spans=turn.spans,
            shares=repriced.shares,
            replaced=charge_in(turn.used),
            replaced_shares=turn.shares and [charge_in(each) for each in turn.shares],
        )

    def end(self, *, at: datetime) -> bool:
        """End the session and return whether it was running."""
        if self.ended_at is not None:
            return False
        self.trigger_event(self.Ended, ended_at=at.isoformat())
        return True
