"""The command that reprices turns of a session: what happens, and what is refused."""

from dataclasses import replace
from typing import Any

from service.errors import ForbiddenError
from service.price_catalog.charge import Charge, Unpriced
from service.principal import Role
from service.sessions.aggregate import ChatSession
from service.sessions.recorded_calls import RecordedTurn
from service.sessions.repricing import RepriceSession, reprice_session
from service.sessions.turn import ModelShare, TokenCounts, recorded_share
from tests.support.price_catalog.prices import priced
from tests.support.scenario import Scenario, principal
from tests.support.sessions.recording import NOON

SUPERUSER = principal("root", Role.SUPERUSER)
REPORTED = RecordedTurn(
    turn_id="t",
    started_at=NOON,
    ended_at=NOON,
    is_error=False,
    spans=None,
    used=recorded_share(
        ModelShare(
            provider="acme",
            model="swift-1",
            tokens=TokenCounts(prompt=1_000_000, completion=0),
        ),
        Charge(unpriced=Unpriced.NO_SUCH_MODEL),
    ),
    shares=None,
    calls=None,
)


def given_session() -> ChatSession:
    return ChatSession(
        session_id="chat-1",
        agent_id=str(SUPERUSER.user_id),
        user_id=str(SUPERUSER.user_id),
        started_at=NOON.isoformat(),
    )


def command(session: ChatSession, *turns: RecordedTurn, **others: Any) -> Any:
    known: Any = {"version": session.version, "dry_run": False, **others}
    return RepriceSession(session=session.id, turns=turns, **known)


async def test_a_repriced_turn_is_recorded(scenario: Scenario) -> None:
    session = given_session()
    await scenario.given(session, priced(1))

    await scenario.when(reprice_session, command(session, REPORTED), by=SUPERUSER)

    await scenario.then(("session.turn_repriced", SUPERUSER))
    [recorded] = await scenario.recorded()
    assert (recorded.event.cost, recorded.event.unpriced) == ("1", None)
    assert recorded.event.replaced["unpriced"] == "no_such_model"


async def test_a_dry_run_records_nothing(scenario: Scenario) -> None:
    session = given_session()
    await scenario.given(session, priced(1))

    await scenario.when(
        reprice_session, command(session, REPORTED, dry_run=True), by=SUPERUSER
    )

    await scenario.then()
    assert [each.changed for each in scenario.result] == [True]


async def test_turns_without_recorded_calls_stay_as_they_are(
    scenario: Scenario,
) -> None:
    session = given_session()
    await scenario.given(session, priced(1))

    await scenario.when(
        reprice_session, command(session, replace(REPORTED, spans=2)), by=SUPERUSER
    )

    await scenario.then()
    assert [each.after for each in scenario.result] == [None]


async def test_a_session_that_changed_since_it_was_read_is_skipped(
    scenario: Scenario,
) -> None:
    session = given_session()
    read_at = session.version
    session.end(at=NOON)
    await scenario.given(session, priced(1))

    await scenario.when(
        reprice_session, command(session, REPORTED, version=read_at), by=SUPERUSER
    )

    await scenario.then()
    assert scenario.result is None


async def test_only_superusers_reprice(scenario: Scenario) -> None:
    session = given_session()
    await scenario.given(session, priced(1))

    await scenario.when(
        reprice_session, command(session, REPORTED), by=principal("bob", Role.RUNTIME)
    )

    await scenario.then_refused(ForbiddenError)
