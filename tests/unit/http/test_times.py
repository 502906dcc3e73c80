"""Times, days and numbers of requests, in every form that is understood."""

from datetime import date, datetime
from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from service.http.as_of import FORM, At
from service.http.requests import QueryModel, RequestModel
from service.http.times import DAY_FORM, TIME_FORM, Day, Timestamp
from service.http.validation_errors import problems_of


class Query(QueryModel):
    since: Timestamp | None = None
    at: At | None = None
    day: Day | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 25


class Body(RequestModel):
    since: Timestamp | None = None


def messages(name: str, given: str) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        Query.model_validate_strings({name: given})
    return [each.message for each in problems_of(refused.value)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01T12:00:00.25-05:30", "2026-03-01T17:30:00.250000+00:00"),
        ("2026-03-01t12:00:00z", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01 12:00", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("20260301T120000Z", "2026-03-01T12:00:00+00:00"),
        ("20260301T12", "2026-03-01T12:00:00+00:00"),
        ("2026-W09-7T12:00:00Z", "2026-03-01T12:00:00+00:00"),
        ("2026W097", "2026-03-01T00:00:00+00:00"),
        ("2026-060", "2026-03-01T00:00:00+00:00"),
        ("2026060T1200Z", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01T24:00:00Z", "2026-03-02T00:00:00+00:00"),
        ("2026-03-01T24:00:00+01:00", "2026-03-01T23:00:00+00:00"),
        ("2026-03-01T24:00Z", "2026-03-02T00:00:00+00:00"),
        ("2026-03-01T24:00:00.000+01", "2026-03-01T23:00:00+00:00"),
        ("2026-03-01T12:00:00,5+0100", "2026-03-01T11:00:00.500000+00:00"),
        ("2026-03-01T12:00:00.123456789Z", "2026-03-01T12:00:00.123456+00:00"),
    ],
)
def test_a_time_in_any_form_of_iso_8601(given: str, expected: str) -> None:
    query = Query.model_validate_strings({"since": given, "at": given})
    body = Body.model_validate_json(f'{{"since": "{given}"}}')

    assert query.since is not None
    assert query.since.isoformat() == expected
    assert query.at == query.since == body.since


@pytest.mark.parametrize(
    "given",
    ["2026-03-01T12:00 01:00", "2026-03-01T12:00:00 01", "2026-03-01 12:00 0100"],
)
def test_a_query_may_lose_the_plus_of_an_offset_and_a_body_may_not(given: str) -> None:
    query = Query.model_validate_strings({"since": given, "at": given})

    assert query.since == query.at == datetime.fromisoformat("2026-03-01T11:00Z")
    with pytest.raises(ValidationError):
        Body.model_validate_json(f'{{"since": "{given}"}}')


@pytest.mark.parametrize(
    "given",
    [
        *("2026-366", "2026-02-30", "2026-W54-1", "2026-03-01T24:01", "2026", ""),
        *("1772366400", "2026-03", "9999-12-31T24:00Z", "2026-03-01T", "now"),
        *("2026-03-01T12:60", "0001-01-01T00:00+01:00", "\uff12026-03-01"),
    ],
)
def test_what_is_no_time_is_refused_with_how_to_write_one(given: str) -> None:
    assert messages("since", given) == [TIME_FORM]
    if not given.isdigit():
        assert messages("at", given) == [FORM]


@pytest.mark.parametrize("given", [1772366400, 1772366400.5, True, [], {}])
def test_a_time_in_a_body_is_text(given: object) -> None:
    with pytest.raises(ValidationError, match=TIME_FORM):
        Body.model_validate({"since": given})


@pytest.mark.parametrize(
    "given", ["2026-03-01", "20260301", "2026-W09-7", "2026-060", "2026060"]
)
def test_a_day_in_any_form_of_iso_8601(given: str) -> None:
    assert Query.model_validate_strings({"day": given}).day == date(2026, 3, 1)


@pytest.mark.parametrize(
    "given", ["2026-02-30", "2026-03-01T00:00:00Z", "1772366400", "today", ""]
)
def test_what_is_no_day_is_refused_with_how_to_write_one(given: str) -> None:
    assert messages("day", given) == [DAY_FORM]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("10000000000000000000000", "must be at most 100"),
        ("-10000000000000000000000", "must be at least 1"),
        ("0", "must be at least 1"),
        *(
            (text, "takes a whole number in decimal digits, such as 25")
            for text in ("1e3", "1.0", " 5", "+5", "5_0", "\u0665", "0x5", "", "five")
        ),
    ],
)
def test_a_number_beyond_its_bounds_is_told_from_what_is_no_number(
    given: str, message: str
) -> None:
    assert messages("limit", given) == [message]
