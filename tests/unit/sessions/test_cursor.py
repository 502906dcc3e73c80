"""A cursor as text."""

import base64
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from projections.sessions.cursor import Cursor, cursor_from_text


@given(
    st.datetimes(timezones=st.just(UTC)),
    st.uuids(),
    st.integers(0, 2**63 - 1),
)
def test_a_cursor_survives_being_text(
    moment: datetime, session: UUID, position: int
) -> None:
    cursor = Cursor(
        started_at=moment, id=session, position=position, window_start=moment
    )

    assert cursor_from_text(cursor.to_text()) == cursor


@given(
    st.text(max_size=60)
    | st.binary(min_size=41, max_size=41).map(
        lambda given: base64.urlsafe_b64encode(given).decode().rstrip("=")
    )
)
def test_any_text_is_a_cursor_or_is_refused(text: str) -> None:
    try:
        cursor = cursor_from_text(text)
    except ValueError:
        return
    assert cursor.to_text() == text
