"""How to reach Kafka, and what the topic should look like."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

# An open transaction hides everything behind it from every reader of its
# partitions, so an abandoned one must end soon.
TRANSACTION_TIMEOUT_S: Final = 10.0
# The client's own time-out lies behind ours: it would repeat the request within
# the same epoch, and a repeated commit may hit the next transaction (KAFKA-17754).
CLIENT_TIMEOUT_BEHIND_S: Final = 2.0

POSITION_TOPIC_SUFFIX: Final = ".relay-position"
CHECKPOINT_TOPIC_SUFFIX: Final = ".audit-checkpoints"
RECORD_BYTES_MAX: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Nothing set: the system's authorities, and no client certificate."""

    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    key_password: str | None = field(default=None, repr=False)

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.certificate_file is not None:
            context.load_cert_chain(
                self.certificate_file, self.key_file, self.key_password
            )
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
    # Fixed for the topic's life: another number sends keys elsewhere and ends the
    # order per aggregate.
    partitions: int = 6
    replication: int = 3
    min_insync_replicas: int = 2
    retention_ms: int = -1
    compression: Literal["gzip", "snappy", "lz4", "zstd"] | None = None
    transactional_id_prefix: str = "agent-runtime"
    # For each exchange with the broker; one publish is one exchange.
    deadline_s: float = 6.0
    tls: Tls | None = None
    sasl: Sasl | None = None

    def __post_init__(self) -> None:
        if not 0 < self.deadline_s < TRANSACTION_TIMEOUT_S:
            raise ValueError(
                f"the deadline must be shorter than {TRANSACTION_TIMEOUT_S} s,"
                " the time after which Kafka aborts a transaction"
            )

    @property
    def position_topic(self) -> str:
        return self.topic + POSITION_TOPIC_SUFFIX

    @property
    def checkpoint_topic(self) -> str:
        return self.topic + CHECKPOINT_TOPIC_SUFFIX

    @property
    def checkpoint_transactional_id(self) -> str:
        return f"{self.transactional_id_prefix}.checkpoints.{self.topic}"

    @property
    def transactional_id(self) -> str:
        """The same for every relay of the topic, so that each fences the last."""
        return f"{self.transactional_id_prefix}.relay.{self.topic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogIdentity:
    """Which log the relay copies, and which relay it is."""

    log_id: str
    log_epoch: str
    relay_id: str


def client_options(settings: KafkaSettings) -> dict[str, Any]:
    """Options that aiokafka's producer, consumer and admin client share.

    Certificates are read here, each time, so that rotated ones are taken up.
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
