"""Prepare calls that need a connection first: decide, and lend the credential."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from pydantic import SecretStr

from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.gateway.admission import prepare_call
from service.gateway.deciding import AdmitCall
from service.gateway.gate import Credential, Pending, Refused, Upstream
from service.gateway.handshakes.commands import start_handshake
from service.gateway.tool_lists import upstream_of
from service.identifiers import id_text
from service.keys.key_ring import KeyRing
from service.keys.vault import Vault
from service.tracing.current import current_traceparent


class CallPreparation:
    """Decides on calls before there is a connection, by the log as it is."""

    def __init__(self, log: EventLog, key_ring: KeyRing, vault: Vault) -> None:
        self._log = log
        self._key_ring = key_ring
        self._vault = vault

    async def prepare(self, command: AdmitCall) -> Upstream | Refused | Pending:
        verdict, _ = await execute(
            self._log,
            partial(prepare_call, command, key_ring=self._key_ring, vault=self._vault),
            metadata=metadata_of(command),
            at=datetime.now(UTC),
        )
        if isinstance(verdict, Refused | Pending):
            return verdict
        upstream = upstream_of(verdict.connector)
        if verdict.secret is None:
            return upstream
        bound = replace(command, url=upstream.url)
        return replace(
            upstream, credential=self._credential(bound, verdict.secret.header)
        )

    def _credential(self, command: AdmitCall, header: str) -> Credential:
        """Return a credential for a handshake, which is recorded when it is opened."""
        recorded: Credential | None = None

        async def reveal() -> SecretStr:
            nonlocal recorded
            if recorded is None:
                secret, _ = await execute(
                    self._log,
                    partial(start_handshake, command),
                    metadata=metadata_of(command),
                    at=datetime.now(UTC),
                )
                recorded = secret.credential(self._vault)
            return await recorded.reveal()

        return Credential(header=header, reveal=reveal)


def metadata_of(command: AdmitCall) -> Mapping[str, str]:
    caller, call = command.caller, command.call
    metadata = {
        "actor": id_text(caller.user_id or caller.agent_id),
        "token": id_text(caller.token_id),
        "request_id": call.request_id,
    }
    traceparent = call.traceparent or current_traceparent()
    if traceparent is not None:
        metadata["traceparent"] = traceparent
    return metadata
