"""Record each read of the texts of other users' sessions."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from aiohttp import web
from cachetools import TTLCache

from service.audit.commands import ReadTexts, read_texts
from service.http.authentication import PRINCIPAL
from service.http.dispatch import execute_for
from service.http.operation import OPERATION

RECORDED_MAX: Final = 100_000
PAGES_MAX: Final = 1_000
# Otherwise, polling a list would add an event for each request.
RECORDED_FOR_S: Final = 300.0


class TextReadings:
    """Records reads of texts; remembers what it has just recorded."""

    def __init__(self) -> None:
        self._recorded: TTLCache[tuple[UUID | None, str, str], bool] = TTLCache(
            RECORDED_MAX, RECORDED_FOR_S
        )
        # The sessions that a caller's last read of an operation recorded, all at once.
        self._pages: TTLCache[tuple[UUID | None, str], frozenset[UUID]] = TTLCache(
            PAGES_MAX, RECORDED_FOR_S
        )

    async def record(self, request: web.Request, users: Mapping[UUID, UUID]) -> None:
        """Append that the caller reads texts; ``users`` is session id to user id.

        Comes before anything is answered: what can't be recorded isn't read. Reading
        texts of the caller's own sessions isn't recorded, and reading the same texts
        again only after ``RECORDED_FOR_S``.
        """
        principal = request[PRINCIPAL]
        operation = request[OPERATION].name
        # Most pages are requested repeatedly: they take one look-up.
        page = (principal.token_id, operation)
        if users and self._pages.get(page) == frozenset(users):
            return
        unrecorded = {
            (principal.token_id, operation, str(session)): str(user)
            for session, user in users.items()
            if user != principal.user_id
        }
        known = [key for key in unrecorded if key in self._recorded]
        for key in known:
            del unrecorded[key]
        if not unrecorded:
            return
        sessions = {session: user for (_, _, session), user in unrecorded.items()}
        await execute_for(
            request, read_texts, ReadTexts(operation=operation, sessions=sessions)
        )
        for key in unrecorded:
            self._recorded[key] = True
        if not known:
            self._pages[page] = frozenset(users)


TEXT_READINGS = web.AppKey("text_readings", TextReadings)
