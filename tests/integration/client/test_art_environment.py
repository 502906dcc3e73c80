"""``art`` with what its environment says of certificates and proxies."""

import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.integration.client.art import Art
from tests.support.certificate import Certificate, make_certificate

ME = {"data": {"name": "ada"}, "message": "you", "status_code": 200}


@pytest.fixture
def files(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path, "localhost")


@pytest.fixture
async def art(files: Certificate, tmp_path: Path) -> AsyncIterator[Art]:
    """The command before a server with a certificate that nobody knows."""

    async def answer(_request: web.Request) -> web.Response:
        return web.json_response(ME)

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(files.both)
    app = web.Application()
    app.router.add_get("/api/users/me", answer)
    server = TestServer(app)
    await server.start_server(ssl=tls)
    yield Art(f"https://127.0.0.1:{server.port}", "art_x", tmp_path)
    await server.close()


async def test_a_private_certificate_is_trusted_by_a_variable(
    art: Art, files: Certificate
) -> None:
    trusted = await art("users", "me", SSL_CERT_FILE=str(files.certificate))
    untrusted = await art("users", "me")

    assert trusted.code == 0, trusted.err
    assert trusted.data["name"] == "ada"
    assert untrusted.code == 1
    error = json.loads(untrusted.err)
    assert error["code"] == "untrusted_certificate"
    assert "SSL_CERT_FILE" in error["message"]
    assert "the service is https://127.0.0.1:" in error["message"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSL_CERT_FILE", "missing.pem"),
        ("SSL_CERT_FILE", "key.pem"),
        ("HTTPS_PROXY", "gopher://127.0.0.1"),
        ("NO_PROXY", "[::"),
    ],
)
async def test_a_variable_that_cannot_be_used_is_said_so(
    art: Art, files: Certificate, name: str, value: str
) -> None:
    if value.endswith(".pem"):
        value = str(files.key.with_name(value))

    wrong: dict[str, Any] = {name: value}

    run = await art("users", "me", **wrong)

    assert run.code == 2, run.err
    assert "a variable of the environment can't be used" in run.err
    assert name in run.err
    assert "Traceback" not in run.err
