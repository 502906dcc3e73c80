"""Events of a stream: lines, bounds, and events that cannot be read."""

import httpx
import pytest

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import (
    UnreadableAnswerError,
)
from agent_runtime_client.sse import CHARACTERS_MAX, EventParser, LineSplitter


def streaming(*texts: str) -> tuple[AsyncAgentRuntime, list[httpx.Request]]:
    """A client whose streams are these, and the requests for them."""
    requests: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(200, text=texts[len(requests) - 1])

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    return AsyncAgentRuntime("http://test", http=http), requests


@pytest.mark.parametrize("data", ["{", "5", "x" * (CHARACTERS_MAX + 1)])
async def test_an_event_that_cannot_be_read_is_an_error_and_is_asked_for_again(
    data: str,
) -> None:
    good = 'id: 7\ndata: {"position": 7}\n\n'
    runtime, requests = streaming(f"{good}id: 8\ndata: {data}\n\n", good)
    stream = runtime.audit.stream(after=6)
    assert (await anext(stream)).position == 7

    with pytest.raises(UnreadableAnswerError, match="can't be read"):
        await anext(stream)

    assert stream.position == 7
    await anext(stream)
    assert [each.url.params["after"] for each in requests] == ["6", "7"]


def test_events_of_several_lines() -> None:
    parser = EventParser()

    taken = [parser.take(line) for line in ("id: 7", "data: a", ": x", "data:b", "")]
    assert taken[:-1] == [None] * 4
    assert taken[-1] == ("7", "a\nb")
    assert parser.take("") is None


def test_lines_end_at_carriage_returns_and_line_feeds_only() -> None:
    splitter = LineSplitter()

    taken = [
        splitter.take(text)
        for text in ("a\u2028\x85b\r", "\nc\rd", "\r\n", "", "\n", "e\r", "\r", "\n\n")
    ]
    assert taken == [["a\u2028\x85b"], ["c"], ["d"], [], [""], ["e"], [""], [""]]


def test_an_event_of_many_lines_is_bounded() -> None:
    parser = EventParser()
    half = "data:" + "x" * (CHARACTERS_MAX // 2)
    parser.take(half)

    with pytest.raises(ValueError, match="more than"):
        parser.take(half)
