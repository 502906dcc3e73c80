"""What a disabled user is refused over HTTP, at once."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from service.audit.record import may_still_read
from service.bootstrap import create_first_admin, issue_token_for
from service.errors import ConflictError
from service.resources import Resources
from service.users.aggregate import User
from tests.support.audit.reading import live, opened
from tests.support.callers import Callers
from tests.support.scenario import Scenario


async def test_a_disabled_user_is_answered_like_an_unknown_token(
    callers: Callers,
) -> None:
    root, ada = await callers.user("root", "superuser"), await callers.user("ada")
    assert (await ada.get("/api/users/me")).status == 200

    reply = await root.put(f"/api/users/{ada.user_id}/disabled")

    assert (reply.status, reply.message) == (200, "user disabled")
    assert reply.data["is_disabled"] is True
    refused = await ada.get("/api/users/me", X_Request_Id="same")
    unknown = await callers.with_token("art_none").get(
        "/api/users/me", X_Request_Id="same"
    )
    assert (refused.status, refused.body) == (401, unknown.body)
    seen = {"X_Min_Position": str(reply.position)}
    shown = await root.get(f"/api/users/{ada.user_id}", **seen)
    assert shown.data["is_disabled"] is True

    again = await root.delete(f"/api/users/{ada.user_id}/disabled")
    assert (again.message, again.data["is_disabled"]) == ("user enabled", False)
    assert (await ada.get("/api/users/me")).status == 200


async def test_streams_under_way_end(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    auditor = await callers.user("olga", "auditor")

    async with live(auditor) as stream, asyncio.timeout(60):
        await root.put(f"/api/users/{auditor.user_id}/disabled")
        await stream.response.content.read()


async def test_exports_under_way_are_aborted(
    callers: Callers, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export stops between two batches, without its final chunk."""
    root = await callers.user("root", "superuser")
    auditor = await callers.user("olga", "auditor")
    wrote, may_go_on = asyncio.Event(), asyncio.Event()

    async def after_the_first(request: web.Request) -> bool:
        if wrote.is_set():
            await may_go_on.wait()
        wrote.set()
        return await may_still_read(request)

    monkeypatch.setattr("projections.audit.trail.export.BATCH_ENTRIES", 1)
    monkeypatch.setattr(
        "projections.audit.trail.routes.may_still_read", after_the_first
    )

    async with asyncio.timeout(60):
        async with opened(auditor, "/api/audit/export.jsonl") as response:
            await wrote.wait()
            await root.put(f"/api/users/{auditor.user_id}/disabled")
            may_go_on.set()
            with pytest.raises(Exception, match=r"(?i)payload|transfer|closed|reset"):
                await response.content.read()


async def test_a_disabled_admin_has_no_valid_token_file(
    resources: Resources, tmp_path: Path, scenario: Scenario
) -> None:
    assert await create_first_admin(resources, tmp_path) is not None
    admin = await resources.log.load(User.create_id("admin"))
    assert isinstance(admin, User)
    changed = admin.working_copy()
    changed.disable()
    await scenario.given(changed)

    assert await create_first_admin(resources, tmp_path) is None
    with pytest.raises(ConflictError, match="disabled"):
        await issue_token_for(resources, "admin")
