"""Connections to the servers that answer model calls."""
# Made by "make generated"; do not edit.

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.pages import AsyncPages, Paging
from agent_runtime_client.models import (
    ConnectionCredentialBody,
    ConnectionList,
    ConnectionResource,
    ConnectionWithPresets,
    Dialect,
    RecordMode,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncModelConnectionsResource:
    """Connections to the servers that answer model calls."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def register(
        self,
        *,
        name: str,
        base_url: str,
        dialects: Sequence[Dialect],
        provider: str,
        credential: ConnectionCredentialBody | None | NotGiven = NOT_GIVEN,
        record_mode: RecordMode | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> ConnectionResource:
        """Register a connection to a server that answers model calls.

        The caller becomes its owner, and its calls send the caller's secret. Nobody
        calls it before a preset of the same owner names it.

        :param base_url: An http or https URL without credentials, to whose path that of
            the dialect is added: `/chat/completions`, `/responses`, `/embeddings` or
            `/messages`. Of most providers it ends in `/v1`. A query stays at the end.
        :param dialects: What the server speaks; nothing is translated.
        :param provider: Whose prices its calls have, in the provider catalog.
        :param credential: What its calls carry; null for a server without keys.
        :param record_mode: `strict`: each call is on record before it is sent.
            `batched`: up to 100 ms later, together with others, and what was taken back
            may be used for a second. A call is batched if all targets of its preset
            are.
        """
        return await self._caller.model(
            operations.POST_MODEL_CONNECTION,
            ConnectionResource,
            body={
                "name": name,
                "base_url": base_url,
                "dialects": dialects,
                "provider": provider,
                "credential": credential,
                "record_mode": record_mode,
            },
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: UUID | str | NotGiven = NOT_GIVEN,
    ) -> AsyncPages[ConnectionResource, ConnectionList]:
        """List the caller's connections to servers of models, by id.

        Superusers and auditors see all.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return AsyncPages(
            self._caller,
            operations.GET_MODEL_CONNECTIONS,
            ConnectionList,
            Paging("connections", "after", cursor=("end_cursor",), more=()),
            query={"limit": limit, "after": after},
        )

    async def change(
        self,
        connection_id: UUID | str,
        *,
        name: str,
        base_url: str,
        dialects: Sequence[Dialect],
        provider: str,
        credential: ConnectionCredentialBody | None,
        record_mode: RecordMode,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ConnectionResource:
        """Change all settings of a connection.

        For its owner alone, whose secret it sends. Presets that name it go on with it:
        one whose connections no longer have a dialect in common can't be called.

        :param base_url: An http or https URL without credentials, to whose path that of
            the dialect is added: `/chat/completions`, `/responses`, `/embeddings` or
            `/messages`. Of most providers it ends in `/v1`. A query stays at the end.
        :param dialects: What the server speaks; nothing is translated.
        :param provider: Whose prices its calls have, in the provider catalog.
        :param credential: What its calls carry; null for a server without keys.
        :param record_mode: `strict`: each call is on record before it is sent.
            `batched`: up to 100 ms later, together with others, and what was taken back
            may be used for a second. A call is batched if all targets of its preset
            are.
        """
        return await self._caller.model(
            operations.PUT_MODEL_CONNECTION,
            ConnectionResource,
            path={"connection_id": connection_id},
            body={
                "name": name,
                "base_url": base_url,
                "dialects": dialects,
                "provider": provider,
                "credential": credential,
                "record_mode": record_mode,
            },
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def retire(
        self,
        connection_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ConnectionResource:
        """Retire a connection.

        This can't be undone: no call uses it any more, and it can't be found. Its
        history is kept.
        """
        return await self._caller.model(
            operations.DELETE_MODEL_CONNECTION,
            ConnectionResource,
            path={"connection_id": connection_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def get(
        self, connection_id: UUID | str, *, at: int | datetime | NotGiven = NOT_GIVEN
    ) -> ConnectionWithPresets:
        """Get a connection, now or as of an earlier position or time.

        For its owner, superusers and auditors. A retired one has only a past.

        :param at: A log position or a time: answer as of then.
        """
        return await self._caller.model(
            operations.GET_MODEL_CONNECTION,
            ConnectionWithPresets,
            path={"connection_id": connection_id},
            query={"at": at},
        )
