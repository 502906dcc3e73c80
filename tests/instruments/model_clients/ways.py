"""Two ways to a provider: directly, and through an agent's endpoint of the gateway."""

from dataclasses import dataclass
from typing import Any, Final

from tests.instruments.model_clients.provider import Provider
from tests.instruments.model_clients.scenarios import MODEL
from tests.support.gateway.served import Api

GATEWAY_OPTIONS: Final = ("--model-gateway-networks", "127.0.0.0/8")
PROVIDER_KEY: Final = "sk-provider-0123456789abcdef"
DIALECTS: Final = ("openai_chat", "openai_responses", "anthropic_messages")
PRESETS: Final = "/api/llm-router/presets"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a scenario is asked, as ``asking.Place`` has it."""

    scenario: str
    openai: str
    anthropic: str
    key: str

    def without_address(self, text: str) -> str:
        """Return a text in which this place's own names are those of any."""
        for url in (self.openai, self.anthropic):
            text = text.replace(url, "URL")
        return text.replace(self.key, "KEY")


@dataclass(frozen=True)
class Ways:
    """Makes places for a client.

    Each has a connection of its own, which no other place's failures suspend.
    Every name of a model goes to a target of that name, so it isn't edited.
    """

    api: Api
    provider: Provider
    name: str

    async def prepare(self) -> None:
        """Make the secret that the connections send."""
        secret = {"name": self.name, "value": PROVIDER_KEY}
        await self.api.do("POST", "/api/secrets", secret)

    def directly(self, scenario: str) -> Place:
        url = self.provider.base_url(f"{self.name}.{scenario}.directly")
        return Place(
            scenario=scenario, openai=f"{url}/v1", anthropic=url, key=PROVIDER_KEY
        )

    async def through(self, scenario: str) -> Place:
        run = f"{self.name}.{scenario}.through"
        connection = await self._made(
            "/api/llm-router/connections",
            name=run,
            base_url=f"{self.provider.base_url(run)}/v1",
            dialects=DIALECTS,
            provider="acme",
            credential={
                "secret_name": self.name,
                "header": "Authorization",
                "scheme": "Bearer",
            },
        )
        target = {"connection_id": connection["id"], "model": MODEL}
        groups = [{"targets": [target]}]
        preset = await self._made(PRESETS, name=run, groups=groups)
        agent = (await self._made("/api/catalog/agents", name=run))["id"]
        await self.api.do("PUT", f"{PRESETS}/{preset['id']}/agents/{agent}")
        route = {"model": "*", "preset_id": preset["id"]}
        await self.api.do(
            "PUT", f"/api/agents/{agent}/llm-routing", {"routes": [route], "tiers": {}}
        )
        made = await self._made(f"/api/mcp/agents/{agent}/tokens", label="client")
        url = f"{self.api.url}/llm/agents/{agent}"
        return Place(
            scenario=scenario,
            openai=f"{url}/openai/v1",
            anthropic=f"{url}/anthropic",
            key=made["token"],
        )

    async def _made(self, path: str, **body: Any) -> dict[str, Any]:
        made: dict[str, Any] = (await self.api.do("POST", path, body)).data
        return made
