"""Errors of Kafka and its topics, by how the relay reacts to them."""

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka.errors import (
    InvalidProducerEpoch,
    KafkaError,
    MessageSizeTooLargeError,
    ProducerFenced,
    RecordListTooLargeError,
)

from agent_runtime_client.kafka.errors import TopicRefusedError


class PublishError(Exception):
    """This publisher has failed; a new one may succeed after a pause."""


class BrokerUnavailableError(PublishError):
    """The broker didn't answer in time, or not usefully. Sent data may be committed."""


class FencedError(PublishError):
    """Another relay has taken over; this transaction will be aborted."""


class RecordTooLargeError(PublishError):
    """A record is too large, also for the next attempt; nothing was committed."""


class TopicSettingsError(TopicRefusedError):
    """The topic's settings would break a promise, such as order per aggregate."""


class LogRewrittenError(TopicRefusedError):
    """At the last published position the log has another event, in the same epoch."""


class LogIncompleteError(TopicRefusedError):
    """The log lacks an event that was recorded; what follows it isn't published."""

    def __init__(self, position: int) -> None:
        super().__init__(f"the log lacks the event at position {position}")


class CheckpointContradictedError(TopicRefusedError):
    """The log isn't the one that a checkpoint on the topic was signed for."""


class LogBehindTopicError(TopicRefusedError):
    """The topic holds positions that the log hasn't reached."""


@contextmanager
def translate_errors(attempt: str) -> Iterator[None]:
    """Turn aiokafka's exceptions into a PublishError that names the attempt."""
    try:
        yield
    except (ProducerFenced, InvalidProducerEpoch) as error:
        raise FencedError(f"could not {attempt}: another relay took over") from error
    except (MessageSizeTooLargeError, RecordListTooLargeError) as error:
        raise RecordTooLargeError(f"could not {attempt}: {error}") from error
    except TimeoutError as error:
        raise BrokerUnavailableError(f"could not {attempt} in time") from error
    except (KafkaError, OSError) as error:
        raise BrokerUnavailableError(f"could not {attempt}: {error!r}") from error
