"""Decrypt the texts of sessions for authorized readers."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from projections.sessions.queries import SessionRow
from service.keys.cipher import OpenError
from service.keys.user_keys import KeyDestroyedError
from service.keys.vault import Vault
from service.sessions.sealing import text_binding

LIST_TEXT_CHARACTERS_MAX = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """A text; None if there is none, or it was erased."""

    text: str | None = None
    truncated: bool = False


NO_TEXT = ShownText()


def shown_in_list(text: str | None, *, truncated: bool) -> ShownText:
    """Truncate a text for the list; the single session shows it in full."""
    if text is None:
        return NO_TEXT
    return ShownText(
        text=text[:LIST_TEXT_CHARACTERS_MAX],
        truncated=truncated or len(text) > LIST_TEXT_CHARACTERS_MAX,
    )


def users_of_texts(rows: Iterable[SessionRow]) -> dict[UUID, UUID]:
    """Return the users of those sessions that have texts which can be opened."""
    return {
        row.id: row.user_id
        for row in rows
        if not row.is_erased and (row.sealed_input or row.sealed_output)
    }


@dataclass(frozen=True, slots=True)
class TextOpener:
    """Decrypts the texts of one session."""

    vault: Vault
    session: SessionRow

    async def open(
        self, sealed: str | None, *, version: int | None, field: str
    ) -> str | None:
        """Return a text; None if there is none, it is damaged, or its key destroyed."""
        if sealed is None or version is None or self.session.is_erased:
            return None
        binding = text_binding(
            user_id=self.session.user_id,
            session=self.session.id,
            version=version,
            field=field,
        )
        try:
            return await self.vault.open_text(sealed, binding)
        except (KeyDestroyedError, OpenError):
            return None


async def first_and_last(vault: Vault, row: SessionRow) -> tuple[ShownText, ShownText]:
    """Decrypt a session's first input and last output, truncated for the list."""
    if row.sealed_input is None and row.sealed_output is None:
        return NO_TEXT, NO_TEXT
    opener = TextOpener(vault, row)
    first_input = await opener.open(
        row.sealed_input, version=row.input_version, field="input"
    )
    last_output = await opener.open(
        row.sealed_output, version=row.output_version, field="output"
    )
    return (
        shown_in_list(first_input, truncated=bool(row.input_truncated)),
        shown_in_list(last_output, truncated=bool(row.output_truncated)),
    )
