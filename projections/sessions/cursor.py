"""The cursor of the session list: the position of a page's last session."""

import base64
import binascii
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from service.http.requests import POSITION_MAX

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORMAT = 1
# Format, start, id, position, window; times in microseconds since 1970.
_LAYOUT = struct.Struct(">Bq16sqq")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The start of the next page, and the position and window of the first page.

    Sessions that started in the log after ``position`` are not in the list.
    """

    started_at: datetime
    id: UUID
    position: int
    window_start: datetime

    def to_text(self) -> str:
        packed = _LAYOUT.pack(
            _FORMAT,
            _microseconds(self.started_at),
            self.id.bytes,
            self.position,
            _microseconds(self.window_start),
        )
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def cursor_from_text(text: str) -> Cursor:
    """Read a cursor.

    :raises ValueError: it wasn't made by this service
    """
    try:
        packed = base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_", validate=True
        )
        form, started_at, session, position, window_start = _LAYOUT.unpack(packed)
        cursor = Cursor(
            started_at=_EPOCH + timedelta(microseconds=started_at),
            id=UUID(bytes=session),
            position=position,
            window_start=_EPOCH + timedelta(microseconds=window_start),
        )
    except (binascii.Error, struct.error, OverflowError, ValueError):
        raise ValueError("not a cursor of this list") from None
    if form != _FORMAT or not 0 <= position <= POSITION_MAX:
        raise ValueError("not a cursor of this list")
    return cursor


def _microseconds(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(microseconds=1)
