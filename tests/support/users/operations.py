"""How the walks over all operations call those of users."""

from tests.support.operations.asks import whole_page
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_me                          200      200      200      200     200
    get_users                       403      200      403      403     403
    get_user                        404      200      404      404     404
    get_user_by_name                403      200      403      200     403
    get_user_tokens                 404      200      404      404     404
    post_user                       403      403      403      403     403
    post_user_token                 404      403      404      404     404
    put_user_name                   404      403      404      404     404
    put_user_disabled               404      403      404      404     404
    put_user_role                   404      403      404      404     404
    delete_user_disabled            404      403      404      404     404
    delete_user_role                404      403      404      404     404
    delete_user_token               404      403      404      404     404
    delete_user                     404      403      404      404     404
    delete_user_key                 404      403      404      404     404
"""


async def make(walk: Walk) -> None:
    await walk.call("get_me")
    user_id = (await walk.call("post_user", {"name": "grace"})).data["id"]
    walk.ids |= {"user_id": user_id, "user_name": "grace", "role": "auditor"}
    await walk.call("put_user_role")
    token = {"label": "laptop", "expires_at": "2999-01-01T00:00:00Z"}
    walk.ids["token_id"] = (await walk.call("post_user_token", token)).data["id"]
    await walk.call("get_users")
    await walk.call("get_user")
    await walk.call("put_user_name", {"name": "grace.hopper"})
    await walk.call("get_user_by_name")
    await walk.call("put_user_disabled")
    await walk.call("delete_user_disabled")
    await walk.call("get_user_tokens")


async def end(walk: Walk) -> None:
    await walk.call("delete_user_role")
    await walk.call("delete_user_token")
    await walk.call("delete_user_key")
    await walk.call("delete_user")


OPERATIONS = WalkedOperations(
    make=make,
    end=end,
    access=ACCESS,
    worst={"get_users": whole_page, "get_user_tokens": whole_page},
    simple=frozenset(
        [
            "delete_user",
            "delete_user_disabled",
            "delete_user_key",
            "delete_user_role",
            "delete_user_token",
            "get_me",
            "get_user",
            "get_user_by_name",
            "post_user",
            "post_user_token",
            "put_user_disabled",
            "put_user_name",
            "put_user_role",
        ]
    ),
)
