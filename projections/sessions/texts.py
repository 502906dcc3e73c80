"""Open the texts of sessions for somebody who may read them."""

from uuid import UUID

from service.secrets.cipher import OpenError
from service.secrets.user_keys import KeyDestroyedError
from service.secrets.vault import Vault
from service.sessions.sealing import text_binding


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
