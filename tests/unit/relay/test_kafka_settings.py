"""The service's settings as Kafka's."""

from pathlib import Path
from typing import Any

import pytest

from projections.relay.kafka_settings import kafka_settings
from service.config import Config
from service.errors import ConfigError


def settings(**given: Any) -> dict[str, Any]:
    return {"kafka": "localhost:9092", **given}


def test_a_cluster_with_everything(tmp_path: Path) -> None:
    for name in ("ca", "certificate", "key"):
        (tmp_path / name).write_text("x")
    (tmp_path / "password").write_text("secret\n")
    made = kafka_settings(
        Config(
            **settings(
                kafka_topic="t",
                kafka_partitions=12,
                kafka_compression="gzip",
                kafka_tls=True,
                kafka_ca_file=tmp_path / "ca",
                kafka_certificate_file=tmp_path / "certificate",
                kafka_key_file=tmp_path / "key",
                kafka_sasl="SCRAM-SHA-512",
                kafka_user="u",
                kafka_password_file=tmp_path / "password",
            )
        )
    )
    assert (made.topic, made.partitions, made.replication) == ("t", 12, 3)
    assert made.min_insync_replicas == 2
    assert made.compression == "gzip"
    assert made.tls is not None
    assert made.tls.key_file == tmp_path / "key"
    assert made.sasl is not None
    assert made.sasl.password == "secret"
    assert "secret" not in repr(made)


def test_a_lone_broker() -> None:
    made = kafka_settings(Config(**settings(kafka_replication=1)))
    assert (made.replication, made.min_insync_replicas) == (1, 1)
    assert (made.tls, made.sasl) == (None, None)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"kafka_ca_file": "/nowhere"}, "KAFKA_CA_FILE has no effect without"),
        ({"kafka_user": "u"}, "KAFKA_USER has no effect without"),
        ({"kafka_tls": True, "kafka_ca_file": "/nowhere"}, "file not found"),
        ({"kafka_tls": True, "kafka_key_file": "/nowhere"}, "must be set together"),
        ({"kafka_sasl": "PLAIN", "kafka_user": "u"}, "needs"),
        (
            {
                "kafka_sasl": "PLAIN",
                "kafka_user": "u",
                "kafka_password_file": "/nowhere",
            },
            "holds no password",
        ),
    ],
    ids=lambda each: "+".join(each) if isinstance(each, dict) else "",
)
def test_settings_that_do_not_fit_are_refused(
    given: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        kafka_settings(Config(**settings(**given)))


def test_kafka_settings_need_a_broker() -> None:
    with pytest.raises(ConfigError, match="AGENT_RUNTIME_KAFKA is not set"):
        kafka_settings(Config(**settings(kafka=None)))
