"""How the walks over all operations call those of connectors."""

from tests.support.operations.asks import whole_page
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_connectors                  200      200      200      200     200
    get_connector                   200      200      200      200     200
    post_connector                  201      201      201      201     201
    post_public_grant               403      403      403      403     403
    put_connector                   403      403      403      403     403
    put_connector_gateway           403      403      403      403     403
    put_connector_credential        403      403      403      403     403
    put_connector_owner             403      403      403      403     403
    put_agent_grant                 403      403      403      200     403
    delete_connector_credential     403      403      403      403     403
    delete_connector_owner_offer    403      403      403      403     403
    delete_public_grant             403      403      403      403     403
    delete_connector                403      403      403      403     403
    delete_agent_grant              403      403      403      200     403
"""


async def make(walk: Walk) -> None:
    described = {"name": "Issue tracker", "url": "https://tracker.example/mcp"}
    connector_id = (await walk.call("post_connector", described)).data["id"]
    walk.ids |= {"id": connector_id, "connector_id": connector_id}
    described["description"] = "Read and file issues"
    await walk.call("put_connector", described)
    await walk.call("put_agent_grant")
    await walk.call("put_agent_grant")
    await walk.call("post_public_grant")
    await walk.call("post_public_grant")
    await walk.call("get_connectors")
    await walk.call("get_connector")
    settings = {"slug": "tracker", "record_mode": "strict", "protocol_revision": None}
    await walk.call("put_connector_gateway", settings)


async def end(walk: Walk) -> None:
    await walk.call("delete_public_grant")
    await walk.call("delete_agent_grant")
    await walk.call("delete_connector_owner_offer")
    await walk.call("put_connector_owner")
    await walk.call("delete_connector")


OPERATIONS = WalkedOperations(
    after=("agents",),
    make=make,
    end=end,
    access=ACCESS,
    worst={"get_connectors": whole_page},
    simple=frozenset(
        [
            "delete_agent_grant",
            "delete_connector",
            "delete_connector_credential",
            "delete_connector_owner_offer",
            "delete_public_grant",
            "get_connector",
            "post_connector",
            "post_public_grant",
            "put_agent_grant",
            "put_connector",
            "put_connector_credential",
            "put_connector_gateway",
            "put_connector_owner",
        ]
    ),
)
