"""Fill an empty service: prices, people, agents, connectors, rules, chats."""

import logging
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aiohttp import ClientSession

from service.demo.access import AGENT_TOKEN_FILE, AGENT_URL_FILE
from service.demo.api import Api, DemoError
from service.demo.chats import record_chats
from service.demo.prices import import_real_prices
from service.http.telemetry import log_no_requests_of
from service.users.tokens import ADMIN_TOKEN_FILE

logger = logging.getLogger(__name__)

CHATS_LOGGED_EVERY = 50

# With the paths of their servers.
CONNECTORS: Final = (
    ("Issue tracker", "/mcp", "Read and file issues."),
    ("Calendar", "/calendar/mcp", "Read and plan appointments."),
    ("Payments", "/payments/mcp", "Look up and send payments."),
)


async def load_demo(
    base_url: str, data_dir: Path, *, has_token: bool, tools_port: int | None
) -> bool:
    """Load the demo if the log is empty; return whether that was done, and whole.

    Prices are real; people, agents and chats are invented. ``has_token``: the first
    administrator's is in the data folder. ``tools_port`` is where the connectors'
    servers are, on 127.0.0.1.
    """
    renew_agent_url(base_url, data_dir)
    if not has_token:
        logger.info(
            "demo data not loaded: there are users already, and no valid token of admin"
            " in %s",
            ADMIN_TOKEN_FILE,
        )
        return False
    if tools_port is None:
        return False
    try:
        return await _load_all(base_url, data_dir, f"http://127.0.0.1:{tools_port}")
    except* (DemoError, OSError) as errors:
        reasons = "; ".join(map(str, errors.exceptions))
        logger.exception("the demo data is incomplete", extra={"reason": reasons})
    return False


async def _load_all(base_url: str, data_dir: Path, tools_url: str) -> bool:
    token = (data_dir / ADMIN_TOKEN_FILE).read_text(encoding="ascii").strip()
    request_id = f"demo-{secrets.token_hex(8)}"
    log_no_requests_of(request_id)
    async with ClientSession(headers={"X-Request-Id": request_id}) as http:
        agent = await _load(Api(http, base_url, token), tools_url)
    if agent is None:
        return False
    agent_id, agent_token = agent
    _write_agent_url(base_url, data_dir, f"/mcp/agents/{agent_id}")
    token_file = data_dir / AGENT_TOKEN_FILE
    token_file.touch(mode=0o600)
    token_file.write_text(agent_token + "\n", encoding="ascii")
    return True


def renew_agent_url(base_url: str, data_dir: Path) -> None:
    """Write the agent's URL again, as the service may have another port than before."""
    file = data_dir / AGENT_URL_FILE
    if file.exists():
        path = urlsplit(file.read_text(encoding="ascii").strip()).path
        _write_agent_url(base_url, data_dir, path)


def _write_agent_url(base_url: str, data_dir: Path, path: str) -> None:
    (data_dir / AGENT_URL_FILE).write_text(f"{base_url}{path}\n", encoding="ascii")


async def _load(admin: Api, tools_url: str) -> tuple[str, str] | None:
    if (await admin.get("/api/catalog/agents?limit=1"))["agents"]:
        logger.info("demo data not loaded: there are agents already")
        return None
    logger.info("loading demo data: model prices")
    await import_real_prices(admin)
    logger.info("loading demo data: users, agents, connectors, tool rules")
    ada = await admin.as_new_user("ada")
    ben = await admin.as_new_user("ben")
    runtime = await admin.as_new_user("runtime", "runtime")
    await admin.as_new_user("olga", "auditor")
    triage, clerk = await _agents_and_rules(ada, ben, tools_url)
    issued = await ben.post(f"/api/mcp/agents/{triage}/tokens", {"label": "demo"})
    await ada.post(
        "/api/secrets", {"name": "TRACKER_TOKEN", "value": secrets.token_urlsafe(24)}
    )
    chats = await record_chats(
        runtime, [triage, clerk], now=datetime.now(UTC), progress=_log_chats
    )
    logger.info("demo data loaded", extra={"chats": chats})
    return triage, issued["token"]


def _log_chats(recorded: int, chats: int) -> None:
    if recorded % CHATS_LOGGED_EVERY == 0:
        logger.info("loading demo data: %d of %d chats", recorded, chats)


async def _agents_and_rules(ada: Api, ben: Api, tools_url: str) -> tuple[str, str]:
    """Let two people share connectors with two agents and set their rules."""
    triage = (await ben.post("/api/catalog/agents", {"name": "Support triage"}))["id"]
    clerk = (await ada.post("/api/catalog/agents", {"name": "Invoice clerk"}))["id"]
    tracker, calendar, payments = [
        (
            await ada.post(
                "/api/mcp/connectors",
                {"name": name, "url": tools_url + path, "description": description},
            )
        )["id"]
        for name, path, description in CONNECTORS
    ]
    await ada.post(f"/api/mcp/connectors/{calendar}/grants/public")
    # The tracker's owner offers it, the agent's manager accepts: two consents.
    await ada.put(f"/api/mcp/connectors/{tracker}/grants/agents/{triage}")
    await ben.put(f"/api/mcp/connectors/{tracker}/grants/agents/{triage}")
    await ben.put(f"/api/mcp/connectors/{calendar}/grants/agents/{triage}")
    await ada.put(f"/api/mcp/connectors/{payments}/grants/agents/{clerk}")
    await ben.put(
        f"/api/mcp/agents/{triage}/tools",
        {
            "rules": [
                _rule(tracker, "list_*", "allow"),
                _rule(tracker, "create_issue", "ask"),
                _rule(tracker, "delete_*", "deny"),
                _rule(calendar, "*", "allow"),
            ]
        },
    )
    await ada.put(
        f"/api/mcp/agents/{clerk}/tools",
        {
            "rules": [
                _rule(payments, "find_payments", "allow"),
                _rule(payments, "send_payment", "ask"),
            ]
        },
    )
    return triage, clerk


def _rule(connector_id: str, tool_pattern: str, stance: str) -> dict[str, str]:
    return {
        "connector_id": connector_id,
        "tool_pattern": tool_pattern,
        "stance": stance,
    }
