"""Sessions of agents, with their turns, tokens and cost."""
# Made by "make generated"; do not edit.

from datetime import datetime
from typing import Any
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.pages import AsyncPages, Paging
from agent_runtime_client.models import (
    Session,
    SessionList,
    SessionResource,
    SessionWithTurns,
    ShownTurn,
    TurnReceipt,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncSessionsResource:
    """Sessions of agents, with their turns, tokens and cost."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def start(
        self,
        agent_id: UUID | str,
        *,
        session_id: str | None | NotGiven = NOT_GIVEN,
        user_id: UUID | str | None | NotGiven = NOT_GIVEN,
        started_at: datetime | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> SessionResource:
        """Start a session.

        Without a `session_id` the service chooses one. A caller with the role `runtime`
        records for any agent and may name the user; a manager of the agent records
        their own sessions.

        :param session_id: The session's id; by default the service chooses one.
        :param user_id: The user; by default the caller.
        :param started_at: When it started.
        """
        return await self._caller.model(
            operations.POST_SESSION,
            SessionResource,
            body={
                "agent_id": agent_id,
                "session_id": session_id,
                "user_id": user_id,
                "started_at": started_at,
            },
            idempotency_key=idempotency_key,
        )

    async def record_turn(
        self,
        session_id: str,
        *,
        turn_id: str,
        started_at: datetime,
        ended_at: datetime,
        trace_id: str | None | NotGiven = NOT_GIVEN,
        provider: str | None | NotGiven = NOT_GIVEN,
        model: str | None | NotGiven = NOT_GIVEN,
        prompt_tokens: int | None | NotGiven = NOT_GIVEN,
        completion_tokens: int | None | NotGiven = NOT_GIVEN,
        cache_read_tokens: int | None | NotGiven = NOT_GIVEN,
        cache_creation_tokens: int | None | NotGiven = NOT_GIVEN,
        is_error: bool | NotGiven = NOT_GIVEN,
        error: str | None | NotGiven = NOT_GIVEN,
        input: str | None | NotGiven = NOT_GIVEN,
        output: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        """Record a turn of a session.

        A repeated turn id changes nothing. Turns may arrive late and in any order, also
        after the end of the session. Texts over 64 KiB are truncated and marked as
        such. The cost is computed from the model's price at `started_at`.

        :param turn_id: The turn's id, of the caller's choice.
        :param started_at: When it started.
        :param ended_at: When it ended.
        :param provider: The provider's key, such as `openai`.
        :param model: The model's name, as its provider has it.
        :param prompt_tokens: Tokens of the prompt, with those of caches.
        :param completion_tokens: Tokens of the output.
        :param cache_read_tokens: Tokens of the prompt that were read from a cache.
        :param cache_creation_tokens: Tokens of the prompt that were written to a cache.
        :param is_error: Whether the turn failed.
        :param error: The error's text.
        :param input: The text that the turn began with.
        :param output: The text that the turn ended with.
        """
        return await self._caller.model(
            operations.POST_TURN,
            TurnReceipt,
            path={"session_id": session_id},
            body={
                "turn_id": turn_id,
                "trace_id": trace_id,
                "started_at": started_at,
                "ended_at": ended_at,
                "provider": provider,
                "model": model,
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "cache_read_tokens": cache_read_tokens,
                "cache_creation_tokens": cache_creation_tokens,
                "is_error": is_error,
                "error": error,
                "input": input,
                "output": output,
            },
            idempotency_key=idempotency_key,
        )

    async def end(
        self,
        session_id: str,
        *,
        ended_at: datetime | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> SessionResource:
        """End a session, now or at a given time.

        Late turns can still be recorded.

        :param ended_at: When it ended.
        """
        return await self._caller.model(
            operations.POST_SESSION_END,
            SessionResource,
            path={"session_id": session_id},
            body={"ended_at": ended_at},
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        start_time: datetime | NotGiven = NOT_GIVEN,
        end_time: datetime | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        offset: int | NotGiven = NOT_GIVEN,
        after: str | NotGiven = NOT_GIVEN,
        agent_id: UUID | str | NotGiven = NOT_GIVEN,
        user_id: UUID | str | NotGiven = NOT_GIVEN,
        has_error: bool | NotGiven = NOT_GIVEN,
        session_id_prefix: str | NotGiven = NOT_GIVEN,
        min_position: int | NotGiven = NOT_GIVEN,
    ) -> AsyncPages[Session, SessionList]:
        """List sessions, newest first.

        The caller's own sessions and those of agents that the caller manages; all
        sessions for superusers and auditors. The time window selects sessions whose
        last activity is at or after `start_time`. Reading texts of other users'
        sessions is recorded in the audit trail. Ordered by `start_time`, then `id`,
        descending. Unknown figures are null, never 0. Texts are null once their user's
        key was destroyed.

        `has_next_page` tells whether there are more sessions. Pass `end_cursor` as
        `after` to get the next page; new sessions don't shift it. A configured trace
        store adds annotations, their summaries, and figures that this service doesn't
        have; `successful_agents` counts the agents whose sessions were all looked up in
        it.

        :param start_time: Only what happened at or after this time.
        :param end_time: Nothing that started later, or at this time.
        :param limit: Maximum number of items on the page.
        :param offset: Number of items to skip.
        :param after: `end_cursor` of the previous page.
        :param agent_id: Limits the list to this agent.
        :param user_id: Limits the list to this user.
        :param has_error: Sessions with an error, or those without one.
        :param session_id_prefix: Sessions whose ids start so.
        :param min_position: As the header X-Min-Position.
        """
        return AsyncPages(
            self._caller,
            operations.GET_SESSION_LIST,
            SessionList,
            Paging(
                "sessions",
                "after",
                cursor=("pagination", "end_cursor"),
                more=("pagination", "has_next_page"),
            ),
            query={
                "start_time": start_time,
                "end_time": end_time,
                "limit": limit,
                "offset": offset,
                "after": after,
                "agent_id": agent_id,
                "user_id": user_id,
                "has_error": has_error,
                "session_id_prefix": session_id_prefix,
                "min_position": min_position,
            },
        )

    async def get(
        self,
        session_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        offset: int | NotGiven = NOT_GIVEN,
    ) -> SessionWithTurns:
        """Get a session with its turns.

        The session as in the list, and its turns by start time with their full texts.
        Texts are null once their user's key was destroyed. Reading another user's
        session is recorded in the audit trail.

        :param limit: Maximum number of items on the page.
        :param offset: Number of items to skip.
        """
        return await self._caller.model(
            operations.GET_SESSION,
            SessionWithTurns,
            path={"session_id": session_id},
            query={"limit": limit, "offset": offset},
        )

    def list_turns(
        self,
        session_id: str,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        offset: int | NotGiven = NOT_GIVEN,
    ) -> AsyncPages[ShownTurn, SessionWithTurns]:
        """List the turns, across pages.

        ``get`` returns one page of them.

        :param limit: Maximum number of items on the page.
        :param offset: Number of items to skip.
        """
        return AsyncPages(
            self._caller,
            operations.GET_SESSION,
            SessionWithTurns,
            Paging("turns", "offset", cursor=(), more=("has_more_turns",)),
            path={"session_id": session_id},
            query={"limit": limit, "offset": offset},
        )

    async def export_spans(
        self, content: bytes, *, content_type: str = "application/x-protobuf"
    ) -> Any:
        """Ingest spans of instrumented agents over OTLP/HTTP.

        Takes an ExportTraceServiceRequest in protobuf or JSON, optionally compressed
        with gzip, of up to 16 MiB when decompressed and 20,000 spans. The resource
        attribute `agent_runtime.agent_id` names the agent. A trace becomes a turn as
        soon as its root span has arrived and one of its spans names a session
        (`session.id` or `gen_ai.conversation.id`). Spans may arrive late, repeatedly
        and in any order for two hours after the trace's last one; later ones change
        nothing of a turn. A caller with the role `runtime` reports for any agent, a
        manager of the agent their own sessions.

        Answers are those of OTLP, in the encoding of the request: partial success when
        some spans were rejected, an error when all were. In protobuf an error is a
        google.rpc.Status.
        """
        return await self._caller.json(
            operations.POST_TRACES, content=content, content_type=content_type
        )

    async def export_log_records(
        self, content: bytes, *, content_type: str = "application/x-protobuf"
    ) -> Any:
        """Ingest log events of Claude Code and Codex over OTLP/HTTP.

        Takes an ExportLogsServiceRequest as `POST /v1/traces` takes spans, with the
        same bounds and rights. The events of a prompt become a turn, as spans would;
        where spans of it come, too, each model call counts once. Other log records are
        ignored.
        """
        return await self._caller.json(
            operations.POST_LOGS, content=content, content_type=content_type
        )

    async def export_metrics(
        self, content: bytes, *, content_type: str = "application/x-protobuf"
    ) -> Any:
        """Receive metrics over OTLP/HTTP, and keep nothing.

        For programs that send all signals to one address. What they cost, spans and log
        events tell.
        """
        return await self._caller.json(
            operations.POST_METRICS, content=content, content_type=content_type
        )
