"""A request of too many fields is refused before it is decoded."""

import pytest

from service.sessions.otlp.body import FIELDS_MAX
from tests.integration.sessions.otlp.test_routes import status_of
from tests.support.sessions.otlp.spans import empty_messages, send
from tests.support.sessions.recording import Recorder


@pytest.mark.parametrize("nesting", [(1,), (1, 2), (1, 2, 2), (1, 2, 2, 9, 2, 5, 1)])
async def test_a_request_of_empty_messages_is_refused_before_they_are_made(
    recorder: Recorder, nesting: tuple[int, ...]
) -> None:
    body = empty_messages(FIELDS_MAX + 1, *nesting)

    refused = await send(recorder.caller, body, Content_Encoding="gzip")

    assert refused.status == 413
    assert f"at most {FIELDS_MAX} fields" in status_of(refused).message
