"""The audit trail: who changed what and when, with proofs."""
# Made by "make generated"; do not edit.

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from agent_runtime_client import models, operations
from agent_runtime_client._async.audit_checks import AsyncAuditChecks
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.export import AsyncExport
from agent_runtime_client._async.pages import AsyncPages, Paging
from agent_runtime_client._async.stream import AsyncEventStream
from agent_runtime_client.models import (
    AggregateDifference,
    AuditEntry,
    AuditPage,
    CheckpointKey,
    Consistency,
    DecisionsDifference,
    Exposure,
    Inclusion,
    ReplayedAggregate,
    WholeEntry,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncAuditResource(AsyncAuditChecks):
    """The audit trail: who changed what and when, with proofs."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        actor: UUID | str | NotGiven = NOT_GIVEN,
        kind: str | NotGiven = NOT_GIVEN,
        resource: UUID | str | NotGiven = NOT_GIVEN,
        request_id: str | NotGiven = NOT_GIVEN,
        from_time: datetime | NotGiven = NOT_GIVEN,
        until_time: datetime | NotGiven = NOT_GIVEN,
        from_position: int | NotGiven = NOT_GIVEN,
        until_position: int | NotGiven = NOT_GIVEN,
        order: Literal["newest", "oldest"] | NotGiven = NOT_GIVEN,
        limit: int | NotGiven = NOT_GIVEN,
        after: int | NotGiven = NOT_GIVEN,
    ) -> AsyncPages[AuditEntry, AuditPage]:
        """List the audit trail, newest first.

        For superusers and auditors. Entries never change or move, so cursors stay
        valid. A page of large entries has fewer than `limit`, and an `end_cursor`. The
        request itself is recorded as `audit.read` before it is answered; use the stream
        to receive new entries.

        :param actor: The user who caused it, by id.
        :param kind: An event type, such as `connector.made_public`, or an aggregate,
            such as `connector`, for all of its event types.
        :param resource: A resource that it is about or names, by id.
        :param request_id: The X-Request-Id that caused it.
        :param from_time: Recorded at or after this.
        :param until_time: Recorded before this.
        :param from_position: At or after this position.
        :param until_position: At or before this position.
        :param order: Which entries come first.
        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the page before.
        """
        return AsyncPages(
            self._caller,
            operations.GET_AUDIT_EVENTS,
            AuditPage,
            Paging("entries", "after", cursor=("end_cursor",), more=()),
            query={
                "actor": actor,
                "kind": kind,
                "resource": resource,
                "request_id": request_id,
                "from_time": from_time,
                "until_time": until_time,
                "from_position": from_position,
                "until_position": until_position,
                "order": order,
                "limit": limit,
                "after": after,
            },
        )

    async def get(self, position: int) -> WholeEntry:
        """Get one entry with its recorded fields, and the resource before and after.

        For superusers and auditors. The read is recorded.

        :param position: The entry's position in the log.
        """
        return await self._caller.model(
            operations.GET_AUDIT_EVENT, WholeEntry, path={"position": position}
        )

    def export_jsonl(
        self,
        *,
        actor: UUID | str | NotGiven = NOT_GIVEN,
        kind: str | NotGiven = NOT_GIVEN,
        resource: UUID | str | NotGiven = NOT_GIVEN,
        request_id: str | NotGiven = NOT_GIVEN,
        from_time: datetime | NotGiven = NOT_GIVEN,
        until_time: datetime | NotGiven = NOT_GIVEN,
        from_position: int | NotGiven = NOT_GIVEN,
        until_position: int | NotGiven = NOT_GIVEN,
    ) -> AsyncExport:
        """Export the audit trail as JSON Lines, oldest first.

        Unlimited. Each line also contains the entry exactly as recorded and its leaf in
        the Merkle tree: an export without filters is the input of `agent-runtime audit
        verify`. The last line is `{"end":{"until_position":N}}`: an export without it
        was cut off. The read is recorded once.

        :param actor: The user who caused it, by id.
        :param kind: An event type, such as `connector.made_public`, or an aggregate,
            such as `connector`, for all of its event types.
        :param resource: A resource that it is about or names, by id.
        :param request_id: The X-Request-Id that caused it.
        :param from_time: Recorded at or after this.
        :param until_time: Recorded before this.
        :param from_position: At or after this position.
        :param until_position: At or before this position.
        """
        return AsyncExport(
            self._caller,
            operations.GET_AUDIT_JSONL,
            query={
                "actor": actor,
                "kind": kind,
                "resource": resource,
                "request_id": request_id,
                "from_time": from_time,
                "until_time": until_time,
                "from_position": from_position,
                "until_position": until_position,
            },
            is_csv=False,
        )

    def export_csv(
        self,
        *,
        actor: UUID | str | NotGiven = NOT_GIVEN,
        kind: str | NotGiven = NOT_GIVEN,
        resource: UUID | str | NotGiven = NOT_GIVEN,
        request_id: str | NotGiven = NOT_GIVEN,
        from_time: datetime | NotGiven = NOT_GIVEN,
        until_time: datetime | NotGiven = NOT_GIVEN,
        from_position: int | NotGiven = NOT_GIVEN,
        until_position: int | NotGiven = NOT_GIVEN,
    ) -> AsyncExport:
        """Export the audit trail as CSV for spreadsheets, oldest first.

        Unlimited. A cell that a spreadsheet could take for a formula starts with an
        apostrophe. The last row starts with `end`: an export without it was cut off.
        The read is recorded once.

        :param actor: The user who caused it, by id.
        :param kind: An event type, such as `connector.made_public`, or an aggregate,
            such as `connector`, for all of its event types.
        :param resource: A resource that it is about or names, by id.
        :param request_id: The X-Request-Id that caused it.
        :param from_time: Recorded at or after this.
        :param until_time: Recorded before this.
        :param from_position: At or after this position.
        :param until_position: At or before this position.
        """
        return AsyncExport(
            self._caller,
            operations.GET_AUDIT_CSV,
            query={
                "actor": actor,
                "kind": kind,
                "resource": resource,
                "request_id": request_id,
                "from_time": from_time,
                "until_time": until_time,
                "from_position": from_position,
                "until_position": until_position,
            },
            is_csv=True,
        )

    def stream(
        self,
        *,
        actor: UUID | str | NotGiven = NOT_GIVEN,
        kind: str | NotGiven = NOT_GIVEN,
        resource: UUID | str | NotGiven = NOT_GIVEN,
        after: int | NotGiven = NOT_GIVEN,
    ) -> AsyncEventStream[AuditEntry]:
        """Follow the audit trail by server-sent events.

        Each event's id is its position; `X-Event-Position` is the one it begins behind.
        `Last-Event-ID` resumes after that position and overrides ``after``. Comments
        keep an idle connection open. A client that reads too slowly is disconnected and
        can resume. The stream ends when the service stops, and when the caller's token
        or role is revoked, the token expires or the user is disabled. The read is
        recorded once.

        :param actor: The user who caused it, by id.
        :param kind: An event type, such as `connector.made_public`, or an aggregate,
            such as `connector`, for all of its event types.
        :param resource: A resource that it is about or names, by id.
        :param after: Start after this position; without it, with the next event.
        """
        return AsyncEventStream(
            self._caller,
            operations.GET_AUDIT_STREAM,
            models.AuditEntry.decode,
            query={"actor": actor, "kind": kind, "resource": resource, "after": after},
        )

    async def get_aggregate(
        self,
        aggregate_id: UUID | str,
        *,
        at: int | datetime | NotGiven = NOT_GIVEN,
        version: int | NotGiven = NOT_GIVEN,
    ) -> ReplayedAggregate:
        """Replay an aggregate: now, at a position or time, or at a version.

        The id is that of an entry's resource. The read is recorded.

        :param at: A log position or a time: answer as of then.
        :param version: The version to replay, instead of a position or time.
        """
        return await self._caller.model(
            operations.GET_AGGREGATE,
            ReplayedAggregate,
            path={"aggregate_id": aggregate_id},
            query={"at": at, "version": version},
        )

    async def compare_aggregate(
        self,
        aggregate_id: UUID | str,
        since: int | datetime,
        *,
        until: int | datetime | NotGiven = NOT_GIVEN,
    ) -> AggregateDifference:
        """Compare an aggregate at two positions or times.

        The read is recorded. `GET /api/audit/events` with this ``resource`` and these
        positions lists who made the changes.

        :param since: A log position or a time: the earlier state.
        :param until: A log position or a time: the later state; by default now.
        """
        return await self._caller.model(
            operations.GET_AGGREGATE_DIFFERENCE,
            AggregateDifference,
            path={"aggregate_id": aggregate_id},
            query={"since": since, "until": until},
        )

    async def get_exposure(
        self,
        connector_id: UUID | str,
        since: int | datetime,
        *,
        until: int | datetime | NotGiven = NOT_GIVEN,
    ) -> Exposure:
        """List who could use a connector between two positions or times, and why.

        The read is recorded.

        :param since: A log position or a time: the earlier state.
        :param until: A log position or a time: the later state; by default now.
        """
        return await self._caller.model(
            operations.GET_CONNECTOR_EXPOSURE,
            Exposure,
            path={"id": connector_id},
            query={"since": since, "until": until},
        )

    async def compare_decisions(
        self,
        agent_id: UUID | str,
        since: int | datetime,
        *,
        until: int | datetime | NotGiven = NOT_GIVEN,
        tools: Sequence[str] | NotGiven = NOT_GIVEN,
    ) -> DecisionsDifference:
        """Compare which tools an agent may call at two positions or times.

        A tool whose definition has changed, and isn't accepted yet, differs as well. Of
        connectors whose tools weren't observed yet, only the rules are compared. The
        read is recorded.

        :param since: A log position or a time: the earlier state.
        :param until: A log position or a time: the later state; by default now.
        :param tools: Names of tools to decide on as well.
        """
        return await self._caller.model(
            operations.GET_DECISIONS_DIFFERENCE,
            DecisionsDifference,
            path={"agent_id": agent_id},
            query={"since": since, "until": until, "tools": tools},
        )

    async def get_checkpoint(self) -> str:
        """Get the newest signed checkpoint of the log's Merkle tree.

        A few seconds behind the log. Keep it to be able to prove later that earlier
        entries weren't rewritten.
        """
        return await self._caller.text(operations.GET_CHECKPOINT)

    async def get_checkpoint_key(self) -> CheckpointKey:
        """Get the public key of the checkpoints' signatures.

        A compromised service could return another key: compare it with one that you
        saved earlier or got from the operator.
        """
        return await self._caller.model(operations.GET_CHECKPOINT_KEY, CheckpointKey)

    async def get_inclusion_proof(
        self, position: int, *, size: int | NotGiven = NOT_GIVEN
    ) -> Inclusion:
        """Prove that the tree of a given size contains an entry.

        By default ``size`` is that of the newest checkpoint, or the current size of the
        tree for a position after that checkpoint.

        :param position: The entry's position in the log.
        :param size: The tree's size, in entries.
        """
        return await self._caller.model(
            operations.GET_INCLUSION_PROOF,
            Inclusion,
            query={"position": position, "size": size},
        )

    async def get_consistency_proof(
        self, first: int, *, second: int | NotGiven = NOT_GIVEN
    ) -> Consistency:
        """Prove that the tree of one size is the beginning of a larger one.

        By default ``second`` is the size of the newest checkpoint, or the current size
        of the tree when ``first`` is larger than that.

        :param first: The size of the smaller tree, in entries.
        :param second: The size of the larger tree, in entries.
        """
        return await self._caller.model(
            operations.GET_CONSISTENCY_PROOF,
            Consistency,
            query={"first": first, "second": second},
        )
