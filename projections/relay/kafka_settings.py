"""Builds Kafka's settings from the service's settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from projections.relay.config import RelayConfig
from projections.relay.kafka.settings import KafkaSettings, Sasl, Tls
from service.errors import ConfigError
from service.settings import variable_of

SECRET_BYTES_MAX: Final = 4096


def kafka_settings(config: RelayConfig) -> KafkaSettings:
    """Return Kafka's settings.

    :raises ConfigError: settings contradict each other, or a file can't be read
    """
    if config.kafka is None:
        raise ConfigError(
            f"{variable_of('kafka')} is not set; set it to the broker's HOST:PORT"
        )
    return KafkaSettings(
        bootstrap=config.kafka,
        topic=config.kafka_topic,
        partitions=config.kafka_partitions,
        replication=config.kafka_replication,
        retention_ms=config.kafka_retention_ms,
        compression=config.kafka_compression,
        tls=_tls(config),
        sasl=_sasl(config),
    )


def _tls(config: RelayConfig) -> Tls | None:
    files = {
        "kafka_ca_file": config.kafka_ca_file,
        "kafka_certificate_file": config.kafka_certificate_file,
        "kafka_key_file": config.kafka_key_file,
    }
    if not config.kafka_tls:
        _refuse_without_effect(files, without="kafka_tls")
        return None
    if (config.kafka_certificate_file is None) != (config.kafka_key_file is None):
        raise ConfigError(
            f"{variable_of('kafka_certificate_file')} and"
            f" {variable_of('kafka_key_file')} must be set together"
        )
    for name, file in files.items():
        if file is not None and not file.is_file():
            raise ConfigError(f"{variable_of(name)}: file not found")
    return Tls(
        ca_file=config.kafka_ca_file,
        certificate_file=config.kafka_certificate_file,
        key_file=config.kafka_key_file,
    )


def _sasl(config: RelayConfig) -> Sasl | None:
    login = {
        "kafka_user": config.kafka_user,
        "kafka_password_file": config.kafka_password_file,
    }
    if config.kafka_sasl is None:
        _refuse_without_effect(login, without="kafka_sasl")
        return None
    if config.kafka_user is None or config.kafka_password_file is None:
        raise ConfigError(
            f"{variable_of('kafka_sasl')} needs {variable_of('kafka_user')}"
            f" and {variable_of('kafka_password_file')}"
        )
    return Sasl(
        mechanism=config.kafka_sasl,
        username=config.kafka_user,
        password=_secret_in(config.kafka_password_file),
    )


def _refuse_without_effect(
    given: Mapping[str, Path | str | None], *, without: str
) -> None:
    # An operator who sets one of these expects a protected connection.
    for name, value in given.items():
        if value is not None:
            raise ConfigError(
                f"{variable_of(name)} has no effect without {variable_of(without)}"
            )


def _secret_in(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            secret = opened.read(SECRET_BYTES_MAX + 1).decode().strip()
    except (OSError, UnicodeDecodeError):
        secret = ""
    if not secret or len(secret) > SECRET_BYTES_MAX:
        raise ConfigError(f"{variable_of('kafka_password_file')} holds no password")
    return secret
