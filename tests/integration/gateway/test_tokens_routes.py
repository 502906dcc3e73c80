"""A token of an agent over HTTP: shown once, and refused where it is none."""

from service.users.tokens import is_well_formed
from tests.support.callers import Callers

AGENT = "/api/catalog/agents"


async def test_a_repeat_gets_the_same_token(callers: Callers) -> None:
    ada = await callers.user("ada")
    agent_id = (await ada.post(AGENT, {"name": "Triage"})).data["id"]
    path, body = f"/api/mcp/agents/{agent_id}/tokens", {"label": "laptop"}

    first = await ada.post(path, body, Idempotency_Key="k1")
    again = await ada.post(path, body, Idempotency_Key="k1")

    assert again.body == first.body
    assert len((await ada.get(path)).data["tokens"]) == 1


async def test_a_token_is_shown_once_and_refused_under_api(callers: Callers) -> None:
    ada = await callers.user("ada")
    agent_id = (await ada.post(AGENT, {"name": "Triage"})).data["id"]
    path = f"/api/mcp/agents/{agent_id}/tokens"

    issued = await ada.post(path, {"label": "laptop", "user_id": str(ada.user_id)})

    assert issued.status == 201
    assert is_well_formed(issued.data["token"], "agt_")
    assert issued.headers["Cache-Control"] == "no-store"
    token = {k: v for k, v in issued.data.items() if k != "token"}
    assert (await ada.get(path)).data == {"tokens": [token]}
    agent = callers.with_token(issued.data["token"])
    assert (await agent.get("/api/users/me")).status == 401
    assert (await agent.get(path)).status == 401

    revoked = await ada.delete(f"{path}/{token['id']}")

    assert (revoked.status, revoked.message) == (200, "token revoked")
    assert (await ada.get(path)).data == {"tokens": []}
    again = await ada.delete(f"{path}/{token['id']}")
    assert again.message == "there was no such token"
