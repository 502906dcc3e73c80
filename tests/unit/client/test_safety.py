"""What is repeated, what is not, and what no error shows."""

import httpx
import pytest

from agent_runtime_client import (
    AgentRuntime,
    AgentRuntimeError,
    AsyncAgentRuntime,
    Secret,
)
from agent_runtime_client.encoding import body_of
from agent_runtime_client.errors import (
    ConnectionFailedError,
    OutcomeUnknownError,
    PreconditionFailedError,
    RateLimitedError,
    UnavailableError,
    UnreadableAnswerError,
    WrongServerError,
)


def answering(
    *answers: httpx.Response | Exception, **options: float
) -> tuple[AsyncAgentRuntime, list[httpx.Request]]:
    """A client whose attempts are answered like that, and the requests it sends."""
    sent: list[httpx.Request] = []
    left = list(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(
            answer.status_code, headers=answer.headers, content=answer.content
        )

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    return AsyncAgentRuntime("http://test", "art_x", http=http, **options), sent  # type: ignore[arg-type]  # numbers


def refusal(status: int, code: str, **headers: str) -> httpx.Response:
    data = {"code": code, "errors": [], "request_id": "r-1"}
    return httpx.Response(
        status,
        json={"data": data, "message": "no", "status_code": status},
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


DONE = httpx.Response(
    201,
    json={
        "data": {"id": "00000000-0000-4000-8000-000000000001", "name": "x"},
        "message": "done",
        "status_code": 201,
    },
)


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        httpx.ReadTimeout("late"),
        httpx.RemoteProtocolError("cut"),
        refusal(429, "rate_limited", Retry_After="0"),
        refusal(503, "overloaded", Retry_After="0"),
        refusal(503, "outcome_unknown"),
        refusal(409, "too_many_conflicts"),
        httpx.Response(502, text="gateway"),
        httpx.Response(503, text="gateway"),
    ],
)
async def test_a_command_with_a_key_is_repeated_as_it_was(
    failure: httpx.Response | Exception,
) -> None:
    runtime, sent = answering(failure, DONE)

    await runtime.agents.create("x")

    first, second = sent
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
    assert first.content == second.content


@pytest.mark.parametrize(
    ("failure", "error_type"),
    [
        (refusal(412, "precondition_failed"), PreconditionFailedError),
        (refusal(422, "invalid_request"), AgentRuntimeError),
        (refusal(409, "user_name_taken"), AgentRuntimeError),
        (refusal(429, "rate_limited"), RateLimitedError),
        (refusal(503, "unavailable"), UnavailableError),
        (refusal(500, "internal_error"), AgentRuntimeError),
        (httpx.Response(200, text="<html>"), UnreadableAnswerError),
    ],
)
async def test_permanent_failures_are_tried_once(
    failure: httpx.Response, error_type: type[AgentRuntimeError]
) -> None:
    runtime, sent = answering(failure)

    with pytest.raises(error_type) as raised:
        await runtime.agents.create("x")

    assert len(sent) == 1
    assert raised.value.idempotency_key == sent[0].headers["Idempotency-Key"]


@pytest.mark.parametrize(
    ("failure", "attempts"),
    [
        # Nothing was sent, or the service says that nothing was done.
        (httpx.ConnectError("refused"), 3),
        (refusal(503, "overloaded", Retry_After="0"), 3),
        # Perhaps it was done.
        (httpx.ReadError("reset"), 1),
        (refusal(503, "outcome_unknown", Retry_After="0"), 1),
        (httpx.Response(503, text="gateway", headers={"Retry-After": "0"}), 1),
    ],
)
async def test_a_command_without_a_key_is_repeated_only_if_it_had_no_effect(
    failure: httpx.Response | Exception, attempts: int
) -> None:
    runtime, sent = answering(failure)

    with pytest.raises(AgentRuntimeError):
        await runtime.connectors.observe("00000000-0000-4000-8000-000000000001")

    assert len(sent) == attempts
    assert "Idempotency-Key" not in sent[0].headers


async def test_a_proxys_limit_of_the_rate_is_an_error_of_that_kind() -> None:
    limit = httpx.Response(429, text="slow down", headers={"Retry-After": "0"})
    runtime, sent = answering(limit)

    with pytest.raises(RateLimitedError, match="not by the service") as raised:
        await runtime.users.me()

    assert (raised.value.status, raised.value.attempts, len(sent)) == (429, 3, 3)
    assert "attempts 3" in str(raised.value)


async def test_the_deadline_is_for_all_attempts() -> None:
    refused = refusal(503, "overloaded", Retry_After="30")
    runtime, sent = answering(refused, deadline_s=20.0)

    with pytest.raises(UnavailableError) as raised:
        await runtime.users.me()

    assert len(sent) == 1
    assert raised.value.retry_after_s == 30


async def test_no_error_holds_the_token() -> None:
    runtime, _ = answering(httpx.ReadError("reset"), max_retries=0)

    with pytest.raises(OutcomeUnknownError) as raised:
        await runtime.agents.create("x")
    error: BaseException | None = raised.value
    while error is not None:
        assert not hasattr(error, "request")
        assert "art_x" not in f"{error!r} {vars(error)}"
        error = error.__cause__ or error.__context__

    with pytest.raises(ConnectionFailedError):
        await runtime.users.me()


@pytest.mark.parametrize("kind", [str, Secret])
async def test_the_line_end_of_a_token_file_is_no_part_of_the_token(
    kind: type[str | Secret],
) -> None:
    sent: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(
            DONE.status_code, headers=DONE.headers, content=DONE.content
        )

    http = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    await AsyncAgentRuntime("http://test", kind("art_x\n"), http=http).users.me()

    assert sent[0].headers["Authorization"] == "Bearer art_x"


@pytest.mark.parametrize("token", ["", "\n", "art x", "art_x\nart_y", "art_\u00e9"])
@pytest.mark.parametrize("kind", [AgentRuntime, AsyncAgentRuntime])
def test_a_malformed_token_is_refused_and_left_out_of_the_message(
    kind: type[AgentRuntime | AsyncAgentRuntime], token: str
) -> None:
    with pytest.raises(ValueError, match="printable ASCII") as raised:
        kind("http://test", token)

    assert "art_" not in f"{raised.value!r} {raised.value.__cause__!r}"


async def test_a_redirection_is_not_followed() -> None:
    elsewhere = httpx.Response(307, headers={"Location": "http://other/"})
    runtime, sent = answering(elsewhere)

    with pytest.raises(WrongServerError):
        await runtime.users.me()
    assert len(sent) == 1


def test_a_text_that_no_json_has_is_refused_without_showing_it() -> None:
    with pytest.raises(ValueError, match="half of a surrogate pair") as refused:
        body_of({"value": "sk-\ud800"})

    assert "sk-" not in str(refused.value)
    assert refused.value.__context__ is None
