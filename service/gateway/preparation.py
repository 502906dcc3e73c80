"""Prepare calls that need a connection first: decide, and lend the credential."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from pydantic import SecretStr

from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.gateway.admission import prepare_call
from service.gateway.gate import CallRequest, Pending, Refused, Upstream
from service.gateway.handshakes.commands import start_handshake
from service.gateway.tool_lists import upstream_of
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.secrets.sent import Credential


class CallPreparation:
    """Decides on calls before there is a connection, by the log as it is."""

    def __init__(self, log: EventLog, key_ring: KeyRing, vault: Vault) -> None:
        self._log = log
        self._key_ring = key_ring
        self._vault = vault

    async def prepare(self, request: CallRequest) -> Upstream | Refused | Pending:
        verdict, _ = await execute(
            self._log,
            partial(prepare_call, request, key_ring=self._key_ring, vault=self._vault),
            metadata=metadata_of(request),
            at=datetime.now(UTC),
        )
        if isinstance(verdict, Refused | Pending):
            return verdict
        upstream = upstream_of(verdict.connector)
        if verdict.secret is None:
            return upstream
        header = verdict.secret.header
        credential = self._credential(request, upstream.url, header)
        return replace(upstream, credential=credential)

    def _credential(self, request: CallRequest, url: str, header: str) -> Credential:
        """Return a credential for a handshake, which is recorded when it is opened."""
        recorded: Credential | None = None

        async def reveal() -> SecretStr:
            nonlocal recorded
            if recorded is None:
                secret, _ = await execute(
                    self._log,
                    partial(start_handshake, request, url),
                    metadata=metadata_of(request),
                    at=datetime.now(UTC),
                )
                recorded = secret.credential(self._vault)
            return await recorded.reveal()

        return Credential(header=header, reveal=reveal)


def metadata_of(request: CallRequest) -> Mapping[str, str]:
    return request.caller.metadata(request.request_id, request.traceparent)
