"""The secret commands over HTTP; revealing is a GET that appends an event."""

from functools import partial
from typing import Annotated, Final

from aiohttp import web
from pydantic import AfterValidator, Field, SecretStr

from service.http.app_keys import VAULT
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.requests import QueryModel, RequestModel
from service.secrets.aggregate import Secret
from service.secrets.commands import (
    CreateSecret,
    DeleteSecret,
    OverwriteSecret,
    RestoreSecretVersion,
    RevealedValue,
    RevealSecret,
    create_secret,
    delete_secret,
    overwrite_secret,
    restore_secret_version,
    reveal_secret,
)
from service.secrets.names import SecretName
from service.secrets.resource import SecretResource, SecretValue, secret_resource

routes = Routes("secrets", "Encrypted secrets of the calling user.")

VALUE_BYTES_MAX: Final = 64 * 1024
VERSION_MAX: Final = 2**53 - 1
# A program that needs a value keeps it; who empties a vault is slowed down.
REVEALS = RateLimit(burst=60, interval_s=1.0)
NO_STORE: Final = {"Cache-Control": "no-store"}
ABSENT: Final = "the caller has no such secret"
NO_KEY: Final = "the caller's key was destroyed (`key_destroyed`)"


def _within_64_kib(value: SecretStr) -> SecretStr:
    if not 1 <= len(value.get_secret_value().encode()) <= VALUE_BYTES_MAX:
        raise ValueError(f"a value has 1 to {VALUE_BYTES_MAX} bytes of UTF-8")
    return value


Value = Annotated[
    SecretStr,
    # Before the bounds of the OpenAPI document, which are told in characters.
    AfterValidator(_within_64_kib),
    Field(min_length=1, max_length=VALUE_BYTES_MAX),
]


class SecretBody(RequestModel):
    """A body in which any text may be a secret that was put in the wrong place."""

    NAMES_SHOWN = False


class NewSecret(SecretBody):
    name: SecretName
    value: Value


class NewValue(SecretBody):
    value: Value


class RevealQuery(QueryModel):
    version: Annotated[
        int | None,
        Field(ge=1, le=VERSION_MAX, description="By default the newest version."),
    ] = None


@routes.post(
    "/api/secrets",
    answers={
        201: "secret created",
        409: f"the name is taken (`secret_exists`), or {NO_KEY}",
    },
    body_example={"name": "TRACKER_TOKEN", "value": "correct horse battery staple"},
)
async def post_secret(request: web.Request, body: NewSecret) -> Answer[SecretResource]:
    """Create a secret.

    It belongs to the caller; no other user can access it, whatever their roles. Only
    the answer to revealing it contains the value. The name of a deleted secret can be
    used again; version numbers continue.
    """
    vault = request.app[VAULT]
    return await dispatch(
        request,
        partial(create_secret, vault=vault),
        CreateSecret(name=body.name, value=body.value),
        lambda secret: _written(
            secret,
            "secret created",
            status=201,
            headers={"Location": f"/api/secrets/{secret.name}"},
        ),
    )


@routes.put(
    "/api/secrets/{name}",
    answers={200: "secret overwritten", 404: ABSENT, 409: NO_KEY},
    body_example={"value": "correct horse battery staple"},
    if_match=True,
)
async def put_secret(
    request: web.Request, name: str, body: NewValue
) -> Answer[SecretResource]:
    """Overwrite the value of a secret.

    The caller must have a secret of this name; none is created. The last ten values are
    kept, older ones are destroyed. Every call creates a version, also with an equal
    value. The fingerprint is a keyed hash: it tells whether two values of one owner are
    equal, and nothing else about them.
    """
    vault = request.app[VAULT]
    return await dispatch(
        request,
        partial(overwrite_secret, vault=vault),
        OverwriteSecret(name=name, value=body.value),
        lambda secret: _written(secret, "secret overwritten"),
    )


@routes.post(
    "/api/secrets/{name}/versions/{version}/restore",
    answers={
        200: "secret restored",
        404: f"{ABSENT}, or no such version (`no_such_version`)",
        409: f"that version's value was destroyed (`value_destroyed`), or {NO_KEY}",
    },
    if_match=True,
)
async def post_secret_restore(
    request: web.Request,
    name: str,
    version: Annotated[int, Field(ge=1, le=VERSION_MAX)],
) -> Answer[SecretResource]:
    """Restore an earlier value of a secret.

    Creates a new version with that value.
    """
    vault = request.app[VAULT]
    return await dispatch(
        request,
        partial(restore_secret_version, vault=vault),
        RestoreSecretVersion(name=name, version=version),
        lambda secret: _written(secret, "secret restored"),
    )


@routes.delete(
    "/api/secrets/{name}",
    answers={200: "secret deleted", 404: ABSENT},
    if_match=True,
)
async def delete_secret_by_name(request: web.Request, name: str) -> Answer[None]:
    """Delete a secret.

    All of its values are destroyed. The history of the secret is kept.
    """
    return await dispatch(
        request,
        delete_secret,
        DeleteSecret(name=name),
        lambda _: Answer(message="secret deleted", data=None, headers=NO_STORE),
    )


@routes.get(
    "/api/secrets/{name}/value",
    head=False,
    answers={
        200: "secret revealed",
        404: f"{ABSENT}, or no such version (`no_such_version`)",
        409: f"that version's value was destroyed (`value_destroyed`), or {NO_KEY}",
    },
    rate_limit=REVEALS,
)
async def get_secret_value(
    request: web.Request, name: str, query: RevealQuery
) -> Answer[SecretValue]:
    """Reveal the value of a secret.

    For its owner only. The access is recorded before the value is sent: this GET
    appends an event. ``version`` selects an earlier value. Limited to 60 calls at once,
    then one per second.
    """
    vault = request.app[VAULT]

    def present(revealed: RevealedValue) -> Answer[SecretValue]:
        is_current = revealed.version == revealed.secret.value_version
        return Answer(
            message="secret revealed",
            data=SecretValue(
                name=revealed.secret.name,
                version=revealed.version,
                value=revealed.value.get_secret_value(),
            ),
            etag=revealed.version if is_current else None,
            headers=NO_STORE,
        )

    return await dispatch(
        request,
        partial(reveal_secret, vault=vault),
        RevealSecret(name=name, version=query.version),
        present,
    )


def _written(
    secret: Secret,
    message: str,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> Answer[SecretResource]:
    return Answer(
        status=status,
        message=message,
        data=secret_resource(secret),
        etag=secret.value_version,
        headers={**NO_STORE, **(headers or {})},
    )
