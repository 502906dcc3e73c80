"""Times of queries, in the forms of ISO 8601."""

from datetime import UTC

import pytest
from pydantic import ValidationError

from projections.sessions.parameters import SessionListQuery


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("20260301T120000Z", "2026-03-01T12:00:00+00:00"),
        ("20260301T12", "2026-03-01T12:00:00+00:00"),
        ("2026-W09-7T12:00:00Z", "2026-03-01T12:00:00+00:00"),
        ("2026W097", "2026-03-01T00:00:00+00:00"),
        ("2026-060", "2026-03-01T00:00:00+00:00"),
        ("2026060T1200Z", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01T24:00Z", "2026-03-02T00:00:00+00:00"),
        ("2026-03-01T24:00:00.000+01", "2026-03-01T23:00:00+00:00"),
        ("2026-03-01T12:00 01:00", "2026-03-01T11:00:00+00:00"),
        ("2026-03-01T12:00:00,5+0100", "2026-03-01T11:00:00.500000+00:00"),
    ],
)
def test_forms_of_iso_8601(given: str, expected: str) -> None:
    query = SessionListQuery.model_validate({"start_time": given})

    assert query.start_time is not None
    assert query.start_time.astimezone(UTC).isoformat() == expected


@pytest.mark.parametrize(
    "given",
    [
        *("2026-366", "2026-02-30", "2026-W54-1", "2026-03-01T24:01", "2026"),
        *("1772366400", "2026-03", "9999-12-31T24:00Z", "2026-03-01T", "now"),
        "2026-03-01T12:60",
    ],
)
def test_what_is_no_time_of_iso_8601(given: str) -> None:
    with pytest.raises(ValidationError):
        SessionListQuery.model_validate({"start_time": given})
