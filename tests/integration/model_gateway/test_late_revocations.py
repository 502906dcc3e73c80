"""What is taken back while a call connects isn't sent."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from service.keys.cipher import SecretBinding
from service.keys.vault import Vault
from service.upstream_http.connection import Connection
from service.upstream_http.connections import Connections
from tests.integration.model_gateway.dialects import MESSAGES
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.stage import Stage
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    grant_path,
    put_routing,
)

Revocation = Callable[[Stage, str], Awaitable[object]]


class Connecting:
    """Connections that are made, and then held until they ``may_go``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_held = asyncio.Event()
        self.may_go = asyncio.Event()
        self._connect = Connections.connect
        monkeypatch.setattr(Connections, "connect", self._held())

    def _held(self) -> Callable[..., Awaitable[Connection]]:
        async def connect(connections: Connections, url: str) -> Connection:
            made = await self._connect(connections, url)
            self.is_held.set()
            await self.may_go.wait()
            return made

        return connect


async def _token(stage: Stage, _preset: str) -> object:
    tokens = f"/api/mcp/agents/{stage.agent}/tokens"
    (token,) = (await stage.ada.get(tokens)).data["tokens"]
    return await stage.ada.delete(f"{tokens}/{token['id']}")


async def _route(stage: Stage, _preset: str) -> object:
    return await put_routing(stage.ada, stage.agent)


async def _grant(stage: Stage, preset: str) -> object:
    return await stage.owner.delete(grant_path(preset, stage.agent))


async def _preset(stage: Stage, preset: str) -> object:
    return await stage.owner.delete(f"{PRESETS}/{preset}")


async def _agent(stage: Stage, _preset: str) -> object:
    return await stage.ada.delete(f"/api/catalog/agents/{stage.agent}")


async def _connection(stage: Stage, preset: str) -> object:
    shown = (await stage.owner.get(f"{PRESETS}/{preset}")).data
    (target,) = shown["groups"][0]["targets"]
    return await stage.owner.delete(f"{CONNECTIONS}/{target['connection_id']}")


async def _secret(stage: Stage, _preset: str) -> object:
    return await stage.owner.delete("/api/secrets/provider")


@pytest.mark.parametrize(
    ("revoke", "status"),
    [
        (_token, 401),
        (_route, 404),
        (_grant, 404),
        (_preset, 404),
        (_agent, 404),
        (_connection, 404),
        (_secret, 404),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
async def test_a_call_that_connects_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, revoke: Revocation, status: int
) -> None:
    connecting = Connecting(monkeypatch)
    async with provider(answer(MESSAGES.whole)) as made:
        preset = await stage.routes_to(made.url)
        call = asyncio.ensure_future(stage.call(MESSAGES))
        await connecting.is_held.wait()

        revoked = await revoke(stage, preset)
        connecting.may_go.set()

        assert getattr(revoked, "status", None) == 200, revoked
        assert (await call).status == status
    assert made.received == []


@pytest.mark.parametrize(
    ("revoke", "status"),
    [(_token, 401), (_route, 404), (_grant, 404), (_secret, 404)],
    ids=lambda each: getattr(each, "__name__", ""),
)
async def test_a_call_whose_credential_is_being_opened_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, revoke: Revocation, status: int
) -> None:
    is_opened, may_go = asyncio.Event(), asyncio.Event()
    open_secret = Vault.open_secret

    async def opens(vault: Vault, sealed_id: UUID, binding: SecretBinding) -> str:
        value = await open_secret(vault, sealed_id, binding)
        is_opened.set()
        await may_go.wait()
        return value

    async with provider(answer(MESSAGES.whole)) as made:
        preset = await stage.routes_to(made.url)
        monkeypatch.setattr(Vault, "open_secret", opens)
        call = asyncio.ensure_future(stage.call(MESSAGES))
        await is_opened.wait()

        revoked = await revoke(stage, preset)
        may_go.set()

        assert getattr(revoked, "status", None) == 200, revoked
        assert (await call).status == status
    assert made.received == []


async def test_a_call_that_connects_is_sent_if_nothing_is_taken_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting = Connecting(monkeypatch)
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(made.url)
        call = asyncio.ensure_future(stage.call(MESSAGES))
        await connecting.is_held.wait()

        connecting.may_go.set()

        assert (await call).status == 200
    assert len(made.received) == 1


async def test_a_secret_that_is_overwritten_meanwhile_is_sent_as_it_is_now(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    connecting = Connecting(monkeypatch)
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(made.url)
        call = asyncio.ensure_future(stage.call(MESSAGES))
        await connecting.is_held.wait()

        body = {"value": "sk-provider-another-one"}
        assert (await stage.owner.put("/api/secrets/provider", body)).status == 200
        connecting.may_go.set()

        assert (await call).status == 200
    assert made.received[0].header("Authorization") == "Bearer sk-provider-another-one"
