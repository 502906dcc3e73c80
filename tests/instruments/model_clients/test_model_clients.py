"""Unmodified clients say the same through the gateway as they do directly."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.instruments.model_clients import chat, messages, responses
from tests.instruments.model_clients.comparing import (
    request_differences,
    transcript_differences,
)
from tests.instruments.model_clients.programs import claude_code, codex
from tests.instruments.model_clients.provider import Received, provider
from tests.instruments.model_clients.running import Transcripts, python_client
from tests.instruments.model_clients.scenarios import (
    ANSWERS,
    BROKEN,
    REFUSED_ONCE,
)
from tests.instruments.model_clients.ways import (
    GATEWAY_OPTIONS,
    PROVIDER_KEY,
    Place,
    Ways,
)
from tests.support.gateway.served import Api, new_session
from tests.support.harness.service import Server, running, serving

pytestmark = pytest.mark.model_clients

ALL: Final = frozenset(ANSWERS)
# Of a stream alone.
WHOLE: Final = ALL - {"stream_error", "cut"}
# Claude Code waits for minutes.
NO_STALL: Final = ALL - {"stall"}
SCENARIOS: Final = {
    "openai_chat": WHOLE,
    "openai_chat_streamed": ALL,
    "openai_chat_streamed_without_usage": ALL,
    "openai_responses": WHOLE,
    "openai_responses_streamed": ALL,
    "anthropic": WHOLE,
    "anthropic_streamed": ALL,
    "langchain_openai": ALL,
    "langchain_openai_responses": ALL,
    "langchain_anthropic": ALL,
    "pydantic_ai_openai": ALL,
    "litellm_openai": ALL,
    # It doesn't ask again.
    "litellm_anthropic": ALL - {*REFUSED_ONCE},
    # It asks again more often after a cut than after an error in the stream.
    "claude_agent_sdk": NO_STALL - {"cut"},
    "claude_code": NO_STALL - {"images"},
    "codex": ALL,
}
PROGRAMS: Final = {"claude_code": claude_code, "codex": codex}
# docs/model-calls.md: a stream that is cut ends by an error of its dialect.
CUT_ENDS_OTHERWISE: Final = {
    "openai_responses_streamed",
    "anthropic_streamed",
    "langchain_openai_responses",
    "langchain_anthropic",
    "litellm_anthropic",
    "codex",
}
# What tools return is told while the answer still comes.
UNORDERED: Final = {
    ("claude_code", "parallel_tools"),
    ("claude_agent_sdk", "parallel_tools"),
}
ENDS: Final = ("error", "response.failed", "turn.failed")

Client = Callable[[Sequence[Place], Path], Awaitable[Transcripts]]


def client_of(name: str) -> Client:
    return PROGRAMS.get(name) or partial(python_client, name)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("service")
    options = ("--data-dir", str(folder / "data"), *GATEWAY_OPTIONS)
    with running(serving(*options, log=folder / "log")) as server:
        yield server


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_client_says_the_same_through_the_gateway(
    name: str, service: Server, tmp_path: Path
) -> None:
    client, scenarios = client_of(name), sorted(SCENARIOS[name])
    async with provider() as asked, new_session() as http:
        ways = Ways(Api(http, service.url, service.admin_token), asked, name)
        await ways.prepare()
        places = {
            each: (ways.directly(each), await ways.through(each)) for each in scenarios
        }
        direct = await client([one for one, _ in places.values()], tmp_path)
        through = await client([other for _, other in places.values()], tmp_path)

    found = {}
    for scenario in scenarios:
        first = asked.requests[f"{name}.{scenario}.directly"]
        second = asked.requests[f"{name}.{scenario}.through"]
        assert is_played(scenario, first), scenario
        check_credentials(second, places[scenario][1].key)
        said = direct[scenario], through[scenario]
        if scenario == "cut" and name in CUT_ENDS_OTHERWISE:
            assert transcript_differences(*said, places[scenario])
            said = without_end(said[0]), without_end(said[1])
        found[scenario] = [
            *transcript_differences(
                *said, places[scenario], in_order=(name, scenario) not in UNORDERED
            ),
            *request_differences(first, second),
        ]
    assert found == {scenario: [] for scenario in scenarios}


async def test_another_answer_is_a_difference(tmp_path: Path) -> None:
    for name in ("openai_chat", "anthropic_streamed", "claude_code", "codex"):
        async with provider() as asked, new_session() as http:
            place = Ways(Api(http, "", ""), asked, name).directly("text")
            first = await client_of(name)([place], tmp_path)
            asked.alter = lambda piece: piece.replace(b"Two", b"Tw0")
            second = await client_of(name)([place], tmp_path)

        compared = transcript_differences(first["text"], second["text"], (place, place))
        assert any("Tw0" in line for line in compared), name


def is_played(scenario: str, requests: Sequence[Received]) -> bool:
    """Say whether a client has done what a scenario is about."""
    if ANSWERS[scenario].calls:
        return any(has_results(each) for each in requests)
    if scenario in REFUSED_ONCE:
        return len(requests) > 1
    if scenario in BROKEN:
        return scenario != "stall" or any(each.left for each in requests)
    return bool(requests)


def has_results(request: Received) -> bool:
    dialects: dict[str, Any] = {
        "chat": chat,
        "responses": responses,
        "messages": messages,
    }
    [found] = [
        each for name, each in dialects.items() if f"v1/{name}" in request.target
    ]
    return bool(found.has_results(request.json))


def check_credentials(requests: Sequence[Received], token: str) -> None:
    """Check that a provider gets its own key, and nothing of the agent's."""
    for each in requests:
        assert ("authorization", f"Bearer {PROVIDER_KEY}") in [
            (name.lower(), value) for name, value in each.headers
        ]
        assert token not in f"{each.target} {each.headers}"
        assert token.encode() not in each.body


def without_end(said: Sequence[Any]) -> list[Any]:
    """Return what was said before a stream was cut, which an error ends."""
    kept = [
        each for each in said if "error" not in each and each.get("type") not in ENDS
    ]
    assert len(kept) < len(said)
    return kept
