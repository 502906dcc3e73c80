"""How the walks over all operations call those of usage."""

from collections.abc import Iterator

from tests.support.operations.asks import Ask, World, query_ask
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_usage                       200      200      200      200     200
    get_usage_csv                   200      200      200      200     200
"""


async def make(walk: Walk) -> None:
    asked = {"from_day": "2026-03-01", "until_day": "2026-03-31"}
    await walk.call("get_usage", query={**asked, "group_by": "agent,model"})


def _usage(_world: World) -> Iterator[Ask]:
    groups = "agent,user,provider,model"
    yield query_ask(
        "everything",
        from_day="2000-01-01",
        until_day="2030-01-01",
        group_by=groups,
        limit=1000,
        compare="true",
        unit_costs="true",
    )
    yield query_ask(
        "a series of every hour",
        from_day="2000-01-01",
        until_day="2030-01-01",
        group_by=f"hour,{groups}",
        time_zone="Asia/Kathmandu",
        order="cost",
        compare="true",
        top=50,
        limit=1000,
    )


def _usage_csv(_world: World) -> Iterator[Ask]:
    yield query_ask(
        "everything by the hour",
        from_day="2000-01-01",
        until_day="2030-01-01",
        group_by="hour,agent,user,provider,model",
    )


OPERATIONS = WalkedOperations(
    after=("sessions",),
    make=make,
    access=ACCESS,
    worst={"get_usage": _usage, "get_usage_csv": _usage_csv},
)
