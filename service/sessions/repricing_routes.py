"""Repricing recorded turns over HTTP."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Final
from uuid import UUID

from aiohttp import web
from pydantic import Field

from service.errors import InvalidRequestError, Problem
from service.event_log.absences import RememberedAbsences
from service.http.app_keys import EVENT_LOG, WAITS
from service.http.authentication import PRINCIPAL
from service.http.dispatch import execute_for
from service.http.envelope import Answer
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Routes
from service.http.own_writes import remember_write
from service.http.requests import POSITION_MAX, RequestModel
from service.http.times import Timestamp
from service.sessions.ids import ClientId
from service.sessions.policy import refuse_unless_may_reprice
from service.sessions.repricing import RepriceSession, reprice_session
from service.sessions.repricing_page import TurnFilter, TurnPage, TurnPosition
from service.sessions.repricing_report import Report, RepricingReport
from service.waits import holding

routes = Routes("llm-router")

FindTurns = Callable[[web.Request, TurnFilter], Awaitable[TurnPage]]
RECORDED_TURNS: Final[web.AppKey[FindTurns]] = web.AppKey("recorded_turns")
# One request computes for seconds.
ONE_AT_A_TIME: Final = web.AppKey("repricing", asyncio.Lock)


class After(RequestModel):
    """`next` of the page before."""

    started_at: Timestamp
    session: UUID
    version: Annotated[int, Field(ge=0, le=POSITION_MAX)]


class Repricing(RequestModel):
    from_time: Timestamp
    until_time: Timestamp
    agent_id: UUID | None = None
    provider: ClientId | None = None
    model: ClientId | None = None
    dry_run: bool = True
    after: After | None = None

    def filter(self) -> TurnFilter:
        return TurnFilter(
            from_time=self.from_time,
            until_time=self.until_time,
            agent_id=self.agent_id,
            provider=self.provider,
            model=self.model,
            after=TurnPosition(**dict(self.after)) if self.after else None,
        )


@routes.post(
    "/api/llm-router/reprice",
    answers={
        200: "turns repriced, or with dry_run: what repricing would change",
        403: "the caller is not a superuser",
        422: "the period ends before it starts",
        503: "the repricing before it took too long (`overloaded`), or the service is "
        "temporarily unavailable",
    },
    idempotent_key=False,
    body_example={
        "from_time": "2026-03-01T00:00:00Z",
        "until_time": "2026-04-01T00:00:00Z",
        "provider": "acme",
    },
)
async def post_reprice(
    request: web.Request, body: Repricing
) -> Answer[RepricingReport]:
    """Reprice recorded turns.

    Turns that start in the period, from `from_time` until before `until_time`, get the
    cost that the price catalog has for their start now, after corrections and late
    imports. By default nothing is changed: `dry_run` false records the new costs. A
    request takes up to 500 turns, fewer if they have many model calls; while `next`
    isn't null, send it as `after` for the following ones. The turns of a session change
    together; a repeated request changes nothing. `provider` and `model` select the
    turns in which one of the calls names them.
    """
    principal = request[PRINCIPAL]
    refuse_unless_may_reprice(principal)
    if body.until_time < body.from_time:
        raise InvalidRequestError(
            "the body is not valid",
            problems=[Problem("until_time", "is before from_time")],
        )
    others = "the repricing before this one"
    wait_s = request.config_dict[WAITS].commit_s
    async with holding(request.app[ONE_AT_A_TIME], wait_s, others):
        report, last, position = await _repriced(request, body)
    return Answer(
        message="turns compared" if body.dry_run else "turns repriced",
        data=report.resource(last),
        headers={} if position is None else {POSITION_HEADER: str(position)},
    )


async def _repriced(
    request: web.Request, body: Repricing
) -> tuple[Report, TurnPosition | None, int | None]:
    """Return the report, the last turn of its page, and the last event's position."""
    page = await request.app[RECORDED_TURNS](request, body.filter())
    report = Report(body.dry_run)
    position = None
    log = RememberedAbsences(request.app[EVENT_LOG])
    for found in page.sessions:
        outcomes, appended = await execute_for(
            request,
            reprice_session,
            RepriceSession(
                session=found.session,
                version=found.version,
                turns=found.turns,
                dry_run=body.dry_run,
            ),
            log=log,
        )
        if outcomes is None:
            report.skip(len(found.turns))
        else:
            await report.add(found.agent_id, outcomes)
        if appended is not None and appended.position is not None:
            position = appended.position
            remember_write(request, position)
    return report, page.last, position
