"""The agent's token is for this service: no provider gets it, wherever it stands."""

import pytest

from tests.integration.model_gateway.dialects import CHAT, MESSAGES
from tests.integration.model_gateway.provider import answer, provider
from tests.integration.model_gateway.stage import Stage


@pytest.mark.parametrize(
    "name", ["X-Goog-Api-Key", "X_Api_Key", "Api-Key", "Anything", "Cookie"]
)
async def test_a_header_with_the_token_is_not_sent(stage: Stage, name: str) -> None:
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(made.url)

        reply = await stage.call(MESSAGES, headers={name: f"key {stage.token}"})

        assert reply.status == 200
    assert name.lower() not in made.received[0].names
    assert stage.token not in str(made.received[0])


@pytest.mark.parametrize(
    "name", ["X_Api_Key", "Cf-Connecting-Ip", "X-Forwarded-Server", "True-Client-Ip"]
)
async def test_a_header_that_servers_trust_is_not_sent(stage: Stage, name: str) -> None:
    async with provider(answer(MESSAGES.whole)) as made:
        await stage.routes_to(made.url)

        assert (await stage.call(MESSAGES, headers={name: "1.2.3.4"})).status == 200
    assert name.lower() not in made.received[0].names


async def test_a_query_with_the_token_is_refused(stage: Stage) -> None:
    async with provider(answer(CHAT.whole)) as made:
        await stage.routes_to(made.url)

        reply = await stage.client.post(
            f"{stage.path(CHAT.path)}?key={stage.token}",
            data=CHAT.request(),
            headers={"X-Api-Key": stage.token},
        )

        assert reply.status == 400
        assert stage.token not in await reply.text()
    assert made.received == []
