"""How the walks over all operations call those of the audit trail."""

from collections.abc import Iterator
from urllib.parse import urlencode

from tests.support.operations.asks import Ask, World, query_ask
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_audit_events                403      200      403      403     403
    get_audit_event                 403      200      403      403     403
    get_audit_jsonl                 403      200      403      403     403
    get_audit_csv                   403      200      403      403     403
    get_aggregate                   403      200      403      403     403
    get_aggregate_difference        403      200      403      403     403
    get_connector_exposure          403      200      403      403     403
    get_decisions_difference        403      200      403      403     403
    get_checkpoint                  200      200      200      200     200
    get_checkpoint_key              200      200      200      200     200
    get_inclusion_proof             200      200      200      200     200
    get_consistency_proof           200      200      200      200     200
"""


async def make(walk: Walk) -> None:
    walk.ids |= {"aggregate_id": walk.ids["connector_id"], "position": 1}
    shared = {"kind": "connector.made_public", "limit": 1}
    entry = (await walk.call("get_audit_events", query=shared)).data["entries"][0]
    position = entry["position"]
    await walk.call("get_audit_event", position=position)
    since = {"since": position - 1, "until": position}
    await walk.call("get_aggregate", query={"at": position})
    await walk.call("get_aggregate_difference", query=since)
    await walk.call("get_connector_exposure", query=since)
    await walk.call("get_decisions_difference", query={"since": position})
    await walk.call("get_checkpoint_key")
    await walk.call("get_inclusion_proof", query={"position": position})
    await walk.call("get_consistency_proof", query={"first": position})


def _page(world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=500)
    yield query_ask("the oldest", limit=500, order="oldest")
    yield query_ask("large events", limit=500, kind="tool_rules.replaced")
    yield query_ask("texts", limit=500, kind="session.turn_recorded")
    yield query_ask("of one thing", limit=500, resource=world.ids["connector_id"])


def _entry(world: World) -> Iterator[Ask]:
    for name, position in world.positions.items():
        yield Ask(what=f"the large event of {name}", path={"position": position})


def _export(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", from_position=1)
    yield query_ask("large events", kind="tool_rules.replaced")


def _stream(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", after=0)


def _aggregate(world: World) -> Iterator[Ask]:
    for name, aggregate_id in world.aggregates.items():
        yield Ask(what=name, path={"aggregate_id": aggregate_id})


def _aggregate_difference(world: World) -> Iterator[Ask]:
    for name, aggregate_id in world.aggregates.items():
        yield Ask(what=name, path={"aggregate_id": aggregate_id}, query="since=1")


def _exposure(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", since=1)


def _decisions(world: World) -> Iterator[Ask]:
    tools = ",".join(f"{'a' * 17}{n:02}" for n in range(100))
    for name in ("hostile_agent_id", "full_agent_id"):
        yield Ask(
            what=name,
            path={"agent_id": world.ids[name]},
            query=urlencode({"since": 1, "tools": tools}),
        )


OPERATIONS = WalkedOperations(
    after=("tool_rules",),
    make=make,
    access=ACCESS,
    not_asked={"get_audit_stream": "never ends; its rights are tested with the stream"},
    worst={
        "get_aggregate": _aggregate,
        "get_aggregate_difference": _aggregate_difference,
        "get_audit_csv": _export,
        "get_audit_event": _entry,
        "get_audit_events": _page,
        "get_audit_jsonl": _export,
        "get_audit_stream": _stream,
        "get_connector_exposure": _exposure,
        "get_decisions_difference": _decisions,
    },
    simple=frozenset(
        [
            "get_checkpoint",
            "get_checkpoint_key",
            "get_consistency_proof",
            "get_inclusion_proof",
        ]
    ),
)
