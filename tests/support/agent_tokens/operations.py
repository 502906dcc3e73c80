"""How the walks over all operations call those of agents' tokens."""

from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_agent_tokens                404      403      404      200     403
    post_agent_token                404      403      404      201     403
    delete_agent_token              404      403      404      200     403
"""


async def make(walk: Walk) -> None:
    body = {"label": "build server", "expires_at": "2999-01-01T00:00:00Z"}
    token = (await walk.call("post_agent_token", body)).data
    walk.ids["agent_token_id"] = token["id"]
    await walk.call("get_agent_tokens")


async def end(walk: Walk) -> None:
    await walk.call("delete_agent_token")


OPERATIONS = WalkedOperations(
    after=("agents",),
    make=make,
    end=end,
    access=ACCESS,
    simple=frozenset(["delete_agent_token", "get_agent_tokens", "post_agent_token"]),
)
