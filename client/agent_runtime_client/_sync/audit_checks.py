"""Checks of proofs, recomputed here instead of believed."""
# Made by "make contract"; do not edit.

import base64
from collections.abc import Sequence

from agent_runtime_client import operations
from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.encoding import plain
from agent_runtime_client.errors import VerificationFailedError
from agent_runtime_client.models import Consistency, Inclusion, WholeEntry
from agent_runtime_client.proofs.authorship import contradicted_member
from agent_runtime_client.proofs.checkpoint import Checkpoint
from agent_runtime_client.proofs.entry import EntryError, leaf_of
from agent_runtime_client.proofs.merkle import (
    root_by_inclusion,
    roots_by_consistency,
)


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
            leaf = leaf_of(entry.recorded)
        except EntryError as error:
            raise _failed(str(error), position) from None
        root = root_by_inclusion(
            leaf,
            index=position - 1,
            size=against.size,
            path=_hashes(proof.hashes),
        )
        if entry.recorded.get("position") != position or root != against.root:
            raise _failed("the entry is not as it was signed", position)
        if name := contradicted_member(plain(entry), entry.recorded):
            raise _failed(f"{name} is not what the signed entry says", position)
        return entry

    def verify_growth(self, *, since: Checkpoint, public_key: str) -> Checkpoint:
        """Verify that the log has only grown since a checkpoint; return the newest one.

        :raises VerificationFailedError: entries were changed, removed or inserted
        :raises CheckpointError: the key hasn't signed the newest checkpoint
        """
        note = self._caller.text(operations.GET_CHECKPOINT)
        newest = Checkpoint.open(note, public_key=public_key)
        if newest.origin != since.origin or newest.size < since.size:
            raise _failed("the newest checkpoint is of another or an older log", None)
        if not since.size:
            return newest
        proof = self._caller.model(
            operations.GET_CONSISTENCY_PROOF,
            Consistency,
            query={"first": since.size, "second": newest.size},
        )
        roots = roots_by_consistency(
            since.root,
            first=since.size,
            second=newest.size,
            path=_hashes(proof.hashes),
        )
        if roots != (since.root, newest.root):
            raise _failed("the log is not the one that was signed", None)
        return newest


def _hashes(given: Sequence[str]) -> list[bytes]:
    return [base64.b64decode(each) for each in given]


def _failed(words: str, position: int | None) -> VerificationFailedError:
    where = "" if position is None else f" (position {position})"
    return VerificationFailedError(f"{words}{where}", code="verification_failed")
