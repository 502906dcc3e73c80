"""Slug, record mode and credential of a connector over HTTP."""

import pytest

from tests.support.callers import Caller
from tests.support.connectors.making import TRACKER


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"whose": "owner"}, "secret_name"),
        ({"whose": "caller", "secret_name": "x"}, "secret_name"),
        ({"whose": "caller", "header": "Host"}, "header"),
        ({"whose": "caller", "header": "mcp-session-id"}, "header"),
        ({"whose": "caller", "header": "X Key"}, "header"),
        ({"whose": "caller", "scheme": "Bear er"}, "scheme"),
        ({"whose": "everybody"}, "whose"),
    ],
)
async def test_a_wrong_credential_is_refused(
    ada: Caller, body: dict[str, str], path: str
) -> None:
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data["id"]

    reply = await ada.put(f"/api/mcp/connectors/{connector}/credential", body)

    assert reply.status == 422
    assert [each["path"] for each in reply.data["errors"]] == [path]


async def test_settings_are_shown_where_the_connector_is(ada: Caller) -> None:
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}"
    assert (connector["slug"], connector["credential"]) == ("issue-tracker", None)

    assert connector["protocol_revision"] is None
    settings = {"slug": "tracker", "record_mode": "batched"}
    revision = {"protocol_revision": "2025-06-18"}
    await ada.put(f"{path}/gateway", settings | revision)
    last = await ada.put(f"{path}/credential", {"whose": "caller", "scheme": None})

    shown = await ada.get(path, X_Min_Position=str(last.position))
    assert shown.data["slug"] == "tracker"
    assert shown.data["record_mode"] == "batched"
    assert shown.data["protocol_revision"] == "2025-06-18"
    assert shown.data["credential"] == {
        "whose": "caller",
        "header": "Authorization",
        "scheme": None,
    }
    assert shown.data | {"grants": []} == last.data | {"grants": []}


async def test_a_slug_that_was_set_stays_when_the_name_changes(ada: Caller) -> None:
    """Also where it is the one that followed from the name."""
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}"
    settings = {"slug": connector["slug"], "record_mode": "strict"}

    reply = await ada.put(f"{path}/gateway", settings)
    again = await ada.put(f"{path}/gateway", settings)
    renamed = await ada.put(path, {**TRACKER, "name": "Bugs", "description": ""})

    assert reply.message == "gateway settings changed"
    assert again.message == "connector already had them"
    assert renamed.data["slug"] == connector["slug"]
    shown = await ada.get(path, X_Min_Position=str(renamed.position))
    assert shown.data["slug"] == connector["slug"]


async def test_a_revision_is_set_until_a_change_without_one(ada: Caller) -> None:
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data["id"]
    path = f"/api/mcp/connectors/{connector}/gateway"
    settings = {"slug": "tracker", "record_mode": "strict"}

    async def put(**revision: str | None) -> tuple[str, str | None]:
        reply = await ada.put(path, settings | revision)
        return reply.message, reply.data["protocol_revision"]

    changed, had = "gateway settings changed", "connector already had them"
    assert await put(protocol_revision="2026-07-28") == (changed, "2026-07-28")
    assert await put(protocol_revision="2026-07-28") == (had, "2026-07-28")
    assert await put() == (changed, None)
    assert await put(protocol_revision=None) == (had, None)


@pytest.mark.parametrize("revision", ["2024-10-07", "", 1, "2031-01-01"])
async def test_a_revision_that_is_not_spoken_is_refused(
    ada: Caller, revision: object
) -> None:
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data["id"]
    settings = {"slug": "tracker", "record_mode": "strict"}

    reply = await ada.put(
        f"/api/mcp/connectors/{connector}/gateway",
        settings | {"protocol_revision": revision},
    )

    assert reply.status == 422
    assert [each["path"] for each in reply.data["errors"]] == ["protocol_revision"]
