"""The exceptions of consuming the event topic."""

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka.errors import KafkaError


class KafkaUnavailableError(Exception):
    """The broker doesn't answer, or not in time."""


class TopicRefusedError(Exception):
    """The topic isn't the one that was read before, or not one of the service."""


class TopicMissingError(TopicRefusedError):
    """The topic, or the one with the relay's position, doesn't exist."""


class TopicCutError(TopicRefusedError):
    """The topic has lost records: it was truncated or recreated."""


class ForeignTopicError(TopicRefusedError):
    """Another log, or another program than the service's relay, writes to the topic."""


class LogEpochChangedError(TopicRefusedError):
    """The log was restored, so its positions mean other events than before."""


class MissingEventError(Exception):
    """An event of an aggregate was left out, doubled or moved: the topic is broken."""


class AlreadyProcessedError(Exception):
    """Another instance of this consumer has processed the event; roll back."""


@contextmanager
def translate_errors(attempt: str) -> Iterator[None]:
    """Turn aiokafka's exceptions into one that names the attempt."""
    try:
        yield
    except TimeoutError as error:
        raise KafkaUnavailableError(f"could not {attempt} in time") from error
    except (KafkaError, OSError) as error:
        raise KafkaUnavailableError(f"could not {attempt}: {error!r}") from error
