"""Settings of the connection to Kafka and of the topics."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

# An open transaction hides later records of its partitions from all consumers, so an
# abandoned one must end soon.
TRANSACTION_TIMEOUT_S: Final = 10.0
# aiokafka's own timeout is longer than the deadline, as it repeats the request.
CLIENT_TIMEOUT_BEHIND_S: Final = 2.0

POSITION_TOPIC_SUFFIX: Final = ".relay-position"
CHECKPOINT_TOPIC_SUFFIX: Final = ".audit-checkpoints"
RECORD_BYTES_MAX: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Without files: the system's certificate authorities, no client certificate."""

    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.certificate_file is not None:
            context.load_cert_chain(self.certificate_file, self.key_file)
        return context


@dataclass(frozen=True, slots=True, kw_only=True)
class Sasl:
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    bootstrap: str
    topic: str
    # Fixed for the topic's lifetime: another number would move keys to other
    # partitions and break the order per aggregate.
    partitions: int = 6
    replication: int = 3
    retention_ms: int = -1
    compression: Literal["gzip"] | None = None
    # For each exchange with the broker, such as publishing one batch.
    deadline_s: float = 6.0
    tls: Tls | None = None
    sasl: Sasl | None = None

    def __post_init__(self) -> None:
        if not 0 < self.deadline_s < TRANSACTION_TIMEOUT_S:
            raise ValueError(
                f"the deadline must be shorter than {TRANSACTION_TIMEOUT_S} s,"
                " after which Kafka aborts a transaction"
            )

    @property
    def min_insync_replicas(self) -> int:
        """One replica may be missing, but never all but one of several."""
        return max(1, self.replication - 1)

    @property
    def position_topic(self) -> str:
        return self.topic + POSITION_TOPIC_SUFFIX

    @property
    def checkpoint_topic(self) -> str:
        return self.topic + CHECKPOINT_TOPIC_SUFFIX

    @property
    def checkpoint_transactional_id(self) -> str:
        return f"agent-runtime.checkpoints.{self.topic}"

    @property
    def transactional_id(self) -> str:
        """The same for all relays of the topic, so that each fences its predecessor."""
        return f"agent-runtime.relay.{self.topic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogIdentity:
    """Ids of the log, its epoch and the relay."""

    log_id: str
    log_epoch: str
    relay_id: str


def client_options(settings: KafkaSettings) -> dict[str, Any]:
    """Return the options that aiokafka's producer, consumer and admin client share.

    Certificates are read at each call, so that rotated ones are used.
    """
    tls, sasl = settings.tls, settings.sasl
    timeout_s = settings.deadline_s + CLIENT_TIMEOUT_BEHIND_S
    options: dict[str, Any] = {
        "bootstrap_servers": settings.bootstrap,
        "request_timeout_ms": round(timeout_s * 1000),
        "security_protocol": ("SASL_" if sasl else "")
        + ("SSL" if tls else "PLAINTEXT"),
        "ssl_context": tls.context() if tls else None,
    }
    if sasl:
        options |= {
            "sasl_mechanism": sasl.mechanism,
            "sasl_plain_username": sasl.username,
            "sasl_plain_password": sasl.password,
        }
    return options
