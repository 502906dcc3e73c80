"""How the walks over all operations call those of probes and metrics."""

from collections.abc import Iterator

from tests.support.operations.asks import Ask, Wire, World
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_console_readyz              200      200      200      200     200
    get_console_metrics             200      200      200      200     200
"""
PROBES = ("get_livez", "get_readyz", "get_metrics")


async def make(walk: Walk) -> None:
    await walk.call("get_livez")
    await walk.call("get_readyz")


def _probes(_world: World) -> Iterator[Ask]:
    yield Ask(what="20 at once", wire=Wire(connections=20, has_token=False))
    yield Ask(what="100 pipelined", wire=Wire(times=100, has_token=False))
    many = Wire(times=50, connections=20, has_token=False)
    yield Ask(what="50 pipelined, 20 times", wire=many)


OPERATIONS = WalkedOperations(
    make=make,
    access=ACCESS,
    not_asked=dict.fromkeys(PROBES, "public"),
    worst=dict.fromkeys(PROBES, _probes),
    simple=frozenset(["get_console_metrics", "get_console_readyz"]),
)
