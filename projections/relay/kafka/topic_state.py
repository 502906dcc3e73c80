"""The state of a topic, and whether it is still the topic that this log wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Self

import orjson

from agent_runtime_client.kafka.errors import (
    ForeignTopicError,
    LogEpochChangedError,
    TopicCutError,
)
from projections.relay.kafka.errors import LogBehindTopicError, LogRewrittenError
from projections.relay.kafka.settings import LogIdentity

ID_HEADER: Final = "ce_id"
POSITION_DIGITS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionRecord:
    """Up to where the log is published; written in the transaction of the events.

    The tails are the last position on each partition. They tell a recreated or
    truncated event topic from one on which nothing was published. ``event_id`` is that
    of the message at the position; None where no message is at it, or where the record
    was written before ids were kept.
    """

    log_id: str
    log_epoch: str
    relay_id: str
    position: int
    tails: Mapping[int, int]
    event_id: str | None
    at: datetime

    @classmethod
    def now(
        cls,
        log: LogIdentity,
        position: int,
        tails: Mapping[int, int],
        event_id: str | None = None,
    ) -> Self:
        return cls(
            log_id=log.log_id,
            log_epoch=log.log_epoch,
            relay_id=log.relay_id,
            position=position,
            tails=tails,
            event_id=event_id,
            at=datetime.now(UTC),
        )

    @property
    def key(self) -> bytes:
        return self.log_id.encode()

    @property
    def value(self) -> bytes:
        fields = {
            "position": self.position,
            "log_epoch": self.log_epoch,
            "relay_id": self.relay_id,
            "at": self.at,
            "tails": self.tails,
            "event_id": self.event_id,
        }
        return orjson.dumps(fields, option=orjson.OPT_NON_STR_KEYS)

    @classmethod
    def parse(cls, key: bytes | None, value: bytes | None) -> Self:
        try:
            fields = orjson.loads(value or b"")
            return cls(
                log_id=(key or b"").decode(),
                log_epoch=fields["log_epoch"],
                relay_id=fields["relay_id"],
                position=fields["position"],
                tails={int(p): tail for p, tail in fields["tails"].items()},
                event_id=fields.get("event_id"),
                at=datetime.fromisoformat(fields["at"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ForeignTopicError(
                "the position topic's last record was not written by a relay"
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionEnds:
    """Committed offsets of a partition, and the position of its last record."""

    partition: int
    start: int
    end: int
    tail: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicContents:
    record: PositionRecord | None
    partitions: Sequence[PartitionEnds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Everything up to `position` is on the topic; `tails` may reach beyond it.

    `event_id` is that of the message at the position, where it is known.
    """

    position: int
    tails: Mapping[int, int]
    event_id: str | None = None

    def require_log_head(self, head: int) -> None:
        """Refuse a log that ends before its topic does.

        Read the head after the publisher's start: until then another relay may
        publish beyond it.

        :raises LogBehindTopicError: the topic holds a later position
        """
        reached = max(self.position, *self.tails.values(), 0)
        if reached > head:
            raise LogBehindTopicError(
                f"the topic holds position {reached}, but the log ends at {head}:"
                " was it restored from an older backup?"
            )


def require_same_event(
    position: int, published: str | None, in_log: str | None
) -> None:
    """Refuse a log with another event at the last published position.

    :raises LogRewrittenError: their ids differ
    """
    if published not in (None, in_log):
        raise LogRewrittenError(
            f"the log has another event at {position} than the one published"
        )


def verify_topic(
    contents: TopicContents, log: LogIdentity, *, remembered: int
) -> Published:
    """Return what is published, after checking that this log published it.

    `remembered` is the published position as stored in the database: the only evidence
    if event topic and position topic were both recreated.

    :raises TopicRefusedError: the topic lost records or is of another log or epoch
    """
    if contents.record is None:
        return _verify_unused(contents, remembered)
    _require_same_log(contents.record, log)
    if contents.record.position < remembered:
        raise TopicCutError(
            f"the topic was published up to position {remembered},"
            f" but its position topic says {contents.record.position}"
        )
    tails = {
        ends.partition: tail
        for ends in contents.partitions
        if (tail := _verify_tail(ends, contents.record)) is not None
    }
    return Published(
        position=contents.record.position,
        tails=tails,
        event_id=contents.record.event_id,
    )


def encode_position(position: int) -> bytes:
    return str(position).zfill(POSITION_DIGITS).encode()


def _verify_unused(contents: TopicContents, remembered: int) -> Published:
    if any(ends.tail is not None for ends in contents.partitions):
        raise TopicCutError("the topic holds events, but its position topic is empty")
    if remembered:
        raise TopicCutError(
            f"the topic was published up to position {remembered}, but is empty"
        )
    return Published(position=0, tails={})


def _require_same_log(record: PositionRecord, log: LogIdentity) -> None:
    if record.log_id != log.log_id:
        raise ForeignTopicError(
            f"the topic belongs to log {record.log_id}, not to {log.log_id}"
        )
    if record.log_epoch != log.log_epoch:
        raise LogEpochChangedError(
            f"the topic was written in epoch {record.log_epoch} of the log,"
            f" which is now in epoch {log.log_epoch}"
        )


def _verify_tail(ends: PartitionEnds, record: PositionRecord) -> int | None:
    recorded = record.tails.get(ends.partition)
    if recorded is None or (ends.tail is not None and ends.tail >= recorded):
        return ends.tail
    # Retention deletes the oldest records and moves the start; a new topic's is 0.
    if ends.tail is None and ends.start > 0:
        return recorded
    raise TopicCutError(
        f"partition {ends.partition} should end with position {recorded},"
        f" but ends with {ends.tail or 'nothing'}:"
        " was the topic truncated or recreated?"
    )
