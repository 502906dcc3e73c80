"""A secret to ask for, and asking for its value."""

from typing import Any

from tests.support.callers import Caller

TOKEN = {"name": "TRACKER_TOKEN", "value": "swordfish"}
PATH = "/api/secrets/TRACKER_TOKEN"
FIELDS = {"name", "version", "fingerprint", "updated_at", "updated_by"}


async def value_of(caller: Caller, path: str = PATH, query: str = "") -> Any:
    reply = await caller.get(f"{path}/value{query}")
    return reply.data["value"] if reply.status == 200 else reply.status
