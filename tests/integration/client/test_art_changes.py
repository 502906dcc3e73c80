"""Changes that ``art`` sends only after it was told to."""

from pathlib import Path

import pytest

from tests.integration.client.art import Art
from tests.support.callers import Caller


async def test_a_change_without_a_terminal_needs_yes(art: Art) -> None:
    run = await art("agents", "create", "Triage")

    assert run.code == 2
    assert "--yes" in run.err
    assert "POST" in run.err
    assert (await art("agents", "list")).data == []


@pytest.mark.parametrize(("typed", "code", "made"), [("y\n", 0, 1), ("n\n", 1, 0)])
async def test_on_a_terminal_a_change_is_asked_about(
    art: Art, typed: str, code: int, made: int
) -> None:
    run = await art.on_a_terminal("agents", "create", "Triage", typed=typed)

    assert run.code == code
    assert "send it? [y/N]" in run.err
    assert len((await art("agents", "list")).data) == made


async def test_a_dry_run_shows_the_request_and_sends_nothing(art: Art) -> None:
    run = await art("agents", "create", "Triage", "--dry-run", "--yes")

    assert run.code == 0
    assert "name: Triage" in run.err
    assert "nothing was sent" in run.err
    assert (await art("agents", "list")).data == []


async def test_repricing_compares_or_records(art: Art, ada: Caller) -> None:
    agent = (await ada.post("/api/catalog/agents", {"name": "a"})).data["id"]
    start = {"agent_id": agent, "session_id": "s"}
    await ada.post("/api/observability/session", start)
    noon = "2026-03-01T12:00:00Z"
    turn = {"turn_id": "t", "started_at": noon, "ended_at": noon}
    used = {"provider": "p", "model": "m", "prompt_tokens": 1, "completion_tokens": 0}
    await ada.post("/api/observability/session/s/turns", {**turn, **used})
    await ada.post("/api/llm-router/providers", {"key": "p", "display_name": "P"})
    price = {"provider": "p", "model": "m", "effective_from": "2026-01-01T00:00:00Z"}
    amounts = {"input_price_per_1m": 1, "output_price_per_1m": 1}
    await ada.post("/api/llm-router/prices", {**price, **amounts})
    command = ("prices", "reprice-sessions", noon, "2026-03-02T00:00:00Z")

    dry = await art(*command, "--dry-run")
    unconfirmed = await art(*command)
    done = await art(*command, "--yes")
    again = await art(*command, "--dry-run")

    assert unconfirmed.code == 2
    assert (dry.data["dry_run"], dry.data["turns_changed"]) == (True, 1)
    assert (done.data["dry_run"], done.data["turns_changed"]) == (False, 1)
    assert again.data["turns_changed"] == 0


@pytest.mark.parametrize(
    "command",
    [
        ("secrets", "delete", "preview"),
        ("secrets", "set", "preview"),
        ("api", "DELETE", "/api/secrets/preview"),
    ],
)
async def test_a_secret_named_preview_is_asked_about(
    art: Art, ada: Caller, command: tuple[str, ...]
) -> None:
    await ada.post("/api/secrets", {"name": "preview", "value": "sk-1"})

    dry = await art(*command, "--dry-run", stdin=b"sk-2\n")
    unconfirmed = await art(*command, stdin=b"sk-2\n")

    assert (dry.code, unconfirmed.code) == (0, 2)
    assert "nothing was sent" in dry.err
    assert (await ada.get("/api/secrets/preview/value")).data["value"] == "sk-1"


async def test_a_preview_of_rules_is_not_asked_about(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    agent = (await ada.post("/api/catalog/agents", {"name": "a"})).data["id"]
    body = tmp_path / "rules.json"
    body.write_text('{"rules": []}')

    run = await art(
        "api", "POST", f"/api/mcp/agents/{agent}/tools/preview", "--body", body
    )

    assert run.code == 0, run.err


async def test_a_request_has_an_idempotency_key_only_where_one_is_taken(
    art: Art, tmp_path: Path
) -> None:
    body = tmp_path / "body.json"
    body.write_text("{}")
    command = ("api", "POST", "/api/llm-router/reprice", "--body", body, "--yes")

    sent = await art(*command)
    with_key = await art(*command, "--idempotency-key", "k")

    assert (sent.code, with_key.code) != (0, 0)
    assert "Idempotency-Key" not in sent.err
    assert "Idempotency-Key" in with_key.err


async def test_names_that_agents_see_change_with_a_warning(
    art: Art, ada: Caller
) -> None:
    agent = (await ada.post("/api/catalog/agents", {"name": "a"})).data["id"]
    mail = {"name": "Mail", "url": "https://mail.example/mcp"}
    connector = (await ada.post("/api/mcp/connectors", mail)).data["id"]
    await ada.put(f"/api/mcp/connectors/{connector}/grants/agents/{agent}")

    run = await art(
        "connectors", "change-gateway-settings", connector, "post", "strict", "--yes"
    )

    assert run.code == 0, run.err
    assert f"warning: Mail ({connector}): the agents that hold it (1) see" in run.err
    assert "'post_...' instead of 'mail_...'" in run.err


async def test_an_object_is_read_from_a_file(
    art: Art, ada: Caller, tmp_path: Path
) -> None:
    mail = {"name": "Mail", "url": "https://mail.example/mcp"}
    await ada.post("/api/mcp/connectors", mail)
    file = tmp_path / "definitions.json"
    file.write_text('{"send": "sha256"}')
    broken = tmp_path / "broken.json"
    broken.write_bytes(b"\xff")

    shown = await art("connectors", "accept-definitions", "Mail", file, "--dry-run")
    refused = await art("connectors", "accept-definitions", "Mail", broken, "--yes")

    assert 'definitions: {"send": "sha256"}' in shown.err
    assert refused.code == 2
    assert f"{broken} is not JSON" in refused.err


@pytest.mark.parametrize("typed", ["\x04", "\n"])
async def test_no_answer_to_the_question_is_a_no(art: Art, typed: str) -> None:
    run = await art.on_a_terminal("agents", "create", "Triage", typed=typed)

    assert run.code == 1
    assert "nothing was sent" in run.err
    assert (await art("agents", "list")).data == []
