"""Encrypt the texts of turns with the key of their session's user."""

from uuid import UUID

from service.keys.cipher import TextBinding
from service.keys.user_keys import KeyDestroyedError
from service.keys.vault import Vault
from service.sessions.aggregate import ChatSession
from service.sessions.turn import (
    ERROR_BYTES_MAX,
    TEXT_BYTES_MAX,
    SealedTexts,
    Texts,
    truncated,
)


def text_binding(
    *, user_id: UUID, session: UUID, version: int, field: str
) -> TextBinding:
    """Return the binding of a text to its field in one event of a session."""
    return TextBinding(owner_id=user_id, session_id=session, turn=version, field=field)


async def sealed_texts(texts: Texts, session: ChatSession, vault: Vault) -> SealedTexts:
    """Encrypt a turn's texts for the session's next event.

    If the user's key was destroyed, there are none.
    """

    async def seal(text: str | None, field: str) -> str | None:
        if text is None:
            return None
        binding = text_binding(
            user_id=UUID(session.user_id),
            session=session.id,
            version=session.version + 1,
            field=field,
        )
        return await vault.seal_text(text, binding)

    input_text, input_truncated = _bounded(texts.input, TEXT_BYTES_MAX)
    output_text, output_truncated = _bounded(texts.output, TEXT_BYTES_MAX)
    error_text, _ = _bounded(texts.error, ERROR_BYTES_MAX)
    try:
        return SealedTexts(
            input=await seal(input_text, "input"),
            output=await seal(output_text, "output"),
            error=await seal(error_text, "error"),
            input_truncated=input_truncated,
            output_truncated=output_truncated,
        )
    except KeyDestroyedError:
        return SealedTexts()


def _bounded(text: str | None, bytes_max: int) -> tuple[str | None, bool]:
    return (None, False) if text is None else truncated(text, bytes_max)
