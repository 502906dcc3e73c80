"""The settings of the Kafka relay."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from service.settings import SettingGroup

_HOST_AND_PORT: Final = re.compile(r"([^\s:,\[\]]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


def _brokers(text: str) -> str:
    for broker in text.split(","):
        if not _HOST_AND_PORT.fullmatch(broker.strip()):
            raise ValueError("not HOST:PORT, or several separated by commas")
    return text


Brokers = Annotated[str, AfterValidator(_brokers)]


class RelayConfig(SettingGroup):
    """The settings of the Kafka relay; without ``kafka`` nothing is published."""

    TITLE = "Kafka"

    kafka: Brokers | None = Field(
        None,
        description="HOST:PORT of a Kafka broker, several separated by commas. Without "
        "it events are not published.",
    )
    kafka_topic: str = Field(
        "agent-runtime.events",
        pattern=r"^[A-Za-z0-9._-]{1,200}$",
        description="Topic of the events. Two more topics have its name with "
        ".relay-position and .audit-checkpoints appended.",
    )
    kafka_partitions: int = Field(
        6,
        ge=1,
        le=1000,
        description="Partitions of the topic. Never change it for an existing topic: "
        "the order of events would break.",
    )
    kafka_replication: int = Field(
        3,
        ge=1,
        le=10,
        description="Replicas of each partition; all but one must acknowledge a "
        "write. 1 for a single broker.",
    )
    kafka_retention_ms: int = Field(
        -1,
        ge=-1,
        description="Retention of events on the topic, in milliseconds; -1 keeps them "
        "forever.",
    )
    kafka_compression: Literal["gzip"] | None = Field(
        None, description="Compression of batches: gzip. Without it none."
    )
    kafka_tls: bool = Field(
        default=False,
        description="Connect to Kafka with TLS and verify the broker's certificate.",
    )
    kafka_ca_file: Path | None = Field(
        None, description="CA certificates to trust instead of the system's."
    )
    kafka_certificate_file: Path | None = Field(
        None, description="Client certificate for TLS."
    )
    kafka_key_file: Path | None = Field(
        None, description="Private key of the client certificate."
    )
    kafka_sasl: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = Field(
        None, description="SASL mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."
    )
    kafka_user: str | None = Field(None, description="User name for SASL.")
    kafka_password_file: Path | None = Field(
        None, description="File that contains the password for SASL."
    )
