"""One real refusal of each kind, for the document."""

from typing import Any

from service.http.body import BODY_BYTES_MAX
from service.users.tokens import new_token
from tests.support.callers import Caller, Callers, Reply
from tests.support.operations.walk import REQUEST_ID

CONNECTORS = "/api/mcp/connectors"
NOBODY = "00000000-0000-4000-8000-000000000000"
BAD_RULES = {
    "rules": [{"connector_id": NOBODY, "tool_pattern": "issues.*", "stance": "perhaps"}]
}
GUESSES_MAX = 20


async def one_of_each(callers: Callers, ada: Caller, alone: Caller) -> dict[str, Any]:
    """Return refusals by status.

    ``ada`` is a superuser; ``alone`` calls a process that answers reads only, and that
    nobody has built read tables for.
    """
    bob = await callers.user("bob")
    secret = {"name": "STALE", "value": "correct horse battery staple"}
    await ada.post("/api/secrets", secret)
    replies = [
        await ada.get(f"{CONNECTORS}?colour=red", X_Request_Id=REQUEST_ID),
        await callers.anonymous().get("/api/users/me", X_Request_Id=REQUEST_ID),
        await bob.post("/api/users", {"name": "eve"}, X_Request_Id=REQUEST_ID),
        await ada.get(f"{CONNECTORS}/{NOBODY}", X_Request_Id=REQUEST_ID),
        await ada.post("/api/users", {"name": "bob"}, X_Request_Id=REQUEST_ID),
        await ada.put(
            "/api/secrets/STALE",
            {"value": "another one"},
            If_Match='"7"',
            X_Request_Id=REQUEST_ID,
        ),
        await ada.post(
            CONNECTORS, b"{}".ljust(BODY_BYTES_MAX + 1), X_Request_Id=REQUEST_ID
        ),
        await ada.post(
            CONNECTORS, {}, Content_Type="text/plain", X_Request_Id=REQUEST_ID
        ),
        await ada.put(
            f"/api/mcp/agents/{NOBODY}/tools", BAD_RULES, X_Request_Id=REQUEST_ID
        ),
        await _throttled(callers),
        await alone.get(CONNECTORS, X_Request_Id=REQUEST_ID),
        await alone.post(CONNECTORS, {}, X_Request_Id=REQUEST_ID),
    ]
    return {
        str(reply.status): {
            "data": reply.data,
            "message": reply.message,
            "status_code": reply.status,
        }
        for reply in replies
    }


async def _throttled(callers: Callers) -> Reply:
    for _ in range(GUESSES_MAX):
        reply = await callers.with_token(new_token()).get(
            "/api/users/me", X_Request_Id=REQUEST_ID
        )
    return reply
