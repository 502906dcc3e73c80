"""How the walks over all operations call those of agents."""

from tests.support.operations.asks import whole_page
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_agents                      200      200      200      200     200
    get_agent                       404      200      404      200     200
    get_agent_gateway               404      200      404      200     200
    post_agent                      201      201      201      201     201
    put_agent                       404      403      404      200     403
    put_agent_gateway               404      403      404      200     403
    put_agent_manager               404      403      404      200     403
    put_agent_reader                404      403      404      200     403
    delete_agent_manager            404      403      404      200     403
    delete_agent_reader             404      403      404      200     403
    delete_agent                    404      403      404      200     403
"""


async def make(walk: Walk) -> None:
    described = {"name": "Triage", "description": "Sorts incoming issues"}
    walk.ids["agent_id"] = (await walk.call("post_agent", described)).data["id"]
    described["description"] = "Sorts incoming issues and mail"
    await walk.call("put_agent", described)
    await walk.call("put_agent_manager")
    await walk.call("put_agent_reader")
    await walk.call("get_agents")
    await walk.call("get_agent")
    await walk.call("put_agent_gateway", {"tools_listed_max": 40})
    await walk.call("get_agent_gateway")


async def end(walk: Walk) -> None:
    await walk.call("delete_agent_manager")
    await walk.call("delete_agent")
    await walk.call("delete_agent_reader")


OPERATIONS = WalkedOperations(
    after=("users",),
    make=make,
    end=end,
    access=ACCESS,
    worst={"get_agents": whole_page},
    simple=frozenset(
        [
            "delete_agent",
            "delete_agent_manager",
            "delete_agent_reader",
            "get_agent",
            "get_agent_gateway",
            "post_agent",
            "put_agent",
            "put_agent_gateway",
            "put_agent_manager",
            "put_agent_reader",
        ]
    ),
)
