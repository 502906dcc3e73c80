"""The commands on users' keys over HTTP."""

from uuid import UUID

import psycopg
from aiohttp import web
from typing_extensions import TypedDict

from service.errors import RETRY_LATER, UnavailableError
from service.http.app_keys import VAULT
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.users.aggregate import User
from service.users.key_commands import DestroyUserKey, destroy_user_key

routes = Routes("secrets")


class DestroyedKey(TypedDict):
    user_id: UUID


@routes.delete(
    "/api/users/{user_id}/key",
    answers={
        200: "key destroyed, or key was already destroyed",
        403: "the caller is neither that user nor a superuser",
        404: "no such user, or none that the caller can see",
    },
)
async def delete_user_key(request: web.Request, user_id: UUID) -> Answer[DestroyedKey]:
    """Destroy a user's key.

    Irreversibly makes all of the user's secret values and the texts of their sessions
    unreadable; nothing can be encrypted for them again. The log, replays and the audit
    trail keep working. Repeat the call if it fails: only a success confirms that the
    key is destroyed.
    """

    def present(result: tuple[User, bool]) -> Answer[DestroyedKey]:
        user, changed = result
        return Answer(
            message="key destroyed" if changed else "key was already destroyed",
            data=DestroyedKey(user_id=user.id),
        )

    answer = await dispatch(
        request,
        destroy_user_key,
        DestroyUserKey(user_id=user_id),
        present,
    )
    await destroy_recorded_key(request, user_id)
    return answer


async def destroy_recorded_key(request: web.Request, user_id: UUID) -> None:
    """Destroy a key after that has been recorded.

    Should it fail, the follower of destructions does it.

    :raises UnavailableError: the key isn't destroyed yet
    """
    try:
        await request.app[VAULT].destroy_user(user_id)
    except psycopg.Error as error:
        raise UnavailableError(
            "this is recorded, but the key isn't destroyed yet; please repeat the "
            "request",
            code="outcome_unknown",
            headers=RETRY_LATER,
        ) from error
