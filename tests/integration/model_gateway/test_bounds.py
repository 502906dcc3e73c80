"""Previews of more agents or models than they hold say that they aren't complete."""

from uuid import UUID

import pytest

from projections.model_gateway import queries
from service.model_gateway.presets import preview_routes as of_presets
from service.model_gateway.routing import preview_routes as of_routing
from service.model_gateway.tiers import routes as of_tiers
from service.resources import Resources
from tests.integration.model_gateway.conftest import Runtime
from tests.support.callers import Caller
from tests.support.model_gateway.asking import (
    PRESETS,
    TIERS,
    caught_up,
    new_preset,
    path,
    preset_body,
    put_tiers,
    routed,
    routing_body,
    to_preset,
    to_tier,
)
from tests.support.model_gateway.operations import target
from tests.support.tool_rules.setting import Setting


@pytest.mark.parametrize(("most", "is_complete"), [(2, True), (1, False)])
async def test_agents_beyond_the_bound_are_left_out(
    ada: Caller,
    owner: Caller,
    root: Caller,
    agent: UUID,
    connection: str,
    setting: Setting,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
    *,
    most: int,
    is_complete: bool,
) -> None:
    for module in (queries, of_presets, of_tiers):
        monkeypatch.setattr(module, "ROUTED_MAX", most)
    public = await new_preset(owner, connection, visibility="public")
    await put_tiers(root, {"fast": public})
    agents = sorted([agent, await setting.agent(ada)])
    for each in agents:
        await routed(ada, each, to_tier("*", "fast"))
    await caught_up(resources)

    body = preset_body([target(connection)])
    replies = [
        await owner.post(f"{PRESETS}/{public}/preview", body),
        await root.post(f"{TIERS}/preview", {"tiers": {}}),
    ]

    of_preset, of_tiers_data = [reply.data for reply in replies]
    shown = [each["agent_id"] for each in of_tiers_data["agents"]]
    assert shown == [str(each) for each in agents[:most]]
    # The owner of a public preset sees none of the agents of others.
    assert (of_preset["agents"], of_preset["other_agents"]) == ([], most)
    for data in (of_preset, of_tiers_data):
        assert data["is_complete"] is is_complete


@pytest.mark.parametrize(("most", "is_complete"), [(2, True), (1, False)])
async def test_models_beyond_the_bound_are_left_out(
    ada: Caller,
    agent: UUID,
    preset: str,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    *,
    is_complete: bool,
) -> None:
    for module in (queries, of_routing):
        monkeypatch.setattr(module, "RECORDED_MAX", most)
    await runtime.calls("rare", "often", "often")

    reply = await ada.post(
        f"{path(agent)}/preview", routing_body(to_preset("*", preset))
    )

    recorded = reply.data["recorded"]
    shown = [(each["model"], each["calls"]) for each in recorded["examples"]]
    assert shown == [("often", 2), ("rare", 1)][:most]
    assert recorded["calls"] == recorded["changed"] == sum(n for _, n in shown)
    assert recorded["is_complete"] is is_complete


async def test_a_few_of_the_changed_models_are_shown_and_all_are_counted(
    ada: Caller,
    agent: UUID,
    preset: str,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(of_routing, "EXAMPLES_MAX", 1)
    await runtime.calls("a", "b", "b")

    reply = await ada.post(
        f"{path(agent)}/preview", routing_body(to_preset("*", preset))
    )

    recorded = reply.data["recorded"]
    assert [each["model"] for each in recorded["examples"]] == ["b"]
    assert (recorded["calls"], recorded["changed"]) == (3, 3)
    assert recorded["is_complete"] is True
