"""Prefer: handling=strict, as RFC 7240 has preferences written."""

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from service.http.preferences import prefers_strict


@pytest.mark.parametrize(
    ("given", "is_strict"),
    [
        ([], False),
        (["handling=strict"], True),
        (["Handling = Strict"], True),
        (['handling="strict"'], True),
        (["handling=strict; a=b"], True),
        (["respond-async, wait=100, handling=strict"], True),
        (["wait=100", "handling=strict"], True),
        (['note="a, b; \\" c", handling=strict'], True),
        (["handling=lenient"], False),
        (["handling=lenient, handling=strict"], False),
        (["handling=strict, handling=lenient"], True),
        (["handling"], False),
        (["handling=strictly"], False),
        (["mishandling=strict"], False),
        (['note="handling=strict"'], False),
        (['note="a, handling=strict"'], False),
        (["wait=1; handling=strict"], False),
        (["handling='strict'"], False),
        (['"' * 4_000], False),
        (['"\\' * 4_000], False),
        (["handling" + " " * 4_000], False),
        ([""], False),
    ],
)
def test_the_first_handling_counts(given: list[str], is_strict: bool) -> None:  # noqa: FBT001 # a case
    headers = CIMultiDict([("Prefer", each) for each in given])

    assert prefers_strict(make_mocked_request("PUT", "/", headers)) is is_strict
