"""A position or a time in a query."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from service.http.as_of import At
from service.http.requests import QueryModel


class Query(QueryModel):
    at: At


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("0", 0),
        ("42", 42),
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T12:00:00", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00+02:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
    ],
)
def test_a_position_and_a_time_are_told_apart(text: str, at: int | datetime) -> None:
    assert Query.model_validate_strings({"at": text}).at == at


@pytest.mark.parametrize("text", ["", "-1", "1.5", "1e3", "soon", "9" * 19, "٣"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(
        ValidationError, match="takes a position of the log, or an ISO 8601 time"
    ):
        Query.model_validate_strings({"at": text})
