"""aiokafka's exceptions, told apart by what a relay can do about them."""

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka import AIOKafkaProducer
from aiokafka.errors import (
    InvalidProducerEpoch,
    KafkaError,
    MessageSizeTooLargeError,
    ProducerFenced,
    RecordListTooLargeError,
)

from projections.relay.kafka.errors import (
    BrokerUnavailableError,
    FencedError,
    RecordTooLargeError,
)


@contextmanager
def named_failures(attempt: str) -> Iterator[None]:
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


def raise_fatal_error(producer: AIOKafkaProducer) -> None:
    """Raise what ended the producer's sender, if that is why it refuses to send."""
    outcome = producer._txn_manager._transaction_waiter  # noqa: SLF001
    if outcome is not None and outcome.done():
        outcome.result()
