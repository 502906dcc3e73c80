"""Checks of proofs, recomputed here instead of believed."""
# Made by "make generated"; do not edit.

import base64
from collections.abc import Sequence

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.encoding import plain
from agent_runtime_client.errors import VerificationFailedError
from agent_runtime_client.models import Consistency, Inclusion, WholeEntry
from agent_runtime_client.proofs.authorship import contradicted_member
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.entry import UnreadableEntryError, entry_of
from agent_runtime_client.proofs.merkle import (
    InvalidProofError,
    require_consistency,
    require_inclusion,
)
from agent_runtime_client.proofs.note import VerifierKey


class AuditChecks:
    """The part of the audit that the service isn't trusted with."""

    _caller: Caller

    def verify(self, position: int, *, against: Checkpoint) -> WholeEntry:
        """Verify that an entry is as it was when a checkpoint was signed; return it.

        Not verified are names (``actor``, ``resource.name``), ``what`` and ``changes``.

        :raises VerificationFailedError: it isn't, or the checkpoint is older than it
        """
        if position > against.size:
            raise _failed(
                f"the checkpoint covers positions up to {against.size}", position
            )
        entry = self._caller.model(
            operations.GET_AUDIT_EVENT, WholeEntry, path={"position": position}
        )
        proof = self._caller.model(
            operations.GET_INCLUSION_PROOF,
            Inclusion,
            query={"position": position, "size": against.size},
        )
        try:
            recorded = entry_of(entry.recorded)
            require_inclusion(
                recorded.leaf,
                position - 1,
                against.size,
                _hashes(proof.hashes),
                against.root,
            )
        except UnreadableEntryError as error:
            raise _failed(str(error), position) from None
        except InvalidProofError:
            raise _failed("the entry is not as it was signed", position) from None
        if recorded.position != position:
            raise _failed("the entry is not as it was signed", position)
        if name := contradicted_member(plain(entry), recorded):
            raise _failed(f"{name} is not what the signed entry says", position)
        return entry

    def verify_growth(self, *, since: Checkpoint, public_key: str) -> Checkpoint:
        """Verify that the log has only grown since a checkpoint; return the newest one.

        :raises VerificationFailedError: entries were changed, removed or inserted
        :raises NoteError: the key hasn't signed the newest checkpoint
        """
        note = self._caller.text(operations.GET_CHECKPOINT)
        newest = Checkpoint.open(note, [VerifierKey.parse(public_key)])
        if newest.origin != since.origin or newest.size < since.size:
            raise _failed("the newest checkpoint is of another or an older log", None)
        if not since.size:
            return newest
        proof = self._caller.model(
            operations.GET_CONSISTENCY_PROOF,
            Consistency,
            query={"first": since.size, "second": newest.size},
        )
        try:
            require_consistency(
                since.size,
                newest.size,
                _hashes(proof.hashes),
                since.root,
                newest.root,
            )
        except InvalidProofError:
            raise _failed("the log is not the one that was signed", None) from None
        return newest


def _hashes(given: Sequence[str]) -> list[bytes]:
    return [base64.b64decode(each) for each in given]


def _failed(words: str, position: int | None) -> VerificationFailedError:
    where = "" if position is None else f" (position {position})"
    return VerificationFailedError(f"{words}{where}", code="verification_failed")
