"""How the gateway lists an agent's tools, over HTTP."""

import pytest

from tests.support.callers import Caller


@pytest.fixture
async def agent(ada: Caller) -> str:
    agent = await ada.post("/api/catalog/agents", {"name": "Triage"})
    return str(agent.data["id"])


async def test_it_is_set_read_and_unset(ada: Caller, agent: str) -> None:
    path = f"/api/mcp/agents/{agent}/gateway"
    before = await ada.get(path)
    assert before.data == {"agent_id": agent, "tools_listed_max": None, "version": 1}

    changed = await ada.put(path, {"tools_listed_max": 0}, If_Match='"1"')
    again = await ada.put(path, {"tools_listed_max": 0})
    late = await ada.put(path, {"tools_listed_max": 40}, If_Match='"1"')

    assert changed.message == "gateway settings changed"
    assert changed.data == {"agent_id": agent, "tools_listed_max": 0, "version": 2}
    assert changed.headers["ETag"] == '"2"'
    assert again.message == "agent already had them"
    assert late.status == 412
    assert (await ada.get(path)).data == changed.data
    shown = await ada.get(
        f"/api/catalog/agents/{agent}", X_Min_Position=str(changed.position)
    )
    assert shown.data["version"] == 2
    unset = await ada.put(path, {"tools_listed_max": None})
    assert unset.data["tools_listed_max"] is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"tools_listed_max": -1},
        {"tools_listed_max": "40"},
        {"tools_listed_max": 10**9},
        {"tools_listed_max": True},
    ],
)
async def test_what_is_no_number_of_tools_is_refused(
    ada: Caller, agent: str, body: dict[str, object]
) -> None:
    reply = await ada.put(f"/api/mcp/agents/{agent}/gateway", body)

    assert reply.status == 422
    assert [each["path"] for each in reply.data["errors"]] == ["tools_listed_max"]
