"""An agent with a token, whose model calls go to providers of the test."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient

from tests.integration.model_gateway.dialects import DIALECTS, Spoken
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    PRESETS,
    granted,
    new_connection,
    preset_body,
    routed,
    to_preset,
)
from tests.support.model_gateway.operations import target

KEY = "sk-provider-0123456789abcdef"
MODEL = "swift-1"


@dataclass(kw_only=True)
class Stage:
    """``owner`` owns connections and presets, ``ada`` manages the agent."""

    client: TestClient
    owner: Caller
    ada: Caller
    agent: UUID
    token: str

    async def connection(self, url: str, **other: Any) -> str:
        """Make a connection that sends ``KEY`` as a bearer token."""
        credential = {
            "secret_name": "provider",
            "header": "Authorization",
            "scheme": "Bearer",
        }
        settings = {
            "name": "Provider",
            "base_url": url,
            "dialects": [*DIALECTS, "openai_embeddings"],
            "provider": "acme",
            "credential": credential,
        }
        return await new_connection(self.owner, **{**settings, **other})

    async def preset(self, *groups: list[dict[str, Any]], **terms: Any) -> str:
        """Make a preset that the agent may call, and route every name to it."""
        made = await self.owner.post(PRESETS, preset_body(*groups, **terms))
        assert made.status == 201, made.data
        preset_id = str(made.data["id"])
        await granted(self.owner, preset_id, self.agent)
        await routed(self.ada, self.agent, to_preset("*", preset_id))
        return preset_id

    async def routes_to(self, *urls: str, **terms: Any) -> str:
        """Route every name to providers, each in a group of its own."""
        groups = [
            [target(await self.connection(url, name=f"P{number}"), MODEL)]
            for number, url in enumerate(urls)
        ]
        for group in groups:
            group[0]["context_window"] = None
        return await self.preset(*groups, **terms)

    def path(self, path: str) -> str:
        return f"/llm/agents/{self.agent}{path}"

    async def call(
        self,
        spoken: Spoken,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        **other: Any,
    ) -> ClientResponse:
        """Send a call; ``other`` are members of its body."""
        given = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            **(headers or {}),
        }
        content = spoken.request(**other) if body is None else body
        return await self.client.post(
            self.path(spoken.path), data=content, headers=given
        )
