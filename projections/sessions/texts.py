"""Open the texts of sessions for somebody who may read them."""

from dataclasses import dataclass
from uuid import UUID

from projections.sessions.queries import SessionRow
from service.secrets.cipher import OpenError
from service.secrets.user_keys import KeyDestroyedError
from service.secrets.vault import Vault
from service.sessions.sealing import text_binding

LIST_TEXT_CHARACTERS_MAX = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """A text, or None where there is none, or none any more."""

    text: str | None = None
    truncated: bool = False


def shown_in_list(text: str | None, *, truncated: bool) -> ShownText:
    """Cut a text for the list; the session alone shows it in full."""
    if text is None:
        return ShownText()
    return ShownText(
        text=text[:LIST_TEXT_CHARACTERS_MAX],
        truncated=truncated or len(text) > LIST_TEXT_CHARACTERS_MAX,
    )


class TextOpener:
    """Opens the texts of one answer; asks only once for a key that is gone."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._destroyed: set[UUID] = set()

    async def open(
        self,
        sealed: str | None,
        *,
        user_id: UUID,
        session: UUID,
        version: int | None,
        field: str,
    ) -> str | None:
        """Return a text; None for none, a damaged one, or a key that is destroyed."""
        if sealed is None or version is None or user_id in self._destroyed:
            return None
        binding = text_binding(
            user_id=user_id, session=session, version=version, field=field
        )
        try:
            return await self._vault.open_text(sealed, binding)
        except KeyDestroyedError:
            self._destroyed.add(user_id)
        except OpenError:
            return None
        return None


async def first_and_last(
    row: SessionRow, opener: TextOpener
) -> tuple[ShownText, ShownText]:
    """Open a session's first input and last output."""
    first_input = await opener.open(
        row.sealed_input,
        user_id=row.user_id,
        session=row.id,
        version=row.input_version,
        field="input",
    )
    last_output = await opener.open(
        row.sealed_output,
        user_id=row.user_id,
        session=row.id,
        version=row.output_version,
        field="output",
    )
    return (
        shown_in_list(first_input, truncated=bool(row.input_truncated)),
        shown_in_list(last_output, truncated=bool(row.output_truncated)),
    )
