"""What a client says of what a proxy answers, and of a server it doesn't trust."""

import ssl

import httpx
import pytest

from agent_runtime_client.art.errors import exit_code_of, text_of
from agent_runtime_client.errors import (
    AgentRuntimeError,
    UnreadableAnswerError,
    WrongServerError,
)
from tests.unit.client.test_safety import answering


def redirect(status: int, location: str | None) -> httpx.Response:
    headers = {} if location is None else {"Location": location}
    return httpx.Response(status, text="<html>", headers=headers)


async def refused(answer: httpx.Response | Exception) -> AgentRuntimeError:
    """Return the error of a command that is answered once, and not tried again."""
    runtime, sent = answering(answer)
    with pytest.raises(AgentRuntimeError) as raised:
        await runtime.agents.create("x")
    assert len(sent) == 1
    return raised.value


async def test_a_body_that_is_too_large_for_a_proxy() -> None:
    error = await refused(httpx.Response(413, text="<html>"))

    assert (error.code, error.status) == ("too_large", 413)
    assert "a proxy before it takes no body of 12 bytes" in error.message
    assert "client_max_body_size" in error.message
    assert "repeat it" not in text_of(error)


@pytest.mark.parametrize(
    ("location", "advice"),
    [
        ("https://runtime.example/api/secret?token=x", "redirect to https://runtime."),
        ("/elsewhere", "not by the service"),
        ("https://[", "not by the service"),
        (None, "not by the service"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed_but_shown(
    status: int, location: str | None, advice: str
) -> None:
    error = await refused(redirect(status, location))

    assert isinstance(error, WrongServerError)
    assert error.code == "redirected"
    assert advice in error.message
    assert "token=x" not in error.message
    assert "repeat it" not in text_of(error)


async def test_an_untrusted_certificate_is_not_tried_again() -> None:
    cause = ssl.SSLCertVerificationError(1, "certificate verify failed")
    cause.verify_message = "self-signed certificate"
    failed = httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED]")
    failed.__cause__ = OSError()
    failed.__cause__.__context__ = cause

    error = await refused(failed)

    assert isinstance(error, WrongServerError)
    assert error.code == "untrusted_certificate"
    assert "(self-signed certificate)" in error.message
    assert "SSL_CERT_FILE" in error.message
    assert exit_code_of(error) == 1


@pytest.mark.parametrize("status", [400, 404])
async def test_another_refusal_of_a_proxy_is_unreadable(status: int) -> None:
    assert isinstance(
        await refused(httpx.Response(status, text="<html>")), UnreadableAnswerError
    )
