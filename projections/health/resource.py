"""The health of a service as its probes show it."""

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import Field
from typing_extensions import TypedDict

from service.follower_process import State

Status = Literal["ready", "degraded", "draining", "unavailable"]


class FollowerHealth(TypedDict):
    name: str
    position: int
    lag: int
    lag_s: Annotated[
        float, Field(description="Age of the oldest unprocessed event, in seconds.")
    ]
    stopped: str | None


class LogCheckHealth(TypedDict):
    position: Annotated[
        int, Field(description="Last event compared with the Merkle tree in this pass.")
    ]
    completed_at: Annotated[
        datetime | None,
        Field(description="End of the last pass over the whole log without a finding."),
    ]
    contradiction: Annotated[
        str | None,
        Field(description="Which events are missing or changed; null for none known."),
    ]


class Readiness(TypedDict):
    status: Status
    log_position: int | None
    followers: list[FollowerHealth]
    follower_process: Annotated[
        State | None,
        Field(
            description="A child process that has ended is restarted within 30 s. Null "
            "in a process that has started none."
        ),
    ]
    log_check: LogCheckHealth | None
    signing: Annotated[
        str | None,
        Field(
            description="What keeps checkpoints of the log from being signed, or what "
            "became of them; null for nothing."
        ),
    ]
    trace_store: Annotated[
        Literal["available", "suspended"] | None,
        Field(description="Suspended after failures; null without a trace store."),
    ]


class ProofsHealth(NamedTuple):
    """The log's check, and what keeps checkpoints from being signed, if known."""

    log_check: LogCheckHealth | None = None
    signing: str | None = None


NO_PROOFS = ProofsHealth()
