"""Every alert of the rules with the fault that it is for."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from tests.instruments.alerts import (
    content,
    disk,
    kafka,
    log,
    postgres,
    processes,
    replication,
)
from tests.instruments.alerts.installation import Installation, Kind

Strike = Callable[[Installation], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Fault:
    """``strike`` does it, and mends it as the documents tell operators to.

    ``also`` are other alerts that may fire with it. One that is ``beside`` the others
    takes too long to be done after them.
    """

    alert: str
    words: str
    on: Kind
    strike: Strike
    also: tuple[str, ...] = ()
    beside: bool = False

    @property
    def expected(self) -> set[str]:
        return {f"AgentRuntime{each}" for each in (self.alert, *self.also)}


# Of commits on a machine that does other work meanwhile.
BUSY: Final = "AgentRuntimeSlowCommits"
# In the order in which they are done to an installation.
FAULTS: Final = (
    Fault("Down", "the API is frozen (SIGSTOP)", "processes", processes.api_frozen),
    Fault(
        "FollowerProcessDown",
        "the follower process is killed at each start",
        "processes",
        processes.follower_process_killed,
    ),
    Fault(
        "FollowerStopped",
        "a read table refuses the rows of an event",
        "processes",
        log.event_refused,
    ),
    Fault(
        "FollowerBehind",
        "another session holds a follower's lock while 5,500 events are written",
        "processes",
        log.lock_taken,
    ),
    Fault(
        "ClockJumped",
        "the clock of the service's machine is an hour ahead for a second",
        "processes",
        processes.clock_set,
    ),
    Fault(
        "LogAheadOfClock",
        "the log's last event is 100 s ahead",
        "processes",
        log.head_set_ahead,
    ),
    Fault(
        "LogContradicted",
        "the database's owner changes an event",
        "processes",
        log.event_changed,
    ),
    Fault(
        "Errors",
        "PostgreSQL is frozen while clients ask",
        "requests",
        postgres.frozen,
        also=("PoolExhausted",),
    ),
    Fault(
        "PoolExhausted",
        "reads wait for a table that a session has locked",
        "requests",
        postgres.table_locked,
        also=("Errors",),
    ),
    Fault(
        "SlowCommits",
        "each flush of PostgreSQL's disk takes 50 ms more",
        "requests",
        postgres.slow_disk,
    ),
    Fault(
        "UnreadableValues",
        "a sealed value is deleted from the database, and read",
        "requests",
        content.sealed_value_deleted,
    ),
    Fault(
        "EpochChanged",
        "a backup is restored",
        "requests",
        log.backup_restored,
        also=("Down",),
    ),
    Fault(
        "NotReplicated",
        "the synchronous standby is frozen",
        "replicated",
        replication.standby_frozen,
        also=("ReadReplicaUnusable", "Errors", "PoolExhausted", "SlowCommits"),
    ),
    Fault(
        "ReadReplicaUnusable",
        "the read replica is killed",
        "replicated",
        replication.replica_killed,
    ),
    Fault(
        "RelayDown",
        "the broker is killed",
        "kafka",
        kafka.broker_killed,
        also=("RelayBehind",),
    ),
    Fault(
        "RelayBehind",
        "the broker is frozen while clients write",
        "kafka",
        kafka.broker_frozen,
        also=("RelayDown",),
    ),
    Fault(
        "CheckpointTopicRefused",
        "another log's checkpoint is published to the topic",
        "kafka",
        kafka.foreign_checkpoint,
        also=("Down",),
    ),
    Fault(
        "DiskFillsUp",
        "files grow that fill the disk in eight hours",
        "embedded",
        disk.filled_slowly,
    ),
    Fault(
        "DiskAlmostFull",
        "a file leaves 4 % of the disk",
        "embedded",
        disk.almost_filled,
    ),
    Fault(
        "CostsDiffer",
        "a model's price is set to ten times what its calls report",
        "content",
        content.wrong_price,
        beside=True,
    ),
    Fault(
        "ConnectorsFailing",
        "the server of a connector is gone",
        "content",
        content.connector_gone,
        beside=True,
    ),
)
