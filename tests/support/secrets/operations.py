"""How the walks over all operations call those of secrets."""

from collections.abc import Iterator

from tests.support.operations.asks import Ask, World, json_ask, whole_page
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_secret_value                404      404      404      404     404
    get_secrets                     200      200      200      200     200
    get_secret                      404      404      404      404     404
    post_secret                     201      201      201      201     201
    post_secret_restore             200      200      200      200     200
    put_secret                      200      200      200      200     200
    delete_secret_by_name           200      200      200      200     200
"""


async def make(walk: Walk) -> None:
    walk.ids |= {"name": "TRACKER_TOKEN", "version": 1}
    value = {"value": "correct horse battery staple"}
    await walk.call("post_secret", {"name": walk.ids["name"], **value})
    await walk.call("put_secret", {"value": "a better one"})
    await walk.call("post_secret_restore")
    await walk.call("get_secrets")
    await walk.call("get_secret")
    await walk.call("get_secret_value")


async def end(walk: Walk) -> None:
    await walk.call("delete_secret_by_name")


def _long(_world: World) -> Iterator[Ask]:
    for text in ("s" * 65_536, "\N{GRINNING FACE}" * 16_384, '"' * 65_536):
        yield json_ask("a long value", {"value": text, "name": "LONG"})


OPERATIONS = WalkedOperations(
    after=("users",),
    make=make,
    end=end,
    access=ACCESS,
    worst={
        "get_secrets": whole_page,
        "get_secret": whole_page,
        "post_secret": _long,
        "put_secret": _long,
    },
    simple=frozenset(
        ["delete_secret_by_name", "get_secret_value", "post_secret_restore"]
    ),
)
