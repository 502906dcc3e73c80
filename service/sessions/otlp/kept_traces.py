"""Seal the texts of reported spans, as they are kept while their trace is open."""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from service.pacing import Pace, computed
from service.sessions.aggregate import ChatSession
from service.sessions.otlp.full_traces import roots_first
from service.sessions.otlp.pending import SPANS_OF_TRACE_MAX, KeptTrace, TraceKey
from service.sessions.otlp.recording import Recording
from service.sessions.otlp.sealing import kept_entry, kept_text
from service.sessions.otlp.span import KeptSpan, KeptText, ReportedSpan, kept_span
from service.sessions.otlp.text_order import FIRST_INPUT, LAST_OUTPUT, TextOrder
from service.sessions.otlp.trace import TraceTexts
from service.sessions.policy import records_for_anyone
from service.users.aggregate import User
from service.users.names import find_user


async def kept_traces(
    reported: dict[TraceKey, dict[str, ReportedSpan]],
    recording: Recording,
) -> dict[TraceKey, KeptTrace]:
    """Seal the texts of each trace, and take it out of ``reported``."""
    kept = {}
    pace = Pace()
    for key in list(reported):
        spans = list(reported.pop(key).values())
        kept[key] = await _keep_trace(key, spans, recording)
        await pace.pause()
    return kept


async def _keep_trace(
    key: TraceKey, spans: Sequence[ReportedSpan], recording: Recording
) -> KeptTrace:
    if len(spans) > SPANS_OF_TRACE_MAX:
        # It is rejected but for its roots: nothing else is encrypted.
        roots, others = await computed(len(spans), roots_first, spans)
        kept = await computed(
            len(others), lambda: [kept_span(span, None) for span in others]
        )
        own = [await _keep(key, root, recording) for root in roots]
        return KeptTrace([*own, *kept])

    async def best(order: TextOrder) -> KeptText | None:
        found = await computed(len(spans), order.best, spans)
        if found is None:
            return None
        span, text, sort_key = found
        owner = await _owner(span, recording)
        return await kept_text(
            text, order.field, sort_key, key, span.span_id, owner, recording.vault
        )

    kept = []
    pace = Pace()
    for span in spans:
        kept.append(await _keep(key, span, recording))
        await pace.pause()
    return KeptTrace(
        kept,
        TraceTexts(input=await best(FIRST_INPUT), output=await best(LAST_OUTPUT)),
    )


async def _keep(key: TraceKey, span: ReportedSpan, recording: Recording) -> KeptSpan:
    entry = None
    if span.entry is not None:
        user_id = await _user(span.entry.user, recording)
        owner = user_id or await _owner(span, recording)
        entry = await kept_entry(
            span.entry,
            key,
            span.span_id,
            user_id=user_id,
            owner=owner,
            vault=recording.vault,
        )
    return kept_span(span, entry)


async def _user(name: str | None, recording: Recording) -> UUID | None:
    """Return the user that a span names, if the caller may name one.

    A name may look like an id; if a user has that id, it is theirs.
    """
    if name is None or not records_for_anyone(recording.principal):
        return None
    user = None
    with suppress(ValueError):
        user = await recording.log.load(UUID(name))
    if not isinstance(user, User):
        user = await find_user(name, recording.log, recording.vault)
    return user.id if user is not None else None


async def _owner(span: ReportedSpan, recording: Recording) -> UUID:
    """Return the user whose key encrypts the texts of a span without a user."""
    if span.session_id is not None:
        session_id = ChatSession.create_id(span.session_id)
        session = await recording.log.load(session_id)
        if isinstance(session, ChatSession):
            return UUID(session.user_id)
    return recording.principal.user_id
