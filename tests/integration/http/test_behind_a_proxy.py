"""Clients of a proxy that the operator trusts are told apart."""

import logging

import pytest
from pytest_aiohttp.plugin import AiohttpClient

from service.app import create_app
from service.resources import Resources
from service.users.tokens import new_token
from tests.support.callers import Callers
from tests.support.configured import configured
from tests.support.http_server import Server
from tests.support.log_records import said_by

REQUESTS = "agent_runtime.request"
ME = "/api/users/me"
GUESSES = 12


async def guessing(callers: Callers, client: str) -> list[int]:
    """Return the answers to bad tokens of a client, which invents its address, too."""
    return [
        (
            await callers.with_token(new_token()).get(
                ME, X_Forwarded_For=f"198.51.100.{number}, {client}"
            )
        ).status
        for number in range(GUESSES)
    ]


@pytest.fixture
async def trusting(resources: Resources, aiohttp_client: AiohttpClient) -> Callers:
    app = create_app(resources, configured(trusted_proxies="127.0.0.0/8"))
    return Callers(resources, await aiohttp_client(Server(app)))


async def test_each_client_of_a_trusted_proxy_has_its_own_limit(
    trusting: Callers,
) -> None:
    for client in ("203.0.113.1", "203.0.113.2"):
        statuses = await guessing(trusting, client)

        assert statuses == [401] * 10 + [429] * 2


async def test_another_one_is_not_believed(edge: Callers) -> None:
    await guessing(edge, "203.0.113.1")

    assert set(await guessing(edge, "203.0.113.2")) == {429}


async def test_the_line_of_a_request_has_the_clients_address(
    trusting: Callers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, REQUESTS)

    await trusting.anonymous().get(ME, X_Forwarded_For="203.0.113.1")

    [record] = said_by(caplog, REQUESTS)
    assert vars(record)["fields"]["address"] == "203.0.113.1"


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics"])
async def test_a_probe_that_succeeds_is_logged_for_debugging_only(
    edge: Callers, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    caplog.set_level(logging.DEBUG, REQUESTS)

    for asked in (path, f"{path}?unknown=1"):
        async with edge.anonymous().client.get(asked) as answer:
            await answer.read()

    assert [record.levelno for record in said_by(caplog, REQUESTS)] == [
        logging.DEBUG,
        logging.INFO,
    ]
