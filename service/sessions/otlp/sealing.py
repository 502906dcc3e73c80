"""Encrypt the texts of spans while their trace is open."""

from dataclasses import replace
from uuid import UUID

from service.identifiers import named_id
from service.keys.cipher import OpenError, TextBinding
from service.keys.user_keys import KeyDestroyedError
from service.keys.vault import Vault
from service.sessions.otlp.pending import TraceKey
from service.sessions.otlp.span import Entry, KeptEntry, KeptText
from service.sessions.turn import (
    ERROR_BYTES_MAX,
    TEXT_BYTES_MAX,
    Texts,
    truncated,
)

# More than is recorded, so that recording detects again that a text is too long.
MARGIN_BYTES = 4


async def kept_entry(
    entry: Entry,
    trace: TraceKey,
    span_id: str,
    *,
    user_id: UUID | None,
    owner: UUID,
    vault: Vault,
) -> KeptEntry:
    """Encrypt the texts of a span with the key of ``owner``.

    If that key was destroyed, there are none.
    """

    async def seal(text: str | None, field: str, bytes_max: int) -> str | None:
        if text is None:
            return None
        bounded, _ = truncated(text, bytes_max + MARGIN_BYTES)
        return await vault.seal_text(bounded, _binding(owner, trace, span_id, field))

    kept = KeptEntry(
        is_root=entry.is_root,
        ended_at=entry.ended_at.isoformat(),
        user_id=str(user_id) if user_id else None,
        is_error=entry.is_error,
        owner=str(owner),
        sealed_input=None,
        sealed_output=None,
        sealed_error=None,
        is_event=entry.is_event,
    )
    try:
        return replace(
            kept,
            sealed_input=await seal(entry.texts.input, "input", TEXT_BYTES_MAX),
            sealed_output=await seal(entry.texts.output, "output", TEXT_BYTES_MAX),
            sealed_error=await seal(entry.texts.error, "error", ERROR_BYTES_MAX),
        )
    except KeyDestroyedError:
        return kept


async def opened_texts(
    entry: KeptEntry, trace: TraceKey, span_id: str, vault: Vault
) -> Texts:
    """Decrypt the texts of a span; there are none if their key was destroyed."""

    async def open_(sealed: str | None, field: str) -> str | None:
        if sealed is None:
            return None
        binding = _binding(UUID(entry.owner), trace, span_id, field)
        return await vault.open_text(sealed, binding)

    try:
        return Texts(
            input=await open_(entry.sealed_input, "input"),
            output=await open_(entry.sealed_output, "output"),
            error=await open_(entry.sealed_error, "error"),
        )
    except (KeyDestroyedError, OpenError):
        return Texts()


async def kept_text(
    text: str,
    field: str,
    order: str,
    trace: TraceKey,
    span_id: str,
    owner: UUID,
    vault: Vault,
) -> KeptText | None:
    """Encrypt a text of a trace with the key of ``owner``; None if it was destroyed."""
    bounded, _ = truncated(text, TEXT_BYTES_MAX + MARGIN_BYTES)
    try:
        sealed = await vault.seal_text(bounded, _binding(owner, trace, span_id, field))
    except KeyDestroyedError:
        return None
    return KeptText(order=order, span_id=span_id, owner=str(owner), sealed=sealed)


async def opened_text(
    kept: KeptText | None, field: str, trace: TraceKey, vault: Vault
) -> str | None:
    """Decrypt a text of a trace; None if there is none, or its key was destroyed."""
    if kept is None:
        return None
    binding = _binding(UUID(kept.owner), trace, kept.span_id, field)
    try:
        return await vault.open_text(kept.sealed, binding)
    except (KeyDestroyedError, OpenError):
        return None


def _binding(owner: UUID, trace: TraceKey, span_id: str, field: str) -> TextBinding:
    return TextBinding(
        owner_id=owner,
        session_id=named_id("reported trace", str(trace.agent_id), trace.trace_id),
        turn=int(span_id, 16),
        field=field,
    )
