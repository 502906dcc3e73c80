"""The health of a connector as the API shows it."""

from datetime import datetime
from typing import Final
from uuid import UUID

from typing_extensions import TypedDict

from service.connectors.aggregate import Connector
from service.connectors.health import HealthState
from service.gateway.health.table import HealthRow
from service.gateway.upstream.errors import Cause


class ToolsLeftOut(TypedDict):
    """Tools beyond the bounds; ``names`` has the first of them."""

    count: int
    names: list[str]


class CredentialReturns(TypedDict):
    """Answers of its server that held the credential that it was sent.

    At its present URL: ``count`` of them, the last at ``last_at``. ``message`` says
    what to do.
    """

    count: int
    last_at: datetime
    message: str


class HealthResource(TypedDict):
    """Whether a connector's tools can be listed, and why not.

    ``message`` says it in words. ``cause`` is a stable name of why not. ``failures``
    counts those in a row, since ``failing_since``. ``tools`` is how many were taken at
    ``succeeded_at``. ``next_at`` is null of a connector that no agent holds, which is
    observed once at each URL, and when somebody asks for it. ``credential_returned`` is
    null unless its server sends back the credential that it is sent.
    """

    connector_id: UUID
    state: HealthState
    message: str
    cause: Cause | None
    attempted_at: datetime | None
    succeeded_at: datetime | None
    failing_since: datetime | None
    failures: int
    next_at: datetime | None
    tools: int | None
    left_out: ToolsLeftOut | None
    credential_returned: CredentialReturns | None


NOT_HELD: Final = (
    "no agent holds it yet, so that it is next observed when its URL changes, or when "
    "its owner asks"
)
CREDENTIAL_RETURNED: Final = (
    "its server sends back the credential that it is sent, which is removed from its "
    "answers; stop the server from that, for example from showing request headers, "
    "then replace the secret"
)


def health_resource(connector: Connector, row: HealthRow | None) -> HealthResource:
    if row is None or row.url != connector.url or row.attempted_at is None:
        return {
            "connector_id": connector.id,
            "state": HealthState.UNOBSERVED,
            "message": "its tools weren't listed yet; they are within seconds",
            "cause": None,
            "attempted_at": None,
            "succeeded_at": None,
            "failing_since": None,
            "failures": 0,
            "next_at": None,
            "tools": None,
            "left_out": None,
            "credential_returned": _returned(connector, row),
        }
    return {
        "connector_id": connector.id,
        "state": HealthState.FAILING if row.cause else HealthState.OK,
        "message": _message(connector, row),
        "cause": Cause(row.cause) if row.cause else None,
        "attempted_at": row.attempted_at,
        "succeeded_at": row.succeeded_at,
        "failing_since": row.failing_since,
        "failures": row.failures,
        "next_at": row.next_at if connector.granted_to else None,
        "tools": row.tools,
        "left_out": (
            {"count": row.left_out, "names": row.left_out_names or []}
            if row.left_out
            else None
        ),
        "credential_returned": _returned(connector, row),
    }


def _message(connector: Connector, row: HealthRow) -> str:
    message = row.error or _found(row.tools or 0, row.left_out or 0)
    return message if connector.granted_to else f"{message}; {NOT_HELD}"


def _returned(connector: Connector, row: HealthRow | None) -> CredentialReturns | None:
    if (
        row is None
        or row.credential_returned_at is None
        or row.credential_url != connector.url
    ):
        return None
    return {
        "count": row.credential_returns,
        "last_at": row.credential_returned_at,
        "message": CREDENTIAL_RETURNED,
    }


def _found(tools: int, left_out: int) -> str:
    if left_out:
        return (
            f"{tools} tools were taken and {left_out} left out: more than a connector "
            "may have; an operator can raise --gateway-tools-max"
        )
    return f"{tools} tools were listed" if tools else "its server lists no tools"
