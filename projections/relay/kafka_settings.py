"""The settings of the service as the settings of Kafka."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from projections.relay.kafka.settings import KafkaSettings, Sasl, Tls
from service.config import Config, variable_of
from service.errors import ConfigError

SECRET_BYTES_MAX: Final = 4096


def kafka_settings(config: Config) -> KafkaSettings:
    """Return what the settings say of Kafka.

    :raises ConfigError: they don't fit together, or a file can't be read
    """
    if config.kafka is None:
        raise ConfigError(f"{variable_of('kafka')} says where Kafka is; it is not set")
    return KafkaSettings(
        bootstrap=config.kafka,
        topic=config.kafka_topic,
        partitions=config.kafka_partitions,
        replication=config.kafka_replication,
        # One copy may be missing, but never all but one where there are more.
        min_insync_replicas=max(1, config.kafka_replication - 1),
        retention_ms=config.kafka_retention_ms,
        compression=config.kafka_compression,
        tls=_tls(config),
        sasl=_sasl(config),
    )


def _tls(config: Config) -> Tls | None:
    files = {
        "kafka_ca_file": config.kafka_ca_file,
        "kafka_certificate_file": config.kafka_certificate_file,
        "kafka_key_file": config.kafka_key_file,
    }
    if not config.kafka_tls:
        _refuse_useless(files, without="kafka_tls")
        return None
    if (config.kafka_certificate_file is None) != (config.kafka_key_file is None):
        raise ConfigError(
            f"{variable_of('kafka_certificate_file')} and"
            f" {variable_of('kafka_key_file')} go together"
        )
    for name, file in files.items():
        if file is not None and not file.is_file():
            raise ConfigError(f"{variable_of(name)}: there is no such file")
    return Tls(
        ca_file=config.kafka_ca_file,
        certificate_file=config.kafka_certificate_file,
        key_file=config.kafka_key_file,
    )


def _sasl(config: Config) -> Sasl | None:
    words = {
        "kafka_user": config.kafka_user,
        "kafka_password_file": config.kafka_password_file,
    }
    if config.kafka_sasl is None:
        _refuse_useless(words, without="kafka_sasl")
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


def _refuse_useless(given: Mapping[str, Path | str | None], *, without: str) -> None:
    # Whoever sets one of these expects a connection that is protected by it.
    for name, value in given.items():
        if value is not None:
            raise ConfigError(
                f"{variable_of(name)} is of no use without {variable_of(without)}"
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
